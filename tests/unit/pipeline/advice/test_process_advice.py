"""Under differential privacy advice reads what is declared, and no cell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.cli import main

POLICY = """\
version = 1
[data]
path = "people.csv"
[columns.age]
role = "quasi"
kind = "integer"
hierarchy = { intervals = [5, 10], bottom = 0, top = 99 }
[columns.sex]
role = "quasi"
hierarchy = { tree = { any = ["f", "m"] } }
[[require]]
model = "differential-privacy"
epsilon = 1.0
delta = 1e-6
[algorithm]
name = "safepub"
[privacy]
ledger = "ledger.json"
epsilon = 1.5
delta = 1e-5
"""
CANARY = "canary7Qx"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "policy.toml").write_text(POLICY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def spent(place: Path, epsilon: float) -> None:
    charge = {"note": "earlier", "epsilon": epsilon, "delta": 0.0}
    record = {
        "layout": 1,
        "epsilon": 1.5,
        "delta": 1e-5,
        "relation": "add-remove",
        "unit": "row",
        "charges": [charge],
    }
    (place / "ledger.json").write_text(json.dumps(record))


def test_the_data_are_not_even_opened(place, capsys):
    assert not (place / "people.csv").exists()
    assert main(["advise", "policy.toml"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("No cell was read: ")
    assert "Types and domains are checked by the run, before the charge." in said


def test_what_follows_from_the_policy_alone_is_not_called_private(place, capsys):
    assert main(["advise", "policy.toml", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["private"] is None
    assert main(["advise", "policy.toml", "-o", "advice.txt"]) == 0
    assert capsys.readouterr().out == "Written to advice.txt.\n"
    assert main(["advise", "policy.toml", "--apply", "1", "-o", "new.toml"]) == 0
    kept = capsys.readouterr().out + (place / "advice.txt").read_text()
    assert "Private" not in kept + (place / "new.toml").read_text()
    assert "Private" not in sf.advise("people.csv", "policy.toml")._repr_html_()


def test_the_words_are_those_of_a_ledger_and_of_published_columns(place, capsys):
    disease = '[columns.disease]\nrole = "sensitive"\n'
    disease += 'hierarchy = { tree = { any = ["flu", "gout"] } }\n[[require]]'
    text = POLICY.replace("[[require]]", disease)
    text = text.replace("delta = 1e-6\n", "").replace("safepub", "dp-synthesis")
    (place / "policy.toml").write_text(text)
    assert main(["advise", "policy.toml"]) == 0
    out = capsys.readouterr().out
    assert "left in the ledger" in out
    assert "epsilon = 1.5, delta = 1e-05  ✓ can be paid" in out
    assert "Published columns, most declared values first:" in out
    assert "  disease  3\n" in out
    absent = ("tightest", "Quasi-identifiers", "NCP", "not measured", "Apply:")
    assert [word for word in absent if word in out] == []


@pytest.mark.parametrize(
    ("declared", "kind", "other"),
    [
        ("{ intervals = [5, 10], bottom = 0, top = 99 }", "decimal", ", or integer"),
        (
            "{ intervals = [0.5, 1], bottom = 0.5, top = 9.5 }",
            "decimal",
            ", or integer",
        ),
        (
            '{ calendar = ["year"] }\ndomain = { low = "2020-01-01", high = "2021-12-31" }',
            "date",
            ".",
        ),
        ("{ intervals = [5] }\ndomain = { low = 0, high = 99 }", "integer", "."),
    ],
)
def test_a_column_that_lacks_only_its_kind_is_not_to_be_dropped(
    place, declared, kind, other
):
    whole = "{ intervals = [5, 10], bottom = 0, top = 99 }"
    text = POLICY.replace('kind = "integer"\n', "").replace(whole, declared)
    found = sf.advise("people.csv", sf.Policy.parse(text, base=place))
    assert found.needed == (1,)
    assert found.suggestions[0].settings == {"columns.age.kind": kind}
    said = f"Declare the kind of 'age': {kind}{other}"
    assert found.suggestions[0].text.startswith(said)
    mended = sf.advise("people.csv", found.apply(1), base=place)
    assert mended.feasible


def test_a_budget_that_is_gone_is_told_in_words(place, capsys):
    spent(place, 1.5)
    assert main(["advise", "policy.toml"]) == 0
    out = capsys.readouterr().out
    assert "No release meets this policy." in out
    assert "✗ costs more than is left" in out
    assert "the ledger has epsilon 0, delta 1e-05 left. A spent budget cannot" in out


def test_a_frame_of_canaries_is_not_looked_at(place):
    class Spy:
        def __getattribute__(self, name: str) -> object:
            raise AssertionError(f"advice looked at '{name}' of the data")

    found = sf.advise(Spy(), place / "policy.toml")
    assert CANARY not in str(found.record())


def test_advice_charges_nothing_and_writes_nothing(place):
    spent(place, 0.25)
    before = {path.name: path.read_bytes() for path in place.iterdir()}
    sf.advise("people.csv", "policy.toml")
    assert {path.name: path.read_bytes() for path in place.iterdir()} == before


def test_declared_domains_say_which_columns_are_large(place):
    found = sf.advise("people.csv", "policy.toml")
    # 100 ages and a missing one; two sexes and a missing one.
    assert [dict(each) for each in found.columns] == [
        {"column": "age", "declared_values": 101},
        {"column": "sex", "declared_values": 3},
    ]
    text = "Leave out 'age', or declare fewer values for it."
    assert found.suggestions[0].text == text
    assert found.suggestions[0].facts["combinations_left"] == 3


def test_a_release_that_the_ledger_cannot_pay_is_named_with_what_is_left(place):
    spent(place, 1.25)
    found = sf.advise("people.csv", "policy.toml")
    assert not found.feasible
    assert found.suggestions[0].settings == {"require.0.epsilon": 0.25}
    assert "costs epsilon 1, delta 1e-06" in found.suggestions[0].reason
    assert "has epsilon 0.25, delta 1e-05 left" in found.suggestions[0].reason


def test_an_algorithm_without_a_guarantee_is_replaced(place):
    text = POLICY.replace('name = "safepub"', 'name = "mondrian"\ncut = "widest"')
    found = sf.advise("people.csv", sf.Policy.parse(text, base=place))
    assert found.suggestions[0].settings["algorithm.name"] == "safepub"
    assert found.apply(1).algorithm.settings == {}


def test_a_column_without_a_declared_hierarchy_is_named(place):
    text = POLICY.replace('hierarchy = { tree = { any = ["f", "m"] } }\n', "")
    found = sf.advise("people.csv", sf.Policy.parse(text, base=place))
    assert found.suggestions[0].settings == {"columns.sex.drop": True}
    text = "Declare 'sex' completely, or leave it out."
    assert found.suggestions[0].text == text
    assert "may not depend on the data" in found.suggestions[0].reason
