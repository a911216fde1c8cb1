"""Every line of the catalogue has its section, as the code says it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from sfumato import registry
from tools import catalogue, policy_tables
from tools.setting_meanings import settings_of, type_text

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "catalogue"
ENTRIES = [(kind, name) for kind in registry.KINDS for name in registry.CATALOGUE[kind]]


@pytest.mark.parametrize(("kind", "name"), ENTRIES)
def test_every_entry_has_a_section(kind, name):
    page = (PAGES / f"{kind}.md").read_text(encoding="utf-8")
    assert f"\n## {name}\n" in page


def test_the_pages_are_as_the_code_says():
    written = {path.name: path.read_text("utf-8") for path in PAGES.glob("*.md")}
    assert written == catalogue.pages(), "Run 'make catalogue'."


@pytest.mark.parametrize("name", catalogue.FILLED)
def test_the_tables_of_a_page_are_as_the_code_says(name):
    page = (ROOT / "docs" / name).read_text("utf-8")
    assert page == catalogue.FILLED[name](page), "Run 'make catalogue'."


def test_the_policy_page_has_every_table_of_the_policy():
    page = (ROOT / "docs" / "policy.md").read_text("utf-8")
    assert list(policy_tables.unnamed(page)) == []


@pytest.mark.parametrize(("kind", "name"), ENTRIES)
def test_no_setting_of_the_catalogue_is_without_a_meaning(kind, name):
    settings = settings_of(registry.load(kind, name))
    assert [each.name for each in settings if not each.meaning] == []


@pytest.mark.parametrize("name", policy_tables.TABLES)
def test_no_key_of_the_policy_is_without_a_meaning(name):
    settings = settings_of(policy_tables.TABLES[name])
    assert [each.name for each in settings if not each.meaning] == []


@pytest.mark.parametrize(
    ("annotation", "said"),
    [
        (str | None, "text"),
        (tuple[str, ...], "list of texts"),
        (Literal["a", "b", "c"], '`"a"`, `"b"` or `"c"`'),
        (float | bool, "number or true or false"),
        (dict[str, int], "table"),
    ],
)
def test_a_type_is_said_in_words(annotation, said):
    assert type_text(annotation) == said


@pytest.mark.parametrize("name", registry.CATALOGUE["models"])
def test_every_model_says_what_it_guarantees_and_what_not(name):
    model = registry.load("models", name)
    assert model.blind_spot
    assert "Guarantee:" in (model.__doc__ or "")
    assert "Limits:" in (model.__doc__ or "")
