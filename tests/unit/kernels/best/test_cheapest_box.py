"""The search for the cheapest box around a row, compared with its definition."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.algorithms.best.entropy_axes import in_bits
from sfumato.algorithms.best.row_boxes import RowBoxes
from sfumato.algorithms.request import Request
from sfumato.data.seeds import Seed
from sfumato.hierarchies.axis import CodedAxis
from sfumato.registry import algorithm
from sfumato.testing.random_groups import flat_axis
from sfumato.testing.strategies import axes
from tests.unit.algorithms.box_definition import cheapest_of_all, cheapest_of_all_boxes
from tests.unit.algorithms.lattice_cases import tree_axis
from tests.unit.algorithms.mondrian_cases import free_axis

MANY = 10**9
weighted = st.builds(
    lambda axis, weight: replace(axis, weight=weight),
    axes(max_leaves=7),
    st.sampled_from([1.0, 1.0, 0.0, 0.3, 2.0]),
)


def drawn(axes_, rows: int, seed: int) -> list[CodedAxis]:
    """Random rows on some axes, some values more often than others."""
    numbers = np.random.default_rng(seed)
    return [
        CodedAxis(
            axis,
            (axis.size * numbers.random(rows) ** numbers.choice([1, 3])).astype("i4"),
        )
        for axis in axes_
    ]


tables = st.builds(
    drawn,
    st.lists(weighted, min_size=1, max_size=4),
    st.integers(4, 9),
    st.integers(0, 99_999),
)


def points_of(quasi) -> np.ndarray:
    return np.column_stack([coded.codes for coded in quasi])


def boxes_of(quasi, least: int) -> RowBoxes:
    tuples, weights = np.unique(points_of(quasi), axis=0, return_counts=True)
    return RowBoxes(
        axes=[coded.axis for coded in quasi],
        tuples=tuples.astype(np.int32),
        weights=weights,
        least=least,
    )


def both_costs(quasi, row: int, least: int, looks: int = MANY) -> tuple[float, float]:
    """What the search finds, and what all groups of so many rows lose at least."""
    points = points_of(quasi)
    found, _ = boxes_of(quasi, least).cheapest(points[row], looks)
    axes_ = [coded.axis for coded in quasi]
    return found, cheapest_of_all(axes_, points, row, least)


@settings(max_examples=1500)
@given(tables, st.integers(0, 3), st.integers(1, 4))
def test_the_cheapest_box_is_that_of_all_sets_of_k_rows(quasi, row, least):
    found, expected = both_costs(quasi, row, least)
    assert found == pytest.approx(expected, abs=1e-9)


@settings(max_examples=500)
@given(tables, st.integers(0, 3), st.integers(1, 4))
def test_the_cheapest_box_in_bits_is_that_of_all_sets_of_k_rows(quasi, row, least):
    request = Request(
        quasi=tuple(quasi),
        models=(),
        seed=Seed.guessable(1),
        threads=1,
        resolve=algorithm,
    )
    found, expected = both_costs(in_bits(request).quasi, row, least)
    assert found == pytest.approx(expected, abs=1e-9)


@settings(max_examples=1000)
@given(tables, st.integers(0, 3), st.integers(2, 4), st.integers(0, 600))
def test_a_search_that_ends_early_is_never_above_the_cheapest_box(
    quasi, row, least, looks
):
    found, expected = both_costs(quasi, row, least, looks)
    assert found <= expected + 1e-9


def larger_table(seed: int, rows: int = 300) -> list[CodedAxis]:
    tree = tree_axis("zip", [[f"{i}", f"{i // 3}-", "*"] for i in range(12)])
    numbers = free_axis([float(i * i) for i in range(40)])
    shapes = [tree, numbers, flat_axis("city", 9), flat_axis("job", 5)]
    return drawn(shapes, rows, seed)


@pytest.mark.parametrize("least", [3, 5, 8, 12])
@pytest.mark.parametrize("seed", range(12))
def test_the_cheapest_box_is_that_of_all_boxes(seed, least):
    numbers = free_axis([0.0, 1.0, 3.0, 4.0, 7.0, 8.0, 9.0, 12.0])
    tree = tree_axis("zip", [[f"{i}", f"{i // 3}-", "*"] for i in range(7)])
    other = [numbers, flat_axis("city", 4), tree][seed % 3]
    quasi = drawn([numbers, numbers, other], 40, seed)
    points, shapes = points_of(quasi), [coded.axis for coded in quasi]
    boxes = boxes_of(quasi, least)
    found = [boxes.cheapest(points[row], MANY)[0] for row in range(3)]
    expected = [cheapest_of_all_boxes(shapes, points, row, least) for row in range(3)]
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("least", [2, 7, 40])
@pytest.mark.parametrize("seed", range(6))
def test_more_looks_never_give_a_lower_bound_up_to_the_cheapest_box(seed, least):
    quasi = larger_table(seed)
    row, boxes = points_of(quasi)[0], boxes_of(quasi, least)
    found = [boxes.cheapest(row, looks)[0] for looks in (0, 10**4, 10**5, MANY)]
    assert all(low <= high + 1e-12 for low, high in pairwise(found))


@pytest.mark.parametrize("seed", range(4))
def test_a_search_takes_few_looks_more_than_it_may(seed):
    quasi = larger_table(seed)
    boxes = boxes_of(quasi, 40)
    one_pass = 2 * len(boxes.tuples) * 4
    found = [boxes.cheapest(row, 10**5)[1] for row in points_of(quasi)[:20]]
    assert max(found) <= 10**5 + 12 * one_pass


def test_the_box_may_be_wider_on_one_axis_to_be_narrow_on_another():
    """Row (0, 0), k = 3: the nearest two lie on different axes, a dearer one on neither."""
    ten = free_axis([float(i) for i in range(11)])
    codes = [[0, 2, 0, 3, 10], [0, 0, 2, 0, 10]]
    quasi = [CodedAxis(ten, np.array(line, dtype=np.int32)) for line in codes]
    assert both_costs(quasi, 0, 3) == pytest.approx((0.3, 0.3))
