"""What objects print are counts and verdicts: no name, cell, seed or row number."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass
from html.parser import HTMLParser

import pandas as pd
import pyarrow as pa
import pytest
from pydantic import BaseModel

import sfumato
from sfumato.data.safe_repr import SafeRepr
from sfumato.data.seeds import Seed
from sfumato.workload.workload_files import load_workload

CANARY = "canary7Qx"
NAME = "column9Zy"
AGES = [31, 32, 33, 34, 987_654]


def source() -> pa.Table:
    return pa.table(
        {
            NAME: AGES,
            f"{NAME} ill": [f"{CANARY}{row % 2}" for row in range(5)],
        }
    )


SETTINGS = {"quasi": [NAME], "sensitive": [f"{NAME} ill"], "k": 2, "l": 2}
POLICY = f"""
version = 1
[columns."{NAME}"]
role = "quasi"
[columns."{NAME} ill"]
role = "sensitive"
kind = "ordered"
order = ["{CANARY}0", "{CANARY}1"]
[[require]]
model = "k-anonymity"
k = 2
"""
WORKLOAD = f"""
[[query]]
where = {{ "{NAME} ill" = "{CANARY}0" }}
[[query]]
where = {{ "{NAME}" = [31, 33] }}
[[query]]
where = {{ "{NAME}" = [32, 34] }}
[[query]]
where = {{ "{NAME} ill" = "{CANARY}1" }}
"""


@pytest.fixture(scope="module")
def release():
    return sfumato.anonymize(source(), **SETTINGS, max_suppressed=0.2)


@pytest.fixture(scope="module")
def public_objects(release, tmp_path_factory):
    """One object of every kind that the public functions take or give back."""
    place = tmp_path_factory.mktemp("printed") / "workload.toml"
    place.write_text(WORKLOAD)
    policy = sfumato.Policy.parse(POLICY)
    return {
        "Advice": sfumato.advise(source(), policy),
        "Release": release,
        "Assessment": sfumato.assess(source(), release),
        "Bounds": sfumato.bounds(release, NAME),
        "Comparison": sfumato.compare(source(), policy, workers=1),
        "CheckResult": sfumato.check(source(), **SETTINGS),
        "Policy": policy,
        "Workload": load_workload(place),
        "WorkloadError": sfumato.workload_error(source(), release, place),
        "Tuned": sfumato.tune(source(), policy, place, trials=2),
        "Seed": Seed.fresh(),
    }


def test_every_public_class_is_among_them(public_objects):
    classes = {n for n in sfumato.__all__ if isinstance(getattr(sfumato, n), type)}
    assert classes <= set(public_objects)


def reachable(thing, seen=None):
    """The thing, and every object of ours that its attributes lead to."""
    seen = {} if seen is None else seen
    if id(thing) in seen:
        return seen
    if isinstance(thing, dict | list | tuple):
        inside = list(thing.values()) if isinstance(thing, dict) else list(thing)
    elif type(thing).__module__.startswith("sfumato"):
        seen[id(thing)] = thing
        inside = [getattr(thing, name) for name in names_of(thing)]
    else:
        return seen
    for part in inside:
        reachable(part, seen)
    return seen


def names_of(thing):
    if isinstance(thing, BaseModel):
        return [*type(thing).model_fields, *type(thing).__private_attributes__]
    return [field.name for field in fields(thing)] if is_dataclass(thing) else []


def secrets_of(release) -> list[str]:
    audit = release.audit
    return [CANARY, NAME, str(AGES[-1]), audit["seed"], "source_rows", "array("]


def test_what_is_printed_tells_nothing_of_the_table(public_objects, release):
    told = {}
    for start in public_objects.values():
        for thing in reachable(start).values():
            if isinstance(thing, SafeRepr):
                text = f"{thing!r} {thing}"
                told[type(thing).__name__] = [
                    s for s in secrets_of(release) if s in text
                ]
    assert told == {name: [] for name in told}
    assert {"Claim", "Private", "Release", "ColumnSection"} <= set(told)


def test_nothing_of_ours_that_prints_otherwise_holds_a_cell(public_objects, release):
    loud = [
        thing
        for start in public_objects.values()
        for thing in reachable(start).values()
        if not isinstance(thing, SafeRepr)
    ]
    hidden = [CANARY, release.audit["seed"], str(AGES[-1])]
    leaky = {type(t).__name__ for t in loud if any(s in repr(t) for s in hidden)}
    assert leaky == set()


def test_a_release_prints_its_counts_and_verdicts(release):
    rows, groups = release.table.num_rows, release.manifest["groups"]
    expected = f"<Release: {rows} rows in {groups} groups; 2 of 2 requirements met>"
    assert repr(release) == expected


def test_a_seed_keeps_its_secret():
    assert repr(Seed.guessable(4711)) == "<Seed>"


class Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: set[str] = set()

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.attributes |= {name for name, _ in attrs}


def test_the_notebook_card_is_a_small_fragment_of_its_own(release):
    card = release._repr_html_()
    found = Elements()
    found.feed(card)
    assert found.names[0] == "div"
    assert not {"html", "head", "body", "style", "script", "link"} & set(found.names)
    assert found.attributes <= {"style", "scope"}
    assert len(card) < 3000
    assert not [secret for secret in secrets_of(release) if secret in card]


def test_the_notebook_card_has_counts_and_verdicts(release):
    text = re.sub(r"<[^>]+>", " ", release._repr_html_())
    assert f"{release.table.num_rows} rows" in text
    assert text.count("✓ holds") == 2


def test_a_frame_with_cells_of_its_own_is_not_printed_along():
    frame = pd.DataFrame(source().to_pydict())
    made = sfumato.anonymize(frame, **SETTINGS, max_suppressed=0.2)
    assert CANARY not in repr(made)


def test_parts_of_a_policy_say_what_they_are():
    policy = sfumato.Policy.build(quasi="age", kinds={"age": "integer"}, drop="x", k=2)
    assert repr(policy.columns["age"]) == "<ColumnSection: quasi, integer>"
    assert repr(policy.columns["x"]) == "<ColumnSection: drop>"
    assert repr(policy.require[0]) == "<Requirement: k-anonymity>"
    assert repr(policy.algorithm) == "<AlgorithmSection: chosen for the data>"
