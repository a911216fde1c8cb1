"""The risk of a record whose sampling weight is known (Benedetti and Franconi 1998).

The number F of people in the population behind a group of f sampled records is negative
binomial, with the success chance p = f / (sum of the group's weights). The risk is the
mean of 1 / F given f. With a = (1 − p) / p it is the integral of u^(f − 1) / (1 + a u)
over u from 0 to 1, which obeys r(f + 1) = (1 / f − r(f)) / a.
"""

from __future__ import annotations

import numpy as np

from sfumato.data.arrays import Counts, Floats

FEW = 30
"""From this many records on, the series below needs at most `TERMS` terms."""
TERMS = 64


def individual_risk(sizes: Counts, weights: Floats) -> Floats:
    """The risk of the records of each group, from its size and its sum of weights."""
    chance = np.clip(sizes / np.maximum(weights, sizes), 1e-12, 1.0)
    odds = (1.0 - chance) / chance
    direct = (odds >= 1.0) & (sizes < FEW)
    return np.where(
        direct, _by_recursion(sizes, np.maximum(odds, 1.0)), _by_series(sizes, odds)
    )


def _by_recursion(sizes: Counts, odds: Floats) -> Floats:
    """The risk step by step from f = 1; errors shrink by the odds at each step."""
    risk = np.log1p(odds) / odds
    for f in range(1, FEW):
        risk = np.where(sizes > f, (1.0 / f - risk) / odds, risk)
    return risk


def _by_series(sizes: Counts, odds: Floats) -> Floats:
    """The risk as the sum of j! a^j / ((1 + a)^(j + 1) f (f + 1) … (f + j)).

    Each term is at most half of the one before it where a ≤ 1, and falls faster than
    1 / C(f + j, j) everywhere.
    """
    ratio = odds / (1.0 + odds)
    term = 1.0 / ((1.0 + odds) * sizes)
    total = term.copy()
    for j in range(1, TERMS):
        term = term * j * ratio / (sizes + j)
        total += term
    return total
