"""The reference names what there is: keys, files, errors, functions, words."""

from __future__ import annotations

import importlib
import inspect
import json
import re

import pytest

import sfumato as sf
from sfumato import errors
from sfumato.data.schema import Kind, Role
from sfumato.policy.keywords import KNOWN
from sfumato.publish.base import Form
from sfumato.report.definitions import MEASURES
from tests.conftest import ROOT

REFERENCE = ROOT / "docs" / "reference"
PYTHON = (REFERENCE / "python.md").read_text(encoding="utf-8")
FUNCTIONS = [name for name in sf.__all__ if inspect.isfunction(getattr(sf, name))]


def text(name: str) -> str:
    return (REFERENCE / f"{name}.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    from sfumato.demo import hospital

    made = sf.anonymize(
        hospital(rows=200),
        quasi=["sex"],
        sensitive="diagnosis",
        unlisted="drop",
        loss_by="sex",
        k=5,
        algorithm="mondrian",
    )
    made.save(tmp_path_factory.mktemp("made") / "release")
    return made


def test_every_key_of_a_manifest_is_explained(release, tmp_path):
    release.save(tmp_path / "again")
    manifest = json.loads((tmp_path / "again" / "manifest.json").read_text("utf-8"))
    page = text("files")
    assert [key for key in manifest if f"`{key}`" not in page] == []


def test_every_key_of_the_audit_record_is_explained(release, tmp_path):
    release.save(tmp_path / "again")
    place = tmp_path / "again" / "private" / "audit.json"
    page = text("files")
    keys = json.loads(place.read_text("utf-8"))
    assert [key for key in keys if f"`{key}`" not in page] == []


def test_every_error_is_listed_with_its_exit_code():
    classes = inspect.getmembers(errors, inspect.isclass)
    known = {n: c.exit_code for n, c in classes if issubclass(c, errors.SfumatoError)}
    del known["SfumatoError"]
    page = text("exit-codes")
    rows = [line for line in page.splitlines() if line.startswith("|")]
    found = {n: code for n, code in known.items() if _listed(rows, n, code)}
    assert found == known


def _listed(rows: list[str], name: str, code: int) -> bool:
    return any(row.startswith(f"| {code} |") and f"`{name}`" in row for row in rows)


@pytest.mark.parametrize("name", [name for name in sf.__all__ if name != "__version__"])
def test_everything_public_is_on_the_page_of_the_api(name):
    assert re.search(rf"auto(function|class):: sfumato\.{name}$", PYTHON, re.MULTILINE)


def results() -> list[type]:
    """The classes of the page, and those of what public functions return."""
    named = re.findall(r"autoclass:: (\S+)$", PYTHON, re.MULTILINE)
    return [_found(path) for path in named if path != "sfumato.Policy"]


def _found(path: str) -> type:
    module, _, name = path.rpartition(".")
    found = getattr(importlib.import_module(module), name)
    assert isinstance(found, type)
    return found


def test_what_a_function_returns_is_on_the_page():
    annotated = {inspect.signature(getattr(sf, n)).return_annotation for n in FUNCTIONS}
    assert annotated - {each.__name__ for each in results()} == {"Policy"}


@pytest.mark.parametrize("result", results(), ids=lambda each: each.__name__)
def test_every_field_and_method_of_a_result_is_documented(result):
    source = inspect.getsource(result)
    fields = [name for name in result.__annotations__ if not name.startswith("_")]
    told = r'^    {}: .*(?:\n     .*|\n    \))*\n    """'
    silent = [f for f in fields if not re.search(told.format(f), source, re.M)]
    members = {n: m for n, m in vars(result).items() if not n.startswith("_")}
    silent += [n for n, m in members.items() if n not in fields and not m.__doc__]
    assert silent == []


@pytest.mark.parametrize("setting", KNOWN)
def test_every_setting_of_a_call_is_explained(setting):
    assert f"`{setting}`" in PYTHON.partition("## Settings")[2]


GLOSSARY = [
    line.split("|")[1].strip().lower()
    for line in text("glossary").splitlines()
    if line.startswith("| ")
]


CHOICES = [
    *(role.value for role in Role if role is not Role.QUASI),
    *(kind.value for kind in Kind),
    *(form.value for form in Form),
]
WORDS = [
    "quasi-identifier",
    "group",
    "NCP",
    "prosecutor",
    "ledger",
    "manifest",
    "blind spot",
    "offending",
    "tightest",
    "baseline",
    "control",
    "bound",
    "success",
    "worst",
    "front",
    "knee",
    "candidate",
    "verdict",
    "feasible",
    "engine",
    "draft",
    "leaf",
    "lattice",
    "noise",
    "neighbors",
    "household",
    "threshold",
    "special unique",
    "marginal",
    "link key",
    "hash (SHA-256)",
    "wheel",
]


@pytest.mark.parametrize("word", CHOICES)
def test_the_glossary_tells_every_role_kind_and_form(word):
    assert word in text("glossary")


@pytest.mark.parametrize("word", WORDS)
def test_the_glossary_has_the_words_of_messages_and_reports(word):
    assert any(word.lower() in entry for entry in GLOSSARY)


@pytest.mark.parametrize("title", [each.title for each in MEASURES.values()])
def test_the_glossary_has_the_measures_that_reports_print(title):
    words = [w for entry in GLOSSARY for w in entry.split(", ") if len(w) > 2]
    assert any(word in title.lower() for word in words)


def test_the_glossary_is_in_order_and_has_each_word_once():
    spelled = [w.replace("ε", "epsilon").replace("θ", "theta") for w in GLOSSARY[1:]]
    assert spelled == sorted(set(spelled))
