"""Profiles ask for what their sources say, and leave out what must go."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sfumato.data.schema import Role
from sfumato.errors import UsageError
from sfumato.policy import Policy
from sfumato.policy.profiles import PROFILES
from sfumato.policy.propose import propose

ROWS = 300


def cycle(*values):
    return [values[row % len(values)] for row in range(ROWS)]


def proposed(profile, k=None, **columns):
    table = pa.table({"sex": cycle("f", "m"), **columns})
    text = propose(table, path="t.csv", profile=profile, k=k).text
    policy = Policy.parse(text)
    policy.check_columns(table.column_names)
    return policy, text


@pytest.mark.parametrize(
    ("profile", "k"),
    [
        ("ema-0070", 12),
        ("hipaa-safe-harbor", 5),
        ("public-use", 20),
        ("research-use", 5),
    ],
)
def test_each_profile_asks_for_its_group_size_and_names_its_source(profile, k):
    policy, text = proposed(profile)
    assert policy.require[0].settings["k"] == k
    assert PROFILES[profile].source in text


def test_the_threshold_of_ema_is_not_rounded():
    assert 1 / PROFILES["ema-0070"].k <= 0.09 < 1 / (PROFILES["ema-0070"].k - 1)


def left_out(policy):
    return {name for name, section in policy.columns.items() if section.drop}


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("zip", ("80331", "10115", "20095")),
        ("zip3", ("100", "036", "606")),
        ("city", ("Ulm", "Rom", "Bonn")),
        ("county", ("Kent", "Essex", "Devon")),
        ("latitude", ("48.1", "52.5", "50.9")),
        ("admitted", ("2020-01-05", "2020-02-06", "2021-03-07")),
        ("birth_month", ("1", "2", "3")),
        ("age", ("30", "91", "95")),
        ("birth_year", ("1900", "1910", "1990")),
    ],
)
def test_safe_harbor_leaves_out(name, values):
    policy, _ = proposed("hipaa-safe-harbor", **{name: cycle(*values)})
    assert name in left_out(policy)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("zip3", ("100", "941", "000")),
        ("state", ("TX", "CA", "NY", "OH")),
        ("admission_year", ("2019", "2020", "2021")),
        ("age", ("30", "89", "90")),
        ("birth_year", ("1960", "1970", "1990")),
        ("hours_per_week", ("20", "30", "40")),
    ],
)
def test_safe_harbor_keeps(name, values):
    policy, _ = proposed("hipaa-safe-harbor", **{name: cycle(*values)})
    assert name in policy.names(Role.QUASI)


def test_public_files_show_no_places_and_no_weights():
    policy, _ = proposed(
        "public-use",
        city=cycle("Ulm", "Rom", "Bonn"),
        sampling_weight=cycle("1.5", "2.5"),
        state=cycle("TX", "CA", "NY", "OH"),
    )
    assert left_out(policy) == {"city", "sampling_weight"}


def test_a_profile_is_never_weakened_by_k():
    with pytest.raises(
        UsageError, match="k is 5, and the profile 'ema-0070' asks for 12"
    ):
        proposed("ema-0070", k=5)
    assert proposed("ema-0070", k=15)[0].require[0].settings["k"] == 15


def test_a_profile_is_never_weakened_by_few_rows():
    text = propose(pa.table({"sex": ["f", "m"]}), path=None, profile="public-use").text
    assert Policy.parse(text).require[0].settings["k"] == 20


def test_an_unknown_profile_is_refused_with_the_known_ones():
    with pytest.raises(UsageError, match="no profile 'gdpr'") as error:
        proposed("gdpr")
    assert "ema-0070, hipaa-safe-harbor" in str(error.value.hint)
