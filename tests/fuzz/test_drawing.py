"""The fuzz draws everything that a policy can say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from sfumato import registry
from sfumato.hierarchies.build import OPTIONS, WORDS
from sfumato.models.base import ProcessModel
from sfumato.policy import Policy
from tests.fuzz.cases import NESTED, Case
from tests.fuzz.draw import DOORS, READ, WRITTEN, allowed, draw_case, schema
from tests.fuzz.settings import choices, fields
from tests.fuzz.values import FLAVORS

CASES = 1500


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return [draw_case(f"drawing:{number}") for number in range(CASES)]


def drawn_settings(cases: list[Case], section: str, key: str) -> dict[str, set[str]]:
    """What was said in a section, by the name of the thing it is about."""
    found: dict[str, set[str]] = {}
    for case in cases:
        said = case.policy.get(section, {})
        for each in said if isinstance(said, list) else [said]:
            found.setdefault(each.get(key), set()).update(each)
    return found


def test_a_name_always_stands_for_the_same_case():
    assert draw_case("1:7") == draw_case("1:7")


def test_a_case_survives_being_kept(cases):
    assert [Case.read(case.text()) for case in cases[:100]] == cases[:100]


def test_every_algorithm_and_each_of_its_options_is_drawn(cases):
    drawn = drawn_settings(cases, "algorithm", "name")
    by_column = {"levels", "thresholds"}
    lacking = {
        (name, option)
        for name in registry.names("algorithms")
        for option in {"name", *fields("algorithms", name)} - by_column
        if option not in drawn.get(name, set())
        and not (private(name) and option in ("refine", "seconds"))
    }
    assert lacking == set()


def private(algorithm: str) -> bool:
    return bool(registry.load("algorithms", algorithm).certifies)


def test_every_model_and_each_of_its_parameters_is_drawn(cases):
    drawn = drawn_settings(cases, "require", "model")
    lacking = {
        (name, parameter)
        for name in registry.names("models")
        if not issubclass(registry.load("models", name), ProcessModel)
        for parameter in {"model", *fields("models", name)}
        if parameter not in drawn.get(name, set())
    }
    assert lacking == set()


def test_every_operator_and_each_choice_of_its_options_is_drawn(cases):
    said = [case.policy["publish"] for case in cases]
    lacking = {
        (name, option, choice)
        for name in registry.names("operators")
        for option in fields("operators", name)
        for choice in choices("operators", name, option)
        if not any(p["operator"] == name and p.get(option) == choice for p in said)
    }
    assert lacking == set()


def test_every_key_of_the_policy_is_drawn(cases):
    drawn = {path for case in cases for path in paths(case.policy)}
    sections = {
        "data": "Data",
        "columns": "ColumnSection",
        "publish": "Publish",
        "report": "Report",
        "privacy": "Privacy",
    }
    wanted: set[tuple[str, ...]] = {
        (s, key) for s, name in sections.items() for key in schema()[name]["properties"]
    }
    wanted |= {(key,) for key in Policy.json_schema()["properties"]}
    written_by_the_runner = {("data", "path"), ("version",)}
    places = ("url", "table", "query", "key", "sheet")
    of_databases_and_workbooks = {("data", key) for key in places}
    # The oracle knows no bands, and cases are not written for a steward to look at.
    elsewhere = {("columns", key) for key in ("bands", "bottom", "top")}
    elsewhere.add(("privacy", "precheck"))
    unsaid = of_databases_and_workbooks | elsewhere
    assert wanted - drawn - written_by_the_runner == unsaid


def paths(policy: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    for section, said in policy.items():
        yield (section,)
        inner = said.values() if section == "columns" else [said]
        for table in inner:
            if isinstance(table, dict):
                yield from ((section, key) for key in table)


def test_every_hierarchy_and_each_of_its_options_is_drawn(cases):
    specs = [
        section.get("hierarchy")
        for case in cases
        for section in case.policy["columns"].values()
    ]
    keys = {key for spec in specs if isinstance(spec, dict) for key in spec}
    wanted = {*OPTIONS, *(option for options in OPTIONS.values() for option in options)}
    assert wanted - keys == set()
    assert set(WORDS) - {spec for spec in specs if isinstance(spec, str)} == set()


def test_every_type_of_column_is_drawn(cases):
    drawn = {column.type for case in cases for column in case.columns.values()}
    wanted = {kind for flavor in FLAVORS.values() for kind in flavor.types} | set(
        NESTED
    )
    assert wanted - drawn == set()


def test_every_door_and_format_is_drawn(cases):
    assert {case.door for case in cases} == set(DOORS)
    assert {case.format for case in cases} == set(READ)
    written = {case.policy["publish"].get("format") for case in cases}
    assert written == {None, *WRITTEN}


def test_formats_that_are_not_drawn_are_those_of_statistics_programs_and_workbooks():
    known = {*allowed("Data", "format"), *allowed("Publish", "format")}
    assert known - {*READ, *WRITTEN} == {"sav", "dta", "xpt", "sas7bdat", "xlsx"}
