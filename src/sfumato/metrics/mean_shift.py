"""Mean shift: how far the means of numbers move."""

from __future__ import annotations

from math import sqrt
from typing import ClassVar

from sfumato.metrics.base import ComparisonMetric, Measured, Need
from sfumato.metrics.common.compared_tables import ComparedColumn, ComparedTables
from sfumato.metrics.common.moments import before_and_after


class MeanShift(ComparisonMetric):
    """How far the mean of a column of numbers moves, in its standard deviations.

    Method: a cell counts as the midpoint of what it says; a cell that says nothing does
    not count. The mean over columns.
    """

    name: ClassVar[str] = "mean_shift"
    sentence: ClassVar[str] = (
        "Mean distance that means of numbers move, in standard deviations."
    )
    needs = frozenset({Need.NUMBERS})

    def compare(self, compared: ComparedTables) -> Measured:
        parts = {
            name: self._column(compared.columns[name]) for name in compared.numbers
        }
        return Measured.mean_of_known(parts)

    @staticmethod
    def _column(column: ComparedColumn) -> float:
        (mean, variance), (shown, _) = before_and_after(column)
        return abs(shown - mean) / (sqrt(variance) or 1.0)
