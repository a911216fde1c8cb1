"""What a sample says about the population it was drawn from."""

from __future__ import annotations

import math

import numpy as np

from sfumato.data.arrays import Counts

ESTIMATORS = ("poisson", "zero-truncated-poisson")


def smallest_sample(
    k: int, *, fraction: float, significance: float, truncated: bool
) -> int:
    """The group size in a sample that shows k or more in the population.

    A population group of k members yields a Poisson number of sampled rows with mean
    k × fraction. A group of the size returned would be larger than that with a
    chance of at most `significance`, so that its population group is taken to have
    k members or more. Truncated: given that at least one row was drawn, as is the
    case for every group that is seen.
    """
    mean = k * fraction
    first, chances = _poisson(mean)
    if truncated:
        chances = np.where(np.arange(first, first + len(chances)) == 0, 0.0, chances)
        chances = chances / -math.expm1(-mean)
    reached = np.flatnonzero(np.cumsum(chances) >= 1.0 - significance)
    return first + (int(reached[0]) if len(reached) else len(chances) - 1) + 1


def largest_population(
    size: int, *, fraction: float, significance: float, truncated: bool
) -> int:
    """The largest k that a group of this size in the sample shows; 0 if none."""

    def shown(k: int) -> bool:
        needed = smallest_sample(
            k, fraction=fraction, significance=significance, truncated=truncated
        )
        return needed <= size

    if not shown(1):
        return 0
    high = 2
    while shown(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if shown(middle) else (low, middle)
    return low


def _poisson(mean: float) -> tuple[int, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """Poisson probabilities around the mean, starting where they stop being negligible."""
    width = 12.0 * math.sqrt(mean) + 40.0
    first = max(0, math.floor(mean - width))
    numbers = np.arange(first + 1, math.ceil(mean + width) + 1, dtype=np.float64)
    start = first * math.log(mean) - mean - math.lgamma(first + 1)
    logs = start + np.concatenate([[0.0], np.cumsum(math.log(mean) - np.log(numbers))])
    return first, np.exp(logs)


def unique_in_population(sizes: Counts, *, fraction: float, estimator: str) -> float:
    """The chance that a row unique in the sample is unique in the population."""
    if estimator == "negative-binomial":
        return fraction
    return _zayatz(sizes, fraction)


def _zayatz(sizes: Counts, fraction: float) -> float:
    """Zayatz 1991: population group sizes are distributed as those in the sample.

    By Bayes' rule, with the chance that a group of i members leaves exactly one row
    in the sample (hypergeometric).
    """
    size, number = np.unique(sizes, return_counts=True)
    sampled = int(sizes.sum())
    total = max(round(sampled / fraction), sampled)
    alone = np.array([_exactly_one(int(i), sampled, total) for i in size])
    weight = number * alone
    return float(weight[size == 1].sum() / weight.sum()) if weight.sum() > 0 else 0.0


def _exactly_one(members: int, sampled: int, total: int) -> float:
    """The chance that one of `members` is among `sampled` of `total` rows."""
    if members > total - sampled + 1:
        return 0.0
    others = _log_choose(total - members, sampled - 1) - _log_choose(total, sampled)
    return members * math.exp(others)


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
