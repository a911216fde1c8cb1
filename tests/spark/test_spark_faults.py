"""Ctrl-C and dying workers: nothing is left behind, and no release changes."""

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

import sfumato as sf
from tests.spark.conftest import QUICK

ROWS = 40_000
POLICY = """
version = 1
[data]
path = "people.parquet"
key = ["id"]
[columns.id]
role = "identifier"
[columns.one]
role = "quasi"
[columns.two]
role = "quasi"
[columns.job]
role = "sensitive"
[columns.ward]
role = "insensitive"
[[require]]
model = "k-anonymity"
k = 5
[algorithm]
name = "mondrian"
"""
# Says when Spark begins to sort the rows, and goes on with it.
TELLING = """
from sfumato.pipeline.spark_rows import StagedRows

write = StagedRows._write

def told(rows, place):
    print("sorting", flush=True)
    return write(rows, place)

StagedRows._write = told
from sfumato.cli import main
main()
"""
# Two workers, each a process of its own; one is killed before the rows are sorted.
KILLING = """
import os, signal
from pathlib import Path
from sfumato.engines.spark_session import spark_session
from sfumato.pipeline.spark_rows import StagedRows

session = spark_session(10**9)
session.range(0, 100, 1, 8).count()
write = StagedRows._write

def workers():
    (noted,) = Path(os.environ["TMPDIR"]).glob("sfumato-spark-*/processes")
    for number in map(int, noted.read_text().split()):
        place = Path(f"/proc/{number}/cmdline")
        if place.exists() and b"CoarseGrainedExecutorBackend" in place.read_bytes():
            yield number

def killed(rows, place):
    os.kill(next(workers()), signal.SIGKILL)
    print("killed", flush=True)
    return write(rows, place)

StagedRows._write = killed
from sfumato.cli import main
main()
"""


@pytest.fixture(scope="module")
def table() -> pa.Table:
    draw = np.random.default_rng(1)
    return pa.table(
        {
            "id": draw.permutation(ROWS),
            "one": draw.integers(0, 5_000, ROWS),
            "two": draw.integers(0, 50, ROWS),
            "job": draw.choice(["nurse", "cook", "smith"], ROWS),
            "ward": draw.choice(["north", "south"], ROWS),
        }
    )


@pytest.fixture
def place(tmp_path: Path, table: pa.Table) -> Path:
    pq.write_table(table, tmp_path / "people.parquet", row_group_size=ROWS // 8)
    (tmp_path / "policy.toml").write_text(POLICY)
    (tmp_path / "spill").mkdir()
    return tmp_path


def default_interrupt() -> None:
    """A test run in the background ignores Ctrl-C, and would hand that down."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def started(place: Path, code: str, **variables: str) -> subprocess.Popen[str]:
    words = ["anonymize", "policy.toml", "--out", "release", "--engine", "spark"]
    return subprocess.Popen(
        [sys.executable, "-c", code, *words, "--insecure-seed", "1", "--quiet"],
        cwd=place,
        env={**os.environ, "TMPDIR": str(place / "spill"), **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=default_interrupt,
    )


def test_ctrl_c_on_spark_leaves_nothing_behind(spark, place):
    run = started(place, TELLING)
    try:
        assert run.stdout is not None
        assert any(line == "sorting\n" for line in run.stdout)
        os.killpg(run.pid, signal.SIGINT)
        _, said = run.communicate(timeout=120)
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


def test_a_worker_that_dies_changes_no_release(spark, place):
    submit = "--master local-cluster[2,1,1024] --driver-memory 1g pyspark-shell"
    run = started(place, KILLING, PYSPARK_SUBMIT_ARGS=submit, JDK_JAVA_OPTIONS=QUICK)
    told, said = run.communicate(timeout=600)
    assert run.returncode == 0, said
    assert told == "killed\n"
    asked = sf.Policy.load(place / "policy.toml")
    expected = sf.anonymize(place / "people.parquet", asked, insecure_seed=1)
    found = pq.read_table(place / "release" / "data.parquet")
    assert found.to_pydict() == expected.table.to_pydict()
    rows = pq.read_table(place / "release" / "private" / "rows.parquet")
    assert rows.column("group").to_numpy().tolist() == expected.group_of.tolist()
    assert list((place / "spill").iterdir()) == []
