"""`check` on tables of other tools: cases with fixed seeds, and planted faults."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sfumato import verify
from sfumato.data import published_cells
from sfumato.data.published_cells import Cells
from sfumato.models.base import Verdict
from sfumato.pipeline import verification
from tests.fuzz.cases import Case, Column
from tests.fuzz.judge import judge
from tests.fuzz.strange import DOOR, draw_strange

BATCHES, SIZE = 8, 25


@pytest.mark.parametrize("number", range(BATCHES))
def test_check_says_of_every_table_what_the_oracle_says(number):
    cases = [draw_strange(f"check-{number}:{place}") for place in range(SIZE)]
    endings = {case.name: judge(case) for case in cases}
    found = {name: end.findings for name, end in endings.items() if end.findings}
    assert found == {}
    assert 2 * sum(end.code == 0 for end in endings.values()) > SIZE


@pytest.fixture(scope="module")
def drawn() -> list[Case]:
    return [draw_strange(f"check-drawing:{number}") for number in range(300)]


def test_bounds_marks_and_both_meanings_are_drawn(drawn):
    bounds = [c for c in drawn if any(n.endswith("_from") for n in c.columns)]
    marked = [c for c in drawn if len(c.policy["data"].get("missing", [])) > 1]
    meanings = {case.policy["data"]["missing_as"] for case in drawn}
    assert len(bounds) > 30
    assert len(marked) > 60
    assert meanings == {"value", "any"}


def table(columns: dict[str, Any], roles: dict[str, str], **settings: Any) -> Case:
    return Case(
        name="made",
        door=DOOR,
        format="csv",
        columns={
            n: Column(kind="category", cells=cells) for n, cells in columns.items()
        },
        policy={
            "columns": {name: {"role": role} for name, role in roles.items()},
            "publish": {"operator": "generalize"},
            **settings,
        },
    )


def two_marks() -> Case:
    return table(
        {"age": ("x", "x"), "zip": ("?", "")},
        {"age": "quasi", "zip": "quasi"},
        data={"missing": ["?", ""]},
        require=[{"model": "k-anonymity", "k": 2}],
    )


def one_person_and_five() -> Case:
    return table(
        {"one": ("x",) * 6, "two": ("y", *[""] * 5)},
        {"one": "quasi", "two": "quasi"},
        data={"missing_as": "any"},
        require=[{"model": "k-anonymity", "k": 5}],
    )


def six_ages() -> Case:
    lows = ("30", "30", "31", "31", "32", "32")
    highs = ("40", "41", "40", "42", "41", "42")
    return table(
        {"age_from": lows, "age_to": highs, "ill": ("a", "b") * 3},
        {"age": "quasi", "ill": "sensitive"},
        require=[{"model": "lkc", "l": 1, "k": 2, "c": 1.0}],
        unlisted="keep",
    )


@pytest.mark.parametrize("case", [two_marks, one_person_and_five, six_ages])
def test_these_tables_are_judged_rightly(case):
    assert judge(case()).findings == []


def test_marks_that_are_taken_for_one_cell_are_noticed(monkeypatch):
    def merged(codes: Any, texts: Any, _occurs: Any, missing: Any) -> Cells:
        shown = [None if text in missing else text for text in texts]
        known = list(dict.fromkeys(shown[code] for code in codes))
        places = [known.index(shown[code]) for code in codes]
        return Cells(np.array(places, dtype=np.int32), tuple(known))

    monkeypatch.setattr(published_cells, "_merged", merged)
    assert (
        "false claim: check says that k-anonymity holds" in judge(two_marks()).findings
    )


def test_a_check_that_forgets_what_a_recipient_sees_is_noticed(monkeypatch):
    def any_alone(model: Any, value: Verdict, opened: Verdict) -> Verdict:
        return replace(opened, readings={"value": value, "any": opened})

    monkeypatch.setattr(verify, "_both", any_alone)
    found = judge(one_person_and_five()).findings
    assert "false claim: check says that k-anonymity holds" in found
    assert "check says that k-anonymity holds, but not for each meaning" in found


def test_bounds_that_are_taken_for_two_facts_are_noticed(monkeypatch):
    def apart(names: Any, published: Any) -> Any:
        return (("age_from",), ("age_to",))

    monkeypatch.setattr(verification, "with_bounds", apart)
    assert judge(six_ages()).findings == ["false claim: check says that lkc holds"]
