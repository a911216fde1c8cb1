"""The front of two costs, against its definition point by point."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.pipeline.comparison.pareto_front import dominated_by, knee, on_front
from sfumato.pipeline.comparison.picking import choose, no_knee

NAN = float("nan")
# Few different costs, so that ties and equal points are common.
costs = st.sampled_from([0.0, 0.25, 0.5, 1.0, 2.0, float("inf"), -1.0, NAN])
tables = st.lists(st.tuples(costs, costs), max_size=12)


def array(points):
    return np.array(points, dtype=np.float64).reshape(-1, 2)


def dominates(one, other):
    """No worse in both costs, and better in one; what is unknown beats nothing."""
    return (
        one[0] <= other[0]
        and one[1] <= other[1]
        and (one[0] < other[0] or one[1] < other[1])
    )


def is_known(point):
    return not any(np.isnan(point))


@given(tables)
def test_the_front_is_what_no_other_point_dominates(points):
    expected = [
        is_known(mine) and not any(dominates(other, mine) for other in points)
        for mine in points
    ]
    assert on_front(array(points)).tolist() == expected


@given(tables)
def test_a_point_beside_the_front_names_a_point_of_the_front_that_dominates_it(points):
    front = on_front(array(points))
    for place, mine in enumerate(points):
        found = dominated_by(array(points), place)
        beaten = any(dominates(other, mine) for other in points)
        assert (found is not None) == beaten
        if found is not None:
            assert front[found]
            assert dominates(points[found], mine)


def test_equal_points_share_the_front():
    assert on_front(array([(1, 1), (1, 1), (2, 2)])).tolist() == [True, True, False]


def test_a_tie_in_one_cost_leaves_the_better_of_the_other():
    assert on_front(array([(1, 3), (1, 2), (2, 2)])).tolist() == [False, True, False]


def test_the_knee_lies_furthest_below_the_line_between_the_ends():
    assert knee(array([(0, 10), (1, 2), (5, 1), (10, 0)])) == 1


def test_the_knee_of_equals_has_the_lower_first_cost():
    assert knee(array([(4, 0), (0, 4), (2, 1), (1, 2)])) == 3


@pytest.mark.parametrize(
    "points",
    [
        [(3, 3)],
        [(0, 2), (2, 0)],
        [(0, 2), (0, 2), (2, 0)],
        [(0, 2), (1, 1), (2, 0)],
        [(0, 2), (1.5, 1.5), (2, 0)],
    ],
)
def test_there_is_no_knee_without_a_point_below_the_line_between_two_ends(points):
    assert knee(array(points)) is None


@given(tables)
def test_a_knee_is_never_an_end_of_the_front(points):
    front = array(points)[on_front(array(points))]
    place = knee(front) if len(front) else None
    if place is not None:
        assert (front[place] > front.min(axis=0)).all()
        assert (front[place] < front.max(axis=0)).all()


def test_a_front_of_two_points_has_no_knee_to_choose():
    # The best algorithm lost 16.3%, another one 71.7% at the lower risk.
    points = array([(0.2, 0.163), (0.2, 0.183), (0.19, 0.717)])
    assert choose(points, "knee") is None
    assert str(no_knee(points)).startswith(
        "There is no knee: the front has 2 points, and a knee needs 3."
    )
    assert choose(points, "min-loss") == 0


def test_the_lowest_risk_of_equals_loses_least():
    points = array([(1, 9), (1, 5), (2, 1)])
    assert choose(points, "min-risk") == 1


def test_the_lowest_loss_of_equals_has_the_lowest_risk():
    points = array([(5, 1), (3, 1), (1, 9)])
    assert choose(points, "min-loss") == 1
