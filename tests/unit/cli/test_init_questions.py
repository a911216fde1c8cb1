"""`init --interactive` asks what the data does not tell, and leaves nothing on Ctrl-C."""

from __future__ import annotations

import fcntl
import os
import pty
import subprocess
import sys
import termios

import pyarrow as pa
import pytest

from sfumato.cli import main
from sfumato.cli.init_questions import answered
from sfumato.data.schema import Role
from sfumato.errors import UsageError
from sfumato.io.write import write_table
from sfumato.policy import Policy
from sfumato.policy.propose import propose

TABLE = pa.table(
    {
        "age": [str(20 + row % 9) for row in range(90)],
        "xq": ["abc"[row % 3] for row in range(90)],
        "xr": ["uvw"[row // 3 % 3] for row in range(90)],
        "xs": ["op"[row // 9 % 2] for row in range(90)],
    }
)
SETTINGS = {
    "path": "t.csv",
    "decimal": ".",
    "missing": None,
    "k": None,
    "profile": None,
}


def after(*answers, **asked):
    """The policy after these answers, and the questions."""
    said, questions = iter(answers), []

    def prompt(question):
        questions.append(question)
        return next(said, "")

    settings = SETTINGS | asked
    settings |= answered(TABLE, settings, prompt)
    return Policy.parse(propose(TABLE, **settings).text), questions


def test_empty_answers_keep_what_was_decided():
    policy, questions = after(*["\n"] * 5)
    assert policy == Policy.parse(propose(TABLE, path="t.csv").text)
    assert len(questions) == 5


def test_answers_decide_roles_profile_and_group_size():
    policy, _ = after("4\n", "7\n", "s\n", "d\n", "k\n")
    assert policy.require[0].settings["k"] == 7
    assert policy.names(Role.SENSITIVE) == ("xq",)
    assert policy.columns["xr"].drop
    assert policy.names(Role.QUASI) == ("age", "xs")


def test_what_the_command_line_says_is_not_asked():
    _, questions = after(*["\n"] * 3, profile="public-use", k=25)
    assert [question.split(",")[0] for question in questions] == [
        "Column 'xq'",
        "Column 'xr'",
        "Column 'xs'",
    ]


def test_questions_show_names_and_counts_and_no_cells():
    _, questions = after(*["\n"] * 5)
    assert "3 different values" in questions[2]
    assert not any(cell in questions[3] for cell in ("'u'", "'v'", "'w'"))


def test_an_answer_that_cannot_be_read_is_asked_again():
    policy, questions = after("9\n", "1\n", "3\n", "12\n", *["\n"] * 3)
    assert policy.require[0].settings["k"] == 12
    assert len(questions) == 7


def test_the_end_of_the_input_is_an_error():
    with pytest.raises(UsageError, match="Nothing was written"):
        after("\n", "\n")


def test_without_a_terminal_it_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_table(TABLE, tmp_path / "t.csv")
    monkeypatch.setattr("sys.stdin", (tmp_path / "t.csv").open())
    assert main(["init", "t.csv", "--interactive"]) == 2
    assert "no terminal to answer at" in capsys.readouterr().err
    assert not (tmp_path / "policy.toml").exists()


def _own_terminal() -> None:
    """Make stdin the terminal that Ctrl-C comes from."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Terminal:
    """A process at a terminal of its own."""

    def __init__(self, directory, *arguments):
        self.ours, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "sfumato", *arguments],
            cwd=directory,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=_own_terminal,
        )
        os.close(theirs)
        self.seen = b""

    def wait_for(self, text):
        while text not in self.seen:
            self.seen += os.read(self.ours, 4096)

    def type(self, text):
        os.write(self.ours, text)


def test_a_person_at_a_terminal_gets_a_policy(tmp_path):
    write_table(TABLE, tmp_path / "t.csv")
    terminal = Terminal(tmp_path, "init", "t.csv", "--interactive")
    terminal.wait_for(b"Who gets the release?")
    terminal.type(b"3\n")
    terminal.wait_for(b"[20]")
    terminal.type(b"\n")
    for name in (b"'xq'", b"'xr'", b"'xs'"):
        terminal.wait_for(name)
        terminal.type(b"d\n")
    assert terminal.process.wait() == 0
    policy = Policy.load(tmp_path / "policy.toml")
    assert policy.require[0].settings["k"] == 20
    assert policy.names(Role.QUASI) == ("age",)


def test_ctrl_c_at_a_question_leaves_nothing(tmp_path):
    write_table(TABLE, tmp_path / "t.csv")
    terminal = Terminal(tmp_path, "init", "t.csv", "--interactive")
    terminal.wait_for(b"Who gets the release?")
    terminal.type(b"\x03")
    assert terminal.process.wait() == 130
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


def test_a_table_whose_rows_are_equal_is_said_to_have_no_quasi_identifier(
    tmp_path, capsys
):
    table = tmp_path / "equal.csv"
    table.write_text("age,city\n" + "30,Rome\n" * 20, encoding="utf-8")
    assert main(["init", str(table), "-o", str(tmp_path / "policy.toml")]) == 0
    assert "No column looks like a quasi-identifier." in capsys.readouterr().out
