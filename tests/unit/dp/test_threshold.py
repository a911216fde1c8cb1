"""The group size and the sampling rate that (ε, δ) demands, and that they suffice."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import product
from math import comb, exp, log
from typing import Any

import pytest

from sfumato.dp.cost import Cost
from sfumato.dp.threshold import group_delta, sampling_rate, smallest_group
from sfumato.errors import PolicyError


def test_epsilon_1_and_delta_1e_6_need_groups_of_74():
    """ARX, which rounds sums up, says 75."""
    assert smallest_group(Cost(1.0, 1e-6)) == 74


def test_epsilon_1_allows_a_rate_of_0_632():
    assert sampling_rate(1.0) == pytest.approx(1 - exp(-1))


def test_one_row_less_does_not_meet_delta():
    rate = sampling_rate(1.0)
    assert group_delta(73, epsilon=1.0, rate=rate) > 1e-6
    assert group_delta(74, epsilon=1.0, rate=rate) <= 1e-6


@pytest.mark.parametrize("k", [2, 5, 9])
def test_the_sum_equals_its_definition(k):
    """Whole numbers to binomials, a long way beyond where the maximum can lie."""
    epsilon, rate = 0.8, 0.4
    share = (exp(epsilon) - 1 + rate) / exp(epsilon)

    def tail(n):
        hits = (j for j in range(n + 1) if j > share * n)
        return sum(comb(n, j) * rate**j * (1 - rate) ** (n - j) for j in hits)

    first = -(-k // share) - 1
    expected = max(tail(n) for n in range(max(int(first), 1), int(first) + 200))
    assert group_delta(k, epsilon=epsilon, rate=rate) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("epsilon", "k"), [(0.01, 60), (0.001, 60), (1e-6, 60), (5.0, 2044), (10.0, 304300)]
)
def test_small_and_large_epsilons_have_their_k_too(epsilon, k):
    assert smallest_group(Cost(epsilon, 1e-6)) == k


def test_the_sum_is_not_cut_short():
    """By the other side of the distribution, with whole numbers to binomials."""
    epsilon, rate, k = 0.02, 0.015, 12
    share = (exp(epsilon) - 1 + rate) / exp(epsilon)

    def tail(n):
        first = int(share * n) + 1
        kept = (comb(n, j) * rate**j * (1 - rate) ** (n - j) for j in range(first))
        return 1 - sum(kept)

    first = -(-k // share) - 1
    expected = max(tail(n) for n in range(int(first), int(first) + 400))
    assert group_delta(k, epsilon=epsilon, rate=rate) == pytest.approx(expected)


def test_a_rate_beyond_what_epsilon_allows_is_refused():
    with pytest.raises(PolicyError, match=r"up to 0\.632121; the rate is 0\.9"):
        group_delta(5, epsilon=1.0, rate=0.9)


def test_a_delta_of_zero_is_refused():
    with pytest.raises(PolicyError, match="needs delta above 0; delta is 0"):
        smallest_group(Cost(1.0))


# Brute force: every sample of tiny tables, every output, on neighbors.


def outputs(table: str, rate: float, k: int) -> dict[Any, float]:
    """The distribution of what is published: counts of values that k rows share."""
    found: dict[Any, float] = defaultdict(float)
    for chosen in product((False, True), repeat=len(table)):
        drawn = Counter(
            value for value, kept in zip(table, chosen, strict=True) if kept
        )
        shown = tuple(sorted((v, c) for v, c in drawn.items() if c >= k))
        found[shown] += rate ** sum(chosen) * (1 - rate) ** (len(table) - sum(chosen))
    return found


def exact_delta(
    one: dict[Any, float], other: dict[Any, float], epsilon: float
) -> float:
    return sum(max(0.0, chance - exp(epsilon) * other[o]) for o, chance in one.items())


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_no_neighboring_tiny_tables_differ_by_more_than_claimed(k, epsilon):
    rate = sampling_rate(epsilon)
    claim = group_delta(k, epsilon=epsilon, rate=rate)
    for size in range(1, 8):
        for ones in range(1, size + 1):
            table = "a" * ones + "b" * (size - ones)
            one, other = outputs(table, rate, k), outputs(table[1:], rate, k)
            assert exact_delta(one, other, epsilon) <= claim + 1e-12
            assert exact_delta(other, one, epsilon) <= 1e-12


def test_a_threshold_of_one_less_than_needed_breaks_some_claim():
    """The bound is not idle: at k = 1 a tiny δ is broken by the smallest table."""
    rate = sampling_rate(log(2))
    assert exact_delta(outputs("a", rate, 1), outputs("", rate, 1), log(2)) == 0.5
