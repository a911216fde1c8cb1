"""What a box must promise to gain before it is looked at."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.algorithms.refinement.reopening import Reopening


def reopening(*, guided: bool, timed: bool) -> Reopening:
    return Reopening(axes=np.arange(3), guided=guided, timed=timed)


@pytest.mark.parametrize(
    ("size", "warmth", "share"),
    [
        (10.0, 0.0, 0.15),
        (10.0, 0.5, 0.225),
        (10.0, 1.0, 0.3),
        (64.0, 0.0, 0.15),
        (64.0, 1.0, 0.2),
        (400.0, 1.0, 0.15),
    ],
)
def test_where_there_is_time_small_gains_are_for_the_end(size, warmth, share):
    how = reopening(guided=True, timed=True)
    assert how.worth(size, warmth) == pytest.approx(share)


@pytest.mark.parametrize(("guided", "timed"), [(False, True), (True, False)])
def test_elsewhere_the_same_share_is_asked_for_at_any_heat(guided, timed):
    assert reopening(guided=guided, timed=timed).worth(10.0, 1.0) == 0.15
