"""The lower bound is never above what the best of all groupings loses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.algorithms.base import Request
from sfumato.algorithms.best.best import Best
from sfumato.algorithms.best.entropy_axes import in_bits
from sfumato.algorithms.best.loss_bound import gap, lower_bound
from sfumato.algorithms.best.row_bounds import column_bound, neighbor_bound
from sfumato.algorithms.refinement.refine import loss_of
from sfumato.data.grouping import Grouping
from sfumato.data.seeds import Seed
from sfumato.hierarchies.axis import Axis, CodedAxis
from sfumato.models.k_anonymity import KAnonymity
from sfumato.registry import algorithm
from sfumato.testing.random_groups import flat_axis
from sfumato.testing.strategies import axes
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


def line(*codes: int) -> CodedAxis:
    axis = free_axis([0.0, 1.0, 2.0, 9.0, 10.0])
    return CodedAxis(axis, np.array(codes, dtype=np.int32))


@pytest.mark.parametrize(
    ("code", "least", "expected"), [(0, 2, 0.1), (3, 2, 0.1), (2, 3, 0.2), (3, 3, 0.8)]
)
def test_a_number_loses_its_shortest_interval_with_enough_rows(code, least, expected):
    assert column_bound(line(0, 1, 2, 3, 4), code, least) == pytest.approx(expected)


def test_a_value_with_enough_rows_loses_nothing():
    assert column_bound(line(0, 0, 0, 4), 0, 3) == 0.0


@pytest.mark.parametrize(("code", "least", "values"), [(3, 2, 2), (3, 5, 3), (0, 3, 0)])
def test_a_category_loses_its_smallest_set_with_enough_rows(code, least, values):
    codes = np.array([0, 0, 0, 1, 1, 2, 3], dtype=np.int32)
    coded = CodedAxis(flat_axis("city", 4), codes)
    expected = 0.0 if values == 0 else values / 4
    assert column_bound(coded, code, least) == pytest.approx(expected)


def test_a_row_loses_what_it_does_with_its_nearest_others():
    quasi = (line(0, 1, 4, 4),)
    tuples, weights = np.array([[0], [1], [4]], dtype=np.int32), np.array([1, 1, 2])
    bounds = [
        neighbor_bound(quasi, tuples, weights, row=tuples[row], least=least)
        for row, least in ((0, 2), (0, 3), (2, 2), (2, 3))
    ]
    assert bounds == pytest.approx([0.1, 1.0, 0.0, 0.9])


def test_tables_without_hierarchies_have_a_bound():
    request = small_request([flat_axis("city", 5), flat_axis("job", 5)], 40, 4, seed=3)
    bound = lower_bound(request)
    assert bound is not None
    assert bound.loss > 0


def test_there_is_no_bound_where_persons_have_several_rows():
    request = small_request([flat_axis("city", 5)], 10, 2, seed=3)
    persons = np.repeat(np.arange(5, dtype=np.int32), 2)
    assert lower_bound(replace(request, subject=persons)) is None


def test_the_gap_counts_from_the_low_end_of_the_interval():
    assert gap(0.3, 0.2, 0.15) == {
        "times": pytest.approx(1.5),
        "at_most_above": pytest.approx(1.0),
    }
    assert gap(0.3, 0.0, 0.0) == {"times": None, "at_most_above": None}


def test_the_report_says_how_far_the_optimum_can_be():
    request = small_request([flat_axis("city", 5)], 30, 7, seed=3)
    said = Best(refine=0.01).solve(request).facts["choice"][-1]
    assert "above the optimum" in said
    assert "sample" not in said
