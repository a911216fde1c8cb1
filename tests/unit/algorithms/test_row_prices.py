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
    MOST,
    PriceSearch,
    TupleLattice,
    can_price,
    looks_within,
)
from sfumato.hierarchies.axis import Shape
from sfumato.testing.random_groups import flat_axis
from sfumato.testing.strategies import axes
from tests.unit.algorithms.lattice_cases import tree_axis
from tests.unit.algorithms.price_definition import spare_prices
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


def every_row(request):
    """The axes, the codes of each row as a tuple of its own, and k."""
    drawn = [coded.axis for coded in request.quasi]
    rows = np.column_stack([coded.codes for coded in request.quasi])
    return drawn, rows, request.models[0].parameters()["k"]


def ones(rows):
    return np.ones(len(rows), dtype=np.int64)


def together(drawn, rows):
    """What a row loses in the lowest nodes that cover some rows."""
    ends = [(codes.min(keepdims=True), codes.max(keepdims=True)) for codes in rows.T]
    nodes = [axis.covering(*each)[0] for axis, each in zip(drawn, ends, strict=True)]
    return sum(a.weight * a.node_ncp[n] for a, n in zip(drawn, nodes, strict=True))


@SOME
@given(small)
def test_no_k_rows_ask_for_more_than_they_lose_together(request):
    drawn, rows, least = every_row(request)
    found = prices.row_prices(drawn, rows, ones(rows), least=least).prices
    for some in combinations(range(len(rows)), least):
        chosen = list(some)
        asked = found[chosen].sum()
        assert asked <= least * together(drawn, rows[chosen]) + 1e-12


@SOME
@given(small)
def test_the_bound_by_prices_is_not_above_the_best_of_all_groupings(request):
    bound = lower_bound(request)
    assert bound is not None
    assert (bound.low, bound.high, bound.rows) == (bound.loss, bound.loss, request.rows)
    assert bound.loss <= optimum(request) + 1e-9


@SOME
@given(small)
def test_the_first_prices_are_the_cheapest_boxes_with_k_rows(request):
    drawn, rows, least = every_row(request)
    search = PriceSearch(TupleLattice.of(drawn, rows, ones(rows)), least, MOST, 1)
    found = search.spare(np.zeros(len(rows)))
    for row in range(len(rows)):
        others = [i for i in range(len(rows)) if i != row]
        cheapest = min(
            together(drawn, rows[[row, *some]])
            for some in combinations(others, least - 1)
        )
        assert found[row] == pytest.approx(cheapest)


@SOME
@given(small)
def test_prices_ask_for_at_least_what_rows_lose_by_themselves(request):
    drawn, rows, least = every_row(request)
    alone = spare_prices(drawn, rows, ones(rows), np.zeros(len(rows)), least)
    found = prices.row_prices(drawn, rows, ones(rows), least=least).prices
    assert found.sum() >= alone.sum() - 1e-6


@SOME
@given(small, st.integers(0, 9999))
def test_any_prices_become_fair_by_what_boxes_have_to_spare(request, seed):
    """One search after the other, with the boxes of the earlier ones known."""
    drawn, rows, least = every_row(request)
    numbers = np.random.default_rng(seed)
    weights = numbers.integers(1, 4, len(rows))
    search = PriceSearch(TupleLattice.of(drawn, rows, weights), least, MOST, 1)
    for _ in range(3):
        asked = numbers.normal(0.0, 2.0, len(rows))
        spare = search.spare(asked)
        assert spare == pytest.approx(spare_prices(drawn, rows, weights, asked, least))
        left = spare_prices(drawn, rows, weights, asked + spare, least)
        assert left.min() >= -1e-12


def larger_table(seed):
    numbers = np.random.default_rng(seed)
    paths = [[f"{i}", f"{i // 3}-", "*"] for i in range(9)]
    drawn = [tree_axis(name, paths) for name in "abc"]
    tuples = np.unique(numbers.integers(0, 9, (300, 3)), axis=0).astype(np.int32)
    return drawn, tuples, numbers.integers(1, 3, len(tuples))


@pytest.mark.parametrize("seed", range(3))
def test_prices_are_the_same_on_any_number_of_threads(seed):
    one = prices.row_prices(*larger_table(seed), least=7, threads=1)
    for threads in (2, 3):
        more = prices.row_prices(*larger_table(seed), least=7, threads=threads)
        assert more.prices.tobytes() == one.prices.tobytes()


@pytest.mark.parametrize("least", [2, 7, 15])
def test_known_boxes_help_to_higher_prices_than_rises_alone(least):
    drawn, tuples, weights = larger_table(1)
    rises = np.zeros(len(tuples))
    for _ in range(6):
        rises += spare_prices(drawn, tuples, weights, rises, least)
    found = prices.row_prices(drawn, tuples, weights, least=least).prices
    assert spare_prices(drawn, tuples, weights, found, least).min() >= 0.0
    assert found @ weights > rises @ weights


def test_a_row_far_from_all_others_counts_what_it_makes_them_lose():
    """Rows a, a and b, k = 2: they have to be one group, and all three lose all."""
    axis, rows, amounts = TWO, np.array([[0], [1]], dtype=np.int32), np.array([2, 1])
    found = prices.row_prices([axis], rows, amounts, least=2).prices
    assert found == pytest.approx([0.0, 2.0], abs=0.01)


def test_boxes_with_too_few_rows_hold_no_price_down():
    axis, rows, amounts = TWO, np.array([[0], [1]], dtype=np.int32), np.array([1, 1])
    found = prices.row_prices([axis], rows, amounts, least=2).prices
    assert found == pytest.approx([1.0, 1.0])


def test_fewer_rows_than_a_group_needs_ask_for_nothing():
    axis, rows, amounts = TWO, np.array([[0], [1]], dtype=np.int32), np.array([1, 1])
    found = prices.row_prices([axis], rows, amounts, least=3)
    assert found.prices.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("looks", [2_000, 20_000, 200_000])
def test_prices_are_fair_wherever_the_work_ends(looks):
    drawn, tuples, weights = larger_table(2)
    found = prices.row_prices(drawn, tuples, weights, least=7, looks=looks)
    if found is not None:
        assert spare_prices(drawn, tuples, weights, found.prices, 7).min() >= 0.0


def test_there_are_no_prices_without_the_work_of_one_search():
    drawn, tuples, weights = larger_table(2)
    assert prices.row_prices(drawn, tuples, weights, least=7, looks=500) is None


def test_rows_are_bounded_one_by_one_where_prices_take_too_long(monkeypatch):
    request = small_request([TWO, TWO], 1100, 2, seed=1)
    assert lower_bound(request).rows == 1100
    assert lower_bound(request, looks=1).rows == 1000
    monkeypatch.setattr(prices, "REACH", 4 * 4 - 1)
    assert lower_bound(request).rows == 1000


def test_a_longer_run_may_search_longer():
    assert looks_within(None) == MOST
    assert looks_within(60.0) > MOST > looks_within(2.0) > 0


def test_no_prices_are_computed_where_a_column_has_no_hierarchy():
    assert can_price(small_request([TWO], 6, 2, seed=1), 2, MOST)
    assert not can_price(small_request([flat_axis("city", 3)], 6, 2, seed=1), 3, MOST)
    assert not can_price(small_request([], 6, 2, seed=1), 1, MOST)


def test_no_prices_are_computed_on_more_tuples_than_can_be_looked_at():
    request = small_request([TWO, TWO], 6, 2, seed=1)
    assert can_price(request, 1_000_000, MOST)
    assert not can_price(request, 1_000_000, MOST // 10)
