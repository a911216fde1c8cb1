"""`sfumato list --help-me-choose`: recommendations that the catalogue and figures back."""

from __future__ import annotations

import json
import re

import pytest

from sfumato import registry
from sfumato.cli import choices, main

every = pytest.mark.parametrize(
    "choice", choices.RECOMMENDATIONS, ids=lambda choice: choice.case
)


@every
def test_a_recommendation_names_things_of_the_catalogue(choice):
    models = re.findall(r"([a-z-]+) \(", choice.model)
    assert models
    assert set(models) <= set(registry.names("models"))
    assert choice.algorithm in registry.names("algorithms")
    assert choice.operator in registry.names("operators")


@every
def test_a_recommendation_is_measured_on_four_tables(choice):
    figures = choices.measured()[choice.measured]
    assert len(figures) == 4
    assert all("query_error" in each for each in figures.values())


def test_a_figure_is_the_median_of_those_that_are_known():
    figures = {"a": {"ncp": 0.1}, "b": {"ncp": None}, "c": {"ncp": 0.3}, "d": {}}
    assert choices.middle(figures, "ncp") == pytest.approx(0.2)
    assert choices.middle(figures, "found") is None


def test_the_command_prints_every_case(capsys):
    assert main(["list", "--help-me-choose"]) == 0
    printed = capsys.readouterr().out
    assert all(choice.case in printed for choice in choices.RECOMMENDATIONS)


def test_the_command_prints_json(capsys):
    assert main(["list", "--help-me-choose", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["choices"]
    assert [each["case"] for each in found] == [
        choice.case for choice in choices.RECOMMENDATIONS
    ]
