"""What engines count, and what they refuse."""

from __future__ import annotations

import json

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.cli import main
from sfumato.data.batch_source import BatchSource, table_batches
from sfumato.data.disk_arrays import DiskArrays
from sfumato.engines.duckdb_engine import DuckDBEngine
from sfumato.engines.memory_engine import MemoryEngine
from sfumato.errors import DataError, OutputError, RefusedError, UsageError
from sfumato.io.batch_files import batch_source
from sfumato.pipeline.choose_engine import choose_engine, memory_of

LIMIT = 10**8


def opened(table, name):
    source = table_batches(table, rows=3)
    if name == "memory":
        return MemoryEngine(source)
    return DuckDBEngine(source, memory_limit=LIMIT)


def counted(engine, columns):
    found = engine.count(columns)
    lines = zip(*(column.to_pylist() for column in found.lines.columns), strict=True)
    pairs = zip(lines, found.times.tolist(), strict=True)
    return sorted(pairs, key=repr)


both = pytest.mark.parametrize("name", ["memory", "duckdb"])


@both
def test_lines_are_counted_with_nulls_as_values(name):
    table = pa.table({"a": ["x", None, "x", ""], "b": [1, 1, 1, None]})
    with opened(table, name) as engine:
        assert counted(engine, ["a", "b"]) == [
            (("", None), 1),
            (("x", 1), 2),
            ((None, 1), 1),
        ]


@both
def test_zero_and_minus_zero_are_two_values(name):
    table = pa.table({"a": [0.0, -0.0, 0.0]})
    with opened(table, name) as engine:
        assert sorted(engine.profile("a").times.tolist()) == [1, 2]


@pytest.mark.parametrize(
    "cells",
    [
        pa.array([1, 2**62], pa.timestamp("ns", tz="Europe/Berlin")),
        pa.array([1, 3], pa.date32()),
        pa.array([1, 2**60], pa.time64("ns")),
        pa.array([0, 2**64 - 1], pa.uint64()),
        pa.array([True, None]),
        pa.array(["0.10", "12345678901234567890.55"]).cast(pa.decimal128(30, 2)),
        pa.array([0.1, 1e-300]),
        pa.array([0.1, 2.5], pa.float32()),
    ],
    ids=lambda cells: str(cells.type),
)
def test_values_come_back_in_their_own_type(cells):
    with opened(pa.table({"a": cells}), "duckdb") as engine:
        found = engine.profile("a").lines.column("a")
    assert found.type == cells.type
    assert sorted(found.to_pylist(), key=repr) == sorted(cells.to_pylist(), key=repr)


@both
def test_rows_alone_leave_out_missing_cells(name):
    table = pa.table({"a": ["x", "y", "?", None], "q": ["1", "1", "1", "2"]})
    with opened(table, name) as engine:
        assert engine.alone("a", (), ("?",)) == 2
        assert engine.alone("q", ("a",), ()) == 4


@both
def test_rows_come_in_the_order_of_the_key(name):
    table = pa.table({"a": ["c", "b", "a"], "k": [3, 1, 2]})
    with opened(table, name) as engine:
        source = engine.ordered(["k"])
        cells = [c for batch in source.read(["a"]) for c in batch.column(0).to_pylist()]
    assert cells == ["b", "a", "c"]


def test_nothing_is_left_of_a_spill_directory(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    with opened(pa.table({"a": [1]}), "duckdb") as engine:
        assert len(list(tmp_path.iterdir())) == 1
        engine.profile("a")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_told_and_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    numbers = np.arange(3_000_000)
    table = pa.table({"a": numbers, "b": numbers, "c": numbers})
    engine = DuckDBEngine(table_batches(table), memory_limit=64 * 10**6)
    with engine:
        engine._connection.execute("SET max_temp_directory_size = '1MB'")
        with pytest.raises(OutputError, match="cannot take what does not fit"):
            engine.count(["a", "b", "c"])
    assert list(tmp_path.iterdir()) == []


def test_a_tiny_memory_limit_is_refused_before_any_work():
    with pytest.raises(DataError, match="is 1 MB; counting out of memory needs 64 MB"):
        choose_engine("nowhere.parquet", "duckdb", "1MB")


@pytest.mark.parametrize(
    ("text", "size"), [("500MB", 500_000_000), ("1.5 GiB", 1_610_612_736), (7, 7)]
)
def test_an_amount_of_memory_is_read(text, size):
    assert memory_of(text) == size


@pytest.mark.parametrize("text", ["lots", "5 apples", "0MB", -1, True])
def test_what_is_no_amount_of_memory_is_refused(text):
    with pytest.raises(UsageError, match="is not an amount of memory"):
        memory_of(text)


def test_a_column_of_lists_is_refused_with_its_name():
    table = pa.table({"a": [[1], [2]]})
    with (
        opened(table, "duckdb") as engine,
        pytest.raises(RefusedError, match="'a' has the type list<"),
    ):
        engine.profile("a")


@pytest.fixture
def parts(tmp_path):
    """A table in two Hive partitions, and the same table in one file."""
    for year in (2023, 2024):
        place = tmp_path / "parts" / f"year={year}"
        place.mkdir(parents=True)
        table = pa.table({"zip": ["1*", "1*", "2*"], "ill": ["flu", "cold", "flu"]})
        pq.write_table(table, place / "a.parquet")
    (tmp_path / "parts" / "_SUCCESS").touch()
    return tmp_path / "parts"


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_directory_of_hive_partitions_is_one_table(parts, engine):
    result = sf.check(parts, quasi=["zip"], sensitive=["ill"], k=2, l=2, engine=engine)
    assert (result.rows, result.groups) == (6, 2)
    assert [verdict["holds"] for verdict in result.verdicts] == [True, False]
    assert result.unmentioned == ("year",)


def test_a_pattern_names_files(parts):
    pattern = str(parts / "year=2024" / "*.parquet")
    assert sf.check(pattern, quasi=["zip"], k=1, engine="duckdb").rows == 3


def test_files_with_other_columns_are_refused(parts):
    pq.write_table(pa.table({"other": [1]}), parts / "year=2024" / "b.parquet")
    with pytest.raises(DataError, match="file 3 of 3 has other columns"):
        sf.check(parts, quasi=["zip"], k=1, engine="duckdb")


def test_a_directory_without_parquet_files_is_refused(tmp_path):
    with pytest.raises(DataError, match="is a directory without Parquet files"):
        sf.check(tmp_path, quasi=["zip"], k=1)


def test_auto_takes_duckdb_where_memory_is_short_and_says_so(
    parts, capsys, monkeypatch
):
    monkeypatch.setattr("sfumato.pipeline.choose_engine.CHECKING", 10**9)
    words = ["check", str(parts), "--quasi", "zip,year,ill", "--k", "1", "--json"]
    assert main([*words, "--memory-limit", "64MB"]) == 0
    output = capsys.readouterr()
    assert json.loads(output.out)["groups"] == 6
    assert output.err.endswith("and 0.06 GB may be used: taking --engine duckdb.\n")


def test_a_csv_file_is_checked_out_of_memory_as_in_memory(tmp_path, capsys):
    place = tmp_path / "data.csv"
    place.write_text('zip,ill\n1*,flu\n1*,"cold, bad"\n2*,flu\n2*,\n')
    words = ["check", str(place), "--quasi", "zip", "--sensitive", "ill", "--l", "2"]
    told = []
    for engine in ("memory", "duckdb"):
        assert main([*words, "--json", "--engine", engine]) == 0
        told.append(json.loads(capsys.readouterr().out))
    assert told[0] == told[1]


def test_a_private_record_is_refused_out_of_memory(parts, tmp_path):
    with pytest.raises(RefusedError, match="belongs to single rows"):
        sf.check(parts, quasi=["zip"], k=1, engine="duckdb", groups=tmp_path / "r")


def test_numbered_texts_of_a_file_are_counted_like_plain_ones(tmp_path):
    cells = ["x", None, "y", "x", "", "y", "x"]
    place = tmp_path / "data.parquet"
    pq.write_table(pa.table({"a": cells, "b": range(7)}), place, row_group_size=3)
    found = []
    for numbered in (False, True):
        source = batch_source(place, named=True, numbered=numbered)
        with DuckDBEngine(source, memory_limit=LIMIT) as engine:
            found.append(counted(engine, ["a"]))
    assert found[0] == found[1] == [(("",), 1), (("x",), 3), (("y",), 2), ((None,), 1)]


def test_an_array_on_disk_is_not_written_again(monkeypatch):
    monkeypatch.setattr("sfumato.data.disk_arrays.SMALL", 1)
    disk = DiskArrays()
    kept = disk.keep(np.arange(10))
    assert disk.keep(kept) is kept
    assert disk.keep(kept[2:]).base is not None
    assert disk.keep(np.arange(3)).tolist() == [0, 1, 2]


def failing(fault):
    """A source of one batch, and then a fault."""

    def batches(_names):
        yield pa.record_batch({"a": ["secret"]})
        raise fault

    return BatchSource(schema=pa.schema([("a", pa.string())]), read=batches)


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (duckdb.OutOfMemoryException("no room for 'secret'"), "limit of 100 MB is too"),
        (DataError("The file is damaged."), "The file is damaged"),
    ],
)
def test_a_fault_in_the_middle_is_told_and_leaves_nothing_behind(
    tmp_path, monkeypatch, fault, told
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    engine = DuckDBEngine(failing(fault), memory_limit=LIMIT)
    with pytest.raises(DataError, match=told) as found, engine:
        engine.count(["a"])
    assert "secret" not in str(found.value)
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_while_rows_are_counted_is_passed_on(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    engine = DuckDBEngine(failing(KeyboardInterrupt()), memory_limit=LIMIT)
    with pytest.raises(KeyboardInterrupt), engine:
        engine.count(["a"])
    assert list(tmp_path.iterdir()) == []
