"""How warm a refinement is."""

from __future__ import annotations

import pytest

from sfumato.algorithms.refinement.cooling import COLD, FEW_TIMES, cooling_of


def test_it_is_cold_until_it_is_known_how_often_changes_fit_in():
    assert cooling_of(100, many=50).warmth(0.0, 0) == 0.0


@pytest.mark.parametrize(
    ("share", "full"), [(1 / FEW_TIMES, 0.0), (1 / (FEW_TIMES + 25), 0.5), (1e-6, 1.0)]
)
def test_the_more_often_changes_fit_in_the_warmer_it_is(share, full):
    warmed = cooling_of(3000, many=50).warmed(share)
    assert warmed.warmth(0.0, 0) == pytest.approx(full)


def test_it_cools_with_the_work_and_with_the_times_whichever_is_first():
    warmed = cooling_of(999, many=50).warmed(1e-6)
    assert warmed.warmth(COLD / 2, 0) == pytest.approx(0.5)
    assert warmed.warmth(0.0, 500) == pytest.approx(0.5)
    assert warmed.warmth(COLD, 0) == 0.0
    assert warmed.warmth(0.0, 1000) == 0.0


def test_where_changes_cannot_be_tried_often_it_stays_cold():
    assert cooling_of(0, many=50).warmed(1e-6).warmth(0.0, 0) == 0.0
