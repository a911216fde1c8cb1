"""KL divergence of pairs of columns: what two-way tables lose."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sfumato.data.arrays import Counts
from sfumato.metrics.base import ComparisonMetric, Measured
from sfumato.metrics.common.column_pairs import column_pairs
from sfumato.metrics.common.compared_tables import ComparedColumn, ComparedTables
from sfumato.metrics.common.spread import divergence, joint

MOST_PAIRS_OF_VALUES = 2**21
"""Pairs of columns with more pairs of values are left out as too large to tabulate."""


class KlDivergenceOfPairs(ComparisonMetric):
    """How far the joint distribution of two columns is from the original's.

    Method: as `kl_divergence`, for every pair of quasi-identifiers and sensitive
    columns. A row's two cells are spread independently of each other.
    Limits: pairs of columns with more than 2,097,152 pairs of values are left out;
    of more than 100 columns, 100 or fewer at equal distances are paired.
    """

    name: ClassVar[str] = "kl_divergence_of_pairs"
    sentence: ClassVar[str] = (
        "Mean KL divergence of the distribution of two columns, in bits."
    )

    def compare(self, compared: ComparedTables) -> Measured:
        parts = {}
        for one, two in column_pairs((*compared.quasi, *compared.sensitive)):
            left, right = compared.columns[one], compared.columns[two]
            if left.axis.size * right.axis.size <= MOST_PAIRS_OF_VALUES:
                shown = joint(left, right, compared.left_out)
                counts = _pairs(left, right)
                far = divergence(counts.ravel(), shown.ravel(), compared.rows_out)
                parts[f"{one} × {two}"] = far
        return Measured.mean(parts)


def _pairs(left: ComparedColumn, right: ComparedColumn) -> Counts:
    """How many original rows have each pair of values."""
    width = right.axis.size
    keys = left.original.codes.astype(np.int64) * width + right.original.codes
    return np.bincount(keys, minlength=left.axis.size * width)
