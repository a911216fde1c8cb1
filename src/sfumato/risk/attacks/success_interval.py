"""Confidence intervals of success rates."""

from __future__ import annotations

import math

from sfumato.data.arrays import Floats

Z = 1.959963984540054
"""The 97.5th percentile of the normal distribution."""


def interval(chances: Floats) -> tuple[float, float]:
    """The 95% interval of a mean: Wilson's for shares, else by the normal distribution.

    Chances between 0 and 1 vary less than coin tosses with the same mean, so that
    Wilson's interval is wide enough for them.
    """
    n = len(chances)
    if n == 0:
        return 0.0, 1.0
    mean = float(chances.mean())
    if chances.min() >= 0.0 and chances.max() <= 1.0:
        return wilson(mean, n)
    half = Z * float(chances.std()) / math.sqrt(n)
    return mean - half, mean + half


def wilson(share: float, n: int) -> tuple[float, float]:
    """Wilson's interval for a share of n trials."""
    square = Z * Z / n
    middle = (share + square / 2.0) / (1.0 + square)
    half = (Z / (1.0 + square)) * math.sqrt(
        share * (1.0 - share) / n + square / (4 * n)
    )
    return max(0.0, min(middle - half, share)), min(1.0, max(middle + half, share))
