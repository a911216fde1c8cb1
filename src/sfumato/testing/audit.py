"""An empirical audit: does a mechanism lose more privacy than it claims?

A mechanism is run many times on two neighboring tables. For an event E of its output,
(ε, δ) promises P[E | one] ≤ e^ε · P[E | other] + δ, both ways. The audit counts E and
gives the largest ε that the counts prove at a stated confidence: a mechanism that keeps
its claim is caught with at most the stated false-alarm rate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, lgamma, log, log1p
from typing import Any, TypeVar

import numpy as np

Output = TypeVar("Output")
Event = Callable[[Any], bool]


@dataclass(frozen=True)
class Audit:
    """What an audit proved."""

    proven: float
    """The privacy loss is at least this, up to the false-alarm rate; −inf: nothing."""
    trials: int
    false_alarm: float

    def exceeds(self, epsilon: float) -> bool:
        """Whether the claim was refuted."""
        return self.proven > epsilon


def audit(
    one: Sequence[Output],
    other: Sequence[Output],
    *,
    events: Sequence[Event],
    delta: float = 0.0,
    false_alarm: float = 1e-6,
) -> Audit:
    """The loss that outputs on two neighbors prove, over all events and both ways.

    Every bound is exact (Clopper and Pearson), and the false-alarm rate is shared among
    all of them.
    """
    alpha = false_alarm / (4 * len(events))
    proven = -inf
    for event in events:
        hits = sum(map(event, one)), sum(map(event, other))
        sizes = len(one), len(other)
        for first, second in ((0, 1), (1, 0)):
            low = lower_bound(hits[first], sizes[first], alpha) - delta
            high = upper_bound(hits[second], sizes[second], alpha)
            if low > 0:
                proven = max(proven, log(low / high))
    return Audit(proven, min(len(one), len(other)), false_alarm)


def lower_bound(hits: int, trials: int, alpha: float) -> float:
    """A probability is below this with a chance of `alpha` at most, given the hits."""
    if hits == 0:
        return 0.0
    return _root(lambda p: _tail(hits, trials, p) > alpha)


def upper_bound(hits: int, trials: int, alpha: float) -> float:
    """A probability is above this with a chance of `alpha` at most, given the hits."""
    return 1.0 - lower_bound(trials - hits, trials, alpha)


def _root(too_high: Callable[[float], bool]) -> float:
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if too_high(middle) else (middle, high)
    return low


def _tail(hits: int, trials: int, p: float) -> float:
    """P[Bin(trials, p) ≥ hits]."""
    j = np.arange(hits, trials + 1)
    ways = _log_factorials(trials)
    logs = ways[trials] - ways[j] - ways[trials - j] + j * log(p)
    return float(np.exp(logs + (trials - j) * log1p(-p)).sum())


def _log_factorials(size: int) -> Any:
    """ln 0! … ln size!."""
    steps = np.concatenate([[0.0], np.log(np.arange(1, size + 1))])
    total = np.cumsum(steps)
    return total + (lgamma(size + 1) - total[-1]) * np.linspace(0.0, 1.0, size + 1)
