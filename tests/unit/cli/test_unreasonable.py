"""No setting or input, however odd, causes an internal error."""

from __future__ import annotations

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

import sfumato
import sfumato.api
from sfumato.cli import main
from tests.unit.cli.unreasonable import CASES, ILLNESS, NAME, POLICY, people


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A directory with a good table and a good policy, to work in."""
    (tmp_path / "people.csv").write_text(people())
    (tmp_path / "policy.toml").write_text(POLICY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_there_are_many_cases():
    assert len(CASES) >= 150


def test_the_table_and_the_policy_are_good(place):
    assert main(["anonymize", "policy.toml"]) == 0


@pytest.mark.parametrize("case", CASES, ids=lambda case: repr(case.words)[:80])
def test_an_unreasonable_case_is_refused_by_name(case, place, capsys):
    case.prepare(place)
    before = sorted(place.rglob("*"))
    assert main(list(case.words)) == case.code
    said = capsys.readouterr()
    assert said.err.startswith("Error: ")
    assert "\nHint: " in said.err
    assert case.named in said.err
    assert "Traceback" not in said.err
    assert NAME not in said.err + said.out
    assert ILLNESS not in said.err + said.out
    assert sorted(place.rglob("*")) == before


ENDS = ["0001-01-01", "9999-12-31"]
ODD = {
    "giants": ({"size": ["1e300", "-1e300", "1"]}, "size"),
    "largest floats": ({"size": ["1.7e308", "-1.7e308", "1"]}, "size"),
    "denormals": ({"size": ["1e-320", "2e-320", "0"]}, "size"),
    "ends of 64 bits": ({"age": [2**63 - 1, -(2**63), 1]}, "age"),
    "first and last day": ({"born": ENDS}, "born"),
    "first days": ({"born": ["0001-01-01", "0001-01-02"]}, "born"),
    "last days": ({"born": ["9999-12-30", "9999-12-31"]}, "born"),
    "one value": ({"size": "1.5"}, "size"),
}
HIERARCHIES = {
    "size": ["auto", "free", "{ quantiles = [4, 2] }", "{ intervals = [0.5] }"],
    "age": ["auto", "free", "{ quantiles = [4, 2] }", "{ intervals = [5, 10] }"],
    "born": [
        "auto",
        "free",
        "{ quantiles = [4, 2] }",
        "{ intervals = [30] }",
        '{ calendar = ["month", "quarter", "year", "decade"] }',
    ],
}


@pytest.mark.parametrize("numbers", ["interval", "bounds", "mean"])
@pytest.mark.parametrize(
    ("name", "hierarchy"),
    [(name, each) for name, (_, column) in ODD.items() for each in HIERARCHIES[column]],
)
def test_odd_values_are_released_or_refused(name, hierarchy, numbers, place, capsys):
    cells, column = ODD[name]
    (place / "people.csv").write_text(people(**cells))
    words = ["--set", f"columns.{column}.hierarchy={hierarchy}"]
    words += ["--set", f"publish.numbers={numbers}"]
    assert main(["anonymize", "policy.toml", *words]) in (0, 2, 3)
    assert "Traceback" not in capsys.readouterr().err


def test_running_out_of_memory_is_an_answer(place, capsys, monkeypatch):
    def full(*_args, **_kwargs):
        raise MemoryError

    monkeypatch.setattr(sfumato.api, "read_table", full)
    assert main(["anonymize", "policy.toml"]) == 2
    assert capsys.readouterr().err.startswith("Error: Memory ran out; ")


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_a_reader_who_leaves_the_list_is_no_fault(words):
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "sfumato", "list", *words]
    ended = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_no_hint_names_a_page_that_is_not_installed(repository):
    for path in (repository / "src").rglob("*.py"):
        hints = [line for line in path.read_text().splitlines() if "hint" in line]
        assert not any("docs/" in line or "manual" in line for line in hints), path


@pytest.mark.parametrize("better", [True, False])
def test_tune_writes_a_policy_only_if_it_is_better(better, place, capsys, monkeypatch):
    policy = sfumato.Policy.load("policy.toml")
    found = SimpleNamespace(better=better, policy=policy, record=dict)
    monkeypatch.setattr(sfumato.api, "tune", lambda *_args, **_settings: found)
    words = ["--workload", "queries.sql", "--out", "tuned.toml", "--json"]
    assert main(["tune", "policy.toml", *words]) == 0
    assert (place / "tuned.toml").exists() is better


@pytest.mark.skipif(
    sys.platform != "linux", reason="Names of files are bytes on Linux."
)
def test_a_release_is_made_in_a_directory_whose_name_is_no_utf_8(place, capsys):
    odd = place / os.fsdecode(b"caf\xe9")
    odd.mkdir()
    assert main(["anonymize", "policy.toml", "--out", f"{odd}/release"]) == 0
    assert (odd / "release" / "private" / "rows.parquet").stat().st_size


@pytest.mark.skipif(
    sys.platform != "linux", reason="Names of files are bytes on Linux."
)
def test_a_file_that_no_policy_can_name_is_refused(place, capsys):
    odd = os.fsdecode(b"caf\xe9.csv")
    (place / odd).write_text(people())
    assert main(["init", odd, "-o", "proposed.toml"]) == 2
    assert "not UTF-8 text" in capsys.readouterr().err
    assert not (place / "proposed.toml").exists()
