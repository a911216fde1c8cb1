"""The limits on whole tables that several models share."""

from __future__ import annotations

import math

import numpy as np

from sfumato.data.arrays import Counts, Flags
from sfumato.models.base import TOLERANCE
from sfumato.models.common.feasibility import Limit


def share_limit(limit: float, *, parameter: str) -> Limit:
    """No value above a share."""
    return Limit(
        test=lambda counts, size: largest_share(counts, size) <= limit + TOLERANCE,
        score=largest_share,
        demand=f"no value above a share of {limit:,g}",
        parameter=parameter,
        at_least=False,
    )


def distinct_limit(limit: float, *, parameter: str) -> Limit:
    """At least this many values; leaving out rows never helps."""
    return Limit(
        test=lambda counts, _: np.count_nonzero(counts) >= limit - TOLERANCE,
        score=lambda counts, _: float(np.count_nonzero(counts)),
        demand=f"{limit:,g} distinct values",
        parameter=parameter,
        at_least=True,
    )


def entropy_limit(limit: float, *, parameter: str) -> Limit:
    """Entropy of at least the logarithm of a number."""
    return Limit(
        test=lambda counts, _: entropy_of(counts) >= math.log(limit) - TOLERANCE,
        score=lambda counts, _: math.exp(entropy_of(counts)),
        demand=f"an entropy of at least log {limit:,g}",
        parameter=parameter,
        at_least=True,
        partial=True,
    )


def recursive_limit(c: float, l: int, exempt: Flags, *, parameter: str) -> Limit:
    """The commonest value not exempt less than c times the rest."""
    return Limit(
        test=lambda counts, _: ratio_of(counts, l, exempt) < c - TOLERANCE,
        score=lambda counts, _: ratio_of(counts, l, exempt),
        demand=f"a ratio below {c:,g} at l = {l}",
        parameter=parameter,
        at_least=False,
        cut=~exempt,
        strict=True,
    )


def largest_share(counts: Counts, size: int) -> float:
    """The commonest value's share of the rows, or persons."""
    return float(counts.max() / size)


def entropy_of(counts: Counts) -> float:
    """Entropy in natural units."""
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log(shares)).sum())


def ratio_of(counts: Counts, l: int, exempt: Flags) -> float:
    """The commonest value not exempt, over the others without their l − 2 commonest."""
    open_to_attack = np.where(exempt, 0, counts)
    leader = int(np.argmax(open_to_attack))
    if open_to_attack[leader] == 0:
        return 0.0
    others = np.sort(np.delete(counts, leader))
    rest = int(others[: max(len(others) - (l - 2), 0)].sum())
    return float(counts[leader] / rest) if rest else math.inf
