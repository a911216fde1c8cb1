"""Rows are dealt out among the boxes of groups as well as in any other way."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from sfumato.algorithms.common.compiled_rules import compile_rules
from sfumato.algorithms.common.parallel_ranges import Clock
from sfumato.algorithms.refinement import dealing, refinement_task
from sfumato.algorithms.refinement import refine as refine_module
from sfumato.algorithms.refinement.dealing import boxes_of, can_deal, deal_rows
from sfumato.algorithms.refinement.refine import loss_of
from sfumato.algorithms.refinement.refinement_task import StopConditions, prepare
from sfumato.data.grouping import Grouping
from sfumato.data.seeds import Seed
from sfumato.kernels.compilation.decorators import both
from sfumato.kernels.refinement.dealt_rows import deal, tuples_in_boxes
from sfumato.kernels.refinement.refinement_round import GAIN, lay_out, number_groups
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.l_diversity import LDiversity
from tests.unit.algorithms.lattice_cases import random_request
from tests.unit.kernels.refinement.group_lists import lists_of, loss_by_definition


def random_task(random, rows, *, k=2, columns=2):
    """Rows in random groups of k rows or more."""
    request = random_request(random, [KAnonymity(k=k)], columns=columns, rows=rows)
    request = replace(request, threads=1, seed=Seed.guessable(1))
    count = max(rows // (k + 1), 1)
    group_of = (random.permutation(rows) % count).astype(np.int32)
    return request, group_of, prepare(request, compile_rules(request), group_of)


def dealt(request, task):
    """Deal rows out, and return what that gained."""
    seed, clock = Seed.guessable(7), Clock()
    figures = deal_rows(request, task, seed=seed, limits=StopConditions(), clock=clock)
    task.rows, task.starts = number_groups(task.label)
    return float(figures[:, GAIN].sum())


def shown(request, j, rows):
    """The node that a group shows, and the leaves under it."""
    axis, codes = request.quasi[j].axis, request.quasi[j].codes[rows]
    for nodes in axis.levels:
        if len(set(nodes[codes])) == 1:
            node = nodes[codes[0]]
            return node, {leaf for leaf in range(axis.size) if nodes[leaf] == node}
    raise AssertionError("All leaves share the root.")


def holds(request, box, row):
    return all(
        coded.codes[row] in leaves
        for coded, (_, leaves) in zip(request.quasi, box, strict=True)
    )


@both
def deal_once(points, boxes, minimum, group_of, most_looks):
    """Deal all rows out, and count the looks."""
    chosen = np.arange(len(boxes.costs))
    held = tuples_in_boxes(points, boxes, chosen)
    return deal(held, boxes.costs, minimum, group_of, most_looks)


def boxes_by_definition(request, group_of):
    boxes = [
        [shown(request, j, rows) for j in range(len(request.quasi))]
        for rows in lists_of(group_of)
    ]
    costs = [
        sum(
            coded.axis.weight * coded.axis.node_ncp[node]
            for coded, (node, _) in zip(request.quasi, box, strict=True)
        )
        for box in boxes
    ]
    return boxes, np.array(costs)


def least_by_definition(request, boxes, costs, k):
    """The least loss of all ways to put each row into a box that holds it."""
    places = [
        [g for g, box in enumerate(boxes) if holds(request, box, row)]
        for row in range(request.rows)
    ]
    return min(
        costs[list(chosen)].sum()
        for chosen in product(*places)
        if np.bincount(chosen, minlength=len(boxes)).min() >= k
    )


@pytest.mark.parametrize("k", [1, 2, 3])
def test_no_other_way_to_deal_rows_out_loses_less(k):
    random, moved = np.random.default_rng(k), 0
    for _ in range(100):
        rows = int(random.integers(2 * k + 2, 10))
        request, group_of, task = random_task(random, rows, k=k)
        # Numbered as `lists_of` sorts them.
        group_of = np.unique(group_of[task.order], return_inverse=True)[1]
        request = request.only(task.order)
        number = {tuple(g): i for i, g in enumerate(lists_of(group_of))}
        boxes, costs = boxes_by_definition(request, group_of)
        old = np.empty(rows, dtype=np.int64)
        for group, i in number.items():
            old[list(group)] = i
        starts = np.cumsum([0, *(len(g) for g in lists_of(group_of))])
        ordered = np.concatenate(lists_of(group_of)).astype(np.int64)
        groups = lay_out(task.space, task.item_of, ordered, starts.astype(np.int64))
        found = boxes_of([coded.axis for coded in request.quasi], groups)
        assert found.costs == pytest.approx(costs)
        new = old.copy()
        deal_once(task.space.points, found, k, new, 1 << 40)
        assert np.bincount(new, minlength=len(costs)).min() >= k
        assert all(holds(request, boxes[g], row) for row, g in enumerate(new))
        least = least_by_definition(request, boxes, costs, k)
        assert costs[new].sum() == pytest.approx(least, abs=1e-9)
        moved += not np.array_equal(old, new)
    assert moved > 15


@pytest.mark.parametrize("most_groups", [2, 128])
def test_dealing_keeps_rows_and_sizes_and_gains_what_it_says(monkeypatch, most_groups):
    monkeypatch.setattr(refinement_task, "ROWS", 1)
    monkeypatch.setattr(refinement_task, "FEWEST_GROUPS", most_groups)
    random, gained = np.random.default_rng(11), 0
    for _ in range(40):
        request, group_of, task = random_task(random, 60, k=3, columns=3)
        gain = dealt(request, task)
        new = task.group_of()
        assert np.bincount(new).min() >= 3
        before = loss_by_definition(request, group_of)
        assert before - loss_by_definition(request, new) == pytest.approx(gain)
        assert gain >= -1e-9
        gained += gain > 1e-9
    assert gained > 20


def test_without_looks_nothing_moves(monkeypatch):
    monkeypatch.setattr(dealing, "MOST_LOOKS", -1)
    request, group_of, task = random_task(np.random.default_rng(5), 60)
    assert dealt(request, task) == 0.0
    assert lists_of(task.group_of()) == lists_of(group_of)


def test_rows_are_not_dealt_out_where_requirements_look_at_values():
    models = [KAnonymity(k=2), LDiversity(l=2)]
    for asked, expected in ((models[:1], True), (models, False)):
        request = random_request(np.random.default_rng(0), asked, rows=12)
        group_of = np.zeros(12, dtype=np.int32)
        task = prepare(request, compile_rules(request), group_of)
        assert can_deal(request, task) is expected


def test_with_a_limit_in_seconds_rows_are_dealt_out(monkeypatch):
    request, group_of, _ = random_task(np.random.default_rng(2), 300, k=3, columns=4)
    request = replace(request, threads=2)
    gains = []

    def noted(*args, **options):
        figures = deal_rows(*args, **options)
        gains.append(figures[:, GAIN].sum())
        return figures

    monkeypatch.setattr(refine_module, "deal_rows", noted)
    start = Grouping(group_of, int(group_of.max()) + 1)
    timed = refine_module.refine(request, start, seconds=1000.0)
    assert len(gains) > 0
    assert min(gains) >= -1e-9
    assert timed.loss == pytest.approx(loss_of(request, timed.grouping))
    gains.clear()
    refine_module.refine(request, start)
    assert gains == []
