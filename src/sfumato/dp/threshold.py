"""How large a counted group must be for a sampled table to be differentially private.

A Poisson sample of rate β, generalized without looking at the data, from which groups
of fewer than k equal rows are left out, is (ε, δ)-differentially private under added or
removed rows if ε ≥ −ln(1 − β) and δ is at least

    d(k, β, ε) = max over n ≥ ⌈k/γ⌉ − 1 of P[Bin(n, β) > γn],  γ = (e^ε − 1 + β) / e^ε.

Reference: Li, Qardaji and Su 2012, theorem 5; Bild, Kuhn and Prasser 2018.
"""

from __future__ import annotations

from math import ceil, exp, expm1, floor, fsum, log, log1p

from sfumato.dp.cost import Cost
from sfumato.errors import PolicyError

MARGIN = 1.0 + 1e-9
"""Sums of floats may be off by less than this; δ is met with this margin."""


def sampling_rate(epsilon: float) -> float:
    """The highest rate that ε allows: 1 − e^−ε.

    Example:
        >>> round(sampling_rate(1.0), 3)
        0.632
    """
    return -expm1(-epsilon)


def group_delta(k: int, *, epsilon: float, rate: float) -> float:
    """d(k, β, ε): the δ of leaving out groups below k, by the exact sum.

    The maximum is over all n from the first on. Among those for which the same number
    of hits is the first beyond γn the largest n has the largest tail, and alone is
    tried. P[Bin(n, β) > γn] is at most e^(−n·D(γ‖β)) (Chernoff), so that the search ends
    when that falls below the best.

    Example:
        >>> round(group_delta(74, epsilon=1.0, rate=sampling_rate(1.0)) * 1e7, 3)
        8.995
    """
    _check_rate(epsilon, rate)
    rest = (1 - rate) * exp(-epsilon)
    share = -expm1(-epsilon) + rate * exp(-epsilon)
    decay = share * log(share / rate) - rest * epsilon
    best, hits, size = 0.0, k, 0
    while exp(-size * decay) > best:
        size = max(ceil(hits / share) - 1, 1)
        best = max(best, binomial_tail(size, rate, floor(share * size) + 1))
        hits += 1
    return best


def smallest_group(cost: Cost, *, rate: float | None = None) -> int:
    """The smallest k that makes (ε, δ) true.

    Example:
        >>> smallest_group(Cost(1.0, 1e-6))
        74
    """
    beta = sampling_rate(cost.epsilon) if rate is None else rate
    if cost.delta <= 0:
        raise PolicyError(
            "Leaving out small groups of a sample needs delta above 0; delta is 0.",
            hint="Set delta of differential-privacy, such as 1e-6.",
        )
    low, high = 0, 1
    while _delta(high, cost, beta) > cost.delta:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if _delta(middle, cost, beta) > cost.delta:
            low = middle
        else:
            high = middle
    return high


def _delta(k: int, cost: Cost, rate: float) -> float:
    return group_delta(k, epsilon=cost.epsilon, rate=rate) * MARGIN


def binomial_tail(size: int, rate: float, hits: int) -> float:
    """P[Bin(size, rate) ≥ hits], for hits above the mean.

    Terms fall ever faster, so the rest after a term is at most a geometric series. Once
    that is negligible, it is added as a whole, so that the sum is never too small.
    """
    if hits > size:
        return 0.0
    terms = [exp(_log_binomial(hits, size, rate))]
    while hits < size:
        ratio = (size - hits) * rate / ((hits + 1) * (1 - rate))
        if ratio < 1 and terms[-1] * ratio / (1 - ratio) < terms[0] * 2**-60:
            return fsum([*terms, terms[-1] * ratio / (1 - ratio)])
        terms.append(terms[-1] * ratio)
        hits += 1
    return fsum(terms)


def _log_binomial(hits: int, size: int, rate: float) -> float:
    """Return ln P[Bin(size, rate) = hits], from small numbers only, which keep digits."""
    fewer = min(hits, size - hits)
    ways = fsum(log((size - step) / (fewer - step)) for step in range(fewer))
    return ways + hits * log(rate) + (size - hits) * log1p(-rate)


def _check_rate(epsilon: float, rate: float) -> None:
    highest = sampling_rate(epsilon)
    if not 0 < rate <= highest * (1 + 1e-12):
        raise PolicyError(
            f"epsilon {epsilon:g} allows a sampling rate of up to {highest:.6g}; "
            f"the rate is {rate:.6g}.",
            hint="Leave the rate out, or raise epsilon.",
        )
