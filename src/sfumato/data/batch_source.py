"""A table that is read in batches, as often as needed, and never held whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from sfumato.data.safe_repr import SafeRepr, counted

Batches = Iterator[Any]
"""Record batches of Arrow, in the order of the source."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class BatchSource(SafeRepr):
    """A source of rows that do not fit in memory together."""

    schema: pa.Schema
    """The columns in their plain types, as a table of the same source has them."""
    read: Callable[[Sequence[str]], Batches]
    """Reads some columns from the first row to the last; may be called again."""
    bytes: int | None = None
    """What the cells take at least, where the source says so."""

    @property
    def names(self) -> list[str]:
        return list(self.schema.names)

    def _summary(self) -> str:
        return counted(len(self.names), "column")


def table_batches(table: pa.Table, rows: int = 1 << 16) -> BatchSource:
    """A table in memory, read like a source that is not."""

    def read(names: Sequence[str]) -> Batches:
        return iter(table.select(list(names)).to_batches(max_chunksize=rows))

    return BatchSource(schema=table.schema, read=read, bytes=int(table.nbytes))
