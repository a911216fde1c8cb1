"""Table 5.1 of seed 001, corrected, against hand-worked and enumerated cases."""

from __future__ import annotations

from itertools import combinations, product
from math import comb, exp, log

import numpy as np
import pytest

from sfumato.dp.amplification import Poisson, WithoutReplacement, WithReplacement
from sfumato.dp.cost import Cost, Relation
from sfumato.dp.sampling import capped, coins, poisson, without_replacement
from sfumato.errors import PolicyError


def test_poisson_sampling_amplifies_by_its_rate():
    found = Poisson(0.1).amplify(Cost(1.0, 1e-5))
    assert found.epsilon == pytest.approx(log(1 + 0.1 * (exp(1) - 1)))
    assert found.delta == pytest.approx(1e-6)


def test_sampling_without_replacement_amplifies_by_m_over_n():
    found = WithoutReplacement(size=30, rows=120).amplify(Cost(0.8, 4e-6))
    assert found.epsilon == pytest.approx(log(1 + 0.25 * (exp(0.8) - 1)))
    assert found.delta == pytest.approx(1e-6)


def test_sampling_with_replacement_sums_the_delta_of_every_number_of_copies():
    """n = 4, m = 2: one copy 2·¼·¾ = 0.375, two copies 1/16; δ₂ = δ(1 + e^ε) at 2ε."""
    found = WithReplacement(size=2, rows=4).amplify(Cost(0.5, 1e-3), at=1.0)
    assert found.epsilon == pytest.approx(log(1 + 0.4375 * (exp(1.0) - 1)))
    assert found.delta == pytest.approx(0.375e-3 + (1 + exp(0.5)) * 1e-3 / 16)


def test_the_delta_printed_in_the_table_is_too_small():
    """The printed sum has δ for every number of copies: (1 − (1 − 1/n)^m)·δ."""
    cost, sampling = Cost(1.0, 1e-4), WithReplacement(size=6, rows=6)
    chances = [comb(6, k) * (1 / 6) ** k * (5 / 6) ** (6 - k) for k in range(1, 7)]
    assert sampling.amplify(cost, at=6.0).delta > 1.5 * sum(chances) * 1e-4


def test_a_mechanism_may_give_its_own_delta_for_copies():
    sampling = WithReplacement(size=2, rows=4)
    found = sampling.amplify(Cost(0.5, 1e-3), for_copies=lambda k: k * 1e-3)
    assert found.delta == pytest.approx(0.375e-3 + 2e-3 / 16)


def test_each_sampling_states_its_neighbors():
    assert [s.relation for s in (Poisson, WithoutReplacement, WithReplacement)] == [
        Relation.ADD_REMOVE,
        Relation.SUBSTITUTION,
        Relation.SUBSTITUTION,
    ]


@pytest.mark.parametrize("rate", [0.0, 1.5, -0.1])
def test_a_rate_outside_0_and_1_is_refused(rate):
    with pytest.raises(PolicyError, match=r"must lie in \(0, 1\]"):
        Poisson(rate)


# Exact enumeration: randomized response on every row of the sample, then counted.


def loss(one: dict, other: dict) -> float:
    outputs = set(one) | set(other)
    return max(
        abs(log(one.get(o, 0) / other.get(o, 0)))
        if one.get(o) and other.get(o)
        else 1e9
        for o in outputs
    )


def answered(sample: tuple[int, ...], truth: float) -> dict[int, float]:
    """The distribution of the number of private yeses of a sample."""
    found: dict[int, float] = {}
    for bits in product((0, 1), repeat=len(sample)):
        chance = 1.0
        for bit, value in zip(bits, sample, strict=True):
            chance *= truth if bit == value else 1 - truth
        found[sum(bits)] = found.get(sum(bits), 0.0) + chance
    return found


def mixed(parts: list[tuple[float, dict]]) -> dict[int, float]:
    total: dict[int, float] = {}
    for weight, part in parts:
        for output, chance in part.items():
            total[output] = total.get(output, 0.0) + weight * chance
    return total


def test_no_substituted_row_costs_more_than_the_amplified_epsilon():
    """All samples of 2 of 4 rows; the mechanism costs ε = ln 3 per substituted row."""
    truth, table, neighbor = 0.75, (1, 0, 0, 1), (0, 0, 0, 1)
    claim = WithoutReplacement(size=2, rows=4).amplify(Cost(log(3))).epsilon
    chosen = list(combinations(range(4), 2))
    outputs = [
        mixed([(1 / 6, answered(tuple(t[i] for i in s), truth)) for s in chosen])
        for t in (table, neighbor)
    ]
    assert loss(*outputs) <= claim + 1e-12


def drawn_with_replacement() -> list[dict]:
    """All 2 of 3 with replacement, of a table and its neighbor, ε = ln 3 per row."""
    chosen = list(product(range(3), repeat=2))
    return [
        mixed([(1 / 9, answered(tuple(t[i] for i in s), 0.75)) for s in chosen])
        for t in ((1, 0, 0), (0, 0, 0))
    ]


def test_no_row_drawn_twice_costs_more_than_the_amplified_epsilon():
    claim = WithReplacement(size=2, rows=3).amplify(Cost(log(3)), at=2 * log(3))
    assert claim.delta == 0
    assert loss(*drawn_with_replacement()) <= claim.epsilon + 1e-12


def test_an_epsilon_below_that_of_two_copies_needs_the_delta_of_two_copies():
    claim = WithReplacement(size=2, rows=3).amplify(Cost(log(3)))
    one, other = drawn_with_replacement()
    exceeding = sum(max(0, p - exp(claim.epsilon) * other[o]) for o, p in one.items())
    assert 0 < exceeding <= claim.delta


def test_no_added_row_costs_more_than_the_amplified_epsilon_of_noisy_counts():
    """A Poisson sample counted with two-sided geometric noise, ε = 1, rate 0.3."""
    rate, ratio = 0.3, exp(-1.0)
    claim = Poisson(rate).amplify(Cost(1.0)).epsilon

    def noisy(rows: int) -> dict[int, float]:
        sizes = [
            comb(rows, m) * rate**m * (1 - rate) ** (rows - m) for m in range(rows + 1)
        ]
        noise = (1 - ratio) / (1 + ratio)
        parts = [
            (chance, {x: noise * ratio ** abs(x - m) for x in range(-8, 12)})
            for m, chance in enumerate(sizes)
        ]
        return mixed(parts)

    assert max(loss(noisy(n), noisy(n + 1)) for n in range(4)) <= claim + 1e-12


# The draws themselves. False alarms: 1e-9 per bound, by Hoeffding.

STRAY = (log(2e9) / (2 * 100_000)) ** 0.5


def test_a_poisson_sample_has_its_rate():
    assert abs(len(poisson(100_000, 0.3)) / 100_000 - 0.3) < STRAY


def test_two_poisson_samples_differ():
    assert poisson(1000, 0.5).tolist() != poisson(1000, 0.5).tolist()


def test_a_sample_without_replacement_has_its_size_and_no_row_twice():
    drawn = without_replacement(50, 20)
    assert len(set(drawn.tolist())) == 20


def test_coins_fall_as_often_as_they_should():
    assert abs(coins(np.full(100_000, 0.8)).mean() - 0.8) < STRAY


def test_subjects_keep_as_many_rows_as_allowed():
    subject = np.array([5, 3, 5, 5, 3, 9], dtype=np.int32)
    kept = subject[capped(subject, 2)]
    assert sorted(kept.tolist()) == [3, 3, 5, 5, 9]
