"""Population uniqueness agrees with ARX, with known populations and with definitions."""

import math

import numpy as np
import pandas as pd
import pytest

from sfumato.risk.figures.population_uniqueness import (
    PopulationUniqueness,
    digamma,
    pitman_share,
    snb_share,
    snb_uniques,
    zayatz_share,
)

QUASI = [
    *("age", "education", "marital-status", "native-country", "occupation"),
    *("race", "salary-class", "sex", "workclass"),
]
UNITED_STATES = 317_238_626
"""Our best guess at the size that ARX uses; its last digits move Pitman by 0.005 points."""


@pytest.fixture(scope="module")
def adult(shared_data):
    place = shared_data / "adult" / "adult_clean_30162.csv.gz"
    frame = pd.read_csv(place, dtype=str)
    return frame.groupby(QUASI).size().to_numpy()


def test_pitman_on_adult_is_what_arx_estimates(adult):
    # ARX 3.9.2 on the same nine columns, population of the United States: 3.890%.
    found = pitman_share(adult, adult.sum() / UNITED_STATES)
    assert found == pytest.approx(0.03890, abs=5e-6)


def test_zayatz_on_adult_is_what_arx_estimates(adult):
    # ARX 3.9.2: 26.46%.
    found = zayatz_share(adult, adult.sum() / UNITED_STATES)
    assert found == pytest.approx(0.2646, abs=5e-5)


def test_pitman_maximizes_the_likelihood_of_the_groups(adult):
    # Expected uniques of a population as large as the sample: near the sample's own.
    found = pitman_share(adult, 1.0)
    assert found == pytest.approx((adult == 1).sum() / adult.sum(), rel=0.02)


def known_population(seed, groups=20_000, alpha=0.8, beta=0.2):
    draw = np.random.default_rng(seed)
    return draw, 1 + draw.negative_binomial(alpha, beta, groups)


@pytest.mark.parametrize("fraction", [0.4, 0.6, 0.8])
def test_snb_finds_the_uniques_of_a_population_of_its_kind(fraction):
    draw, population = known_population(7)
    sizes = draw.binomial(population, fraction)
    true = (population == 1).sum() / population.sum()
    assert snb_share(sizes[sizes > 0], fraction) == pytest.approx(true, rel=0.2)


@pytest.mark.parametrize("fraction", [0.05, 0.2, 0.5])
def test_snb_solves_its_equations(fraction):
    groups, alpha, beta = 5000.0, 1.7, 0.3
    # The chance of one and of two sampled people, by summing over group sizes.
    chance, singles, pairs = beta**alpha, 0.0, 0.0
    for x in range(4000):
        size = x + 1
        singles += chance * size * fraction * (1 - fraction) ** x
        pairs += (
            chance * math.comb(size, 2) * fraction**2 * (1 - fraction) ** max(x - 1, 0)
        )
        chance *= (alpha + x) / (x + 1) * (1 - beta)
    found = snb_uniques(groups, fraction, groups * singles, groups * pairs)
    assert found == pytest.approx(groups * beta**alpha, rel=1e-4)


def test_dankars_rule_takes_pitman_for_small_samples(adult):
    found = PopulationUniqueness.of(adult, 0.01)
    assert (found.dankar_model, found.dankar) == ("pitman", found.pitman)


def test_dankars_rule_takes_the_smaller_of_zayatz_and_snb_for_large_samples():
    draw, population = known_population(3)
    sizes = draw.binomial(population, 0.5)
    found = PopulationUniqueness.of(sizes[sizes > 0], 0.5)
    assert found.dankar == min(found.zayatz, found.snb)


def test_nobody_is_unique_where_nobody_is_in_the_sample():
    found = PopulationUniqueness.of(np.array([2, 3, 5]), 0.1)
    assert (found.dankar, found.pitman, found.snb) == (0.0, 0.0, 0.0)


def test_a_sample_of_uniques_alone_gives_no_estimate_by_pitman():
    found = PopulationUniqueness.of(np.ones(20, dtype=np.int64), 0.05)
    assert found.pitman is None
    assert found.dankar_model == "zayatz"


@pytest.mark.parametrize("x", [0.1, 0.5, 1.0, 3.7, 12.0, 1e6])
def test_digamma_is_the_slope_of_log_gamma(x):
    step = 1e-5 * x
    slope = (math.lgamma(x + step) - math.lgamma(x - step)) / (2 * step)
    assert digamma(x) == pytest.approx(slope, rel=1e-6)


def test_groups_of_a_hundred_thousand_people_are_estimated_without_overflow():
    sizes = np.array([1] * 500 + [2] * 200 + [3] * 100 + [100_000])
    with np.errstate(all="raise", under="ignore"):
        found = PopulationUniqueness.of(sizes, 0.2)
    assert 0.0 < found.dankar < 500 / sizes.sum()
