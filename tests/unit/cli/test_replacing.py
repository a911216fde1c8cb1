"""`--force`, `--threads`, `--quiet`, links that lead nowhere, and leftovers."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path

import pytest

import sfumato.pipeline.release
from sfumato.cli import main
from sfumato.errors import GuaranteeError
from sfumato.io import atomic_files as aside
from tests.unit.cli.people_table import POLICY, TABLE

RUN = ["anonymize", "policy.toml"]
LEFTOVER = ".release.sfumato-0123456789ab"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "people.csv").write_text(TABLE, encoding="utf-8")
    (tmp_path / "policy.toml").write_text(POLICY, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def hash_of(release: Path) -> str:
    found = json.loads((release / "manifest.json").read_text(encoding="utf-8"))
    return str(found["data_sha256"])


def content(directory: Path) -> dict[str, bytes]:
    files = (path for path in directory.rglob("*") if path.is_file())
    return {str(path.relative_to(directory)): path.read_bytes() for path in files}


def test_without_force_a_release_is_never_replaced(place, capsys):
    assert main(RUN) == 0
    before = content(place / "release")
    assert main(RUN) == 2
    assert "replace it with --force" in capsys.readouterr().err
    assert content(place / "release") == before


def test_force_replaces_a_release_and_keeps_its_private_part(place):
    assert main(RUN) == 0
    old = place / "release"
    kept, first = content(old / "private"), hash_of(old)
    assert main([*RUN, "--force"]) == 0
    previous = place / "release" / "private" / f"previous-{first}"
    assert content(previous) == kept
    assert previous.stat().st_mode & 0o777 == 0o700
    assert (previous / "audit.json").stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in place.iterdir()) == [
        "people.csv",
        "policy.toml",
        "release",
    ]
    assert main(["check", "release/data.csv", "--policy", "policy.toml"]) == 0


def test_force_keeps_every_private_part_there_ever_was(place):
    names = set()
    for _ in range(3):
        assert main([*RUN, "--force"]) == 0
        names.add(f"previous-{hash_of(place / 'release')}")
    last = f"previous-{hash_of(place / 'release')}"
    found = {path.name for path in (place / "release" / "private").glob("previous-*")}
    assert found == names - {last}
    assert list((place / "release" / "private").glob("previous-*/previous-*")) == []


def test_the_old_release_stays_where_the_new_one_is_not_proven(place, monkeypatch):
    assert main(RUN) == 0
    before = content(place / "release")

    def fail(*_: object, **__: object) -> None:
        raise GuaranteeError("The written file does not match the draft.")

    monkeypatch.setattr(sfumato.pipeline.release, "prove_files", fail)
    assert main([*RUN, "--force"]) == 70
    assert content(place / "release") == before
    assert not list(place.glob(".release*"))


def test_force_works_where_names_cannot_be_exchanged_at_once(place, monkeypatch):
    monkeypatch.setattr(aside, "_exchange_at_once", lambda *_: False)
    assert main(RUN) == 0
    first = hash_of(place / "release")
    assert main([*RUN, "--force"]) == 0
    assert (place / "release" / "private" / f"previous-{first}").is_dir()
    assert not list(place.glob(".release*"))


@pytest.mark.parametrize("held", ["notes.txt", "manifest.json"])
def test_force_replaces_nothing_that_is_no_release(place, capsys, held):
    (place / "release").mkdir()
    (place / "release" / held).write_text("{}", encoding="utf-8")
    assert main([*RUN, "--force"]) == 2
    assert "'release' is not a Sfumato release" in capsys.readouterr().err
    assert [path.name for path in (place / "release").iterdir()] == [held]


@pytest.mark.parametrize(
    "words", [RUN, [*RUN, "--force"], ["demo", "--out", "release"]], ids=" ".join
)
def test_a_link_that_leads_nowhere_is_refused_before_any_work(
    place, capsys, monkeypatch, words
):
    (place / "release").symlink_to(place / "gone")

    def work(*_: object, **__: object) -> None:
        raise AssertionError("something was done")

    monkeypatch.setattr("sfumato.api.anonymize", work)
    monkeypatch.setattr("sfumato.demo.write", work)
    assert main(words) == 2
    assert "'release' is a link to a place that does not exist." in (
        capsys.readouterr().err
    )


def test_a_policy_is_not_proposed_into_a_link_that_leads_nowhere(place, capsys):
    (place / "proposed.toml").symlink_to(place / "gone")
    assert main(["init", "people.csv", "-o", "proposed.toml"]) == 2
    assert "is a link to a place that does not exist" in capsys.readouterr().err


def test_what_a_killed_run_left_is_removed_by_the_next(place):
    (place / LEFTOVER).mkdir()
    (place / LEFTOVER / "data.csv").write_text("half", encoding="utf-8")
    assert main(RUN) == 0
    assert not (place / LEFTOVER).exists()


def test_what_another_run_is_writing_is_left_alone(place):
    (place / LEFTOVER).mkdir()
    lock = os.open(place / LEFTOVER, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        assert main(RUN) == 0
    finally:
        os.close(lock)
    assert (place / LEFTOVER).exists()


@pytest.mark.parametrize(
    "name",
    [".other.sfumato-0123456789ab", ".release.sfumato-x", ".release.old", ".release"],
)
def test_what_is_not_of_a_run_to_the_same_place_is_left_alone(place, name):
    (place / name).mkdir()
    assert main(RUN) == 0
    assert (place / name).exists()


def test_quiet_says_nothing_where_all_is_well(place, capsys):
    assert main([*RUN, "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_quiet_says_what_failed(place, capsys):
    assert main([*RUN, "--quiet", "--set", "require.0.k=41"]) == 3
    assert capsys.readouterr().err.startswith("Error: k-anonymity needs")


def test_threads_do_not_show_in_the_release(place):
    for threads in ("1", "2"):
        words = ["--seed", "0" * 32, "--threads", threads, "--out", f"t{threads}"]
        assert main([*RUN, *words]) == 0
    assert hash_of(place / "t1") == hash_of(place / "t2")


def test_no_threads_are_refused(place, capsys):
    assert main([*RUN, "--threads", "0"]) == 2
    assert "--threads" in capsys.readouterr().err


@pytest.mark.parametrize("words", [RUN, ["demo", "--out", "release"]], ids=" ".join)
def test_a_directory_that_is_no_release_is_not_offered_to_force(place, capsys, words):
    (place / "release").mkdir()
    assert main(words) == 2
    assert capsys.readouterr().err == (
        "Error: 'release' exists already.\n"
        "Hint: Name another directory with --out, or move this one away.\n"
    )
