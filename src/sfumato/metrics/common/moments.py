"""Means, variances and correlations of numbers, before and after publishing."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

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


def coded_correlations(columns: Sequence[CodedNumbers]) -> Floats:
    """Pearson's correlation of each two coded columns, over rows that have both numbers.

    A large table is gone through once for all of them, without a number for every row.
    """
    rows = len(columns[0][1]) if columns else 0
    if rows > BLOCK:
        return _from_blocks(columns)
    found = np.ones((len(columns), len(columns)))
    numbers = [values[codes] for values, codes in columns]
    for one, two in combinations(range(len(columns)), 2):
        found[one, two] = found[two, one] = correlation(numbers[one], numbers[two])
    return found


def _from_blocks(columns: Sequence[CodedNumbers]) -> Floats:
    """Sum squares and products of numbers that are centered once, block by block."""
    centers = [_center(*column) for column in columns]
    width = len(columns)
    sums = np.zeros((4, width, width))
    for start in range(0, len(columns[0][1]), BLOCK):
        rows = slice(start, start + BLOCK)
        numbers = np.stack(
            [(v - m)[c[rows]] for (v, c), m in zip(columns, centers, strict=True)]
        )
        known = ~np.isnan(numbers)
        numbers[~known] = 0.0
        there = known.astype(np.float64)
        sums += (
            there @ there.T,
            numbers @ there.T,
            (numbers * numbers) @ there.T,
            numbers @ numbers.T,
        )
    return _correlated(*sums)


def _center(values: Floats, codes: Codes) -> float:
    counts = np.zeros(len(values), dtype=np.int64)
    for start in range(0, len(codes), BLOCK):
        counts += np.bincount(codes[start : start + BLOCK], minlength=len(values))
    mean = weighted_moments(values, counts)[0]
    return 0.0 if np.isnan(mean) else mean


def _correlated(
    count: Floats, total: Floats, square: Floats, product: Floats
) -> Floats:
    """Correlations from sums over the rows that both columns of a pair have."""
    rows = np.maximum(count, 1.0)
    spread = square - total * total / rows
    together = product - total * total.T / rows
    scale = np.sqrt(np.maximum(spread, 0.0) * np.maximum(spread.T, 0.0))
    told = (count >= 2) & (scale > 0)
    return np.where(told, together / np.where(told, scale, 1.0), 0.0)


def correlation(left: Floats, right: Floats) -> float:
    """Pearson's correlation over the rows that have both numbers; 0 if one is constant."""
    known = ~(np.isnan(left) | np.isnan(right))
    one, two = left[known], right[known]
    if len(one) < 2:
        return 0.0
    one, two = one - one.mean(), two - two.mean()
    scale = float(np.sqrt((one @ one) * (two @ two)))
    return float(one @ two) / scale if scale > 0 else 0.0
