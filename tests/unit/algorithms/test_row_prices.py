"""Prices of rows are fair: no k rows ask for more than they lose together."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.algorithms.best import row_prices as prices
from sfumato.algorithms.best.loss_bound import lower_bound
from sfumato.algorithms.best.row_prices import (
    highest_prices,
    rounds_for,
    spare_prices,
)
from sfumato.hierarchies.axis import Shape
from sfumato.testing.random_groups import flat_axis
from sfumato.testing.strategies import axes
from tests.unit.algorithms.lattice_cases import tree_axis
from tests.unit.algorithms.test_loss_bound import optimum, small_request

SOME = settings(max_examples=40)
TWO = tree_axis("city", [["a", "*"], ["b", "*"]])
trees = axes(max_leaves=6).filter(lambda axis: axis.shape is Shape.TREE)
small = st.builds(
    small_request,
    st.lists(trees, min_size=1, max_size=3),
    st.integers(3, 7),
    st.integers(2, 4),
    st.integers(0, 9999),
).filter(lambda request: request.rows >= request.models[0].parameters()["k"])


def every_row(request, rounds):
    """The axes, the codes of each row as a tuple of its own, and their prices."""
    drawn = [coded.axis for coded in request.quasi]
    rows = np.column_stack([coded.codes for coded in request.quasi])
    least = request.models[0].parameters()["k"]
    ones = np.ones(len(rows), dtype=np.int64)
    found = prices.row_prices(drawn, rows, ones, least=least, rounds=rounds)
    return drawn, rows, least, found


def together(drawn, rows):
    """What a row loses in the lowest nodes that cover some rows."""
    ends = [(codes.min(keepdims=True), codes.max(keepdims=True)) for codes in rows.T]
    nodes = [axis.covering(*each)[0] for axis, each in zip(drawn, ends, strict=True)]
    return sum(a.weight * a.node_ncp[n] for a, n in zip(drawn, nodes, strict=True))


@SOME
@given(small, st.integers(1, 12))
def test_no_k_rows_ask_for_more_than_they_lose_together(request, rounds):
    drawn, rows, least, found = every_row(request, rounds)
    for some in combinations(range(len(rows)), least):
        chosen = list(some)
        asked = found[chosen].sum()
        assert asked <= least * together(drawn, rows[chosen]) + 1e-9


@SOME
@given(small)
def test_the_bound_by_prices_is_not_above_the_best_of_all_groupings(request):
    bound = lower_bound(request)
    assert bound is not None
    assert (bound.low, bound.high, bound.rows) == (bound.loss, bound.loss, request.rows)
    assert bound.loss <= optimum(request) + 1e-9


@SOME
@given(small, st.integers(2, 12))
def test_prices_never_fall_from_one_round_to_the_next(request, rounds):
    *_, before = every_row(request, rounds - 1)
    *_, after = every_row(request, rounds)
    assert (after >= before - 1e-12).all()


@SOME
@given(small)
def test_the_first_prices_are_the_cheapest_boxes_with_k_rows(request):
    drawn, rows, least, found = every_row(request, 1)
    for row in range(len(rows)):
        others = [i for i in range(len(rows)) if i != row]
        cheapest = min(
            together(drawn, rows[[row, *some]])
            for some in combinations(others, least - 1)
        )
        assert found[row] == pytest.approx(cheapest, abs=1e-8)


def test_a_row_far_from_all_others_counts_what_it_makes_them_lose():
    """Rows a, a and b, k = 2: they have to be one group, and all three lose all."""
    axis, rows, amounts = TWO, np.array([[0], [1]], dtype=np.int32), np.array([2, 1])
    alone = prices.row_prices([axis], rows, amounts, least=2, rounds=1)
    found = prices.row_prices([axis], rows, amounts, least=2, rounds=12)
    assert alone == pytest.approx([0.0, 1.0])
    assert found == pytest.approx([0.0, 2.0], abs=0.01)


def test_equal_rows_count_as_often_as_they_are_there():
    weights, asked = np.array([2, 3, 1, 5]), np.array([4.0, 1.0, 9.0, 2.0])
    found = highest_prices(weights, asked, np.array([0, 2]), 4)
    assert found.tolist() == [2 * 4.0 + 2 * 1.0, 1 * 9.0 + 3 * 2.0]


def test_boxes_with_too_few_rows_hold_no_price_down():
    axis, rows, amounts = TWO, np.array([[0], [1]], dtype=np.int32), np.array([1, 1])
    found = spare_prices([axis], rows, amounts, np.zeros(2), least=2)
    assert found == pytest.approx([1.0, 1.0])


def test_no_prices_are_computed_on_a_lattice_that_is_too_large(monkeypatch):
    request = small_request([TWO], 6, 2, seed=1)
    assert rounds_for(request, 2) == prices.ROUNDS
    monkeypatch.setattr(prices, "LOOKS", 2 * 2 * 3)
    assert rounds_for(request, 2) == 3
    monkeypatch.setattr(prices, "LOOKS", 2 * 2)
    assert rounds_for(request, 2) == 0


def test_no_prices_are_computed_where_a_column_has_no_hierarchy():
    assert rounds_for(small_request([flat_axis("city", 3)], 6, 2, seed=1), 3) == 0
