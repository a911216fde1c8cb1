"""What is counted on Spark is what is counted in memory."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.cli import main
from sfumato.data.batch_source import BatchSource, table_batches
from sfumato.engines.base import CountedLines, Engine
from sfumato.engines.memory_engine import MemoryEngine
from sfumato.engines.spark_engine import SparkEngine, collected, spark_table
from sfumato.errors import (
    DataError,
    OutputError,
    RefusedError,
    SfumatoError,
    UsageError,
)
from sfumato.pipeline.check_table import (
    AskedCheck,
    GivenTables,
    check_on_engine,
    check_table,
)
from sfumato.pipeline.choose_engine import choose_engine
from sfumato.pipeline.spark_source import spark_source
from tests.unit.engines.test_engine_proofs import (
    outcome,
    random_policy,
    random_table,
)

TABLES = 1500


def engine_of(tmp_path, table: pa.Table) -> SparkEngine:
    pq.write_table(table, tmp_path / "table.parquet")
    choice = choose_engine(tmp_path, "spark", "1GB")
    return SparkEngine(spark_source(tmp_path / "table.parquet", choice))


def lines(found: CountedLines) -> list[str]:
    cells = zip(*(column.to_pylist() for column in found.lines.columns), strict=True)
    return sorted(map(repr, zip(cells, found.times.tolist(), strict=True)))


def cells_of_every_type() -> pa.Table:
    draw = np.random.default_rng(4)

    def column(values, kind):
        cells = draw.choice(np.array([*values, None], dtype=object), 300)
        return pa.array(cells.tolist(), kind)

    whole = column([0, 1, -(2**62)], pa.int64())
    return pa.table(
        {
            "text": column(["", "x", "X", "=1", "naïve", "?"], pa.string()),
            "truth": column([True, False], pa.bool_()),
            "small": column([-128, 127], pa.int8()),
            "whole": whole,
            "float": column([0.0, -0.0, float("nan"), 1e-300, 0.1], pa.float64()),
            "short": column([0.1, -0.0, 2.5], pa.float32()),
            "exact": column(["0.10", "12345678901234.55"], pa.string()).cast(
                pa.decimal128(30, 2)
            ),
            "day": column([-1, 40, 19000], pa.int32()).cast(pa.date32()),
            # An hour that clocks in many zones do not have, and one that they repeat.
            "clock": column([1711852200123456, 1729995300000001, -1], pa.int64()).cast(
                pa.timestamp("us")
            ),
            "moment": column([1711852200123456, -1], pa.int64()).cast(
                pa.timestamp("us", "UTC")
            ),
        }
    )


def test_lines_of_every_type_are_counted_as_in_memory(spark, tmp_path):
    table = cells_of_every_type()
    engine = engine_of(tmp_path, table)
    found = engine.count(table.column_names)
    assert lines(found) == lines(
        MemoryEngine(table_batches(table)).count(table.column_names)
    )
    kinds = [column.type for column in found.lines.columns[1:]]
    assert kinds == [field.type for field in table.schema][1:]


@pytest.mark.parametrize(
    ("column", "beside"), [("text", ()), ("float", ("small", "text")), ("clock", ())]
)
def test_rows_alone_are_counted_as_in_memory(spark, tmp_path, column, beside):
    table = cells_of_every_type().slice(0, 40)
    expected = MemoryEngine(table_batches(table)).alone(column, beside, ("?",))
    assert engine_of(tmp_path, table).alone(column, beside, ("?",)) == expected


class OneOfMany(Engine):
    """One table of many that Spark counted together."""

    name: ClassVar[str] = "spark"

    def __init__(self, source: BatchSource, counted: CountedLines) -> None:
        self.source, self.counted = source, counted

    def __exit__(self, *_fault: object) -> None:
        """Nothing has to be closed."""

    def count(self, columns: Sequence[str]) -> CountedLines:
        found = self.counted.lines.select(list(columns))
        numbered = found.append_column("times", pa.array(self.counted.times))
        summed = numbered.group_by(list(columns), use_threads=False).aggregate(
            [("times", "sum")]
        )
        times = summed.column("times_sum").to_numpy().astype(np.int64)
        return CountedLines(summed.select(list(columns)), times)

    def alone(self, column, beside, missing) -> int:
        return MemoryEngine(self.source).alone(column, beside, missing)

    def ordered(self, key) -> BatchSource:
        return self.source


def test_thousands_of_small_tables_get_the_verdicts_of_the_check_in_memory(
    spark, tmp_path
):
    draw = np.random.default_rng(20)
    tables = [random_table(draw) for _ in range(TABLES)]
    texts = [each for each in tables if pa.types.is_string(each.schema.field("s").type)]
    asked = [AskedCheck(policy=random_policy(draw, each)) for each in texts]
    numbered = [
        each.append_column("number", pa.array([at] * each.num_rows))
        for at, each in enumerate(texts)
    ]
    together = pa.concat_tables(numbered, promote_options="default")
    found = engine_of(tmp_path, together).count(together.column_names)
    counted = found.lines.append_column("times", pa.array(found.times))
    counted = counted.sort_by("number")
    starts = np.searchsorted(
        counted.column("number").to_numpy(), np.arange(len(texts) + 1)
    )
    for at, (table, asks) in enumerate(zip(texts, asked, strict=True)):
        own = counted.slice(starts[at], starts[at + 1] - starts[at])
        own = own.select([*table.column_names, "times"]).unify_dictionaries()
        plain = [
            column.cast(column.type.value_type)
            if pa.types.is_dictionary(column.type)
            else column
            for column in own.columns
        ]
        own = pa.table(plain, own.column_names)
        times = own.column("times").to_numpy().astype(np.int64)
        part = CountedLines(own.drop_columns(["times"]), times)
        engine = OneOfMany(table_batches(table), part)
        expected = outcome(check_table(asks, GivenTables(table=table)))
        assert outcome(check_on_engine(asks, engine)) == expected


def test_the_command_checks_a_directory_of_parts(spark, tmp_path, capsys):
    for year in (2023, 2024):
        place = tmp_path / "parts" / f"year={year}"
        place.mkdir(parents=True)
        table = pa.table({"zip": ["1*", "1*", "2*"], "ill": ["flu", "cold", None]})
        pq.write_table(table, place / "a[1].parquet")
    (tmp_path / "parts" / "_SUCCESS").touch()
    words = ["check", str(tmp_path / "parts"), "--quasi", "zip", "--sensitive", "ill"]
    told = []
    for engine in ("memory", "spark"):
        assert main([*words, "--l", "2", "--json", "--engine", engine]) == 1
        told.append(json.loads(capsys.readouterr().out))
    assert told[0] == told[1]


def test_a_frame_is_checked_where_it_is(spark):
    frame = spark.sql("select * from values ('1*', 1), ('1*', 2), ('2*', 1) as t(q, s)")
    result = sf.check(frame, quasi=["q"], sensitive=["s"], k=2)
    assert (result.rows, result.groups) == (3, 2)
    assert [verdict["holds"] for verdict in result.verdicts] == [False]


def test_a_frame_is_not_taken_to_another_engine(spark):
    with pytest.raises(UsageError, match="is counted on Spark, not by the engine"):
        sf.check(spark.range(3), quasi=["id"], k=1, engine="memory")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("select array(1) as a", "'a' has the type array, which cannot be released"),
        ("select 1 as a, 2 as A", "to Spark some have the same name: 'A', 'a'"),
    ],
)
def test_a_column_that_spark_does_not_keep_is_refused(spark, text, said):
    with pytest.raises((RefusedError, DataError), match=said):
        spark_table(spark.sql(text))


@pytest.mark.parametrize(
    "cells",
    [
        pa.array([1], pa.uint32()),
        pa.array([1], pa.timestamp("ms")),
        pa.array(["a"]).dictionary_encode(),
        pa.array([1], pa.time64("us")),
    ],
    ids=lambda cells: str(cells.type),
)
def test_a_type_that_spark_would_change_is_refused_before_it_starts(tmp_path, cells):
    place = tmp_path / "table.parquet"
    pq.write_table(pa.table({"a": cells}), place)
    with pytest.raises(RefusedError, match=r"'a' has the type .* Spark does not keep"):
        spark_source(place, choose_engine(place, "spark"))


def test_a_csv_file_is_refused_before_spark_starts(tmp_path):
    place = tmp_path / "table.csv"
    place.write_text("a\n1\n")
    with pytest.raises(RefusedError, match="is no Parquet file"):
        sf.check(place, quasi=["a"], k=1, engine="spark")


def test_a_fault_of_spark_quotes_no_cell(spark):
    frame = spark.sql("select cast(t as int) as a from values ('secret-cell') as v(t)")
    with pytest.raises(SfumatoError, match="Spark failed") as fault:
        collected(frame)
    assert "secret-cell" not in str(fault.value)
    assert fault.value.__cause__ is None


def test_a_full_disk_is_told_as_one(spark):
    full = "java.io.IOException: No space left on device"
    frame = spark.sql(f"select raise_error('{full}') as a")
    with pytest.raises(OutputError, match="cannot take what does not fit in memory"):
        collected(frame)
