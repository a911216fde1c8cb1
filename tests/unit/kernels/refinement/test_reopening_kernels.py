"""Boxes worth opening against all boxes of small lattices, and groups closed and opened."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from sfumato.algorithms.best.loss_bound import lower_bound
from sfumato.algorithms.common.compiled_rules import compile_rules
from sfumato.algorithms.common.parallel_ranges import Clock
from sfumato.algorithms.refinement import refine as refine_module
from sfumato.algorithms.refinement.refine import loss_of
from sfumato.algorithms.refinement.refinement_task import StopConditions, prepare
from sfumato.algorithms.refinement.reopening import reopen_groups, reopening_of
from sfumato.data.grouping import Grouping
from sfumato.data.seeds import Seed
from sfumato.kernels.compilation.decorators import both
from sfumato.kernels.refinement.candidate_boxes import (
    FOUND,
    LOOKS,
    Parts,
    find_boxes,
    room_for_boxes,
)
from sfumato.kernels.refinement.point_space import make_point_space
from sfumato.kernels.refinement.refinement_round import GAIN, number_groups
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.l_diversity import LDiversity
from tests.unit.algorithms.lattice_cases import random_request
from tests.unit.kernels.refinement.group_lists import lists_of, loss_by_definition

MANY = 1 << 40


@both
def boxes_of(tables, parts, axes, minimum, least, looks):
    """Call the search from Python."""
    boxes = room_for_boxes(5000, 100_000, len(axes), looks)
    find_boxes(tables, parts, axes, minimum, least, boxes)
    return boxes


def random_parts(random, request):
    """A part for each row, with a random loss and perhaps spare rows."""
    rows = random.integers(1, 4, request.rows)
    heights = [coded.axis.height for coded in request.quasi]
    return Parts(
        np.concatenate([c.axis.levels[:, c.codes] for c in request.quasi]).astype("i4"),
        np.cumsum([0, *heights[:-1]]),
        rows,
        random.uniform(0, 2, request.rows),
        np.minimum(rows, random.integers(0, 3, request.rows)),
    )


def boxes_by_definition(request, parts, minimum, least):
    """Every box of nodes that has enough rows, with its gain."""
    axes = [coded.axis for coded in request.quasi]
    found = {}
    for levels in product(*(range(axis.height) for axis in axes)):
        nodes = [
            c.axis.levels[v][c.codes]
            for c, v in zip(request.quasi, levels, strict=True)
        ]
        for box in set(zip(*(n.tolist() for n in nodes), strict=True)):
            inside = np.flatnonzero(
                np.all([n == b for n, b in zip(nodes, box, strict=True)], axis=0)
            )
            cost = sum(a.weight * a.node_ncp[b] for a, b in zip(axes, box, strict=True))
            gain = gain_by_definition(parts, inside, cost, minimum)
            if gain is not None and gain >= least:
                found[box] = gain
    return found


def gain_by_definition(parts, inside, cost, minimum):
    """Rows that gain move; the dearest of the spare ones fill the box up."""
    over = parts.loses[inside] - cost
    gain = float((parts.rows[inside] * over)[over > 0].sum())
    needed = minimum - int(parts.rows[inside][over > 0].sum())
    spare = [(o, s) for o, s in zip(over, parts.spare[inside], strict=True) if o <= 0]
    one_by_one = sorted((o for o, s in spare for _ in range(s)), reverse=True)
    if needed > len(one_by_one):
        return None
    return gain + sum(one_by_one[: max(needed, 0)])


def lies_in(request, box, other):
    """Whether each node of a box covers no code that the other's does not."""
    axes = [coded.axis for coded in request.quasi]
    return all(
        codes_under(axis, node) <= codes_under(axis, above)
        for axis, node, above in zip(axes, box, other, strict=True)
    )


def codes_under(axis, node):
    """The codes that a node covers."""
    return set(np.nonzero(axis.levels == node)[1].tolist())


@pytest.mark.parametrize("seed", range(25))
def test_of_all_boxes_that_gain_enough_one_inside_is_found_that_gains_no_less(seed):
    random = np.random.default_rng(seed)
    request = random_request(random, [KAnonymity(k=2)], columns=3, rows=12, values=4)
    parts = random_parts(random, request)
    minimum, least = int(random.integers(2, 8)), float(random.uniform(0.01, 2))
    order = random.permutation(3).astype(np.int64)
    boxes = boxes_of(tables_of(request), parts, order, minimum, least, MANY)
    count = int(boxes.numbers[FOUND])
    found = {
        tuple(boxes.nodes[b].tolist()): float(boxes.gains[b]) for b in range(count)
    }
    assert len(found) == count
    defined = boxes_by_definition(request, parts, minimum, least)
    assert found == pytest.approx({box: defined[box] for box in found})
    for box, gain in defined.items():
        inside = [g for other, g in found.items() if lies_in(request, other, box)]
        assert max(inside, default=0.0) >= gain - 1e-9


def test_a_box_with_the_rows_of_a_cheaper_one_is_not_found():
    random = np.random.default_rng(5)
    request = random_request(random, [KAnonymity(k=2)], columns=3, rows=12, values=4)
    parts = random_parts(random, request)
    boxes = boxes_of(tables_of(request), parts, np.arange(3), 2, 0.01, MANY)
    defined = boxes_by_definition(request, parts, 2, 0.01)
    assert 0 < boxes.numbers[FOUND] < len(defined)


def tables_of(request):
    """What kernels know of the axes of a request."""
    axes, codes = zip(*((c.axis, c.codes) for c in request.quasi), strict=True)
    return make_point_space(axes, codes).tables


def test_a_search_for_boxes_ends_at_its_limit():
    random = np.random.default_rng(3)
    request = random_request(random, [KAnonymity(k=2)], columns=3, rows=40, values=5)
    parts = random_parts(random, request)
    tables, order = tables_of(request), np.arange(3)
    looks = int(boxes_of(tables, parts, order, 2, 0.01, MANY).numbers[LOOKS])
    limited = boxes_of(tables, parts, order, 2, 0.01, looks // 2)
    assert looks // 2 < limited.numbers[LOOKS] <= looks // 2 + 2 * request.rows


def random_groups(random, rows, k):
    """Groups of k rows or a few more."""
    count = max(rows // (k + 2), 1)
    return (random.permutation(rows) % count).astype(np.int32)


@pytest.mark.parametrize("guided", [False, True], ids=["searched", "known boxes"])
@pytest.mark.parametrize("diverse", [False, True], ids=["k", "k and l"])
@pytest.mark.parametrize("warmth", [0.0, 1.0], ids=["cold", "warm"])
def test_reopening_keeps_rows_and_rules_and_gains_what_it_says(warmth, diverse, guided):
    random = np.random.default_rng(17)
    models = [KAnonymity(k=3), *([LDiversity(l=2)] if diverse else [])]
    changed = better = 0
    for turn in range(40):
        rows = int(random.integers(6, 60))
        request = random_request(random, models, columns=3, rows=rows, values=4)
        request = replace(request, threads=1, seed=Seed.guessable(turn))
        values = request.sensitive["s"].codes
        group_of = random_groups(random, rows, 3)
        if not all(ok(values, group, diverse) for group in lists_of(group_of)):
            continue
        guide = lower_bound(request).guide if guided else None
        task = prepare(request, compile_rules(request), group_of, guide)
        gained = reopen_once(request, task, warmth, searched=not guided)
        refined = task.group_of()
        assert all(ok(values, group, diverse) for group in lists_of(refined))
        before = loss_by_definition(request, group_of)
        after = loss_by_definition(request, refined)
        assert before - after == pytest.approx(gained, abs=1e-9)
        assert warmth or after <= before + 1e-9
        changed += lists_of(refined) != lists_of(group_of)
        better += after < before - 1e-9
    assert changed > 10
    assert better > 5


def reopen_once(request, task, warmth, *, searched=True):
    how = reopening_of(request, task)
    loss = loss_of(request, Grouping(task.group_of(), task.count))
    seed = request.seed.child("test")
    limits, clock = StopConditions(), Clock()
    figures = reopen_groups(
        request,
        task,
        how,
        seed=seed,
        heat=how.heat(task, loss, warmth),
        searched=searched,
        limits=limits,
        clock=clock,
    )
    task.rows, task.starts = number_groups(task.label)
    return float(figures[:, GAIN].sum())


def test_rows_far_apart_that_fit_together_become_a_group():
    """Two halves of a class lie in groups that do not need them."""
    random = np.random.default_rng(5)
    request = random_request(random, [KAnonymity(k=2)], columns=2, rows=40, values=4)
    lowered = 0
    for seed in range(10):
        group_of = random_groups(np.random.default_rng(seed), 40, 4)
        task = prepare(request, compile_rules(request), group_of)
        lowered += reopen_once(replace(request, threads=1), task, 0.0) > 0
    assert lowered == 10


def test_known_boxes_make_a_group_of_rows_far_apart_without_a_search():
    random = np.random.default_rng(5)
    request = random_request(random, [KAnonymity(k=2)], columns=2, rows=40, values=4)
    guide = lower_bound(request).guide
    lowered = 0
    for seed in range(10):
        group_of = random_groups(np.random.default_rng(seed), 40, 4)
        task = prepare(request, compile_rules(request), group_of, guide)
        alone = replace(request, threads=1)
        lowered += reopen_once(alone, task, 0.0, searched=False) > 0
    assert lowered == 10


def without_gap(seed):
    """Random groups, and a guide whose prices ask for all that they lose."""
    random = np.random.default_rng(seed)
    request = random_request(random, [KAnonymity(k=3)], columns=3, rows=60, values=4)
    group_of = random_groups(random, 60, 3)
    losses = np.zeros(60)
    for rows in lists_of(group_of):
        losses[list(rows)] = cost_together(request, rows)
    guide = lower_bound(request).guide
    dear = np.full(len(guide.costs), np.inf)
    return request, group_of, replace(guide, prices=losses, costs=dear)


@pytest.mark.parametrize("priced", [False, True])
def test_groups_that_lose_what_they_must_are_not_closed(priced):
    changed = 0
    for seed in range(5):
        request, group_of, guide = without_gap(seed)
        if not priced:
            guide = replace(guide, prices=np.zeros(60))
        task = prepare(request, compile_rules(request), group_of, guide)
        reopen_once(replace(request, threads=1), task, 1.0, searched=False)
        changed += lists_of(task.group_of()) != lists_of(group_of)
    assert (changed == 0) is priced


@pytest.mark.parametrize("priced", [False, True])
def test_pools_that_lose_what_they_must_are_passed_over(priced, monkeypatch):
    monkeypatch.setattr(refine_module, "can_reopen", lambda *_: False)
    request, group_of, guide = without_gap(7)
    grouping = Grouping.renumbered(group_of)
    found = refine_module.refine(request, grouping, guide=guide if priced else None)
    assert (found.loss == found.loss_before) is priced


def cost_together(request, rows):
    """What a row loses in the lowest nodes that cover some rows."""
    cost = 0.0
    for coded in request.quasi:
        codes = coded.codes[list(rows)]
        low, high = np.array([codes.min()]), np.array([codes.max()])
        node = coded.axis.covering(low, high)[0]
        cost += coded.axis.weight * coded.axis.node_ncp[node]
    return cost


def ok(values, group, diverse):
    seen = Counter(int(values[row]) for row in group)
    return len(group) >= 3 and (not diverse or len(seen) >= 2)
