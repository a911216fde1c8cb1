"""The rows of a run that stay on Spark, and those of their columns that the driver needs.

The driver gets the columns that search and models look at, in the order of the key, with
a keyed hash of each row's key. All other columns that are published stay on Spark: what
the driver decides goes back as a side table and is joined by the hash.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as types

from sfumato.data.batch_source import Batches, BatchSource
from sfumato.data.disk_arrays import DiskColumn
from sfumato.data.schema import Role
from sfumato.data.seeds import Seed
from sfumato.data.unfinished_files import remove
from sfumato.engines.spark_engine import (
    SparkTable,
    as_declared,
    collected,
    explained,
    in_key_order,
    spark_table,
)
from sfumato.engines.spark_files import address, read_files
from sfumato.engines.spark_session import private_directory
from sfumato.engines.spark_types import carried_as, is_missing, quoted
from sfumato.io.batch_files import batch_source
from sfumato.io.formats import Format
from sfumato.io.spreadsheet import FORMULA, NUMBER
from sfumato.io.write import write_table
from sfumato.policy import Policy

ROW, PLACE = "row", "place"
"""The columns of a side table: the hash of a row, and where the row is published."""
LOOKED_AT = (Role.QUASI, Role.SENSITIVE, Role.SUBJECT, Role.WEIGHT)


@dataclass(frozen=True, eq=False, kw_only=True)
class SparkRows:
    """Where the rows of a run are, and how the driver's rows are found among them."""

    source: SparkTable
    key: tuple[str, ...]
    salt: int
    """Keys the hash; from the seed of the run."""
    carried: tuple[str, ...]
    """Columns that are published and stay on Spark."""
    hashes: npt.NDArray[np.int64]
    """The hash of each row of the driver."""
    shown: tuple[str, ...] = ()
    """All published columns, in their order."""

    def published(
        self, table: pa.Table, rows: npt.NDArray[np.int64], names: Sequence[str]
    ) -> Any:
        """The frame of a published table, and one column that says its order.

        `table` has the driver's columns, and `rows` the source row of each of its rows.
        """
        own = [name for name in table.column_names if name not in self.carried]
        side = {f"c{at}": table.column(name) for at, name in enumerate(own)}
        side[PLACE] = pa.chunked_array([np.arange(len(rows))])
        if self.carried:
            side[ROW] = pa.chunked_array([self.hashes[rows]])
        frame = self._uploaded(pa.table(side))
        if self.carried:
            frame = self._with_carried(frame)
        places = {name: f"c{at}" for at, name in enumerate(own)}
        places |= {name: f"d{at}" for at, name in enumerate(self.carried)}
        taken = [f"{places[name]} as {quoted(name)}" for name in names]
        return frame.selectExpr(*taken, f"{PLACE} as {quoted(order_name(names))}")

    def taking_part(self, rows: npt.NDArray[np.int64]) -> SparkTable:
        """The carried columns of some rows of the source."""
        if len(rows) == len(self.hashes):
            return self.source
        return spark_table(self.published(pa.table({}), rows, self.carried))

    def _uploaded(self, side: pa.Table) -> Any:
        # Kept until the process ends: the frame is read whenever it is used.
        place = private_directory("sfumato-side-") / "side.parquet"
        write_table(side, place, Format.PARQUET, categories=frozenset())
        return read_files(self.source.frame.sparkSession, [place])

    def _with_carried(self, side: Any) -> Any:
        own = [f"{quoted(name)} as d{at}" for at, name in enumerate(self.carried)]
        hashed = f"{hash_of(self.source, self.key, self.salt)} as {ROW}"
        with explained():
            return self.source.frame.selectExpr(hashed, *own).join(side, ROW)

    def formulas(self, rows: npt.NDArray[np.int64]) -> int:
        """How many carried cells of some rows a spreadsheet may take for formulas."""
        schema = self.source.schema
        texts = [n for n in self.carried if types.is_string(schema.field(n).type)]
        if not texts:
            return 0
        frame = self.taking_part(rows).frame
        flags = [_is_formula(frame[quoted(name)]) for name in texts]
        total = sum(flags[1:], flags[0]).alias("cells")
        found = collected(frame.select(total).groupBy().sum("cells"))
        return int(found.column(0)[0].as_py() or 0)


def _is_formula(column: Any) -> Any:
    found = column.rlike(FORMULA) & ~column.rlike(NUMBER)
    return found.isNotNull().cast("bigint") * found.eqNullSafe(True).cast("bigint")


def order_name(names: Sequence[str]) -> str:
    """A name for the column of an order that no other column has."""
    name = PLACE
    known = {each.lower() for each in names}
    while name in known:
        name += "_"
    return name


def hash_of(source: SparkTable, key: Sequence[str], salt: int) -> str:
    """The expression of a keyed hash of a row's key."""
    parts = [carried_as(name, source.schema.field(name).type) for name in key]
    # Spark's hash passes over nulls: without the second part, columns could change places.
    nulls = [f"isnull({quoted(name)})" for name in key]
    return f"xxhash64({salt}L, {', '.join([*parts, *nulls])})"


def carried_columns(policy: Policy, names: Sequence[str]) -> tuple[str, ...]:
    """The published columns that neither search nor models look at, and no bands code."""
    looked = {n for m in policy.models() for t in m.targets() for n, _ in t}
    looked |= {*policy.pseudonymized(), *policy.report.loss_by, *policy.banded()}
    return tuple(
        name
        for name in names
        if policy.role(name) is Role.INSENSITIVE and name not in looked
    )


def salt_of(seed: Seed, attempt: int) -> int:
    """The salt of an attempt: 63 bits."""
    return int(seed.child("row hash", attempt).words(1)[0] >> np.uint64(1))


@dataclass(eq=False)
class StagedRows:
    """Rows of Spark on their way to the driver."""

    source: SparkTable
    key: tuple[str, ...]
    salt: int
    unread: frozenset[str]
    """Columns of which only whether cells are missing comes along."""
    hashes: DiskColumn

    @contextmanager
    def opened(self) -> Iterator[BatchSource]:
        """The rows in the order of the key, to be read once; then they are removed."""
        place = private_directory("sfumato-rows-")
        try:
            self._write(place / "rows")
            staged = batch_source(place / "rows")
            yield BatchSource(schema=self.source.schema, read=self._reader(staged))
        finally:
            remove(place)

    @property
    def _read(self) -> list[str]:
        return [name for name in self.source.names if name not in self.unread]

    def _write(self, place: Path) -> None:
        schema = self.source.schema
        hashed = f"{hash_of(self.source, self.key, self.salt)} as {ROW}"
        cells = [
            f"{_staged_as(name, schema.field(name).type)} as c{at}"
            for at, name in enumerate(self._read)
        ]
        ordered = in_key_order(self.source.frame, self.key)
        with explained():
            ordered.selectExpr(hashed, *cells).write.parquet(address(place))

    def _reader(self, staged: BatchSource) -> Any:
        missing = self._missing()

        def read(names: Sequence[str]) -> Batches:
            first = True
            for batch in staged.read(staged.names):
                self.hashes.add(batch.column(ROW).to_numpy())
                yield self._batch(batch, names, missing if first else frozenset())
                first = False

        return read

    def _batch(self, batch: Any, names: Sequence[str], missing: frozenset[str]) -> Any:
        own = batch.drop_columns([ROW]).rename_columns(self._read)
        cells = as_declared(own, self.source.schema)
        columns = [
            _blank(len(batch), name in missing)
            if name in self.unread
            else cells.column(name)
            for name in names
        ]
        return pa.RecordBatch.from_arrays(columns, names=list(names))

    def _missing(self) -> frozenset[str]:
        """The unread columns with cells that are missing."""
        names = [name for name in self.source.names if name in self.unread]
        if not names:
            return frozenset()
        kinds = [self.source.schema.field(name).type for name in names]
        flags = [
            f"max({is_missing(name, kind)}) as c{at}"
            for at, (name, kind) in enumerate(zip(names, kinds, strict=True))
        ]
        found = collected(self.source.frame.selectExpr(*flags))
        truths = [column[0].as_py() for column in found.columns]
        return frozenset(n for n, true in zip(names, truths, strict=True) if true)


def _staged_as(name: str, kind: Any) -> str:
    """The expression of a column in a Parquet file, which holds floats exactly."""
    return quoted(name) if types.is_floating(kind) else carried_as(name, kind)


def _blank(rows: int, missing: bool) -> Any:
    gone = np.zeros(rows, dtype=np.bool_)
    gone[: int(missing)] = True
    return pa.array(np.zeros(rows, dtype=np.int8), mask=gone)
