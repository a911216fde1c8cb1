"""KL divergence of single columns: what one-way tables lose."""

from __future__ import annotations

from typing import ClassVar

from sfumato.metrics.base import ComparisonMetric, Measured
from sfumato.metrics.common.compared_tables import ComparedTables
from sfumato.metrics.common.spread import divergence, marginal


class KlDivergence(ComparisonMetric):
    """How far each column's distribution is from the original's (Kifer and Gehrke 2006).

    Method: KL divergence in bits, mean over quasi-identifiers and sensitive columns. A
    cell is spread evenly over the values it could be, and a row that was left out over
    all values.
    """

    name: ClassVar[str] = "kl_divergence"
    sentence: ClassVar[str] = (
        "Mean KL divergence of a column's distribution from the original's, in bits."
    )

    def compare(self, compared: ComparedTables) -> Measured:
        parts = {}
        for name in (*compared.quasi, *compared.sensitive):
            column = compared.columns[name]
            shown = marginal(column, compared.left_out)
            parts[name] = divergence(column.before, shown, compared.rows_out)
        return Measured.mean(parts)
