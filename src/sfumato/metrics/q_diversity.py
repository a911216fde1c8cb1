"""Average Q-diversity, the utility measure UM of Loukides and Shao (2008)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sfumato.data.arrays import Floats
from sfumato.metrics.base import ComparisonMetric, Measured, Need
from sfumato.metrics.common.compared_tables import ComparedColumn, ComparedTables


class QDiversity(ComparisonMetric):
    """Average Q-diversity of groups, UM (Loukides and Shao 2008, definition 2.2).

    Method: numbers cover a share of the range, categories a share of all values, or of
    the leaves of their hierarchy; a single category counts 1 / all values, as
    written. The sum over quasi-identifiers, the mean over groups of any size.
    Limits: suppressed rows do not count, as groups and not rows are averaged.
    """

    name: ClassVar[str] = "q_diversity"
    sentence: ClassVar[str] = (
        "Average Q-diversity (UM): what a group covers, summed over quasi-identifiers."
    )
    needs = frozenset({Need.COVERS, Need.PEOPLE})

    def compare(self, compared: ComparedTables) -> Measured:
        kept = np.flatnonzero(~compared.hidden)
        _, first = np.unique(compared.groups[kept], return_index=True)
        rows = kept[first]
        parts = {}
        for name in compared.quasi:
            column = compared.columns[name]
            covered = text_diversity(column)[column.codes[rows]]
            parts[name] = float(covered.mean()) if len(rows) else 0.0
        return Measured(sum(parts.values()), parts)


def text_diversity(column: ComparedColumn) -> Floats:
    """The Q-diversity of each text."""
    covered = column.reading.ncp()
    if not column.numeric:
        single = 1.0 / max(column.axis.size, 1)
        covered[column.reading.leaf >= 0] = single
    return covered
