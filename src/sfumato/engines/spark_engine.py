"""Count on Spark: rows stay where they are, and only counts come back.

Nothing but the DataFrame interface and SQL expressions is used, so that Spark Connect
serves it, and no worker needs Python.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.types as types

from sfumato.data.batch_source import Batches, BatchSource
from sfumato.data.disk_arrays import full_disk
from sfumato.engines.base import CountedLines, Engine
from sfumato.engines.counted_types import restored
from sfumato.engines.spark_types import arrow_schema, carried_as, is_missing, quoted
from sfumato.errors import DataError, InstallationError, SfumatoError

NO_ROOM = re.compile("No space left|not enough space|DISK_?FULL", re.IGNORECASE)
NO_MEMORY = re.compile("OutOfMemory|Java heap space|maxResultSize")
NOT_THERE = re.compile("PATH_NOT_FOUND|FileNotFound|FAILED_READ_FILE")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class SparkTable(BatchSource):
    """The rows of a Spark DataFrame, in no order."""

    frame: Any


def is_spark(frame: Any) -> bool:
    """Return whether something is a Spark DataFrame; PySpark is not imported for it."""
    loaded = sys.modules.get("pyspark.sql")
    return loaded is not None and isinstance(frame, loaded.DataFrame)


def spark_table(frame: Any) -> SparkTable:
    """A Spark DataFrame as a source."""
    with explained():
        schema = arrow_schema(frame.schema)

    def read(names: Sequence[str]) -> Batches:
        taken = [f"{carried_as(n, schema.field(n).type)} as {quoted(n)}" for n in names]
        for batch in collected(frame.selectExpr(*taken)).to_batches():
            yield as_declared(batch, schema)

    return SparkTable(schema=schema, read=read, frame=frame)


def as_declared(batch: Any, schema: pa.Schema) -> Any:
    """Cells as Spark counts them, in the types of their columns."""
    fields = [schema.field(name) for name in batch.schema.names]
    cells = [
        restored(column, each.type).cast(each.type)
        for column, each in zip(batch.columns, fields, strict=True)
    ]
    return pa.RecordBatch.from_arrays(cells, schema=pa.schema(fields))


def collected(frame: Any) -> pa.Table:
    """All rows of a small frame."""
    with explained():
        return frame.toArrow()


class SparkEngine(Engine):
    """Counts the rows of a Spark DataFrame."""

    name: ClassVar[str] = "spark"

    def __init__(self, source: BatchSource) -> None:
        if not isinstance(source, SparkTable):
            raise DataError(
                "Spark counts its own tables and Parquet files.",
                hint="Give a Spark DataFrame, or the path of Parquet files.",
            )
        self.source: SparkTable = source

    def __exit__(self, *_fault: object) -> None:
        """Nothing has to be closed: the session belongs to its owner."""

    def count(self, columns: Sequence[str]) -> CountedLines:
        """Count the rows of each distinct combination of cells."""
        frame, places = self._carried(columns)
        found = collected(frame.groupBy(*places).count())
        cells = [
            _compact(restored(found.column(place), self._kind(name)))
            for place, name in zip(places, columns, strict=True)
        ]
        times = found.column("count").to_numpy().astype(np.int64)
        return CountedLines(pa.table(cells, list(columns)), times)

    def alone(
        self, column: str, beside: Sequence[str], missing: Sequence[str] | None
    ) -> int:
        """Count the rows whose combination of cells no other row has."""
        frame, places = self._carried([column, *beside])
        if missing is not None:
            frame = frame.filter(frame["c0"].isNotNull())
        if missing and types.is_string(self._kind(column)):
            frame = frame.filter(~frame["c0"].isin(list(missing)))
        lines = frame.groupBy(*places).count()
        with explained():
            return int(lines.filter("count = 1").count())

    def ordered(self, key: Sequence[str]) -> BatchSource:
        """The same rows in the order of the key."""
        return spark_table(in_key_order(self.source.frame, key))

    def missing(self) -> bool:
        """Whether any cell is null or not a number."""
        flags = [is_missing(each.name, each.type) for each in self.source.schema]
        asked = self.source.frame.selectExpr(f"max({' OR '.join(flags)}) as found")
        return bool(collected(asked).column(0)[0].as_py())

    @property
    def rows(self) -> int:
        """How many rows the source has."""
        with explained():
            return int(self.source.frame.count())

    def _kind(self, column: str) -> Any:
        return self.source.schema.field(column).type

    def _carried(self, columns: Sequence[str]) -> tuple[Any, list[str]]:
        """Some columns as Spark counts them, named c0, c1, …"""
        places = [f"c{place}" for place in range(len(columns))]
        taken = [
            f"{carried_as(name, self._kind(name))} as {place}"
            for name, place in zip(columns, places, strict=True)
        ]
        with explained():
            return self.source.frame.selectExpr(*taken), places


def in_key_order(frame: Any, key: Sequence[str]) -> Any:
    """Sort a frame by its key as tables in memory are sorted: nulls come last."""
    with explained():
        return frame.orderBy(*(frame[quoted(name)].asc_nulls_last() for name in key))


def _compact(cells: Any) -> Any:
    """Text as a dictionary."""
    return cells.dictionary_encode() if types.is_string(cells.type) else cells


@contextmanager
def explained() -> Iterator[None]:
    """Turn faults of Spark into errors of ours: its own quote cells and paths."""
    try:
        yield
    except (SfumatoError, KeyboardInterrupt):
        raise
    except Exception as fault:
        raise _explanation(f"{type(fault).__name__} {fault}") from None


def _explanation(said: str) -> SfumatoError:
    if NO_ROOM.search(said):
        return full_disk()
    if NO_MEMORY.search(said):
        return DataError(
            "Spark has too little memory for this table.",
            hint="Raise --memory-limit, or spark.driver.memory, "
            "spark.driver.maxResultSize and spark.executor.memory.",
        )
    if NOT_THERE.search(said):
        return DataError(
            "Spark does not see a file that this process sees.",
            hint="Name places that the driver and all workers share; TMPDIR is one.",
        )
    return InstallationError(
        "Spark failed; what it says may quote cells and is not shown.",
        hint="Look at the log of Spark; nothing was left behind.",
    )
