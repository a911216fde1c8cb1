"""Variance shift: how much the variances of numbers change."""

from __future__ import annotations

from math import isnan
from typing import ClassVar

from sfumato.metrics.base import ComparisonMetric, Measured, Need
from sfumato.metrics.common.compared_tables import ComparedColumn, ComparedTables
from sfumato.metrics.common.moments import before_and_after


class VarianceShift(ComparisonMetric):
    """How much the variance of a column of numbers changes, as a share of it.

    Method: |new / old − 1|, with the middles of cells; the mean over columns.
    """

    name: ClassVar[str] = "variance_shift"
    sentence: ClassVar[str] = (
        "Mean change of the variances of numbers, as a share of them."
    )
    needs = frozenset({Need.NUMBERS})

    def compare(self, compared: ComparedTables) -> Measured:
        parts = {
            name: self._column(compared.columns[name]) for name in compared.numbers
        }
        return Measured.mean_of_known(parts)

    @staticmethod
    def _column(column: ComparedColumn) -> float:
        (_, before), (_, after) = before_and_after(column)
        if before == 0.0 and not isnan(after):
            return float(after > 0.0)
        return abs(after / (before or 1.0) - 1.0)
