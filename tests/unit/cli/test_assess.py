"""`sfumato assess`: what it prints, what it writes, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from stat import S_IMODE

import pytest

from sfumato.cli import main
from sfumato.pipeline.private_notes import PRIVATE

ORIGINAL = """\
age,city,illness
20,Bari,flu
22,Bari,cold
30,Rome,flu
35,Pisa,flu
"""
PUBLISHED = """\
age,city,illness
20-22,Bari,flu
20-22,Bari,cold
[30-35],"Pisa,Rome",flu
[30-35],"Rome,Pisa",flu
"""
POLICY = """\
version = 1
[columns]
age = {role = "quasi"}
city = {role = "quasi"}
illness = {role = "sensitive"}
[[require]]
model = "k-anonymity"
k = 2
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with both tables and a policy."""
    monkeypatch.chdir(tmp_path)
    for name, text in (
        ("original.csv", ORIGINAL),
        ("published.csv", PUBLISHED),
        ("policy.toml", POLICY),
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def assess(*words: str) -> int:
    files = ["--original", "original.csv", "--published", "published.csv"]
    return main(["assess", *files, "--policy", "policy.toml", *words])


def test_the_first_line_says_that_it_is_private(place, capsys):
    assert assess() == 0
    assert capsys.readouterr().out.splitlines()[0] == PRIVATE


def test_people_read_form_loss_and_risk(place, capsys):
    assess("--same-order")
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "4 published rows (generalized), 4 original rows" in lines
    assert "Discernibility 8" in lines
    assert "False cells 0.00%" in lines
    assert "smallest group 1 2" in lines
    assert "k-anonymity k = 2 k = 2 ✓ holds" in lines


def told(capsys) -> list[str]:
    """The lines of the text, with single spaces."""
    return [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]


def test_people_read_estimates_of_population_uniqueness(place, capsys):
    assess("--fraction", "0.5")
    lines = told(capsys)
    assert "unique in the population, Zayatz 100.0% 0.00%" in lines
    assert "the model that Dankar's rule takes zayatz no sample uniques" in lines


def test_people_read_special_uniques_with_the_part_of_each_column(place, capsys):
    assess("--suda")
    lines = told(capsys)
    assert "Special uniques of the original (SUDA2):" in lines
    # Every age is unique alone, and so are the cities Rome and Pisa.
    assert "records with a score 4" in lines
    assert "minimal sample uniques of 1 column 6" in lines


def test_people_read_the_risk_of_households(place, capsys):
    text = ORIGINAL.replace("illness\n", "illness,home\n")
    for number, home in enumerate("1123"):
        text = text.replace(*_line_with(number, home))
    (place / "original.csv").write_text(text)
    assess("--household", "home")
    assert "household, highest 100.0% –" in told(capsys)


def _line_with(number: int, home: str) -> tuple[str, str]:
    line = ORIGINAL.splitlines()[1 + number]
    return line + "\n", f"{line},{home}\n"


def test_json_has_utility_risk_form_and_unrecognized_cells(place, capsys):
    assert assess("--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["form"] == "generalized"
    assert found["utility"]["discernibility"] == 8
    assert found["risk"]["k"] == 2
    assert found["unrecognized_cells"] == {}


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_a_file_is_for_its_owner_alone_and_says_so_first(place, words):
    assert assess("--out", "figures", *words) == 0
    assert S_IMODE((place / "figures").stat().st_mode) == 0o600
    assert PRIVATE in (place / "figures").read_text().splitlines()[0]


def test_a_file_of_json_is_valid(place):
    assess("--out", "figures.json", "--json")
    assert json.loads((place / "figures.json").read_text())["private"] == PRIVATE


def test_nothing_is_written_over_a_file(place, capsys):
    (place / "figures").write_text("mine")
    assert assess("--out", "figures") == 2
    assert (place / "figures").read_text() == "mine"
    assert "exists already" in capsys.readouterr().err


def test_the_form_can_be_stated(place, capsys):
    assess("--form", "synthetic", "--json")
    assert json.loads(capsys.readouterr().out)["form"] == "synthetic"


def test_cells_that_mean_nothing_are_told(place, capsys):
    text = PUBLISHED.replace("20-22", "young")
    (place / "published.csv").write_text(text)
    assess()
    assert "not recognized: 2 cells of 'age'" in capsys.readouterr().out


def test_a_population_is_found_from_where_the_command_runs(place, capsys):
    (place / "people.csv").write_text("age,city\n20,Bari\n21,Bari\n22,Bari\n30,Rome\n")
    assert assess("--population", "people.csv", "--json") == 0
    risk = json.loads(capsys.readouterr().out)["risk"]
    assert risk["after"]["journalist"]["highest"] == 0.5
