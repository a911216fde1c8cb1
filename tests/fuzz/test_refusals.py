"""A refusal that is wrong, and a hint that does not help, are noticed."""

from __future__ import annotations

from typing import Any

from tests.fuzz import judge as judging
from tests.fuzz.cases import Case, Column
from tests.fuzz.judge import Ending, judge
from tests.fuzz.refusals import followed, wrongly_infeasible


def people(k: int = 2, **publish: Any) -> Case:
    return Case(
        name="made",
        door="command",
        format="csv",
        columns={
            "age": Column(kind="integer", cells=("30", "31", "40", "41")),
            "illness": Column(kind="category", cells=("flu", "gout", "flu", "flu")),
        },
        policy={
            "columns": {"age": {"role": "quasi"}, "illness": {"role": "sensitive"}},
            "require": [
                {"model": "k-anonymity", "k": k},
                {"model": "theta-diversity", "theta": 0.5},
            ],
            "algorithm": {"name": "mondrian"},
            "publish": {"operator": "generalize", "max_loss": 1.0, **publish},
        },
    )


def test_what_some_rows_meet_in_one_group_is_not_infeasible():
    found = list(wrongly_infeasible(people(max_suppressed=0.5), "k-anonymity …"))
    assert found == ["called infeasible, but one group of 2 rows will do"]


def test_what_no_choice_of_rows_meets_is_rightly_refused():
    assert list(wrongly_infeasible(people(), "k-anonymity …")) == []
    assert list(wrongly_infeasible(people(3, max_suppressed=0.5), "k …")) == []


def test_a_requirement_that_says_too_little_is_not_judged():
    case = people(max_suppressed=0.5)
    asked = {"model": "uniqueness", "of": "population", "at_most": 0.5}
    case.policy["require"].append(asked)
    assert list(wrongly_infeasible(case, "k-anonymity …")) == []


def test_a_refusal_for_utility_is_no_question_of_feasibility():
    reason = "The release would lose 99%; publish.max_loss allows 95%."
    assert list(wrongly_infeasible(people(max_suppressed=0.5), reason)) == []


def test_every_way_that_a_hint_names_is_followed():
    allow = "allow 2 rows to be left out (publish.max_suppressed = 0.5)"
    hint = f"Raise theta to 0.75, or {allow}."
    changed = [case for _, case in followed(people(), "theta-diversity needs …", hint)]
    assert changed[0].policy["require"][1]["theta"] == 0.75
    assert changed[1].policy["publish"]["max_suppressed"] == 0.5


def test_a_hint_that_does_not_help_is_noticed(monkeypatch):
    def useless(case: Case, policy: Any) -> Ending:
        ending = Ending(3, "theta-diversity needs more.")
        ending.hint = "Hint: Raise theta to 0.6."
        return ending

    monkeypatch.setattr(judging, "_run", useless)
    found = judge(people()).findings
    assert found == ["a hint was followed, and theta-diversity is still infeasible"]


def test_a_hint_that_helps_is_no_finding():
    ending = judge(people())
    assert ending.code == 3
    assert "Raise theta to" in ending.hint
    assert ending.findings == []
