"""How many people are unique in the population, estimated from the groups of a sample.

- *Zayatz* (1991): population groups are sized like those of the sample.
- *Pitman* (Hoshino 2001): the sample is a draw of the Pitman process, whose two
  parameters are fitted by maximum likelihood.
- *SNB* (Chen and Keller-McNulty 1998): the size of a population group is one more than
  a negative binomial number, whose parameters give the sample's singles and pairs.
- *Dankar's rule* (Dankar, El Emam, Neisa and Roffey 2012): Pitman where at most a tenth of
  the population was sampled, otherwise the smaller of Zayatz and SNB.

All give the share of the population that is unique; None is "no estimate".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sfumato.data.arrays import Counts
from sfumato.models.common.sample_estimates import unique_in_population

SMALL_SAMPLE = 0.1
"""Dankar's rule trusts Pitman up to this sampling fraction."""
STEPS = 200
EDGE = 1e-5


@dataclass(frozen=True)
class PopulationUniqueness:
    """The estimates of all models, and the one that Dankar's rule picks."""

    pitman: float | None
    zayatz: float | None
    snb: float | None
    dankar: float | None
    dankar_model: str

    @classmethod
    def of(cls, sizes: Counts, fraction: float) -> PopulationUniqueness:
        """The estimates from the sizes of groups in a sample of this fraction."""
        if not (sizes == 1).any():
            return cls(0.0, 0.0, 0.0, 0.0, "no sample uniques")
        pitman, snb = pitman_share(sizes, fraction), snb_share(sizes, fraction)
        zayatz = zayatz_share(sizes, fraction)
        return cls(pitman, zayatz, snb, *_dankar(pitman, zayatz, snb, fraction))


def _dankar(
    pitman: float | None, zayatz: float, snb: float | None, fraction: float
) -> tuple[float, str]:
    """The estimate that Dankar's rule takes, and its model."""
    if fraction <= SMALL_SAMPLE and pitman is not None:
        return pitman, "pitman"
    if fraction > SMALL_SAMPLE and snb is not None and snb <= zayatz:
        return snb, "snb"
    return zayatz, "zayatz"


def zayatz_share(sizes: Counts, fraction: float) -> float:
    """Zayatz's estimate: sample uniques, each unique with the same chance."""
    chance = unique_in_population(sizes, fraction=fraction, estimator="zayatz")
    return float((sizes == 1).sum()) * chance / int(sizes.sum())


def pitman_share(sizes: Counts, fraction: float) -> float | None:
    """Pitman's estimate; none where everybody is unique in the sample."""
    if len(sizes) == int(sizes.sum()) or len(sizes) < 2:
        return None
    likelihood = _Pitman.of(sizes)
    alpha = _root(likelihood.slope, EDGE, 1.0 - EDGE)
    theta = likelihood.theta(alpha)
    everybody = max(int(sizes.sum()) / fraction, float(sizes.sum()))
    # The chance that one person of the population is alone in it.
    logarithm = (
        math.lgamma(theta + 1.0)
        - math.lgamma(theta + alpha)
        + math.lgamma(theta + alpha + everybody - 1.0)
        - math.lgamma(theta + everybody)
    )
    return min(math.exp(logarithm), 1.0)


@dataclass(frozen=True, eq=False)
class _Pitman:
    """The likelihood of Pitman's two parameters, given group sizes."""

    size: Counts
    number: Counts
    groups: int
    people: int

    @classmethod
    def of(cls, sizes: Counts) -> _Pitman:
        size, number = np.unique(sizes, return_counts=True)
        return cls(size, number, len(sizes), int(sizes.sum()))

    def slope(self, alpha: float) -> float:
        """The derivative of the profile likelihood by alpha."""
        theta = self.theta(alpha)
        ratio = theta / alpha
        held = digamma(ratio + self.groups) - digamma(ratio + 1.0)
        grown = (self.groups - 1 - ratio * held) / alpha
        parts = [digamma(s - alpha) - digamma(1.0 - alpha) for s in self.size.tolist()]
        return grown - float(self.number @ np.array(parts))

    def theta(self, alpha: float) -> float:
        """The likeliest theta for this alpha."""

        def slope(shifted: float) -> float:
            theta = math.exp(shifted) - alpha
            ratio = theta / alpha
            new = digamma(ratio + self.groups) - digamma(ratio + 1.0)
            return new / alpha - (digamma(theta + self.people) - digamma(theta + 1.0))

        return math.exp(_root(slope, math.log(EDGE), math.log(1e15))) - alpha


def snb_share(sizes: Counts, fraction: float) -> float | None:
    """The estimate of the shifted negative binomial; none where no parameters fit."""
    if fraction >= 1.0:
        return float((sizes == 1).sum()) / int(sizes.sum())
    groups = population_groups(sizes, fraction)
    singles, pairs = float((sizes == 1).sum()), float((sizes == 2).sum())
    unique = snb_uniques(groups, fraction, singles, pairs)
    everybody = int(sizes.sum()) / fraction
    return None if unique is None else min(unique / everybody, 1.0)


def population_groups(sizes: Counts, fraction: float) -> float:
    """Shlosser's estimate of how many groups the population has (Haas and Stokes 1998)."""
    size, number = np.unique(sizes, return_counts=True)
    kept = (1.0 - fraction) ** size
    square = fraction * fraction
    first = (size * square * (1.0 - square) ** (size - 1) * number).sum()
    # (1 − π)^i ((1 + π)^i − 1), without the power that grows.
    second = (((1.0 - square) ** size - kept) * number).sum()
    third = (kept * number).sum()
    fourth = (size * fraction * (1.0 - fraction) ** (size - 1) * number).sum()
    singles = float(number[size == 1].sum())
    return float(len(sizes) + singles * (first / second) * (third / fourth) ** 2)


def snb_uniques(
    groups: float, fraction: float, singles: float, pairs: float
) -> float | None:
    """Population uniques by the parameters that give these singles and pairs.

    A group has 1 + X people, X negative binomial with parameters alpha and beta, and
    each is sampled with the chance of the fraction. For a given beta the number of
    pairs per single grows with alpha, so that alpha is found by bisection; then beta,
    by the number of singles.
    """
    if pairs <= 0 or singles <= 0:
        return None

    def sampled(alpha: float, beta: float) -> tuple[float, float]:
        theta = (1.0 - fraction) * (1.0 - beta)
        scale = groups * (beta / (1.0 - theta)) ** alpha
        one = scale * fraction * (1.0 + alpha * theta / (1.0 - theta))
        two = alpha * (1.0 - beta) * (2.0 - (1.0 - alpha) * theta)
        return one, scale * fraction**2 / 2.0 * two / (1.0 - theta) ** 2

    def alpha_of(beta: float) -> float:
        def excess(logarithm: float) -> float:
            one, two = sampled(math.exp(logarithm), beta)
            return pairs / singles - two / one if one > 0 else -1.0

        return math.exp(_root(excess, math.log(1e-9), math.log(1e6)))

    def missing(logarithm: float) -> float:
        beta = 1.0 / (1.0 + math.exp(-logarithm))
        return sampled(alpha_of(beta), beta)[0] - singles

    low, high = -14.0, 12.0
    if missing(low) * missing(high) > 0:
        return None
    beta = 1.0 / (1.0 + math.exp(-_root(missing, low, high)))
    alpha = alpha_of(beta)
    found = sampled(alpha, beta)
    if not np.allclose(found, (singles, pairs), rtol=1e-3):
        return None
    return float(groups * beta**alpha)


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a function changes its sign, by bisection; an end where it does not."""
    at_low = function(low)
    if at_low * function(high) > 0:
        return low if at_low < 0 else high
    for _ in range(STEPS):
        middle = (low + high) / 2.0
        if middle in (low, high):
            break
        low, high = (middle, high) if function(middle) * at_low > 0 else (low, middle)
    return (low + high) / 2.0


def digamma(x: float) -> float:
    """The derivative of log Γ for x > 0."""
    total = 0.0
    while x < 10.0:
        total -= 1.0 / x
        x += 1.0
    square = 1.0 / (x * x)
    series = square * (
        1.0 / 12.0
        - square
        * (
            1.0 / 120.0
            - square * (1.0 / 252.0 - square * (1.0 / 240.0 - square / 132.0))
        )
    )
    return total + math.log(x) - 0.5 / x - series
