"""Cuts by gain in dense rows against those found by weighing every cut of a line."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sfumato.algorithms.partition.mondrian import CutTask, Mondrian, prepare
from sfumato.data.arrays import Ints
from sfumato.hierarchies.axis import Axis
from sfumato.kernels.partition.dense_rows import (
    BUCKETS,
    MOST_WORDS,
    SMALL,
    can_be_dense,
)
from sfumato.kernels.partition.gain_cut import cut_gain
from tests.unit.algorithms.mondrian_cases import (
    ask,
    flat_axis,
    free_axis,
    tree_axis,
)

TREE = tree_axis(
    [0, 0, 1, 1, 1, 2, 3, 3, 4, 5], [0, 0, 0, 0, 0, 0, 1, 1, 1, 2], weight=2.0
)
NUMBERS = free_axis([float(x * x) for x in range(40)])
GAPS = free_axis([0.0, 1.0, 5.0, 6.0, 30.0, float("nan")], 0.5)
FLAT = flat_axis(9)
TWO_WORDS = flat_axis(70, 0.5)
MANY = free_axis([float(x) for x in range(BUCKETS + 1)])
HUGE = free_axis([float(x) for x in range(1 << 15)])

AXES: dict[str, list[Axis]] = {
    "numbers": [NUMBERS, NUMBERS, NUMBERS],
    "missing": [GAPS, NUMBERS],
    "trees": [TREE, TREE, NUMBERS],
    "flat": [FLAT, TWO_WORDS],
    "all shapes": [TREE, FLAT, NUMBERS, GAPS, TWO_WORDS, TREE, FLAT, NUMBERS],
    "more codes than buckets": [MANY, TREE, NUMBERS],
    "lanes of 32 bits": [HUGE, FLAT, TREE],
    "more axes than are tried": [NUMBERS, TREE, FLAT] * 10,
    "one axis": [NUMBERS],
}


def made(axes: list[Axis], *, rows: int, k: int, seed: int) -> CutTask:
    """A task on rows of which some are equal, some alike."""
    random = np.random.default_rng(seed)
    hidden = random.random(rows)
    columns = []
    for axis in axes:
        alike = 0.7 * hidden + 0.3 * random.random(rows)
        drawn = alike if random.random() < 0.5 else random.random(rows) ** 2
        columns.append((drawn * axis.size).astype(np.int64))
    table = np.column_stack(columns)[random.integers(0, rows, rows)]
    return prepare(Mondrian(), ask(axes, [tuple(row) for row in table.tolist()], k))


def cut(task: CutTask, *, dense: bool, once: bool) -> tuple[int, Ints, Ints]:
    """The border of a cut, where groups start, and the records as they lie then."""
    task = replace(task, settings=task.settings._replace(dense=dense))
    planes = task.records.planes.copy()
    records = task.records._replace(planes=planes, spare=np.empty_like(planes))
    total = planes.shape[1]
    workspace, judge = task.new_workspace(total)
    borders = np.zeros(total, dtype=np.uint8)
    middle = cut_gain(task.settings, records, 0, total, once, borders, workspace, judge)
    return int(middle), np.flatnonzero(borders), planes


@pytest.mark.parametrize("once", [True, False], ids=["one cut", "to the end"])
@pytest.mark.parametrize("name", list(AXES))
def test_dense_rows_give_the_cuts_of_lines(name: str, once: bool) -> None:
    cuts = 0
    for seed, (rows, k) in enumerate([(7, 1), (30, 2), (90, 3), (SMALL + 300, 5)]):
        task = made(AXES[name], rows=rows, k=k, seed=seed)
        assert task.settings.dense
        found = cut(task, dense=True, once=once)
        expected = cut(task, dense=False, once=once)
        assert found[0] == expected[0]
        assert found[1].tolist() == expected[1].tolist()
        assert np.array_equal(found[2], expected[2])
        cuts += found[0] >= 0 if once else len(found[1]) - 1
    assert cuts >= 3


def test_flat_axes_with_very_many_values_are_cut_as_lines() -> None:
    wide = flat_axis(64 * MOST_WORDS)
    assert can_be_dense([wide, NUMBERS])
    assert not can_be_dense([wide, FLAT])


def test_a_tree_whose_nodes_lose_less_than_their_children_is_cut_as_lines() -> None:
    losses = TREE.node_ncp.copy()
    losses[TREE.root] = 0.01
    assert can_be_dense([TREE])
    assert not can_be_dense([replace(TREE, node_ncp=losses)])
