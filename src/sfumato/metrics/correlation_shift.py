"""Correlation shift: how much the correlations of numbers change."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sfumato.metrics.base import ComparisonMetric, Measured, Need
from sfumato.metrics.common.column_pairs import column_pairs
from sfumato.metrics.common.compared_tables import ComparedTables
from sfumato.metrics.common.moments import correlation


class CorrelationShift(ComparisonMetric):
    """How much Pearson's correlation of two columns of numbers changes.

    Method: the absolute difference for each pair of columns, with the middles of cells;
    the mean over pairs. Rows where one of the two cells tells nothing do not count.
    Limits: of more than 100 columns, 100 or fewer at equal distances are paired.
    """

    name: ClassVar[str] = "correlation_shift"
    sentence: ClassVar[str] = (
        "Mean change of the correlation of two columns of numbers."
    )
    needs = frozenset({Need.NUMBERS})

    def compare(self, compared: ComparedTables) -> Measured:
        before, after = {}, {}
        for name in compared.numbers:
            column = compared.columns[name]
            before[name] = np.asarray(column.axis.positions)[column.original.codes]
            after[name] = column.centers[column.codes]
        parts = {
            f"{one} × {two}": abs(
                correlation(after[one], after[two])
                - correlation(before[one], before[two])
            )
            for one, two in column_pairs(compared.numbers)
        }
        return Measured.mean(parts)
