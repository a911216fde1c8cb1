"""Ctrl-C while a table is released out of core: nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROWS = 200_000
POLICY = """
version = 1
[data]
path = "people.parquet"
[columns.one]
role = "quasi"
[columns.two]
role = "quasi"
[columns.job]
role = "sensitive"
[[require]]
model = "k-anonymity"
k = 5
"""
# Says when a step begins, and goes on with it.
TELLING = """
from sfumato.engines.duckdb_engine import DuckDBEngine
from sfumato.pipeline.run import Run

step, enter = Run.step, DuckDBEngine.__enter__

def told(run, name, share):
    print(name, flush=True)
    return step(run, name, share)

def opened(engine):
    found = enter(engine)
    print("engine", flush=True)
    return found

Run.step, DuckDBEngine.__enter__ = told, opened
from sfumato.cli import main
main()
"""


@pytest.fixture(scope="module")
def table() -> pa.Table:
    draw = np.random.default_rng(1)
    return pa.table(
        {
            "one": draw.integers(0, 5_000, ROWS),
            "two": draw.normal(size=ROWS).round(4),
            "job": draw.choice(["nurse", "cook", "smith"], ROWS),
        }
    )


@pytest.fixture
def place(tmp_path: Path, table: pa.Table) -> Path:
    pq.write_table(table, tmp_path / "people.parquet")
    (tmp_path / "policy.toml").write_text(POLICY)
    (tmp_path / "spill").mkdir()
    return tmp_path


def default_interrupt() -> None:
    """A test run in the background ignores Ctrl-C, and would hand that down."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def started(place: Path) -> subprocess.Popen[str]:
    words = ["anonymize", "policy.toml", "--out", "release", "--engine", "duckdb"]
    return subprocess.Popen(
        [sys.executable, "-c", TELLING, *words, "--memory-limit", "64MB"],
        cwd=place,
        env={**os.environ, "TMPDIR": str(place / "spill")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=default_interrupt,
    )


def wait_for(run: subprocess.Popen[str], line: str) -> None:
    assert run.stdout is not None
    assert any(said == f"{line}\n" for said in run.stdout)


@pytest.mark.parametrize("step", ["engine", "solve", "publish", "verify"])
def test_ctrl_c_out_of_core_leaves_nothing_behind(place, step):
    run = started(place)
    try:
        wait_for(run, step)
        os.killpg(run.pid, signal.SIGINT)
        _, said = run.communicate(timeout=60)
    finally:
        run.kill()
    assert run.returncode == 130
    assert said.endswith("Error: Stopped. Nothing is left half-written.\n")
    assert sorted(path.name for path in place.iterdir()) == [
        "people.parquet",
        "policy.toml",
        "spill",
    ]
    assert list((place / "spill").iterdir()) == []
