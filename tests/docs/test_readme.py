"""The README's figures are those of the benchmarks, and its extras exist."""

from __future__ import annotations

import re
import tomllib

from tests.conftest import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
RESULTS = (ROOT / "benchmarks" / "results" / "latest.md").read_text(encoding="utf-8")
DEVELOPERS = {"test", "check", "bench", "site", "wheels"}


def section(title: str, label: str) -> list[str]:
    """The cells of a line of the results."""
    text = RESULTS.partition(f"## {title}")[2].partition("\n## ")[0]
    line = next(each for each in text.splitlines() if label in each)
    return [cell.strip() for cell in line.split("|")]


def test_the_figures_of_making_are_measured():
    for label, ours in {
        "mondrian gain": "Sfumato, `mondrian`",
        "anonypy": "anonypy",
        "anjana": "anjana",
    }.items():
        cells = section("Anonymize Adult, k = 10", label)
        assert f"| {ours} | {cells[8]} | {cells[2]} |" in README


def test_the_figures_of_checking_are_measured():
    for label, ours in {"sfumato": "`sfumato check`", "pycanon": "pycanon"}.items():
        cells = section("Check a published Adult for k and l", label)
        assert f"| {ours} | {cells[2]} |" in README


def test_the_extras_are_those_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = set(project["project"]["optional-dependencies"]) - DEVELOPERS
    table = README.partition("| extra | for |")[2].partition("## Ten lines")[0]
    first = [
        line.split("|")[1] for line in table.splitlines() if line.startswith("| `")
    ]
    assert {
        name for cell in first for name in re.findall(r"`([\w-]+)`", cell)
    } == extras


def test_the_first_commands_are_the_two_of_a_clone():
    first = README.partition("```sh\n")[2].partition("```")[0]
    assert [line.partition("#")[0].strip() for line in first.splitlines()] == [
        "make demo",
        "make test",
    ]
