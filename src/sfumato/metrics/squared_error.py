"""SSE/SST: how much of the variance of numbers a release does not explain."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sfumato.metrics.base import ComparisonMetric, Measured, Need
from sfumato.metrics.common.compared_tables import ComparedColumn, ComparedTables


class SquaredError(ComparisonMetric):
    """Squared error over total variance, SSE/SST (Domingo-Ferrer and Mateo-Sanz 2002).

    Method: of each column of numbers the sum of squared differences between a row's
    number and the middle of its cell, divided by the sum of squared differences from
    the mean; the mean over columns. A row that is suppressed, or whose cell says
    nothing, counts as the mean. Missing numbers do not count.
    """

    name: ClassVar[str] = "squared_error"
    sentence: ClassVar[str] = (
        "SSE/SST of numbers: squared error of cells, as a share of the variance."
    )
    needs = frozenset({Need.PEOPLE, Need.ROWS, Need.NUMBERS})

    def compare(self, compared: ComparedTables) -> Measured:
        parts = {
            name: self._column(compared.columns[name], compared)
            for name in compared.numbers
        }
        return Measured.mean(parts)

    @staticmethod
    def _column(column: ComparedColumn, compared: ComparedTables) -> float:
        numbers = np.asarray(column.axis.positions)[column.original.codes]
        known = ~np.isnan(numbers)
        mean = numbers[known].mean() if known.any() else 0.0
        shown = np.full(compared.rows_in, np.nan)
        shown[compared.source_row] = column.centers[column.codes]
        shown = np.where(np.isnan(shown), mean, shown)
        total = float(((numbers[known] - mean) ** 2).sum())
        error = float(((numbers[known] - shown[known]) ** 2).sum())
        return error / total if total else float(error > 0)
