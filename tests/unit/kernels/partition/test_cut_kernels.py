"""Cuts and removals of Mondrian against plain lists of rows, one cut at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest

from sfumato.algorithms.base import Request
from sfumato.algorithms.partition.mondrian import CutTask, Mondrian, prepare
from sfumato.hierarchies.axis import Axis, CodedAxis, Shape
from sfumato.kernels.common.packed_records import NUMBER
from sfumato.kernels.partition.gain_cut import cut_gain
from sfumato.kernels.partition.outlier_removal import trim_groups
from sfumato.kernels.partition.widest_cut import cut_widest
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.l_diversity import LDiversity
from tests.unit.algorithms.mondrian_cases import (
    Group,
    Row,
    ask,
    cell_cost,
    flat_axis,
    free_axis,
    gain_cuts,
    loss_of,
    rows_of,
    tree_axis,
    widest_cuts,
)

Cuts = Callable[[Sequence[Axis], Sequence[Row], Group], Iterator[Group]]


def random_axis(random: np.random.Generator) -> Axis:
    weight = float(random.choice([1.0, 0.5, 2.0]))
    shape = random.integers(4)
    if shape == 0:
        return flat_axis(int(random.integers(2, 7)), weight)
    if shape == 1:
        return tree_axis([0, 0, 1, 1, 1, 2], [0, 0, 0, 0, 0, 1], weight=weight)
    numbers = np.sort(random.choice(30, int(random.integers(2, 8)), replace=False))
    known = [float(number) for number in numbers]
    return free_axis([*known, np.nan] if shape == 2 else known, weight)


def random_tables(
    *, count: int, seed: int, diverse: bool, removable: int = 0
) -> Iterator[Request]:
    random = np.random.default_rng(seed)
    for _ in range(count):
        axes = [random_axis(random) for _ in range(int(random.integers(1, 4)))]
        number, k = int(random.integers(4, 25)), int(random.integers(1, 4))
        rows = [
            tuple(int(random.integers(a.size)) for a in axes) for _ in range(number)
        ]
        models = [KAnonymity(k=k), *([LDiversity(l=2)] if diverse else [])]
        values = random.integers(0, 3, number).astype(np.int32)
        sensitive = {"s": CodedAxis(flat_axis(3), values)}
        yield ask(
            axes, rows, k, models=models, sensitive=sensitive, removable=removable
        )


def allowed(request: Request, diverse: bool) -> Callable[[Sequence[int]], bool]:
    k = max(model.k for model in request.models if isinstance(model, KAnonymity))
    values = request.sensitive["s"].codes

    def test(group: Sequence[int]) -> bool:
        seen = {int(values[row]) for row in group}
        return len(group) >= k and (not diverse or len(seen) >= 2)

    return test


def rows_behind(task: CutTask, low: int, high: int) -> list[int]:
    """The rows of the records that now lie at places low … high − 1."""
    starts, order = task.rows.starts, task.rows.order
    numbers = task.records.planes[-1, low:high] & NUMBER
    return sorted(int(r) for n in numbers for r in order[starts[n] : starts[n + 1]])


@pytest.mark.parametrize("diverse", [False, True], ids=["k", "k and l"])
@pytest.mark.parametrize(
    ("name", "kernel", "cuts"),
    [("gain", cut_gain, gain_cuts), ("widest", cut_widest, widest_cuts)],
)
def test_a_cut_is_the_first_allowed_one_by_definition(
    name: str, kernel: Callable[..., int], cuts: Cuts, diverse: bool
) -> None:
    made = 0
    for request in random_tables(count=150, seed=31, diverse=diverse):
        test = allowed(request, diverse)
        everybody = list(range(request.rows))
        task = prepare(Mondrian(cut=name), request)
        total = task.records.planes.shape[1]
        workspace, judge = task.new_workspace(total)
        borders = np.zeros(total, dtype=np.uint8)
        middle = int(
            kernel(
                task.settings, task.records, 0, total, True, borders, workspace, judge
            )
        )
        axes, rows = [q.axis for q in request.quasi], rows_of(request)
        halves = (
            {frozenset(left), frozenset({*everybody} - {*left})}
            for left in cuts(axes, rows, everybody)
            if test(left) and test(sorted({*everybody} - {*left}))
        )
        expected = next(halves, {frozenset(everybody)})
        found = {frozenset(everybody)}
        if middle >= 0:
            parts = rows_behind(task, 0, middle), rows_behind(task, middle, total)
            found = {frozenset(part) for part in parts}
        assert found == expected
        made += middle >= 0
    assert made > 40


def removals(
    axes: Sequence[Axis], rows: Sequence[Row], group: Group
) -> Iterator[Group]:
    """What may be left out: either end of a line of values, or one value of it."""
    for j, axis in enumerate(axes):
        levels = axis.levels[:-1] if axis.shape is Shape.TREE else axis.levels[:1]
        for level in levels:
            nodes = sorted({int(level[rows[i][j]]) for i in group})
            runs = [[i for i in group if level[rows[i][j]] == node] for node in nodes]
            if axis.shape is Shape.FLAT:
                runs.sort(key=lambda run: -len(run))
            for at in range(1, len(runs)):
                yield [i for run in runs[:at] for i in run]
                yield [i for run in runs[at:] for i in run]
            if axis.shape is not Shape.FREE:
                yield from runs


@pytest.mark.parametrize("diverse", [False, True], ids=["k", "k and l"])
def test_the_first_removal_gains_most_per_row(diverse: bool) -> None:
    gained = 0
    for request in random_tables(count=150, seed=32, diverse=diverse, removable=5):
        test = allowed(request, diverse)
        axes, rows = [q.axis for q in request.quasi], rows_of(request)
        everybody = list(range(request.rows))
        if not test(everybody):
            continue
        task = prepare(Mondrian(), request)
        total = task.records.planes.shape[1]
        workspace, judge = task.new_workspace(total)
        step_of = np.full(total, -1, dtype=np.int32)
        removed, gains = np.zeros(total + 1, dtype=np.int64), np.zeros(total + 1)
        bounds = np.array([0, total], dtype=np.int64)
        trim_groups(
            task.settings,
            task.records,
            bounds,
            5,
            step_of,
            removed,
            gains,
            workspace,
            judge,
        )
        whole, weight = loss_of(axes, rows, everybody), sum(a.weight for a in axes)
        best = 0.0
        for out in removals(axes, rows, everybody):
            rest = sorted({*everybody} - {*out})
            if len(out) <= 5 and rest and test(rest):
                saved = whole - len(out) * weight - loss_of(axes, rows, rest)
                best = max(best, saved / len(out))
        if removed[0] == 0:
            assert best <= 1e-8 * max(whole, 1.0)
            continue
        gained += 1
        assert gains[0] / removed[0] == pytest.approx(best, abs=1e-8)
        starts, order = task.rows.starts, task.rows.order
        gone = {
            int(r)
            for n in np.flatnonzero(step_of == 0)
            for r in order[starts[n] : starts[n + 1]]
        }
        stays = [row for row in everybody if row not in gone]
        assert len(gone) == removed[0]
        assert test(stays)
        saved = whole - len(gone) * weight - loss_of(axes, rows, stays)
        assert gains[0] == pytest.approx(saved, abs=1e-8)
    assert gained > 10


def test_the_cost_of_a_cell_is_that_of_its_definition() -> None:
    """What all cuts are compared by: the loss of one group, whole."""
    for request in random_tables(count=60, seed=33, diverse=False):
        task = prepare(Mondrian(), request)
        total = task.records.planes.shape[1]
        workspace, judge = task.new_workspace(total)
        borders = np.zeros(total, dtype=np.uint8)
        cut_gain(task.settings, task.records, 0, total, True, borders, workspace, judge)
        axes, rows = [q.axis for q in request.quasi], rows_of(request)
        if request.rows < 2 * task.settings.least:
            continue
        expected = [
            cell_cost(axis, (row[j] for row in rows)) for j, axis in enumerate(axes)
        ]
        assert workspace.axis_costs.tolist() == pytest.approx(expected)
