"""Compare what was written with the draft, cell by cell.

Requirements that hold on a file do not say that it is the file that was to be written: a
column that was reversed or coarsened may meet them as well.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.types as types

from sfumato.data.batch_source import Batches, BatchSource
from sfumato.data.disk_arrays import IN_MEMORY, MemoryArrays
from sfumato.data.parallel import each as side_by_side
from sfumato.errors import GuaranteeError
from sfumato.io.database_types import System
from sfumato.io.formats import Format
from sfumato.io.row_hashes import RowHashes
from sfumato.pipeline.stored_cells import stored_promise
from sfumato.pipeline.written_cells import CellChange, Promise, is_text, promise_of

SLICE_ROWS = 1 << 16
"""Rows that are compared together, so that little memory is needed."""
BITS = {pa.float16(): pa.int16(), pa.float32(): pa.int32(), pa.float64(): pa.int64()}
"""Floats are compared by their bits: NaN equals itself then, and 0.0 is not -0.0."""


@dataclass(frozen=True, kw_only=True)
class Drafted:
    """A table as it was to be written."""

    name: str
    """The file or table that it is written to, for messages."""
    table: pa.Table
    form: Format
    categories: Collection[str] = ()
    """Columns that formats with types keep as categories."""
    arrays: MemoryArrays = IN_MEMORY
    """Where the columns of the table are."""

    def compare(self, back: pa.Table) -> None:
        """Raise an error unless a table that was read back has the same cells."""
        columns = self.columns(back.schema)
        if back.num_rows != self.table.num_rows:
            raise unlike(self.name)
        same = side_by_side(
            lambda column: column.equals(back.column(column.name)), columns
        )
        self.insist(columns, same)

    def columns(self, schema: pa.Schema) -> list[_DraftedColumn]:
        """What each column has to hold; refuse other names and types."""
        if schema.names != self.table.column_names:
            raise unlike(self.name)
        columns = [self._column(name) for name in schema.names]
        for column in columns:
            if not column.promise.types(schema.field(column.name).type):
                raise unlike(self.name, column.name)
        return columns

    def _column(self, name: str) -> _DraftedColumn:
        cells = self.table.column(name)
        promise = promise_of(cells, self.form, category=name in self.categories)
        return _DraftedColumn(name, promise, _changed_once(cells, promise))

    def insist(self, columns: Sequence[_DraftedColumn], same: Sequence[bool]) -> None:
        for column, equal in zip(columns, same, strict=True):
            if not equal:
                raise unlike(self.name, column.name)


class ComparedSource:
    """A written file whose batches are compared with the draft while they are read."""

    def __init__(self, draft: Drafted, source: BatchSource, schema: pa.Schema) -> None:
        """`schema` has the types of the file; those of the batches may be coded."""
        self._draft, self._written = draft, source
        self._columns = draft.columns(schema)
        self.source = replace(source, read=self._read)
        self.finished = False
        """Whether all rows were compared."""

    def _read(self, names: Sequence[str]) -> Batches:
        start, draft = 0, self._draft
        for batch in self._written.read(self._written.names):
            if start + len(batch) > draft.table.num_rows:
                raise unlike(draft.name)
            self._compare(batch, start)
            start += len(batch)
            draft.arrays.drop_pages()
            yield batch.select(list(names))
        if start != draft.table.num_rows:
            raise unlike(draft.name)
        self.finished = True

    def _compare(self, batch: Any, start: int) -> None:
        same = [
            column.equals(pa.chunked_array([batch.column(column.name)]), start)
            for column in self._columns
        ]
        self._draft.insist(self._columns, same)


@dataclass(frozen=True, kw_only=True)
class DraftedRows:
    """Rows as they were to be put into a table that has no order."""

    name: str
    """The table, for messages."""
    table: pa.Table
    system: System

    def compare(self, back: pa.Table) -> None:
        """Raise an error unless a table that was read back has the same rows."""
        if back.column_names != self.table.column_names:
            raise unlike(self.name)
        promises = {name: self._promise(name, back) for name in back.column_names}
        if self._same(back, promises):
            return
        names = back.column_names
        # As soon as some first columns differ, more of them differ as well.
        differing = bisect_left(
            range(1, len(names)),
            True,
            key=lambda count: (
                not self._same(back, {name: promises[name] for name in names[:count]})
            ),
        )
        raise unlike(self.name, names[differing])

    def _promise(self, name: str, back: pa.Table) -> Promise:
        promise = stored_promise(self.table.column(name), self.system)
        if not promise.types(back.schema.field(name).type):
            raise unlike(self.name, name)
        return promise

    def _same(self, back: pa.Table, promises: Mapping[str, Promise]) -> bool:
        drafted = {name: promise.drafted for name, promise in promises.items()}
        written = {name: promise.written for name, promise in promises.items()}
        try:
            return _row_hash(self.table, drafted) == _row_hash(back, written)
        except pa.ArrowInvalid:
            # A cell that cannot be what it has to be.
            return False


def _row_hash(table: pa.Table, changes: Mapping[str, CellChange]) -> str:
    """The hash of the rows of some columns, in any order, in the form that is compared."""
    hashes = RowHashes(changes)
    for start in range(0, table.num_rows, SLICE_ROWS):
        rows = table.slice(start, SLICE_ROWS)
        cells = [change(rows.column(name)) for name, change in changes.items()]
        hashes.add(pa.table(cells, list(changes)))
    return hashes.hexdigest()


@dataclass(frozen=True, eq=False)
class _DraftedColumn:
    """A column of a draft, and what it has to be in a file."""

    name: str
    promise: Promise
    cells: pa.ChunkedArray

    def equals(self, back: pa.ChunkedArray, first: int = 0) -> bool:
        """Whether cells that were read back equal those of the draft from a row on."""
        for start in range(0, len(back), SLICE_ROWS):
            written = back.slice(start, SLICE_ROWS)
            drafted = self.cells.slice(first + start, len(written))
            if not self._part_equals(drafted, written):
                return False
        return True

    def _part_equals(self, drafted: pa.ChunkedArray, written: pa.ChunkedArray) -> bool:
        try:
            seen = self.promise.written(written)
        except pa.ArrowInvalid:
            # A text that cannot be what it has to be.
            return False
        return _equal(self.promise.drafted(drafted), seen)


def _changed_once(cells: pa.ChunkedArray, promise: Promise) -> pa.ChunkedArray:
    """A dictionary whose values are changed before rows are compared; else the cells."""
    if not types.is_dictionary(cells.type):
        return cells
    return pa.chunked_array([_changed(chunk, promise) for chunk in cells.chunks])


def _changed(chunk: Any, promise: Promise) -> Any:
    values = promise.drafted(pa.chunked_array([chunk.dictionary]))
    return pa.DictionaryArray.from_arrays(chunk.indices, values.combine_chunks())


def _equal(one: Any, other: Any) -> bool:
    if one.type in BITS and other.type == one.type:
        one, other = _as_bits(one), _as_bits(other)
    if one.type == other.type and one.equals(other):
        return True
    if is_text(one.type):
        return other.type != one.type and bool(one.equals(other.cast(one.type)))
    # Within lists, NaN equals nothing, and seconds may be milliseconds.
    strange = types.is_nested(one.type) or isinstance(one.type, pa.BaseExtensionType)
    return strange and repr(one.to_pylist()) == repr(other.to_pylist())


def _as_bits(cells: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = BITS[cells.type]
    return pa.chunked_array([chunk.view(kind) for chunk in cells.chunks], kind)


def unlike(name: str, column: str | None = None) -> GuaranteeError:
    """The error for a file or table that is not what was to be written."""
    where = f"'{name}'" if column is None else f"column '{column}' of '{name}'"
    return GuaranteeError(
        f"What was written does not match the draft: {where} differs.",
        hint="Nothing was left behind. Please report this with the policy.",
    )
