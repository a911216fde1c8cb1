"""Closed or full streams, or readers that leave, never lose a release."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sfumato.cli import main
from tests.unit.cli.people_table import POLICY, TABLE

pytestmark = pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="There is no full device."
)

STREAMS = [
    ">/dev/full",
    "2>/dev/full",
    ">/dev/full 2>&1",
    ">&-",
    "2>&-",
    ">&- 2>&-",
    "<&- >&- 2>&-",
    "| true",
]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text(TABLE, encoding="utf-8")
    (tmp_path / "policy.toml").write_text(POLICY, encoding="utf-8")
    return tmp_path


def code_of(words: str, streams: str, place: Path) -> int:
    """The exit code of a command whose streams a shell has closed or filled."""
    # The first of a pipe decides, and `true` may be gone before it prints.
    shell = f'{{ "{sys.executable}" -m sfumato {words}; echo $? >code; }} {streams}'
    subprocess.run(["bash", "-c", shell], cwd=place, timeout=120)
    return int((place / "code").read_text(encoding="ascii"))


@pytest.mark.parametrize(
    ("words", "streams"),
    [
        *((["anonymize", "policy.toml"], streams) for streams in STREAMS),
        (["anonymize", "policy.toml", "--json"], ">/dev/full"),
        (["anonymize", "policy.toml", "--json"], ">&-"),
    ],
)
def test_a_release_is_made_whatever_becomes_of_the_streams(place, words, streams):
    assert code_of(" ".join(words), streams, place) == 0
    assert (place / "release" / "report.html").is_file()
    assert (
        main(["check", f"{place}/release/data.csv", "--quasi", "age", "--k", "4"]) == 0
    )


@pytest.mark.parametrize("streams", [">/dev/full 2>&1", ">&- 2>&-", "2>/dev/full"])
def test_a_failure_keeps_its_code_whatever_becomes_of_the_streams(place, streams):
    words = "anonymize policy.toml --set require.0.k=41"
    assert code_of(words, streams, place) == 3
    assert not (place / "release").exists()


def test_who_can_still_be_told_is_told(place):
    shell = f'"{sys.executable}" -m sfumato anonymize policy.toml >/dev/full'
    run = subprocess.run(
        ["bash", "-c", shell], cwd=place, capture_output=True, text=True
    )
    assert run.returncode == 0
    assert "Warning: The release 'release' is complete, but stdout takes no more." in (
        run.stderr
    )


def test_a_missing_stream_is_not_replaced_by_a_file(place):
    """A file that takes the place of stderr would get what libraries say there."""
    program = (
        "import os, sys; sys.argv[1:] = ['list'];"
        "import sfumato.cli.listing as listing;"
        "from sfumato import registry;"
        "known = registry.catalogue;"
        "opened = lambda shelf: (open('opened', 'w').write(str(os.open('other', "
        "os.O_CREAT | os.O_WRONLY))), known(shelf))[1];"
        "registry.catalogue = opened;"
        "from sfumato.cli import main; main()"
    )
    shell = f'"{sys.executable}" -c "{program}" 2>&- >&-'
    subprocess.run(["bash", "-c", shell], cwd=place, timeout=60)
    assert int((place / "opened").read_text(encoding="ascii")) > 2


@pytest.mark.parametrize(
    "words",
    [
        "list",
        "doctor",
        "--version",
        "--help",
        "check people.csv --quasi age --k 4",
        "init people.csv -o -",
        "init people.csv -o proposed.toml",
    ],
)
def test_a_reader_who_leaves_does_not_change_the_code(place, words):
    assert code_of(words, "| true", place) == 0


def test_a_reader_who_leaves_does_not_hide_that_a_requirement_fails(place):
    assert code_of("check people.csv --quasi age --k 11", "| true", place) == 1


@pytest.mark.parametrize("words", ["list", "doctor", "--version", "--help"])
def test_a_full_stdout_is_an_error_without_a_traceback(place, words):
    shell = f'"{sys.executable}" -m sfumato {words} >/dev/full'
    run = subprocess.run(
        ["bash", "-c", shell], cwd=place, capture_output=True, text=True
    )
    assert run.returncode == 2
    assert run.stderr.startswith("Error: Writing failed: No space left on device.")
    assert "Traceback" not in run.stderr
