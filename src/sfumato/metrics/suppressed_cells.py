"""Suppressed cells: quasi-identifier cells that tell nothing, by column."""

from __future__ import annotations

from typing import ClassVar

from sfumato.metrics.base import ComparisonMetric, Measured, Need
from sfumato.metrics.common.compared_tables import ComparedTables


class SuppressedCells(ComparisonMetric):
    """Quasi-identifier cells that tell nothing, rows left out among them.

    Method: a cell that shows `*`, that is missing where the original had a value, or that
    is not understood; the share of all source cells, in all and by column.
    """

    name: ClassVar[str] = "suppressed_cells"
    sentence: ClassVar[str] = "Share of quasi-identifier cells that tell nothing."
    needs = frozenset({Need.PEOPLE})

    def compare(self, compared: ComparedTables) -> Measured:
        parts = {}
        for name in compared.quasi:
            column = compared.columns[name]
            gone = int(column.after[column.blank].sum()) + compared.left_out
            parts[name] = gone / compared.rows_in
        return Measured.mean(parts)
