"""Read a source in batches into a table whose columns are mapped from disk.

Cells and types are those of the table in memory, but for text: it comes as a dictionary,
of which only the distinct values are held in memory.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as types

from sfumato.data.batch_source import BatchSource
from sfumato.data.disk_arrays import DiskArrays, DiskColumn, ValidCells
from sfumato.data.growing_dictionary import GrowingDictionary
from sfumato.errors import DataError, RefusedError


def mapped_table(
    source: BatchSource,
    disk: DiskArrays,
    *,
    unread: Collection[str] = (),
    limit: int,
) -> pa.Table:
    """All rows of a source, on disk.

    Of columns in `unread` only whether cells are missing is kept. The distinct texts of
    a column may take `limit` bytes of memory.
    """
    columns = {
        each.name: _collector(each.name, each.type, disk, limit)
        if each.name not in unread
        else _Unread()
        for each in source.schema
    }
    rows = 0
    for batch in source.read(source.names):
        rows += len(batch)
        for name, column in columns.items():
            column.add(batch.column(name))
    arrays = [column.finish(rows) for column in columns.values()]
    table = pa.table(arrays, source.names)
    return table.replace_schema_metadata(source.schema.metadata)


def refuse_types(source: BatchSource, unread: Collection[str]) -> None:
    """Refuse columns that cannot be kept on disk, before any work."""
    for each in source.schema:
        if each.name not in unread:
            _collector(each.name, each.type, DiskArrays(), 0)


def _collector(name: str, kind: Any, disk: DiskArrays, limit: int) -> Any:
    if types.is_string(kind) or types.is_large_string(kind):
        return _Texts(name, kind, disk, limit)
    if types.is_boolean(kind):
        return _Truths()
    if types.is_primitive(kind) or types.is_decimal(kind):
        return _FixedCells(kind, DiskColumn(disk))
    raise RefusedError(
        f"Column '{name}' has the type {kind}, which cannot be processed out of memory.",
        hint="Turn it into text or numbers, drop it, or take --engine memory.",
    )


@dataclass(eq=False)
class _Unread:
    """A column that nobody reads: whether cells are missing is all that is kept."""

    missing: bool = False

    def add(self, cells: Any) -> None:
        nan = types.is_floating(cells.type)
        known = cells.is_null(nan_is_null=True) if nan else cells.is_null()
        self.missing = self.missing or bool(known.to_numpy(zero_copy_only=False).any())

    def finish(self, rows: int) -> Any:
        # One broadcast place would not do: Arrow needs an index for every row.
        places = np.zeros(rows, dtype=np.int8)
        gone = np.zeros(rows, dtype=np.bool_)
        gone[: int(self.missing)] = True
        indices = pa.array(places, mask=gone if self.missing else None)
        return pa.DictionaryArray.from_arrays(indices, pa.array(["-"]))


@dataclass(eq=False)
class _Truths:
    """True and false, one bit each."""

    cells: list[npt.NDArray[np.bool_]] = field(default_factory=list)
    valid: ValidCells = field(default_factory=ValidCells)

    def add(self, cells: Any) -> None:
        self.valid.add(cells)
        self.cells.append(cells.fill_null(False).to_numpy(zero_copy_only=False))

    def finish(self, rows: int) -> Any:
        packed = np.packbits(np.concatenate(self.cells), bitorder="little")
        buffers = [self.valid.bitmap(), pa.py_buffer(packed)]
        return pa.Array.from_buffers(pa.bool_(), rows, buffers)


@dataclass(eq=False)
class _FixedCells:
    """Cells of a fixed width, as they are."""

    kind: Any
    cells: DiskColumn
    valid: ValidCells = field(default_factory=ValidCells)

    def add(self, cells: Any) -> None:
        width = self.kind.bit_width // 8
        data, start = cells.buffers()[1], cells.offset * width
        found = np.zeros(len(cells) * width, dtype=np.uint8)
        if data is not None:
            found = np.frombuffer(data, np.uint8)[start : start + len(cells) * width]
        self.cells.add(found)
        self.valid.add(cells)

    def finish(self, rows: int) -> Any:
        buffers = [self.valid.bitmap(), pa.py_buffer(self.cells.array(np.uint8))]
        return pa.Array.from_buffers(self.kind, rows, buffers)


class _Texts:
    """Texts as places in a dictionary."""

    def __init__(self, name: str, kind: Any, disk: DiskArrays, limit: int) -> None:
        self.name, self.limit = name, limit
        self.known = GrowingDictionary(kind)
        self.places = DiskColumn(disk)
        self.valid = ValidCells()

    def add(self, cells: Any) -> None:
        places = self.known.add(cells)
        self.valid.add(cells)
        self.places.add(np.maximum(places, 0))
        if self.known.values.nbytes > self.limit:
            raise DataError(
                f"The distinct texts of column '{self.name}' take more than "
                f"{self.limit / 1e6:,.0f} MB, which is the memory limit.",
                hint="Raise --memory-limit, or drop the column.",
            )

    def finish(self, rows: int) -> Any:
        data = pa.py_buffer(self.places.array(np.int32))
        indices = pa.Array.from_buffers(pa.int32(), rows, [self.valid.bitmap(), data])
        return pa.DictionaryArray.from_arrays(indices, self.known.values)
