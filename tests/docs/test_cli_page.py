"""The page of the command line, docs/cli.md, names what every command takes."""

from __future__ import annotations

import re

import pytest
import typer

from sfumato.cli import main
from sfumato.cli.app import app
from tests.conftest import ROOT
from tools.run_page import blocks

PAGE = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]
OPTION = re.compile(r"(?<![\w-])(--?[a-z][a-z-]*)")
every_command = pytest.mark.parametrize("name", COMMANDS)


def section(name: str) -> str:
    """What the page says about a command."""
    return PAGE.partition(f"\n## {name}\n")[2].partition("\n## ")[0]


def synopsis(name: str) -> set[str]:
    """The options in the line that shows how a command is called."""
    text = next(b.text for b in blocks(section(name)) if b.kind == "tested by")
    assert text.startswith(f"sfumato {name}")
    return set(OPTION.findall(text))


def options(name: str) -> list[set[str]]:
    """The options of a command, each in its spellings."""
    parameters = COMMANDS[name].params
    found = [set(p.opts) for p in parameters if p.param_type_name == "option"]
    return [each for each in found if "--help" not in each]


@every_command
def test_the_page_shows_every_option_of_a_command(name):
    shown = synopsis(name)
    assert [spellings for spellings in options(name) if not spellings & shown] == []


@every_command
def test_the_page_shows_no_option_that_a_command_lacks(name):
    known = set().union(*options(name))
    assert synopsis(name) - known == set()


@every_command
def test_the_page_lists_every_command_at_its_head(name):
    assert f"(#{name})" in PAGE.partition("\n## ")[0]


@every_command
def test_help_says_something_about_every_argument_and_option(name, capsys):
    assert main([name, "--help"]) == 0
    printed = capsys.readouterr().out
    lists = re.split(r"^(?:Arguments|Options):\n", printed, flags=re.MULTILINE)[1:]
    entries = re.split(r"^  (?=\S)", "".join(lists), flags=re.MULTILINE)[1:]
    silent = [each for each in entries if not re.search(r"\s{2,}[^\[\s]", each)]
    assert silent == []
