"""How many rows a value needs so that enough of them survive sampling and a threshold.

Rows are drawn with probability β each, and tuples that fewer than k drawn rows share are
left out. Which tuples a value's rows are spread over is not known; what is known is how
many of them are *safe*: of the n rows of a tuple min(n, s · max(n − τ, 0)), added up over
the tuples. One row more or less changes that by s at most.

Claim: let r = ⌈λ/k⌉, let P[Bin(τ + 1, β) < k] ≤ b/2r, and P[Bin(y, β) < λ] ≤ b/2. If y ≥ 1
rows or more are safe, then at least λ rows survive, except with probability b.

Proof: let m ≥ 1 tuples have more than τ rows each. If m ≥ r, take r of them: all have k
drawn rows or more, except with probability r · b/2r, and then r · k ≥ λ rows survive. If
m < r, all of them do, except with that probability. Together they have y rows or more, of
which fewer than λ are drawn with probability b/2 at most.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, exp, log

import numpy as np

from sfumato.data.arrays import Ints
from sfumato.dp.threshold import MARGIN, binomial_tail


@dataclass(frozen=True)
class SafeRows:
    """Which rows of a tuple are safe: none up to τ, then s for each, until all are."""

    beyond: int
    """τ: a tuple with more rows is almost surely published."""
    slope: int
    """s: by how much one row changes what is safe, at most."""

    def of(self, sizes: Ints) -> Ints:
        """The safe rows of tuples of these sizes."""
        return np.asarray(
            np.minimum(sizes, self.slope * np.maximum(sizes - self.beyond, 0))
        )


def sure_size(rows: int, *, k: int, rate: float, doubt: float) -> int:
    """τ: tuples with more rows show `rows` rows together, or are all published.

    Example:
        >>> sure_size(100, k=74, rate=0.632, doubt=0.05)
        136
    """
    tuples = max(ceil(rows / k), 1)
    return _first(lambda n: _fewer(k, n + 1, rate) <= doubt / 2 / tuples, 0)


def needed_rows(rows: int, *, rate: float, doubt: float) -> int:
    """y: how many rows must be safe so that `rows` of them are drawn; 0 for none.

    Example:
        >>> needed_rows(100, rate=0.632, doubt=0.05)
        178
    """
    if rows <= 0:
        return 0
    return _first(lambda y: _fewer(rows, y, rate) <= doubt / 2, 1)


def most_drawn(rows: int, *, rate: float, doubt: float) -> int:
    """A number of rows that a sample of `rows` exceeds with that probability at most.

    Example:
        >>> most_drawn(1000, rate=0.632, doubt=0.05)
        657
    """
    mean = ceil(rows * rate)
    return _first(
        lambda most: binomial_tail(rows, rate, most + 1) * MARGIN <= doubt, mean
    )


def noise_margin(epsilon: float, *, sensitivity: int, doubt: float) -> int:
    """The least m for which geometric noise is above m with that probability at most.

    Noise x has probability (1 − α)/(1 + α) · α^|x|, α = e^(−ε/sensitivity), and is m + 1 or
    more with probability α^(m + 1)/(1 + α).

    Example:
        >>> noise_margin(0.1, sensitivity=1, doubt=0.05)
        23
    """
    decay = epsilon / sensitivity * (1.0 - 1e-9)
    beyond = log(doubt * (1.0 + exp(-decay))) / -decay
    return max(ceil(beyond - 1.0), 0)


def _fewer(hits: int, size: int, rate: float) -> float:
    """P[Bin(size, rate) < hits], or 1 where that is not small."""
    if size * rate <= hits:
        return 1.0
    return binomial_tail(size, 1.0 - rate, size - hits + 1) * MARGIN


def _first(meets: Callable[[int], bool], least: int) -> int:
    """The first number from `least` on that meets what all later ones meet as well."""
    if meets(least):
        return least
    step = 1
    while not meets(least + step):
        step *= 2
    low, high = least + step // 2, least + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if meets(middle) else (middle, high)
    return high
