"""Variance shift: how much the variances of numbers change."""

from __future__ import annotations

from math import isnan
from typing import ClassVar

from sfumato.metrics.base import Moments, NumberShift


class VarianceShift(NumberShift):
    """How much the variance of a column of numbers changes, as a share of it.

    Method: |new / old − 1|, with the middles of cells; the mean over columns.
    """

    name: ClassVar[str] = "variance_shift"
    sentence: ClassVar[str] = (
        "Mean change of the variances of numbers, as a share of them."
    )

    @staticmethod
    def shift(before: Moments, after: Moments) -> float:
        (_, old), (_, new) = before, after
        if old == 0.0 and not isnan(new):
            return float(new > 0.0)
        return abs(new / (old or 1.0) - 1.0)
