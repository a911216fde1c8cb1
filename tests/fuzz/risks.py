"""Estimates of the population, from their formulas, in plain Python."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence


def poisson_size(
    k: int, fraction: float, significance: float, *, truncated: bool
) -> int:
    """The group size that a population group of k would exceed with that chance."""
    mean = k * fraction
    chance = math.exp(-mean)
    total = 0.0 if truncated else chance
    whole = -math.expm1(-mean) if truncated else 1.0
    number = 0
    while total < (1.0 - significance) * whole - 1e-12:
        number += 1
        chance *= mean / number
        total += chance
    return number + 1


def unique_chance(sizes: Sequence[int], fraction: float, estimator: str) -> float:
    """The chance that a sample unique is unique in the population."""
    if estimator == "negative-binomial":
        return fraction
    sampled = sum(sizes)
    total = max(round(sampled / fraction), sampled)
    weight = {
        size: number * _exactly_one(size, sampled, total)
        for size, number in Counter(sizes).items()
    }
    everything = sum(weight.values())
    return weight.get(1, 0.0) / everything if everything else 0.0


def _exactly_one(members: int, sampled: int, total: int) -> float:
    """The chance that exactly one of the members is among the sampled."""
    if members > total - sampled + 1:
        return 0.0
    return members * math.comb(total - members, sampled - 1) / math.comb(total, sampled)
