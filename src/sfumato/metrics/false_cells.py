"""False cells: quasi-identifier cells that do not hold the original's value."""

from __future__ import annotations

from typing import ClassVar

from sfumato.metrics.base import ComparisonMetric, Measured, Need
from sfumato.metrics.common.compared_tables import ComparedTables


class FalseCells(ComparisonMetric):
    """Quasi-identifier cells that do not hold the value of their own row.

    Method: a published cell is false if it cannot stand for the original's value. Cells
    that are not understood count as false.
    """

    name: ClassVar[str] = "false_cells"
    sentence: ClassVar[str] = (
        "Share of published quasi-identifier cells that do not hold the true value."
    )
    needs = frozenset({Need.COVERS, Need.PEOPLE, Need.ROWS})

    def compare(self, compared: ComparedTables) -> Measured:
        parts = {}
        for name in compared.quasi:
            column = compared.columns[name]
            truth = column.original.codes[compared.source_row]
            held = column.reading.covers(column.codes, truth)
            parts[name] = 1.0 - float(held.mean()) if len(held) else 0.0
        return Measured.mean(parts)
