"""Choices in one batch: exact weights, exact draws, and what rounding may cost."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import exp, log

import numpy as np
import pytest

from sfumato.dp.batch_choice import BatchExponential
from sfumato.errors import PolicyError

FALSE_ALARM = 1e-7
DRAWS = 40_000


def chances(choice: BatchExponential, scores) -> list[Fraction]:
    """The exact probability of each candidate: whole weights over their sum."""
    weights = [int(w) for w in choice.weights(np.array(scores))]
    return [Fraction(w, sum(weights)) for w in weights]


def ratio_bound(epsilon: float) -> Fraction:
    """e^ε from below: a partial sum of its series."""
    term, total = Fraction(1), Fraction(1)
    for n in range(1, 60):
        term = term * Fraction(epsilon) / n
        total += term
    return total


@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 0.1, 1.0, 10.0])
def test_no_change_of_scores_by_one_exceeds_epsilon(epsilon):
    """Every pair of score vectors on a grid of [0, 1], in exact arithmetic."""
    choice = BatchExponential(epsilon=epsilon)
    grid = [chances(choice, scores) for scores in product((0, 0.3, 1), repeat=3)]
    worst = max(
        a / b for one in grid for other in grid for a, b in zip(one, other, strict=True)
    )
    assert worst <= ratio_bound(epsilon)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 10.0])
def test_nearly_all_of_epsilon_is_used(epsilon):
    choice = BatchExponential(epsilon=epsilon)
    assert 0.999 * epsilon < choice.exact <= epsilon
    low, high = chances(choice, [0.0, 1.0])
    assert float(high / low) == pytest.approx(exp(epsilon / 2), rel=1e-6)


def test_an_epsilon_too_small_to_round_for_chooses_evenly():
    choice = BatchExponential(epsilon=1e-12)
    assert chances(choice, [0.0, 1.0]) == [Fraction(1, 2)] * 2
    assert choice.exact == 0.0


def test_candidates_are_drawn_as_often_as_their_weights_say():
    """40,000 draws per candidate; Hoeffding."""
    choice = BatchExponential(epsilon=3.0)
    scores = np.tile([0.0, 0.5, 1.0], (DRAWS, 1))
    drawn = choice.select(scores, np.ones(scores.shape, dtype=bool))
    share = np.bincount(drawn, minlength=3) / DRAWS
    stray = (log(2 * 3 / FALSE_ALARM) / (2 * DRAWS)) ** 0.5
    expected = np.exp(1.5 * np.array([0.0, 0.5, 1.0]))
    assert np.abs(share - expected / expected.sum()).max() < stray


def test_only_allowed_candidates_are_drawn():
    random = np.random.default_rng(1)
    allowed = random.random((500, 4)) < 0.4
    allowed[np.arange(500), random.integers(0, 4, 500)] = True
    drawn = BatchExponential(epsilon=1.0).select(random.random((500, 4)), allowed)
    assert allowed[np.arange(500), drawn].all()


def test_epsilon_must_be_above_zero():
    with pytest.raises(PolicyError, match="epsilon must be a number above 0"):
        BatchExponential(epsilon=0.0)
