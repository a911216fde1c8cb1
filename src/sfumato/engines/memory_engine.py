"""Count in memory: the whole source as one Arrow table."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np
import pyarrow as pa

from sfumato.data.batch_source import BatchSource, table_batches
from sfumato.data.unique_rows import alone, joined, value_places
from sfumato.engines.base import CountedLines, Engine


class MemoryEngine(Engine):
    """Counts the rows of a table that is held in memory."""

    name: ClassVar[str] = "memory"

    def __init__(self, source: BatchSource) -> None:
        self.source = source

    def __exit__(self, *_fault: object) -> None:
        """Nothing has to be closed."""

    @cached_property
    def table(self) -> pa.Table:
        """All rows."""
        batches = list(self.source.read(self.source.names))
        return pa.Table.from_batches(batches, self.source.schema)

    def count(self, columns: Sequence[str]) -> CountedLines:
        """Count the rows of each distinct combination of cells."""
        places = [value_places(self.table.column(name)) for name in columns]
        key = joined(places, self.table.num_rows)
        _, first, times = np.unique(key, return_index=True, return_counts=True)
        return CountedLines(self.table.select(list(columns)).take(first), times)

    def alone(
        self, column: str, beside: Sequence[str], missing: Sequence[str] | None
    ) -> int:
        """Count the rows whose combination of cells no other row has."""
        known = [value_places(self.table.column(name)) for name in beside]
        places = value_places(self.table.column(column), missing or ())
        together = joined([*known, places], self.table.num_rows)
        return alone(
            together if missing is None else np.where(places < 0, -1, together)
        )

    def ordered(self, key: Sequence[str]) -> BatchSource:
        """The same rows in the order of the key."""
        return table_batches(self.table.sort_by([(name, "ascending") for name in key]))
