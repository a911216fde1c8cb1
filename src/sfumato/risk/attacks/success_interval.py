"""Confidence intervals of success rates."""

from __future__ import annotations

import math

from sfumato.data.arrays import Floats

Z = 1.959963984540054
"""The 97.5th percentile of the normal distribution."""


def rate_interval(chances: Floats) -> tuple[float, float]:
    """The 95% interval of a success rate (Wilson's).

    Chances vary less than coin tosses with the same mean, so that Wilson's interval is
    wide enough for them.
    """
    n = len(chances)
    return wilson(float(chances.mean()), n) if n else (0.0, 1.0)


def mean_interval(figures: Floats) -> tuple[float, float]:
    """The 95% interval of the mean of figures that are at least 0 and are no chances.

    By the normal distribution, with the spread of the figures themselves. A single
    figure shows no spread: its interval is the figure.
    """
    n = len(figures)
    if n == 0:
        return 0.0, 0.0
    mean = float(figures.mean())
    spread = float(figures.std(ddof=1)) if n > 1 else 0.0
    half = Z * spread / math.sqrt(n)
    return max(0.0, mean - half), mean + half


def wilson(share: float, n: int) -> tuple[float, float]:
    """Wilson's interval for a share of n trials."""
    square = Z * Z / n
    middle = (share + square / 2.0) / (1.0 + square)
    half = (Z / (1.0 + square)) * math.sqrt(
        share * (1.0 - share) / n + square / (4 * n)
    )
    return max(0.0, min(middle - half, share)), min(1.0, max(middle + half, share))
