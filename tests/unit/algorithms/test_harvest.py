"""Harvest releases boxes, trims them, and places every row."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

from sfumato.algorithms.base import Request
from sfumato.algorithms.best.harvest import (
    BLUR,
    FEW_ORDERS,
    NODES,
    STRIDE,
    Harvest,
    changed_factors,
    coupled,
    level_costs,
    levels_of,
    node_order,
    prepare_harvest,
    thinned,
)
from sfumato.algorithms.refinement.refine import loss_of
from sfumato.data.schema import Kind
from sfumato.data.seeds import Seed
from sfumato.hierarchies.axis import Axis, CodedAxis, Shape
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.t_closeness import TCloseness
from sfumato.testing.random_groups import flat_axis


def tree(name: str, *ranks: list[int]) -> Axis:
    """A tree axis from the rank of each leaf at each level above the leaves."""
    levels = [np.arange(len(ranks[0])), *map(np.array, ranks)]
    numbered, offset = [], 0
    for level in levels:
        numbered.append(level + offset)
        offset += int(level.max()) + 1
    under = np.zeros(offset)
    for level in numbered[1:]:
        nodes, counts = np.unique(level, return_counts=True)
        under[nodes] = counts / len(ranks[0])
    leaves = tuple(f"{name}{i}" for i in range(len(ranks[0])))
    return Axis(
        name=name,
        kind=Kind.CATEGORY,
        shape=Shape.TREE,
        labels=leaves,
        levels=np.array(numbered, dtype=np.int32),
        node_labels=tuple(f"{name}-{i}" for i in range(offset)),
        node_ncp=under,
        node_loss=under,
    )


def request_of(axis: Axis, codes: list[int], k: int, **more) -> Request:
    return Request(
        quasi=(CodedAxis(axis, np.array(codes, dtype=np.int32)),),
        models=(KAnonymity(k=k),),
        seed=Seed.guessable(1),
        threads=1,
        **more,
    )


HALVES = tree("a", [0, 0, 1, 1], [0, 0, 0, 0])


def test_full_leaves_are_released_as_they_are():
    request_ = request_of(HALVES, [0, 0, 1, 1, 2, 2, 3, 3], k=2)
    assert loss_of(request_, Harvest().solve(request_).grouping) == 0.0


def test_rows_that_no_leaf_takes_meet_at_the_next_level():
    request_ = request_of(HALVES, [0, 1, 2, 2, 2, 2], k=2)
    found = Harvest().solve(request_).grouping
    assert sorted(found.sizes().tolist()) == [2, 4]
    assert loss_of(request_, found) == pytest.approx(2 * 0.5 / 6)


def test_a_row_left_over_goes_where_the_loss_rises_least():
    request_ = request_of(HALVES, [0, 0, 0, 0, 2, 2, 3], k=2)
    found = Harvest().solve(request_).grouping
    assert loss_of(request_, found) == pytest.approx(3 * 0.5 / 7)


def test_rows_of_a_common_value_are_left_behind_until_the_rest_is_close():
    values = flat_axis("illness", 2)
    codes = [0] * 12 + [2] * 12
    illness = [0] * 8 + [1] * 4 + [1] * 8 + [0] * 4
    request_ = request_of(
        HALVES,
        codes,
        k=2,
        sensitive={"illness": CodedAxis(values, np.array(illness, dtype=np.int32))},
    )
    asked = replace(request_, models=(KAnonymity(k=2), TCloseness(t=0.1)))
    found = Harvest().solve(asked).grouping
    assert found.count > 1
    assert asked.models[1].verify(asked.groups(found)).holds


def test_the_published_nodes_are_the_lowest_that_cover_a_group():
    request_ = request_of(HALVES, [0, 1, 2, 3], k=2)
    assert Harvest().solve(request_).grouping.levels is None


def test_more_orders_never_lose_more():
    numbers = np.random.default_rng(4)
    axis = tree("b", [0, 0, 0, 1, 1, 2, 2, 2], [0, 0, 0, 0, 0, 1, 1, 1], [0] * 8)
    columns = [numbers.integers(0, 8, 300).astype(np.int32) for _ in range(3)]
    request_ = replace(
        request_of(axis, [0] * 300, k=5),
        quasi=tuple(
            CodedAxis(replace(axis, name=f"b{j}"), c) for j, c in enumerate(columns)
        ),
    )
    losses = [
        loss_of(request_, Harvest(orders=n).solve(request_).grouping)
        for n in (1, 2, 6, 16)
    ]
    assert losses == sorted(losses, reverse=True)


def test_the_first_orders_look_around_and_later_ones_start_from_the_best():
    request_ = request_of(HALVES, [0, 1, 2, 3], k=2)
    best = np.array([0.5, 2.0, 4.0])
    early = [changed_factors(request_, best, n) for n in range(FEW_ORDERS)]
    later = [changed_factors(request_, best, FEW_ORDERS + n) for n in range(9)]
    assert early[0].tolist() == [1.0, 1.0, 1.0]
    assert all((np.abs(each - 1) <= BLUR).all() for each in early)
    assert all((np.abs(each / best - 1) <= STRIDE).all() for each in later)
    assert not any(np.array_equal(each, best) for each in later)


def test_nodes_come_in_the_order_of_their_mean_loss():
    coded = CodedAxis(HALVES, np.arange(4, dtype=np.int32))
    costs = [level_costs(coded, HALVES.levels)] * 2
    nodes = node_order(costs, np.array([[1, 0], [0, 1]]))
    sums = [costs[0][a] + costs[1][b] for a, b in nodes.tolist()]
    assert sums == sorted(sums)
    assert len(nodes) == 9


def test_a_lattice_of_many_columns_is_bounded():
    assert len(thinned([np.zeros((6, 2), dtype=np.int32)] * 5)) == 5
    heights = [2] * 40
    wheels = coupled(heights)
    assert sorted(j for wheel in wheels for j in wheel) == list(range(40))
    assert 2 ** len(wheels) <= NODES


def test_a_line_of_numbers_is_halved():
    axis = flat_axis(
        "age", 8, kind=Kind.INTEGER, shape=Shape.FREE, positions=np.arange(8.0)
    )
    levels = levels_of(CodedAxis(axis, np.arange(8, dtype=np.int32)))
    assert [len(np.unique(level)) for level in levels] == [8, 4, 2, 1]


def test_thousands_of_columns_raise_no_warning():
    draw = np.random.default_rng(1)
    codes = draw.integers(0, 4, size=(1_700, 16), dtype=np.int32)
    wide = request_of(HALVES, codes[0].tolist(), k=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        task = prepare_harvest(
            replace(wide, quasi=tuple(CodedAxis(HALVES, column) for column in codes))
        )
    assert len(task.amounts) == 16
