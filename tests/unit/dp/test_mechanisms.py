"""Every mechanism: its claim as OpenDP computes it, its distribution, an audit.

The statistical tests draw afresh on every run. Each states its false-alarm rate; with
1e-7 per bound the whole file fails by chance less than once in 100,000 runs. Broken copies
are broken by so much that they escape more rarely still.
"""

from __future__ import annotations

from math import erf, exp, log, sqrt

import numpy as np
import pytest

from sfumato.dp.additive_noise import Gaussian, Geometric, Laplace, gaussian_delta
from sfumato.dp.cost import Cost
from sfumato.dp.noisy_choice import Exponential, NoisyMax
from sfumato.dp.randomized_response import RandomizedResponse, UnaryEncoding
from sfumato.errors import PolicyError
from sfumato.testing.audit import audit

FALSE_ALARM = 1e-7

EVERY = {
    "randomized response": lambda e: RandomizedResponse(epsilon=e, categories=4),
    "unary encoding": lambda e: UnaryEncoding(epsilon=e, categories=9),
    "laplace": lambda e: Laplace(epsilon=e, sensitivity=3.0),
    "geometric": lambda e: Geometric(epsilon=e, sensitivity=2),
    "gaussian": lambda e: Gaussian(epsilon=e, delta=1e-5),
    "exponential": lambda e: Exponential(epsilon=e, sensitivity=0.5),
    "noisy max": lambda e: NoisyMax(epsilon=e, sensitivity=0.3),
}


def hoeffding(trials: int, bounds: int = 1) -> float:
    """How far a share may stray from its probability."""
    return sqrt(log(2 * bounds / FALSE_ALARM) / (2 * trials))


def shares(drawn: list[int], size: int) -> np.ndarray:
    return np.bincount(drawn, minlength=size) / len(drawn)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("epsilon", [0.1, 0.3, 0.7, 1.0, 2.5])
def test_the_noise_drawn_costs_what_is_claimed_and_hardly_less(name, epsilon):
    exact = EVERY[name](epsilon).exact
    assert epsilon * (1 - 1e-6) < exact <= epsilon


@pytest.mark.parametrize("name", EVERY)
def test_the_claim_is_pure_but_for_gaussian_noise(name):
    delta = 1e-5 if name == "gaussian" else 0.0
    assert EVERY[name](0.5).cost == Cost(0.5, delta)


@pytest.mark.parametrize("name", EVERY)
def test_an_epsilon_of_zero_is_refused(name):
    with pytest.raises(PolicyError, match="epsilon must be a number above 0; it is 0"):
        EVERY[name](0.0)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("epsilon", [1e-12, 40.0, 800.0])
def test_the_noise_for_an_extreme_epsilon_costs_no_more_than_claimed(name, epsilon):
    assert EVERY[name](epsilon).exact <= epsilon


def test_an_epsilon_that_rounding_alone_exceeds_is_refused():
    with pytest.raises(PolicyError, match="epsilon is too small"):
        Exponential(epsilon=1e-300).select([0.0, 1.0])


def test_randomized_response_tells_the_truth_as_often_as_it_says():
    mechanism = RandomizedResponse(epsilon=1.0, categories=3)
    drawn = [mechanism.respond(1) for _ in range(4_000)]
    expected = [0.21194, 0.57612, 0.21194]
    assert np.abs(shares(drawn, 3) - expected).max() < hoeffding(4_000, 3) + 1e-5


def test_two_fair_coins_are_randomized_response_at_ln_3():
    assert RandomizedResponse(epsilon=log(3), categories=2).truth == pytest.approx(0.75)


def test_counts_from_randomized_responses_are_unbiased():
    mechanism = RandomizedResponse(epsilon=1.0, categories=3)
    shares_seen = np.array([0.5, 0.3, 0.2])
    other = (1 - mechanism.truth) / 2
    answered = shares_seen * mechanism.truth + (1 - shares_seen) * other
    answers = np.repeat(np.arange(3), np.round(answered * 1e6).astype(int))
    assert mechanism.estimate(answers) / 1e6 == pytest.approx(shares_seen, abs=1e-5)


def test_unary_encoding_flips_each_bit_as_often_as_it_says():
    mechanism = UnaryEncoding(epsilon=2.0, categories=10)
    drawn = np.array([mechanism.respond(7) for _ in range(4_000)])
    expected = np.full(10, 0.26894)
    expected[7] = 0.73106
    assert np.abs(drawn.mean(axis=0) - expected).max() < hoeffding(4_000, 10) + 1e-5


def test_counts_from_unary_encodings_are_unbiased():
    mechanism = UnaryEncoding(epsilon=2.0, categories=2)
    p, q = 0.7310585786300049, 0.2689414213699951
    people = 1_000_000
    yes = round(0.3 * people * p + 0.7 * people * q)
    answers = np.zeros((people, 2), dtype=bool)
    answers[:yes, 0] = True
    assert mechanism.aggregate(answers)[0] == pytest.approx(300_000, abs=2)


def test_laplace_noise_has_the_laplace_distribution():
    drawn = np.sort(Laplace(epsilon=0.5, sensitivity=1.5).release(np.zeros(8_000)))
    scale = 3.0
    tails = 0.5 * np.exp(-np.abs(drawn) / scale)
    expected = np.where(drawn < 0, tails, 1 - tails)
    steps = np.arange(1, 8_001) / 8_000
    distance = max(
        np.abs(steps - expected).max(), np.abs(steps - 1.25e-4 - expected).max()
    )
    assert distance < hoeffding(8_000) + 2e-4  # Dvoretzky, Kiefer, Wolfowitz


def test_geometric_noise_has_the_two_sided_geometric_distribution():
    drawn = Geometric(epsilon=0.5).release(np.zeros(8_000, dtype=np.int64))
    ratio = exp(-0.5)
    for value in range(-6, 7):
        below = (
            ratio**-value / (1 + ratio)
            if value < 0
            else 1 - ratio ** (value + 1) / (1 + ratio)
        )
        assert abs((drawn <= value).mean() - below) < hoeffding(8_000, 13)


def test_the_stated_probabilities_of_geometric_noise_add_up_to_one():
    mechanism = Geometric(epsilon=0.3, sensitivity=2)
    assert sum(map(mechanism.probability, range(-400, 401))) == pytest.approx(1.0)


def test_gaussian_noise_has_the_normal_distribution():
    mechanism = Gaussian(epsilon=1.0, delta=1e-5)
    drawn = np.sort(mechanism.release(np.zeros(8_000)))
    expected = np.array([0.5 * (1 + erf(x / mechanism.scale / sqrt(2))) for x in drawn])
    steps = np.arange(1, 8_001) / 8_000
    assert np.abs(steps - expected).max() < hoeffding(8_000) + 2e-4


def test_the_gaussian_scale_is_the_root_of_its_exact_profile():
    """δ(ε) integrated from the two densities, for the scale in use."""
    mechanism = Gaussian(epsilon=1.0, delta=1e-3)
    x = np.linspace(-60, 60, 2_000_001)
    one = np.exp(-((x - 1) ** 2) / (2 * mechanism.scale**2))
    other = np.exp(-(x**2) / (2 * mechanism.scale**2))
    surplus = np.clip(one - exp(1.0) * other, 0, None).sum() / other.sum()
    assert surplus == pytest.approx(1e-3, rel=1e-4)


def test_gaussian_noise_serves_an_epsilon_above_one():
    mechanism = Gaussian(epsilon=4.0, delta=1e-6, sensitivity=2.0)
    assert gaussian_delta(4.0, mechanism.scale / 2.0) == pytest.approx(1e-6, rel=1e-6)


@pytest.mark.parametrize(
    ("mechanism", "expected"),
    [
        (Exponential(epsilon=2.0), [0.09003, 0.24473, 0.66524]),
        (NoisyMax(epsilon=2.0), None),
    ],
)
def test_choices_have_their_exact_distribution(mechanism, expected):
    """The noisy maximum's is that of permute-and-flip, by trying all orders."""
    scores = [0.0, 1.0, 2.0]
    expected = expected or permute_and_flip([exp(s - 2.0) for s in scores])
    drawn = [mechanism.select(scores) for _ in range(4_000)]
    assert np.abs(shares(drawn, 3) - expected).max() < hoeffding(4_000, 3) + 1e-5


def permute_and_flip(heads: list[float]) -> np.ndarray:
    """Try the candidates in random order; take the first whose coin shows heads."""
    from itertools import permutations

    chances = np.zeros(len(heads))
    orders = list(permutations(range(len(heads))))
    for order in orders:
        reached = 1.0
        for candidate in order:
            chances[candidate] += reached * heads[candidate] / len(orders)
            reached *= 1 - heads[candidate]
    return chances


def test_the_exponential_mechanism_states_its_probabilities():
    stated = Exponential(epsilon=2.0).probabilities([0.0, 1.0, 2.0])
    assert stated == pytest.approx([0.09003, 0.24473, 0.66524], abs=1e-5)


# The audit: neighbors, honest and with half the noise.

TRIALS = 3_000
FAR = [1.0] + [0.0] * 10, [0.0] + [1.0] * 10
"""Scores of neighbors that come near the worst case of a choice."""


def numbers(mechanism):
    return (
        mechanism.release(np.zeros(TRIALS, dtype=np.int64)),
        mechanism.release(np.ones(TRIALS, dtype=np.int64)),
    )


def choices(mechanism):
    return tuple([mechanism.select(s) for _ in range(TRIALS)] for s in FAR)


def answers(mechanism):
    return tuple([mechanism.respond(code) for _ in range(TRIALS)] for code in (0, 1))


def first_of_two_bits(bits) -> bool:
    return bool(bits[0]) and not bits[1]


AUDITED = {
    "laplace": (Laplace(epsilon=1.0), Laplace(epsilon=2.0), numbers),
    "geometric": (Geometric(epsilon=1.0), Geometric(epsilon=2.0), numbers),
    "gaussian": (
        Gaussian(epsilon=1.0, delta=0.05),
        Gaussian(epsilon=1.0, delta=0.05, sensitivity=0.5),
        numbers,
    ),
    "exponential": (Exponential(epsilon=2.0), Exponential(epsilon=4.0), choices),
    "noisy max": (NoisyMax(epsilon=2.0), NoisyMax(epsilon=4.0), choices),
    "randomized response": (
        RandomizedResponse(epsilon=1.0, categories=2),
        RandomizedResponse(epsilon=2.0, categories=2),
        answers,
    ),
    "unary encoding": (
        UnaryEncoding(epsilon=1.0, categories=2),
        UnaryEncoding(epsilon=2.0, categories=2),
        answers,
    ),
}
"""The claim, the same with half the noise, and how to run it on neighbors."""


def audited(name: str, *, broken: bool) -> bool:
    """Whether the audit refutes the claim."""
    honest, halved, run = AUDITED[name]
    one, other = run(halved if broken else honest)
    event = first_of_two_bits if name == "unary encoding" else lambda x: x <= 0
    claim = honest.cost
    found = audit(
        one, other, events=[event], delta=claim.delta, false_alarm=FALSE_ALARM
    )
    return found.exceeds(claim.epsilon)


@pytest.mark.parametrize("name", AUDITED)
def test_the_measured_loss_stays_within_the_claim(name):
    assert not audited(name, broken=False)


@pytest.mark.parametrize("name", AUDITED)
def test_half_the_noise_is_caught(name):
    assert audited(name, broken=True)
