"""Requirements and settings written on the command line."""

from __future__ import annotations

import pytest

from sfumato.cli.requirements import (
    parse_pair,
    parse_requirement,
    parse_value,
    split_names,
)
from sfumato.errors import PolicyError, UsageError
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.l_diversity import LDiversity


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5),
        ("0.05", 0.05),
        ("1e-3", 1e-3),
        ("true", True),
        ("gain", "gain"),
        ('"01234"', "01234"),
        ("01234", "01234"),
        ("[4, 3]", [4, 3]),
        ("1\nother = 2", "1\nother = 2"),
        ("", ""),
    ],
)
def test_values_are_read_as_toml_and_else_as_text(text, value):
    assert parse_value(text) == value


def test_a_setting_without_equals_is_refused():
    with pytest.raises(UsageError, match="--set: a setting is written KEY=VALUE"):
        parse_pair("algorithm.name", option="--set")


def test_a_value_may_contain_equals():
    assert parse_pair("a.b=c=d", option="--set") == ("a.b", "c=d")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (None, []),
        ("", []),
        ("age,zip", ["age", "zip"]),
        ("age, zip", ["age", "zip"]),
        ('"last, first",zip', ["last, first", "zip"]),
    ],
)
def test_column_names(text, names):
    assert split_names(text) == names


def test_a_requirement_is_a_model():
    assert parse_requirement("model=k-anonymity,k=5") == KAnonymity(k=5)


def test_a_requirement_may_name_a_column():
    expected = LDiversity(l=3, on="diagnosis")
    assert parse_requirement("model=l-diversity, l=3, on=diagnosis") == expected


def test_a_requirement_may_name_several_columns():
    expected = LDiversity(l=3, on=("a,b", "c"))
    assert parse_requirement('model=l-diversity,l=3,on=["a,b","c"]') == expected


def test_a_requirement_without_a_model_is_refused():
    with pytest.raises(UsageError, match="does not say which model"):
        parse_requirement("k=5")


def test_an_unknown_model_is_refused_with_a_suggestion():
    with pytest.raises(PolicyError, match="Did you mean 'k-anonymity'"):
        parse_requirement("model=k-anonimity,k=5")


def test_an_unknown_parameter_is_refused_with_the_known_ones():
    with pytest.raises(PolicyError, match=r"require\.q is unknown to k-anonymity"):
        parse_requirement("model=k-anonymity,q=5")


def test_a_missing_parameter_is_refused():
    with pytest.raises(PolicyError, match="lacks 'k', which k-anonymity needs"):
        parse_requirement("model=k-anonymity")


def test_a_parameter_of_a_wrong_kind_is_refused():
    with pytest.raises(PolicyError, match=r"require\.k is a text, not a whole number"):
        parse_requirement("model=k-anonymity,k=five")
