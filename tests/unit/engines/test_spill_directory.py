"""What DuckDB spills is private, and is removed by the next run after a kill."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile

import duckdb
import pyarrow as pa
import pytest

from sfumato.data.batch_source import BatchSource
from sfumato.engines.duckdb_engine import FEWEST_BYTES, DuckDBEngine
from sfumato.engines.spill_directory import close_to_others, spill_directory
from sfumato.errors import OutputError

KILLED = """
import os, signal
from sfumato.engines.spill_directory import spill_directory
with spill_directory() as path:
    (path / "duckdb_temp_storage").write_text("cells")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def test_the_next_run_removes_what_a_killed_one_spilled(temporary):
    done = subprocess.run([sys.executable, "-c", KILLED], check=False)
    assert done.returncode == -signal.SIGKILL
    (left,) = temporary.iterdir()
    assert [path.name for path in left.iterdir()] == ["duckdb_temp_storage"]
    with spill_directory() as path:
        assert list(temporary.iterdir()) == [path]
    assert list(temporary.iterdir()) == []


def test_a_directory_of_a_process_that_lives_is_not_touched(temporary):
    with spill_directory() as first, spill_directory() as second:
        assert sorted(temporary.iterdir()) == sorted([first, second])


def test_only_the_owner_can_read_what_was_spilled(temporary):
    with spill_directory() as path:
        (path / "duckdb_temp_storage").write_text("cells")
        (path / "duckdb_temp_storage").chmod(0o644)
        close_to_others(path)
        modes = [file.stat().st_mode & 0o777 for file in (path, *path.iterdir())]
    assert modes == [0o700, 0o600]


def test_an_engine_closes_the_files_that_it_spills(temporary):
    schema = pa.schema([("a", pa.string())])

    def batches(_names):
        for start in range(0, 2_000_000, 50_000):
            cells = [f"{number:032}" for number in range(start, start + 50_000)]
            yield pa.RecordBatch.from_arrays([pa.array(cells)], schema=schema)

    source = BatchSource(schema=schema, read=batches, bytes=64_000_000)
    with DuckDBEngine(source, memory_limit=FEWEST_BYTES) as engine:
        rows = sum(batch.num_rows for batch in engine.ordered(["a"]).read(["a"]))
        left = [p.stat().st_mode & 0o777 for p in temporary.rglob("duckdb_temp*")]
    assert rows == 2_000_000
    assert set(left) == {0o600}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("Could not write file: No space left on device", "cannot take what does not"),
        (
            'Failed to create directory "x": No such file or directory',
            "it is not there",
        ),
        ('Cannot open file "x": Permission denied', "it is not allowed"),
        ('Could not set lock on file "x"', "it is locked by another process"),
        ("Could not read enough bytes", "what it holds cannot be used"),
    ],
)
def test_faults_of_temporary_files_are_told_apart_without_their_paths(
    temporary, words, told
):
    schema = pa.schema([("a", pa.string())])

    def batches(_names):
        yield pa.RecordBatch.from_arrays([pa.array(["x"])], schema=schema)

    class Broken:
        def __enter__(self):
            raise duckdb.IOException(words)

        def __exit__(self, *_fault):
            raise AssertionError

    source = BatchSource(schema=schema, read=batches, bytes=1)
    with DuckDBEngine(source, memory_limit=FEWEST_BYTES) as engine:
        connection, engine._connection = engine._connection, None
        engine._connection = type("C", (), {"cursor": lambda _self: Broken()})()
        with pytest.raises(OutputError, match=told) as caught:
            engine.count(["a"])
        connection.close()
    assert '"x"' not in str(caught.value)
    assert list(temporary.iterdir()) == []
