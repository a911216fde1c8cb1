"""Suppressed people: whose rows are left out, by the values they have."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sfumato.metrics.base import ComparisonMetric, Measured, Need
from sfumato.metrics.common.compared_tables import ComparedColumn, ComparedTables

FEW_VALUES = 50
"""Columns with more values are not broken down."""


class SuppressedPeople(ComparisonMetric):
    """How unevenly rows are left out: by each value of columns with few values.

    Method: of the people with one value of a quasi-identifier or sensitive column, the
    share whose row is not published or shows no quasi-identifier. The figure is the
    highest of these shares.
    """

    name: ClassVar[str] = "suppressed_people"
    sentence: ClassVar[str] = (
        "Highest share of people with one value whose rows are suppressed."
    )
    needs = frozenset({Need.PEOPLE, Need.ROWS})

    def compare(self, compared: ComparedTables) -> Measured:
        parts = {}
        for name in (*compared.quasi, *compared.sensitive):
            column = compared.columns[name]
            if column.axis.size <= FEW_VALUES:
                parts[name] = self._column(column, compared)
        shares = [share for values in parts.values() for share in values.values()]
        return Measured(max(shares, default=0.0), parts)

    @staticmethod
    def _column(column: ComparedColumn, compared: ComparedTables) -> dict[str, float]:
        lost = np.bincount(
            column.original.codes[compared.lost], minlength=column.axis.size
        )
        shares = lost / np.maximum(column.before, 1)
        return dict(zip(column.axis.labels, shares.tolist(), strict=True))
