"""Models that reach beyond the table: k-map, uniqueness, presence, average risk."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from sfumato.errors import PolicyError
from sfumato.models.average_risk import AverageRisk
from sfumato.models.base import Groups
from sfumato.models.common.sample_estimates import (
    largest_population,
    smallest_sample,
    unique_in_population,
)
from sfumato.models.delta_presence import DeltaPresence
from sfumato.models.group_size import GroupSize
from sfumato.models.k_map import KMap
from sfumato.models.uniqueness import Uniqueness


def groups_of(*sizes, **more):
    array = np.array(sizes, dtype=np.int64)
    return Groups(sizes=array, rows=array, **more)


def poisson_tail(k, mean, *, truncated=False):
    """P(X ≥ k), by the definition."""
    chances = [math.exp(-mean) * mean**i / math.factorial(i) for i in range(k)]
    if truncated:
        return 1 - sum(chances[1:]) / (1 - chances[0])
    return 1 - sum(chances)


@pytest.mark.parametrize("truncated", [False, True])
@pytest.mark.parametrize("k", [1, 5, 20, 60])
@pytest.mark.parametrize("fraction", [0.01, 0.1, 0.5, 1.0])
def test_the_smallest_sample_is_the_first_beyond_the_significance(
    k, fraction, truncated
):
    size = smallest_sample(k, fraction=fraction, significance=0.05, truncated=truncated)
    mean = k * fraction
    assert poisson_tail(size, mean, truncated=truncated) <= 0.05 + 1e-12
    if size > 1:
        assert poisson_tail(size - 1, mean, truncated=truncated) > 0.05 - 1e-12


def test_the_smallest_sample_grows_with_k():
    sizes = [
        smallest_sample(k, fraction=0.1, significance=0.05, truncated=False)
        for k in (1, 10, 100, 1000, 10**5)
    ]
    assert all(a <= b for a, b in pairwise(sizes))
    assert sizes[-1] == pytest.approx(10**4 + 1.645 * 100, abs=3)


def test_the_largest_population_inverts_the_smallest_sample():
    for size in (2, 5, 40):
        k = largest_population(size, fraction=0.1, significance=0.05, truncated=False)
        needed = [
            smallest_sample(n, fraction=0.1, significance=0.05, truncated=False)
            for n in (k, k + 1)
        ]
        assert needed[0] <= size < needed[1]


def test_k_map_counts_the_population():
    verdict = KMap(k=5, population="people.csv").verify(
        groups_of(2, 3, population=np.array([4, 9]))
    )
    assert (verdict.holds, verdict.measured, verdict.offending) == (False, 4, 1)


def test_k_map_estimates_from_the_weights():
    model = KMap(k=10, sampling_fraction="weights")
    groups = groups_of(3, 5, weights=np.array([30.0, 50.0]))
    fixed = KMap(k=10, sampling_fraction=0.1)
    assert model.verify(groups).measured == fixed.verify(groups).measured


def test_weights_settle_the_fraction_and_with_it_the_rule():
    model = KMap(k=20, sampling_fraction="weights").settled(rows=25, weights=100.0)
    fixed = KMap(k=20, sampling_fraction=0.25)
    assert model.rules((), subjects=False) == fixed.rules((), subjects=False)


def test_k_map_needs_a_population_or_a_fraction():
    with pytest.raises(PolicyError, match="either a population or a sampling_fraction"):
        KMap(k=5)


def test_k_map_without_its_population_table_says_so():
    with pytest.raises(PolicyError, match="population table was not read"):
        KMap(k=5, population="people.csv").verify(groups_of(3))


def test_average_risk_is_groups_over_rows():
    verdict = AverageRisk(at_most=0.4).verify(groups_of(1, 4))
    assert (verdict.holds, verdict.measured) == (True, 0.4)


def test_average_risk_above_its_limit_counts_the_groups_above_it():
    verdict = AverageRisk(at_most=0.3).verify(groups_of(1, 4))
    assert (verdict.holds, verdict.offending) == (False, 1)


def test_sample_uniqueness_is_the_share_of_groups_of_one():
    verdict = Uniqueness(at_most=0.1).verify(groups_of(1, 1, 8))
    assert (verdict.holds, verdict.measured, verdict.offending) == (False, 0.2, 2)


def test_population_uniqueness_counts_those_alone_in_the_population():
    model = Uniqueness(of="population", at_most=0.1)
    verdict = model.verify(groups_of(1, 1, 8, population=np.array([1, 7, 9])))
    assert verdict.measured == pytest.approx(0.1)


def test_the_negative_binomial_estimate_is_the_fraction_of_sample_uniques():
    model = Uniqueness(
        of="population",
        at_most=0.1,
        sampling_fraction=0.25,
        estimator="negative-binomial",
    )
    assert model.verify(groups_of(1, 1, 8)).measured == pytest.approx(0.05)


def test_zayatz_is_bayes_rule_on_hypergeometric_chances():
    """Sizes 1, 1, 2 of 4 rows drawn from 8: by counting samples."""
    chance = {
        size: math.comb(size, 1) * math.comb(8 - size, 3) / math.comb(8, 4)
        for size in (1, 2)
    }
    expected = 2 * chance[1] / (2 * chance[1] + chance[2])
    found = unique_in_population(np.array([1, 1, 2]), fraction=0.5, estimator="zayatz")
    assert found == pytest.approx(expected)


def test_a_whole_population_has_no_estimate_to_make():
    found = unique_in_population(np.array([1, 3]), fraction=1.0, estimator="zayatz")
    assert found == pytest.approx(1.0)


def test_population_uniqueness_needs_something_to_estimate_from():
    with pytest.raises(PolicyError, match="needs a population or a sampling_fraction"):
        Uniqueness(of="population", at_most=0.1).verify(groups_of(1))


def test_presence_is_rows_over_matching_people():
    model = DeltaPresence(lower=0.1, upper=0.5)
    verdict = model.verify(groups_of(2, 3, population=np.array([4, 4])))
    assert (verdict.holds, verdict.measured, verdict.offending) == (False, 0.75, 1)


def test_people_who_match_no_group_are_known_to_be_absent():
    groups = groups_of(2, population=np.array([8]), population_outside=3)
    assert not DeltaPresence(lower=0.1, upper=0.5).verify(groups).holds
    assert DeltaPresence(lower=0.0, upper=0.5).verify(groups).holds


def test_group_size_counts_rows_even_where_persons_are_declared():
    groups = Groups(sizes=np.array([1]), rows=np.array([4]))
    assert GroupSize(k=4).verify(groups).holds
