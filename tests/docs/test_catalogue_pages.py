"""Every line of the catalogue has its section, as the code says it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from sfumato import registry

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "catalogue"
ENTRIES = [(kind, name) for kind in registry.KINDS for name in registry.CATALOGUE[kind]]


@pytest.fixture(scope="module")
def writer() -> ModuleType:
    path = ROOT / "tools" / "catalogue.py"
    spec = importlib.util.spec_from_file_location("catalogue_writer", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("kind", "name"), ENTRIES)
def test_every_entry_has_a_section(kind, name):
    page = (PAGES / f"{kind}.md").read_text(encoding="utf-8")
    assert f"\n## {name}\n" in page


def test_the_pages_are_as_the_code_says(writer):
    written = {path.name: path.read_text("utf-8") for path in PAGES.glob("*.md")}
    assert written == writer.pages(), "Run 'make docs'."


@pytest.mark.parametrize("name", registry.CATALOGUE["models"])
def test_every_model_says_what_it_guarantees_and_what_not(name):
    model = registry.load("models", name)
    assert model.blind_spot
    assert "Guarantee:" in (model.__doc__ or "")
    assert "Limits:" in (model.__doc__ or "")
