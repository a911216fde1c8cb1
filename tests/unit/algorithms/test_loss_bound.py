"""The lower bound is never above what the best of all groupings loses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.algorithms.base import Request
from sfumato.algorithms.best.best import Best, _gap_sentence
from sfumato.algorithms.best.entropy_axes import in_bits
from sfumato.algorithms.best.loss_bound import (
    _summary,
    cells_within,
    gap,
    lower_bound,
)
from sfumato.algorithms.best.row_boxes import RowBoxes
from sfumato.algorithms.best.row_prices import looks_within
from sfumato.algorithms.refinement.refine import loss_of, meets
from sfumato.data.grouping import Grouping
from sfumato.data.seeds import Seed
from sfumato.hierarchies.axis import Axis, CodedAxis
from sfumato.models.alpha_k import AlphaK
from sfumato.models.average_risk import AverageRisk
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.uniqueness import Uniqueness
from sfumato.registry import algorithm
from sfumato.testing.random_groups import flat_axis
from sfumato.testing.strategies import axes
from tests.unit.algorithms.box_definition import cheapest_of_all
from tests.unit.algorithms.lattice_cases import tree_axis
from tests.unit.algorithms.mondrian_cases import free_axis

SOME = settings(max_examples=60)


def groupings(rows: int, k: int) -> Iterator[Grouping]:
    """All groupings of a few rows into groups of at least k."""
    for labels in _labels(rows):
        sizes = np.bincount(labels)
        if sizes.min() >= k:
            yield Grouping(np.array(labels, dtype=np.int32), len(sizes))


def _labels(rows: int, used: int = 0) -> Iterator[list[int]]:
    if rows == 0:
        yield []
        return
    for label in range(used + 1):
        for rest in _labels(rows - 1, max(used, label + 1)):
            yield [label, *rest]


def small_request(drawn: list[Axis], rows: int, k: int, seed: int) -> Request:
    numbers = np.random.default_rng(seed)
    return Request(
        quasi=tuple(
            CodedAxis(axis, numbers.integers(0, axis.size, rows).astype(np.int32))
            for axis in drawn
        ),
        models=(KAnonymity(k=k),),
        seed=Seed.guessable(1),
        threads=1,
        resolve=algorithm,
    )


small = st.builds(
    small_request,
    st.lists(axes(max_leaves=6), min_size=1, max_size=3),
    st.integers(3, 7),
    st.integers(2, 3),
    st.integers(0, 9999),
)


def optimum(request: Request) -> float:
    k = request.models[0].parameters()["k"]
    return min(loss_of(request, found) for found in groupings(request.rows, k))


@SOME
@given(small)
def test_the_bound_is_not_above_the_best_of_all_groupings(request):
    bound = lower_bound(request)
    assert bound is not None
    assert bound.rows == request.rows
    assert bound.loss <= optimum(request) + 1e-9


@SOME
@given(small)
def test_the_bound_in_bits_is_not_above_the_best_of_all_groupings(request):
    weighed = in_bits(request)
    bound = lower_bound(weighed)
    assert bound is not None
    assert bound.loss <= optimum(weighed) + 1e-9


@SOME
@given(small)
def test_the_gap_to_the_optimum_is_not_told_too_small(request):
    facts = Best(refine=0.01).solve(request).facts
    above = facts["bound"]["at_most_above"]
    best = optimum(request)
    assert above is None or facts["loss"] <= best * (1 + above) + 1e-9


@settings(max_examples=20)
@given(small, st.integers(1, 2))
def test_the_gap_counts_rows_that_are_left_out(request, removable):
    request = replace(request, removable=removable)
    solution = Best(refine=0.01).solve(request)
    facts = solution.facts
    assert facts["loss"] == pytest.approx(loss_of(request, solution.grouping))
    above = facts["bound"]["at_most_above"]
    best = optimum_without_some(request)
    assert above is None or facts["loss"] <= best * (1 + above) + 1e-9


def optimum_without_some(request: Request) -> float:
    """The least loss if rows may be left out, as many as the request allows."""
    k = request.models[0].parameters()["k"]
    best = np.inf
    for count in range(request.removable + 1):
        for gone in combinations(range(request.rows), count):
            rest = np.setdiff1d(np.arange(request.rows), gone)
            for found in groupings(len(rest), k):
                groups = np.full(request.rows, -1, dtype=np.int32)
                groups[rest] = found.group_of
                best = min(best, loss_of(request, Grouping(groups, found.count)))
    return best


@settings(max_examples=20)
@given(small)
def test_the_bound_holds_where_a_row_may_be_left_out(request):
    request = replace(request, removable=1)
    assert lower_bound(request).loss <= optimum_without_some(request) + 1e-9


@pytest.mark.parametrize("model", [Uniqueness(at_most=0.2), AverageRisk(at_most=0.3)])
def test_there_is_no_bound_where_smaller_groups_would_do(model):
    """A city of one row meets the model, although the search makes larger groups."""
    axis = tree_axis("city", [["a", "*"], ["b", "*"]])
    codes = np.array([0] * 9 + [1], dtype=np.int32)
    request = replace(
        small_request([axis], 10, 2, seed=1),
        quasi=(CodedAxis(axis, codes),),
        models=(model,),
    )
    facts = Best(refine=0.01).solve(request).facts
    assert facts["bound"] is None
    assert meets(request, Grouping(codes, 2))


def test_there_is_no_bound_where_rows_had_to_go_before_the_search():
    """Three of four rows have the same value, and one of them has to go."""
    axis = tree_axis("city", [["a", "*"], ["b", "*"]])
    request = replace(
        small_request([axis], 4, 2, seed=1),
        models=(AlphaK(alpha=0.5, k=2),),
        sensitive={"ill": CodedAxis(flat_axis("ill", 2), np.int32([0, 0, 0, 1]))},
        removable=2,
    )
    assert Best(refine=0.01).solve(request).facts["bound"] is None


def test_the_gap_is_never_rounded_down():
    bound = {"interval": (0.12345, 0.2), "at_most_above": 0.0724, "rows": 9}
    assert _gap_sentence(0.1323, bound, 9) == (
        "No grouping loses less than 0.1234: the loss is at most 8% above the optimum."
    )


def test_where_nothing_is_lost_that_is_said():
    axis = tree_axis("city", [["a", "*"], ["b", "*"]])
    codes = np.zeros(9, dtype=np.int32)
    request = replace(
        small_request([axis], 9, 2, seed=1), quasi=(CodedAxis(axis, codes),)
    )
    told = Best(refine=0.01).solve(request).facts["gap"]
    assert told == "Nothing is lost, so no grouping loses less."


def test_a_row_asks_for_no_more_than_it_loses_when_left_out():
    """Rows a × 9 and b, k = 5: b in a group costs five rows all, left out one."""
    axis = tree_axis("city", [["a", "*"], ["b", "*"]])
    codes = np.array([0] * 9 + [1], dtype=np.int32)
    request = replace(
        small_request([axis], 10, 5, seed=1), quasi=(CodedAxis(axis, codes),)
    )
    assert lower_bound(request).loss == pytest.approx(0.5, abs=0.005)
    assert lower_bound(replace(request, removable=1)).loss == pytest.approx(0.1)


def test_bits_have_no_bound_where_rows_may_be_left_out():
    """Left out, a row counts as one cell each, which may be less than its bits."""
    axis = tree_axis("city", [["a", "*"], ["b", "*"]])
    codes = np.array([0] * 9 + [1], dtype=np.int32)
    request = in_bits(
        replace(small_request([axis], 10, 5, seed=1), quasi=(CodedAxis(axis, codes),))
    )
    assert lower_bound(request) is not None
    assert lower_bound(replace(request, removable=1)) is None


def test_sets_that_are_searched_as_nodes_have_no_bound():
    request = small_request([flat_axis("city", 3)], 10, 2, seed=1)
    assert Best().search(request).facts["bound"] is not None
    assert Best(loss="entropy").search(request).facts["bound"] is None


@pytest.mark.parametrize("seconds", [1e-3, 1.0, 1e300])
def test_any_number_of_seconds_gives_a_number_of_looks(seconds):
    assert 0 <= looks_within(seconds) < np.iinfo(np.int64).max


def cheapest(coded: CodedAxis, row: int, least: int) -> float:
    tuples, weights = np.unique(coded.codes[:, None], axis=0, return_counts=True)
    boxes = RowBoxes(axes=[coded.axis], tuples=tuples, weights=weights, least=least)
    return boxes.cheapest(coded.codes[row : row + 1], 10**6)[0]


def line(*codes: int) -> CodedAxis:
    axis = free_axis([0.0, 1.0, 2.0, 9.0, 10.0])
    return CodedAxis(axis, np.array(codes, dtype=np.int32))


@pytest.mark.parametrize(
    ("row", "least", "expected"), [(0, 2, 0.1), (3, 2, 0.1), (2, 3, 0.2), (3, 3, 0.8)]
)
def test_a_number_loses_its_shortest_interval_with_enough_rows(row, least, expected):
    assert cheapest(line(0, 1, 2, 3, 4), row, least) == pytest.approx(expected)


def test_a_value_with_enough_rows_loses_nothing():
    assert cheapest(line(0, 0, 0, 4), 0, 3) == 0.0


@pytest.mark.parametrize(("row", "least", "values"), [(6, 2, 2), (6, 5, 3), (0, 3, 0)])
def test_a_category_loses_its_smallest_set_with_enough_rows(row, least, values):
    codes = np.array([0, 0, 0, 1, 1, 2, 3], dtype=np.int32)
    expected = 0.0 if values == 0 else values / 4
    found = cheapest(CodedAxis(flat_axis("city", 4), codes), row, least)
    assert found == pytest.approx(expected)


@settings(max_examples=200)
@given(small)
def test_without_prices_rows_count_with_their_cheapest_boxes(request):
    codes = np.column_stack([coded.codes for coded in request.quasi])
    drawn = [coded.axis for coded in request.quasi]
    k = request.models[0].parameters()["k"]
    every = [cheapest_of_all(drawn, codes, row, k) for row in range(request.rows)]
    expected = np.mean(every) / len(drawn)
    assert lower_bound(request, looks=0).loss == pytest.approx(expected)


@settings(max_examples=100)
@given(small, st.integers(0, 3000))
def test_a_bound_that_ends_early_is_not_above_the_best_of_all_groupings(request, limit):
    bound = lower_bound(request, looks=0, cells=limit)
    assert (
        bound is None
        or bound.rows < request.rows
        or (bound.loss <= optimum(request) + 1e-9)
    )


def mixed_request(rows: int, k: int) -> Request:
    numbers = free_axis([float(i) for i in range(50)])
    tree = tree_axis("zip", [[f"{i}", f"{i // 3}-", "*"] for i in range(12)])
    return small_request([numbers, tree, flat_axis("city", 9)], rows, k, seed=5)


def test_a_thousand_rows_are_drawn_if_that_is_done_soon():
    assert lower_bound(mixed_request(2000, 3)).rows == 1000
    assert lower_bound(mixed_request(900, 3)).rows == 900


def test_fewer_rows_are_drawn_if_searches_take_long():
    request = mixed_request(1000, 20)
    drawn = []
    for cells in (10**9, 10**8, 10**7, 10**6, 10**5):
        bound = lower_bound(request, cells=cells)
        drawn.append(bound.rows if bound else 0)
    assert drawn[0] == 1000
    assert drawn == sorted(drawn, reverse=True)
    assert 200 <= drawn[2] < drawn[1] < 1000
    assert 10 <= drawn[3] < 200
    assert drawn[4] == 0


def test_a_short_run_spends_a_tenth_of_its_time_on_the_bound():
    assert cells_within(None) == cells_within(60.0) == 10**9
    assert cells_within(5.0) == 3 * 10**8


def test_threads_and_the_order_of_rows_do_not_change_the_bound():
    request = mixed_request(2000, 5)
    backward = tuple(
        CodedAxis(coded.axis, coded.codes[::-1].copy()) for coded in request.quasi
    )
    assert lower_bound(request) == lower_bound(
        replace(request, quasi=backward, threads=2)
    )


def test_tables_without_hierarchies_have_a_bound():
    request = small_request([flat_axis("city", 5), flat_axis("job", 5)], 40, 4, seed=3)
    bound = lower_bound(request)
    assert bound is not None
    assert bound.loss > 0


def test_there_is_no_bound_where_persons_have_several_rows():
    request = small_request([flat_axis("city", 5)], 10, 2, seed=3)
    persons = np.repeat(np.arange(5, dtype=np.int32), 2)
    assert lower_bound(replace(request, subject=persons)) is None


def test_there_is_no_bound_where_rows_left_out_change_how_large_groups_must_be():
    """Without the row of low weight, the fraction of the population is smaller."""
    cities = [f"c{i // 2:02d}" for i in range(40)] + ["z"]
    weights = [8.45] * 40 + [1.0]
    release = sf.anonymize(
        pa.table({"city": cities, "weight": weights}),
        quasi="city",
        weight="weight",
        require=[{"model": "k-map", "k": 3, "sampling_fraction": "weights"}],
        max_suppressed=0.05,
        algorithm="best",
        insecure_seed=1,
    )
    assert release.audit["report"]["algorithm"]["bound"] is None


@pytest.mark.parametrize(("share", "count"), [(0.1, 10), (0.05, 20), (0.01, 200)])
def test_the_low_end_is_seldom_too_high_where_few_rows_lose_nothing(share, count):
    """False alarms: a chance of 5% would have to look like 7% in 2,000 draws."""
    numbers = np.random.default_rng(1)
    rows = 100_000
    draws = numbers.random((2000, count)) >= share
    above = [
        _summary(np.where(losses, 0.5, 0.0), rows).low > 0.5 * (1 - share)
        for losses in draws
    ]
    assert np.mean(above) < 0.07


def test_the_gap_counts_from_the_low_end_of_the_interval():
    assert gap(0.3, 0.2, 0.15) == {
        "times": pytest.approx(1.5),
        "at_most_above": pytest.approx(1.0),
    }
    assert gap(0.3, 0.0, 0.0) == {"times": None, "at_most_above": None}


def test_the_report_says_how_far_the_optimum_can_be():
    request = small_request([flat_axis("city", 5)], 30, 7, seed=3)
    said = Best(refine=0.01).solve(request).facts["gap"]
    assert "above the optimum" in said
    assert "sample" not in said
