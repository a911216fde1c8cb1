"""Means, variances and correlations of numbers, before and after publishing."""

from __future__ import annotations

import numpy as np

from sfumato.data.arrays import Counts, Floats
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


def correlation(left: Floats, right: Floats) -> float:
    """Pearson's correlation over the rows that have both numbers; 0 if one is constant."""
    known = ~(np.isnan(left) | np.isnan(right))
    one, two = left[known], right[known]
    if len(one) < 2:
        return 0.0
    one, two = one - one.mean(), two - two.mean()
    scale = float(np.sqrt((one @ one) * (two @ two)))
    return float(one @ two) / scale if scale > 0 else 0.0
