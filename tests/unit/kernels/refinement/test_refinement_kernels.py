"""Kernels of refinement against groups as plain lists of rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest

from sfumato.algorithms.common.compiled_rules import compile_rules
from sfumato.algorithms.common.parallel_ranges import Clock
from sfumato.algorithms.refinement.refine import _pass
from sfumato.algorithms.refinement.refinement_task import StopConditions, prepare
from sfumato.data.seeds import Seed
from sfumato.kernels.compilation.decorators import both
from sfumato.kernels.refinement.pools import (
    GROUPS,
    ITEMS,
    NOW,
    cost_with,
    make_pool,
    measure,
)
from sfumato.kernels.refinement.refinement_round import (
    BETTER,
    GAIN,
    lay_out,
    number_groups,
    total_loss,
)
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.l_diversity import LDiversity
from tests.unit.algorithms.lattice_cases import random_request
from tests.unit.algorithms.mondrian_cases import flat_axis, free_axis
from tests.unit.kernels.refinement.group_lists import lists_of, loss_by_definition


def random_table(random, models, rows):
    """A tree, a line and a bag of values, with one sensitive column."""
    request = random_request(random, models, columns=1, rows=rows, values=3)
    line, bag = free_axis([0, 1, 4, 9, 16, 25]), flat_axis(5, weight=2.0)
    quasi = list(request.quasi)
    for axis in (line, bag):
        codes = random.integers(0, axis.size, rows).astype(np.int32)
        quasi.append(replace(quasi[0], axis=axis, codes=codes))
    return replace(request, quasi=tuple(quasi), threads=1, seed=Seed.guessable(3))


@pytest.mark.parametrize("seed", range(10))
def test_groups_are_numbered_by_their_first_rows(seed):
    random = np.random.default_rng(seed)
    rows = int(random.integers(1, 30))
    owner = random.integers(0, 6, rows)
    stands = {g: int(random.choice(np.flatnonzero(owner == g))) for g in set(owner)}
    label = np.array([stands[g] for g in owner], dtype=np.int64)
    order, starts = number_groups(label)
    expected = list(dict.fromkeys(owner.tolist()))
    found = [order[a:b] for a, b in pairwise(starts)]
    assert [part.tolist() for part in found] == [
        np.flatnonzero(owner == group).tolist() for group in expected
    ]


@pytest.mark.parametrize("seed", range(10))
def test_the_total_loss_is_that_of_the_boxes(seed):
    random = np.random.default_rng(seed)
    request = random_table(random, [KAnonymity(k=1)], int(random.integers(4, 30)))
    group_of = random.integers(0, 5, request.rows).astype(np.int32)
    task = prepare(request, compile_rules(request), group_of)
    assert lists_of(task.group_of()) == lists_of(group_of)
    found = total_loss(points_of(task), groups_of(task))
    assert found == pytest.approx(loss_by_definition(request, group_of))


@both
def cost_of_exchange(space, pool, out, into, limit):
    """Call the sum from Python."""
    group = np.int64(0)
    measure(space, pool, group)
    return cost_with(space, pool, group, np.int64(out), np.int64(into), limit)


def test_a_cost_is_exact_below_its_limit_and_infinite_only_above():
    random = np.random.default_rng(7)
    request = random_table(random, [KAnonymity(k=1)], 12)
    task = prepare(request, compile_rules(request), np.zeros(12, dtype=np.int32))
    pool = make_pool(task.space, 0)
    pool.numbers[ITEMS], pool.numbers[GROUPS] = 12, 1
    pool.codes[:, :12] = task.space.points.T
    pool.amounts[NOW, 0, :6] = 1
    ended = 0
    for out, into in product(range(6), range(6, 12)):
        cost = cost_of_exchange(task.space, pool, out, into, np.inf)
        for limit in random.uniform(0, 5, 4):
            found = cost_of_exchange(task.space, pool, out, into, limit)
            assert found == cost or (found == np.inf and cost >= limit)
            ended += found == np.inf
    assert ended > 20


def points_of(task):
    """The rows of a task as points."""
    return task.points if hasattr(task, "points") else task.space


def groups_of(task):
    """The groups of a task as kernels see them."""
    if hasattr(task, "groups"):
        return task.groups()
    return lay_out(points_of(task), task.item_of, task.rows, task.starts)


@pytest.mark.parametrize("diverse", [False, True], ids=["k", "k and l"])
@pytest.mark.parametrize("pooled", [1, 2, 4])
def test_a_pass_keeps_rows_and_rules_and_gains_what_it_says(pooled, diverse):
    random = np.random.default_rng(51)
    models = [KAnonymity(k=2), *([LDiversity(l=2)] if diverse else [])]
    better = 0
    for turn in range(12):
        request = random_table(random, models, int(random.integers(8, 40)))
        values = request.sensitive["s"].codes
        group_of = random.integers(0, 3, request.rows).astype(np.int32)
        if not all(ok(values, group, diverse) for group in lists_of(group_of)):
            continue
        task = prepare(request, compile_rules(request), group_of)
        seed = request.seed.child("test", turn)
        limits, clock = StopConditions(), Clock()
        figures = _pass(request, task, seed, pooled, limits, clock)
        task.rows, task.starts = number_groups(task.label)
        refined = task.group_of()
        assert len(refined) == request.rows
        assert all(ok(values, group, diverse) for group in lists_of(refined))
        saved = float(figures[:, GAIN].sum())
        before = loss_by_definition(request, group_of)
        after = loss_by_definition(request, refined)
        assert before - after == pytest.approx(saved, abs=1e-9)
        better += figures[:, BETTER].sum() > 0
    assert better > 2


def ok(values, group, diverse):
    seen = Counter(int(values[row]) for row in group)
    return len(group) >= 2 and (not diverse or len(seen) >= 2)
