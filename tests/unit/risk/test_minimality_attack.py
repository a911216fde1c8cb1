"""The minimality attack on releases: what algorithms that use sensitive values reveal."""

from __future__ import annotations

import pandas as pd
import pytest

import sfumato as sf
from sfumato.risk.attacks import minimality

PEOPLE = pd.DataFrame(
    {"age": [20, 20, 30, 30, 30], "ill": ["flu", "flu", "hiv", "gout", "pox"]}
)
"""The two aged 20 share an illness, so that ages 20 and 30 cannot be told apart."""


def attacked(algorithm, people=PEOPLE, **settings):
    policy = sf.Policy.build(
        quasi="age",
        sensitive="ill",
        kinds={"age": "integer"},
        algorithm=algorithm,
        max_loss=1.0,
        **{"k": 2, "l": 2} | settings,
    )
    release = sf.anonymize(people, policy, insecure_seed=1)
    return sf.attack(release, people, ["minimality"], policy, insecure_seed=1)


LOOKING = ["mondrian", "optimal", "incognito", "datafly", "k-member"]


@pytest.mark.parametrize("algorithm", LOOKING)
def test_a_group_that_could_not_be_cut_gives_values_away(algorithm):
    """Flu alone occurs twice: had those aged 20 had anything else, there would be two
    groups. So both have flu for sure, and each of the others one of three illnesses."""
    result = attacked(algorithm)["minimality"]
    assert result.column == "ill"
    assert result.worst == 1.0
    assert result.baseline == pytest.approx(2 / 5)
    assert result.success == pytest.approx((1 + 1 + 3 * 1 / 3) / 5)
    assert set(result.at_risk[:2]) == {0, 1}


def test_best_gives_values_away_too():
    """The two aged 20 share an illness, so that they had to get company."""
    people = pd.DataFrame({"age": [20, 20, 40, 41, 90, 90], "ill": list("xxyzyx")})
    result = attacked("best", people)["minimality"]
    assert result.success > result.baseline
    assert result.worst == 1.0


def test_cuts_that_any_arrangement_allows_give_nothing_away():
    result = attacked("simulatable")["minimality"]
    assert result.success == result.baseline == pytest.approx(2 / 5)
    assert result.worst == pytest.approx(2 / 5)


@pytest.mark.parametrize("algorithm", ["blind", "simulatable"])
def test_groups_that_do_not_depend_on_values_tell_nothing(algorithm):
    diverse = pd.DataFrame({"age": range(20, 28), "ill": list("wxyzwxyz")})
    result = attacked(algorithm, diverse)["minimality"]
    assert result.success == result.baseline


def test_large_tables_are_not_attacked(monkeypatch):
    monkeypatch.setattr(minimality, "MOST_ROWS", 4)
    found = attacked("mondrian")
    assert found.skipped == {
        "minimality": "it runs the algorithm again and again; 4 rows at most"
    }
