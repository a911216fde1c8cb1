"""How numbers and parameters are put in writing."""

from __future__ import annotations

import pytest

from sfumato.report.number_text import amount, listing, measured, percent, settings


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (5, "5"),
        (30162, "30,162"),
        (3.0, "3"),
        (0.123456, "0.1235"),
        (12345.678, "12,346"),
        (float("inf"), "inf"),
        (float("nan"), "nan"),
        ("equal", "equal"),
    ],
)
def test_amounts(value, text):
    assert amount(value) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0.00%"),
        (0.00001, "< 0.01%"),
        (0.0512, "5.12%"),
        (0.2731, "27.3%"),
        (1, "100.0%"),
        (None, "–"),
    ],
)
def test_shares(share, text):
    assert percent(share) == text


@pytest.mark.parametrize(
    ("names", "text"),
    [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")],
)
def test_lists(names, text):
    assert listing(names) == text


def test_parameters_left_at_nothing_go_without_saying():
    parameters = {"level": 0, "reference": "published", "must_occur": (), "l": 3}
    assert settings(parameters) == "l = 3"


def test_a_limit_of_zero_is_said():
    assert settings({"t": 0.0, "on": ("a", "b")}) == "t = 0 on a and b"


def test_a_single_limit_names_what_was_measured():
    requirement = {"measured": 7, "parameters": {"level": 0, "k": 5}}
    assert measured(requirement) == "k = 7"


def test_with_two_limits_the_measurement_stands_without_a_name():
    requirement = {"measured": 0.4, "parameters": {"alpha": 0.5, "k": 5}}
    assert measured(requirement) == "0.4"
