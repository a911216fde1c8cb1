"""`sfumato doctor`: what it finds, and what it says is missing."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from sfumato.cli import doctor, main
from sfumato.kernels.compilation.cache_places import Place
from sfumato.kernels.compilation.library import Library, platform_name


def told(capsys: pytest.CaptureFixture[str]) -> dict:
    assert main(["doctor", "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_it_tells_versions_cache_cores_memory_and_java(capsys):
    found = told(capsys)
    assert set(found) == {
        "sfumato",
        "python",
        "system",
        "dependencies",
        "extras",
        "kernels",
        "cache",
        "cores",
        "memory",
        "java",
        "missing",
    }
    assert found["dependencies"]["numpy"].startswith("2.")
    assert Path(found["cache"]["directory"]).is_dir()
    assert found["cores"] >= 1
    assert 0 < found["memory"]["usable"] <= found["memory"]["total"]


def test_what_is_missing_is_named_with_its_feature_and_remedy(capsys, monkeypatch):
    known = doctor.version_of
    monkeypatch.setattr(
        doctor, "version_of", lambda name: None if name == "opendp" else known(name)
    )
    wanted = {
        "name": "opendp",
        "feature": "differential privacy",
        "remedy": "pip install 'sfumato[dp]'",
    }
    assert wanted in told(capsys)["missing"]
    assert main(["doctor"]) == 0
    said = capsys.readouterr().out
    assert "opendp  for differential privacy: pip install 'sfumato[dp]'" in said
    assert re.search("opendp +not installed", said)


def test_a_machine_with_everything_misses_nothing(capsys, monkeypatch):
    monkeypatch.setattr(doctor, "version_of", lambda _name: "1.0")
    main(["doctor"])
    assert "Nothing is missing." in capsys.readouterr().out


def test_a_cache_that_is_not_used_is_not_named(capsys, monkeypatch):
    served = Library(Path("kernels.so"), {})
    monkeypatch.setattr("sfumato.kernels.compilation.library.usable", lambda: served)
    monkeypatch.setattr(doctor, "version_of", lambda _name: None)
    main(["doctor"])
    assert "kernel cache  not used: nothing is compiled here" in capsys.readouterr().out


@pytest.fixture
def no_library(monkeypatch):
    """No library serves, and Numba compiles."""
    monkeypatch.setattr("sfumato.kernels.compilation.library.usable", lambda: None)
    monkeypatch.setattr(doctor, "version_of", lambda _name: "1.0")


def test_it_names_the_library_that_serves(capsys, monkeypatch):
    served = Library(Path("lib/kernels.so"), {"module.kernel": [None, None]})
    monkeypatch.setattr("sfumato.kernels.compilation.library.usable", lambda: served)
    assert told(capsys)["kernels"] == {
        "platform": platform_name(),
        "library": str(Path("lib/kernels.so")),
        "entries": 2,
    }
    main(["doctor"])
    assert "2 compiled ahead of time, lib/kernels.so" in capsys.readouterr().out


@pytest.mark.usefixtures("no_library")
def test_without_a_library_it_says_who_compiles(capsys, monkeypatch):
    main(["doctor"])
    assert "Numba compiles on first use" in capsys.readouterr().out
    monkeypatch.setattr(doctor, "version_of", lambda _name: None)
    assert "kernels" in [each["name"] for each in told(capsys)["missing"]]


@pytest.mark.usefixtures("no_library")
def test_a_cache_that_is_nowhere_is_missing(capsys, monkeypatch):
    nowhere = Place(None, "no directory can be written to")
    monkeypatch.setattr(
        "sfumato.kernels.compilation.cache_places.cache_place", lambda: nowhere
    )
    names = [each["name"] for each in told(capsys)["missing"]]
    assert "cache" in names
    main(["doctor"])
    assert "none (no directory can be written to)" in capsys.readouterr().out


def test_memory_is_what_reading_a_table_would_ask_for(capsys, monkeypatch):
    monkeypatch.setattr(doctor, "free_memory", lambda: 1048576)
    assert told(capsys)["memory"]["usable"] == 1048576
