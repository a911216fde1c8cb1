"""Where Numba is not installed, the library serves, and what it lacks is named."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sfumato.kernels.compilation import library
from tests.conftest import absent
from tools.library.reach import table

NO_NUMBA = "import sys; sys.modules['numba'] = None; "
COMMAND = f"{NO_NUMBA}from sfumato.cli import main; sys.exit(main(sys.argv[1:]))"


def run(words: list[str], place: Path, **settings: str) -> subprocess.CompletedProcess:
    """Run a command in a process that cannot import Numba."""
    return subprocess.run(
        [sys.executable, "-c", COMMAND, *words],
        cwd=place,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **settings},
        capture_output=True,
        text=True,
    )


@pytest.fixture
def served() -> library.Library:
    found = library.usable()
    if found is None:
        absent("No library of kernels is built: run `make library`.")
    return found


@pytest.fixture
def place(tmp_path) -> Path:
    """A directory with a table and a policy."""
    names = table().column_names
    rows = zip(*table().to_pydict().values(), strict=True)
    lines = [",".join(names), *(",".join(row) for row in rows)]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "policy.toml").write_text(
        "version = 1\n"
        '[data]\npath = "people.csv"\n'
        '[columns]\nage = { role = "quasi" }\nwork = { role = "quasi" }\n'
        'disease = { role = "sensitive" }\n'
        "zip = { drop = true }\nincome = { drop = true }\n"
        '[[require]]\nmodel = "k-anonymity"\nk = 5\n'
        '[algorithm]\nname = "mondrian"\n',
        encoding="utf-8",
    )
    return tmp_path


def test_the_demo_needs_no_numba(served, tmp_path):
    done = run(["demo"], tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "sfumato-demo" / "release" / "data.csv").exists()


def test_no_cache_is_needed_and_none_is_made(served, place):
    nowhere = str(Path(os.devnull) / "cache")
    done = run(
        ["anonymize", "policy.toml"],
        place,
        HOME=nowhere,
        XDG_CACHE_HOME=nowhere,
        SFUMATO_CACHE_DIR=str(place / "cache"),
    )
    assert done.returncode == 0, done.stderr
    assert not (place / "cache").exists()


def without(kernel: str, served: library.Library, place: Path) -> str:
    """A copy of the library that lacks one kernel."""
    index = json.loads((served.path.parent / library.INDEX).read_text("utf-8"))
    kept = [line for line in index["entries"] if kernel not in line[1]]
    assert len(kept) < len(index["entries"])
    changed = {**index, "file": str(served.path), "entries": kept}
    (place / "lacking").mkdir()
    (place / "lacking" / library.INDEX).write_text(json.dumps(changed), "utf-8")
    return str(place / "lacking")


@pytest.mark.parametrize("kernel", ["gain_cut.cut_gain", "rule_pointers._unasked"])
def test_a_kernel_that_the_library_lacks_is_named(served, place, kernel):
    lacking = without(kernel, served, place)
    done = run(["anonymize", "policy.toml"], place, SFUMATO_LIBRARY=lacking)
    assert done.returncode == 2
    assert (
        f"has no {'*' if '_unasked' in kernel else ''}sfumato.kernels." in done.stderr
    )
    assert f"{kernel}(" in done.stderr
    assert "pip install 'sfumato[jit]'" in done.stderr
    assert not (place / "release").exists()


def test_neither_library_nor_numba_is_an_error_with_a_way_out(place):
    done = run(["anonymize", "policy.toml"], place, SFUMATO_LIBRARY="off")
    assert done.returncode == 2
    assert "The library of compiled kernels is missing" in done.stderr
    assert "pip install 'sfumato[jit]'" in done.stderr


def test_judging_a_table_needs_neither(place):
    words = ["check", "people.csv", "--quasi", "work", "--k", "5"]
    done = run(words, place, SFUMATO_LIBRARY="off")
    assert done.returncode == 0, done.stderr


def test_several_first_runs_at_once_do_not_hinder_each_other(served, place):
    words = [sys.executable, "-c", COMMAND, "anonymize", "policy.toml", "--out"]
    settings = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    runs = [
        subprocess.Popen([*words, f"out-{n}"], cwd=place, env=settings)
        for n in range(3)
    ]
    assert [each.wait() for each in runs] == [0, 0, 0]
