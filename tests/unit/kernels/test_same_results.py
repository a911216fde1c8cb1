"""Library, fresh compilation and plain Python give the same bytes, on any threads."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from sfumato.kernels.compilation import library
from tests.conftest import absent

# Prints a hash of what each algorithm named releases, on one thread and on two.
RELEASES = """
import hashlib, sys, io
import pyarrow.csv
import sfumato as sf
from tools.library.reach import table

source = table().slice(0, int(sys.argv[1])).drop_columns(["income"])
for name in sys.argv[2:]:
    for threads in (1, 2):
        made = sf.anonymize(
            source, quasi=["age", "work", "zip"], sensitive=["disease"], k=4, l=2,
            algorithm=name, publish={"max_loss": 1}, insecure_seed=7, threads=threads,
        )
        out = io.BytesIO()
        pyarrow.csv.write_csv(made.table, out)
        print(name, hashlib.sha256(out.getvalue()).hexdigest())
"""
COMPILED = ("datafly", "mondrian")
EVERY = (
    *COMPILED,
    *("top-down", "bottom-up", "k-member", "oka", "tgc", "mdav", "harvest", "best"),
)


def releases(rows: int, names: tuple[str, ...], **settings: str) -> list[str]:
    """What a fresh process releases: a line for each algorithm and number of threads."""
    run = subprocess.run(
        [sys.executable, "-c", RELEASES, str(rows), *names],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **settings},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


@pytest.fixture(scope="module")
def from_library() -> list[str]:
    if library.usable() is None:
        absent("No library of kernels is built: run `make library`.")
    return releases(200, EVERY)


def test_threads_do_not_show_in_what_the_library_releases(from_library):
    assert from_library[::2] == from_library[1::2]
    assert len(from_library) == 2 * len(EVERY)


@pytest.mark.slow
def test_fresh_compilation_releases_what_the_library_does(from_library, repository):
    cache = str(repository / "build" / "kernels")
    compiled = releases(200, COMPILED, SFUMATO_LIBRARY="off", SFUMATO_CACHE_DIR=cache)
    assert compiled == from_library[: len(compiled)]
    assert len(compiled) == 2 * len(COMPILED)


@pytest.mark.slow
def test_kernels_run_as_python_release_what_the_library_does():
    if library.usable() is None:
        absent("No library of kernels is built: run `make library`.")
    assert releases(60, COMPILED, NUMBA_DISABLE_JIT="1") == releases(60, COMPILED)
