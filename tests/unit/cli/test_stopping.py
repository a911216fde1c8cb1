"""Termination signals are handled from the first import on, at any time."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sfumato.cli import main
from tests.unit.cli.people_table import POLICY, TABLE

STOPPED = "Error: Stopped. Nothing is left half-written.\n"

# Sends a signal to itself at one import, counted from when signals are first heard, and
# gets no further than that.
AT_AN_IMPORT = """
import os, sys, threading
at, number = int(sys.argv[1]), int(sys.argv[2])
sys.argv[1:] = sys.argv[3:]

class Striking:
    heard = False
    count = 0

    def find_spec(self, name, path=None, target=None):
        self.heard = self.heard or name == "sfumato.cli.own_process"
        self.count += self.heard
        if self.count == at:
            os.kill(os.getpid(), number)
            threading.Event().wait(30)
            os._exit(99)

sys.meta_path.insert(0, Striking())
from sfumato.cli import main
main()
"""

# Says that it is busy, and is so for minutes in one call that hears no Python.
IN_A_KERNEL = """
import hashlib, sys
import sfumato.cli.anonymize

def busy(*_, **__):
    print("busy", flush=True)
    hashlib.pbkdf2_hmac("sha256", b"a", b"b", 2_000_000_000)

sfumato.cli.anonymize.release = busy
from sfumato.cli import main
main()
"""

WHILE_WRITING = """
import threading, sys
import sfumato.pipeline.release

def busy(*_, **__):
    print("busy", flush=True)
    threading.Event().wait(30)

sfumato.pipeline.release.prove_files = busy
from sfumato.cli import main
main()
"""


# Says that a model learns, and learns for minutes without hearing Python.
WHILE_LEARNING = """
import hashlib
from sklearn.ensemble import HistGradientBoostingClassifier

def busy(*_, **__):
    print("busy", flush=True)
    hashlib.pbkdf2_hmac("sha256", b"a", b"b", 2_000_000_000)

HistGradientBoostingClassifier.fit = busy
from sfumato.cli import main
main()
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text(TABLE, encoding="utf-8")
    (tmp_path / "policy.toml").write_text(POLICY, encoding="utf-8")
    return tmp_path


def started(program: str, *words: str, place: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *words],
        cwd=place,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A test run that ignores hang-ups would hand that down.
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
    )


def ended(run: subprocess.Popen[str]) -> tuple[str, str]:
    """What it said on both streams; one that does not end is ended and fails."""
    try:
        return run.communicate(timeout=30)
    finally:
        run.kill()


MOMENTS = [1, 2, 3, 5, 9, 17, 33, 65, 120, 180, 240, 300, 360]


@pytest.mark.parametrize(
    ("at", "number"),
    [(at, signal.SIGINT) for at in MOMENTS]
    + [(at, signal.SIGTERM) for at in (1, 33, 300)],
)
def test_a_signal_at_any_import_ends_the_command(place, at, number):
    check = ["check", "people.csv", "--quasi", "age", "--k", "2"]
    run = started(AT_AN_IMPORT, str(at), str(int(number)), *check, place=place)
    out, said = ended(run)
    assert (run.returncode, out, said) == (130, "", STOPPED)


BEFORE_SIGNALS = """
import os, signal, sys, threading
sys.argv[1:] = ["list"]

class Striking:
    def find_spec(self, name, path=None, target=None):
        if name == "sfumato.cli.signals":
            os.kill(os.getpid(), signal.SIGINT)
            threading.Event().wait(30)

sys.meta_path.insert(0, Striking())
from sfumato.cli import main
main()
"""


def test_a_ctrl_c_before_signals_are_handled_leaves_no_traceback(place):
    """A shell calls this exit code 130, too."""
    run = started(BEFORE_SIGNALS, place=place)
    assert ended(run) == ("", "")
    assert run.returncode == -signal.SIGINT


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_inside_compiled_code_ends_the_command(place, number):
    run = started(IN_A_KERNEL, "anonymize", "policy.toml", place=place)
    assert run.stdout is not None
    assert run.stdout.readline() == "busy\n"
    run.send_signal(number)
    _, said = ended(run)
    assert (run.returncode, said) == (130, STOPPED)


def test_a_signal_answers_json_with_json(place):
    run = started(IN_A_KERNEL, "anonymize", "policy.toml", "--json", place=place)
    assert run.stdout is not None
    assert run.stdout.readline() == "busy\n"
    run.send_signal(signal.SIGTERM)
    out, said = ended(run)
    assert json.loads(out)["error"] == {
        "kind": "Interrupted",
        "message": "Stopped. Nothing is left half-written.",
        "hint": None,
        "exit_code": 130,
    }
    assert said == ""


def test_a_signal_while_a_release_is_written_leaves_nothing(place):
    run = started(WHILE_WRITING, "anonymize", "policy.toml", place=place)
    assert run.stdout is not None
    assert run.stdout.readline() == "busy\n"
    assert list(place.glob(".release.sfumato-*")) != []
    run.send_signal(signal.SIGTERM)
    _, said = ended(run)
    assert run.returncode == 130
    assert said.endswith(STOPPED)
    assert sorted(path.name for path in place.iterdir()) == [
        "people.csv",
        "policy.toml",
    ]


@pytest.mark.parametrize("name", ["inference", "identity", "all"])
def test_ctrl_c_while_an_attack_learns_keeps_nothing_of_it(place, monkeypatch, name):
    monkeypatch.chdir(place)
    assert main(["anonymize", "policy.toml", "--out", "release", "--quiet"]) == 0
    before = {path: path.read_bytes() for path in (place / "release").rglob("*.*")}
    words = ["attack", name, "release", "--original", "people.csv"]
    run = started(WHILE_LEARNING, *words, place=place)
    assert run.stdout is not None
    assert run.stdout.readline() == "busy\n"
    run.send_signal(signal.SIGINT)
    out, said = ended(run)
    assert (run.returncode, out) == (130, "")
    assert said.endswith(STOPPED)
    assert before == {
        path: path.read_bytes() for path in (place / "release").rglob("*.*")
    }


def test_a_signal_that_was_ignored_before_stays_ignored(place):
    program = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
    strike = "import os, signal; os.kill(os.getpid(), signal.SIGHUP)\n"
    words = "import sys; sys.argv[1:] = ['list']\nfrom sfumato.cli import main\n"
    late = (
        "import atexit; atexit.register(lambda: os.kill(os.getpid(), signal.SIGHUP))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", f"{program}{strike}{late}{words}main()"],
        capture_output=True,
    )
    assert run.returncode == 0


# Asks itself to stop when the first candidate is finished, and waits until that is heard.
AFTER_A_CANDIDATE = """
import os, signal
from sfumato.cli import main, signals
from sfumato.pipeline.comparison.worker_pool import Tally

hear = Tally.hear

def heard(tally, number, said):
    hear(tally, number, said)
    if len(tally.outcomes) == 1 and not signals.GENTLE._stop.is_set():
        os.kill(os.getpid(), signal.SIGINT)
        signals.GENTLE._stop.wait(30)

Tally.hear = heard
main()
"""


def test_ctrl_c_during_a_comparison_keeps_what_is_finished(place):
    sizes = 'compare.set={"require.0.k"=[2, 3, 4, 5, 6, 7]}'
    words = ["compare", "policy.toml", "--workers", "1", "--set", sizes, "--json"]
    run = started(AFTER_A_CANDIDATE, *words, "--page", "page.html", place=place)
    out, said = ended(run)
    found = json.loads(out)
    states = [each["status"] for each in found["candidates"]]
    assert (run.returncode, said) == (130, "")
    assert found["stopped"]
    assert found["error"]["exit_code"] == 130
    assert states[0] == "finished"
    assert states[-1] == "not run"
    assert (place / "page.html").is_file()
