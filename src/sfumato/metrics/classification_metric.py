"""Classification metric CM: rows whose group has another majority (Iyengar 2002)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sfumato.metrics.base import ComparisonMetric, Measured, Need
from sfumato.metrics.common.compared_tables import ComparedTables


class ClassificationMetric(ComparisonMetric):
    """Classification metric CM (Iyengar 2002), with each sensitive column as the class.

    Method: a row costs 1 if it is suppressed, or if its class is not the most frequent
    one of its group; the mean over all source rows, then over the columns.
    """

    name: ClassVar[str] = "classification_metric"
    sentence: ClassVar[str] = (
        "Share of rows whose sensitive value is not the most frequent of their group."
    )
    needs = frozenset({Need.PEOPLE, Need.SENSITIVE})

    def compare(self, compared: ComparedTables) -> Measured:
        parts = {name: self._column(compared, name) for name in compared.sensitive}
        return Measured.mean(parts)

    @staticmethod
    def _column(compared: ComparedTables, name: str) -> float:
        column, kept = compared.columns[name], ~compared.hidden
        width = column.reading.count
        keys = compared.groups[kept].astype(np.int64) * width + column.codes[kept]
        found, counts = np.unique(keys, return_counts=True)
        owners = found // width
        starts = np.flatnonzero(np.diff(owners, prepend=-1))
        right = int(np.maximum.reduceat(counts, starts).sum()) if len(starts) else 0
        return 1.0 - right / compared.rows_in
