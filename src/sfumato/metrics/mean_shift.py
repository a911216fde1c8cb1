"""Mean shift: how far the means of numbers move."""

from __future__ import annotations

from math import sqrt
from typing import ClassVar

from sfumato.metrics.base import Moments, NumberShift


class MeanShift(NumberShift):
    """How far the mean of a column of numbers moves, in its standard deviations.

    Method: a cell counts as the midpoint of what it says; a cell that says nothing does
    not count. The mean over columns.
    """

    name: ClassVar[str] = "mean_shift"
    sentence: ClassVar[str] = (
        "Mean distance that means of numbers move, in standard deviations."
    )

    @staticmethod
    def shift(before: Moments, after: Moments) -> float:
        mean, variance = before
        return abs(after[0] - mean) / (sqrt(variance) or 1.0)
