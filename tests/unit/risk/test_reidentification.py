"""Prosecutor, journalist and marketer risk, with weights and households."""

import numpy as np
import pytest

from sfumato.risk.figures.reidentification import (
    household_risks,
    people,
    record_risks,
    sample_uniques,
    summarize,
)
from sfumato.risk.figures.thresholds import THRESHOLDS
from sfumato.risk.figures.weighted_risk import individual_risk

GROUPS = np.array([0, 0, 1, 2, 2, 2], "i4")


def test_the_prosecutor_picks_among_the_people_of_a_group():
    risks = record_risks(GROUPS)
    assert risks.prosecutor.tolist() == [1 / 2, 1 / 2, 1, 1 / 3, 1 / 3, 1 / 3]


def test_without_a_population_the_marketer_finds_one_of_each_group():
    assert record_risks(GROUPS).marketer == pytest.approx(3 / 6)


def test_the_journalist_picks_among_those_of_the_population_who_match():
    risks = record_risks(GROUPS, population=np.array([4, 10, 3]))
    expected = [1 / 4, 1 / 4, 1 / 10, 1 / 3, 1 / 3, 1 / 3]
    assert risks.journalist.tolist() == expected
    assert risks.marketer == pytest.approx(np.mean(expected))


def test_a_sampling_fraction_stands_for_a_population():
    risks = record_risks(GROUPS, fraction=0.1)
    assert risks.journalist == pytest.approx([0.05, 0.05, 0.1, *[0.1 / 3] * 3])


def test_several_rows_of_one_person_count_once():
    subjects = np.array([7, 7, 1, 2, 3, 3], "i4")
    assert people(GROUPS, subjects).tolist() == [1, 1, 2]
    assert sample_uniques(GROUPS, subjects) == 2


def test_the_share_above_each_named_threshold():
    found = summarize(np.array([0.09, 1 / 11, 0.2, 1 / 3, 1.0]))
    assert found["above"] == {"0.09": 0.8, "k = 11": 0.6, "k = 5": 0.4, "k = 3": 0.2}
    assert found["highest"] == 1.0


def test_every_threshold_has_a_source():
    assert all(each.source for each in THRESHOLDS)


def test_weighted_risks_are_those_that_sdcmicro_computes_exactly():
    # Its test data for individual risk: three keys, eight records with weights.
    keys = [231, 333, 231, 232, 331, 331, 141, 231]
    _, groups = np.unique(keys, return_inverse=True)
    weights = np.array([18.0, 45.5, 39.0, 17.0, 92.0, 8.0, 123.5, 51.0])
    found = record_risks(groups, weights=weights).journalist
    expected = [
        *(0.01355297, 0.08579129, 0.01355297, 0.17707583),
        *(0.01877883, 0.01877883, 0.03931625, 0.01355297),
    ]
    assert found == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 29, 30, 31, 200])
@pytest.mark.parametrize("weight", [1.05, 1.9, 2.0, 3.0, 40.0, 5000.0])
def test_weighted_risk_is_the_mean_of_one_over_the_population_group(size, weight):
    chance = 1.0 / weight
    most = int((size + 60 * np.sqrt(size) + 60) * weight * 3)
    numbers = np.arange(size, most + 1, dtype=float)
    logs = np.concatenate(
        [[0.0], np.cumsum(np.log(numbers[:-1] / (numbers[:-1] - size + 1)))]
    )
    mass = np.exp(logs + size * np.log(chance) + (numbers - size) * np.log1p(-chance))
    expected = float((mass / numbers).sum())
    found = individual_risk(np.array([size]), np.array([size * weight]))[0]
    assert found == pytest.approx(expected, rel=1e-6)


def test_a_household_is_found_with_any_of_its_members():
    households = np.array([0, 0, 1], "i4")
    found = household_risks(np.array([0.5, 0.2, 0.3]), households)
    assert found == pytest.approx([0.6, 0.6, 0.3])


def test_a_member_who_is_surely_found_gives_the_household_away():
    found = household_risks(np.array([1.0, 0.2]), np.array([0, 0], "i4"))
    assert found.tolist() == [1.0, 1.0]
