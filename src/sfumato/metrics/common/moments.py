"""Means, variances and correlations of numbers, before and after publishing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sfumato.data.arrays import Codes, Counts, Floats
from sfumato.metrics.common.compared_tables import ComparedColumn


def weighted_moments(numbers: Floats, counts: Counts) -> tuple[float, float]:
    """Return mean and variance of counted numbers; missing ones do not count.

    Both are NaN where there is no number.
    """
    known = ~np.isnan(numbers)
    total = int(counts[known].sum())
    if not total:
        return np.nan, np.nan
    mean = float(counts[known] @ numbers[known]) / total
    return mean, float(counts[known] @ (numbers[known] - mean) ** 2) / total


def before_and_after(
    column: ComparedColumn,
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Mean and variance of the original, and of the middles of published cells."""
    positions = np.asarray(column.axis.positions)
    return (
        weighted_moments(positions, column.before),
        weighted_moments(column.centers, column.after),
    )


CodedNumbers = tuple[Floats, Codes]
"""Numbers by code, and the code of each row."""
BLOCK = 1 << 20
"""Rows whose numbers are looked at together."""


def coded_correlation(left: CodedNumbers, right: CodedNumbers) -> float:
    """Pearson's correlation of two coded columns, without a number for every row."""
    rows = len(left[1])
    if rows <= BLOCK:
        return correlation(left[0][left[1]], right[0][right[1]])
    count, sums = 0, np.zeros(2)
    for one, two in _known_blocks(left, right):
        count += len(one)
        sums += one.sum(), two.sum()
    if count < 2:
        return 0.0
    mean = sums / count
    square = np.zeros(3)
    for one, two in _known_blocks(left, right):
        one, two = one - mean[0], two - mean[1]
        square += one @ one, two @ two, one @ two
    scale = float(np.sqrt(square[0] * square[1]))
    return float(square[2]) / scale if scale > 0 else 0.0


def _known_blocks(
    left: CodedNumbers, right: CodedNumbers
) -> Iterator[tuple[Floats, Floats]]:
    """The numbers of rows that have both, block by block."""
    for start in range(0, len(left[1]), BLOCK):
        rows = slice(start, start + BLOCK)
        one, two = left[0][left[1][rows]], right[0][right[1][rows]]
        known = ~(np.isnan(one) | np.isnan(two))
        yield one[known], two[known]


def correlation(left: Floats, right: Floats) -> float:
    """Pearson's correlation over the rows that have both numbers; 0 if one is constant."""
    known = ~(np.isnan(left) | np.isnan(right))
    one, two = left[known], right[known]
    if len(one) < 2:
        return 0.0
    one, two = one - one.mean(), two - two.mean()
    scale = float(np.sqrt((one @ one) * (two @ two)))
    return float(one @ two) / scale if scale > 0 else 0.0
