"""The commands say where a CSV file is in doubt, and which option settles it."""

from __future__ import annotations

import json

import pytest

from sfumato.cli import main

ROWS = [f"{20 + i % 4},x{i % 3}" for i in range(40)]
JOINED = [*ROWS[:10], '22,"x1', *ROWS[11:20], '22,x2"', *ROWS[21:]]


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def written(lines, header="age,ill", encoding="utf-8"):
        text = "\n".join([header, *lines]) + "\n"
        (tmp_path / "t.csv").write_text(text, encoding=encoding)
        return "t.csv"

    return written


def run(*words):
    return main([*words])


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_check_refuses_a_line_break_and_names_its_option(table, capsys, engine):
    path = table(JOINED)
    words = ["check", path, "--quasi", "age", "--k", "5", "--engine", engine]
    assert run(*words) == 2
    said = capsys.readouterr().err
    assert "line 12: the cell of column 'ill' has a line break" in said
    assert "add --multiline" in said
    assert run(*words, "--multiline") == 0


def test_check_says_the_same_as_json(table, capsys):
    path = table(JOINED)
    assert run("check", path, "--quasi", "age", "--k", "5", "--json") == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert "add --multiline" in error["hint"]


def test_init_names_the_option_for_a_file_of_windows(table, capsys):
    path = table(["21,größer", "22,x"], encoding="cp1252")
    assert run("init", path) == 2
    assert "probably cp1252: if so, add --encoding cp1252" in capsys.readouterr().err
    assert run("init", path, "--encoding", "cp1252") == 0


def test_init_refuses_rows_that_a_mark_joined(table, capsys):
    assert run("init", table(JOINED)) == 2
    said = capsys.readouterr().err
    assert "has lines that look like rows of the table" in said
    assert "add --multiline" in said


def test_a_policy_names_the_key(table, capsys, tmp_path):
    path = table(ROWS)
    assert run("init", path) == 0
    table(JOINED)
    assert run("anonymize", "policy.toml", "--out", "o") == 2
    assert "set multiline = true under [data]" in capsys.readouterr().err
    assert not (tmp_path / "o").exists()


def test_row_numbers_are_left_out_and_said_so(table, capsys, tmp_path):
    path = table([f"{i},{row}" for i, row in enumerate(ROWS)], header='"",age,ill')
    assert run("init", path) == 0
    assert "read as row numbers" in (tmp_path / "policy.toml").read_text("utf-8")
    assert run("anonymize", "policy.toml", "--out", "o") == 0
    assert "read as row numbers and left out" in capsys.readouterr().out
    assert run("check", path, "--quasi", "age", "--k", "2", "--json") == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out)["row_numbers_present"] is True
    assert "a first column without a name" in printed.err
