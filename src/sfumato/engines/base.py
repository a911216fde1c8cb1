"""What an engine gives: exact counts of rows that need not fit in memory.

The program that decides (the driver) never needs all rows at once. It needs how many
rows have each value (`profile`), how many rows have each combination of values (`count`),
which rows stand alone (`alone`), what a function makes of each part of the rows (`map`),
and rows in the order of a key (`ordered`). From these it codes columns, finds distinct
tuples, judges published files and measures releases.

An engine must give the same answers whatever the order of the rows, the size of its
batches and the number of its workers:

- Counts are exact. Two cells are the same value if their texts, as a CSV file of ours
  would show them, are the same: `0.0` and `-0.0` are two values, all NaNs are one, and a
  null is a value of its own.
- Lines come in no particular order, in the types of the source; a column of categories
  comes as plain text. Whoever needs an order sorts by codes.
- Rows have an order only if the source has one, or by the key that a policy names.
- Nothing is left behind when an engine is closed, however that happens.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.data.arrays import Counts
from sfumato.data.batch_source import BatchSource

Mapped = Any
"""What a mapped function returns for one part of the rows."""


@dataclass(frozen=True, eq=False)
class CountedLines:
    """Distinct combinations of cells, and how many rows have each."""

    lines: pa.Table
    times: Counts

    @property
    def rows(self) -> int:
        return int(self.times.sum())


class Engine(AbstractContextManager["Engine"], ABC):
    """Counts and maps the rows of one source; closed at the end of a `with` block."""

    name: ClassVar[str]

    source: BatchSource

    @abstractmethod
    def count(self, columns: Sequence[str]) -> CountedLines:
        """Count the rows of each distinct combination of cells in some columns."""

    def profile(self, column: str) -> CountedLines:
        """Count the rows of each value of one column."""
        return self.count([column])

    @abstractmethod
    def alone(
        self, column: str, beside: Sequence[str], missing: Sequence[str] | None
    ) -> int:
        """Count the rows whose combination of cells no other row has.

        Rows whose cell in `column` is null or one of the marks in `missing` do not count;
        without marks (None), all rows do.
        """

    @abstractmethod
    def ordered(self, key: Sequence[str]) -> BatchSource:
        """The same rows in the ascending order of the key's columns."""

    def map(
        self, columns: Sequence[str], function: Callable[[Any], Mapped]
    ) -> Iterator[Mapped]:
        """Apply a function to each part of the rows, in the order of the source."""
        return map(function, self.source.read(columns))

    def missing(self) -> bool:
        """Whether any cell is null or not a number (NaN)."""
        return any(self.map(self.source.names, _misses))

    @property
    def rows(self) -> int:
        """How many rows the source has."""
        return sum(self.map(self.source.names[:1], len))


def _misses(batch: Any) -> bool:
    """Whether a part of the rows has a cell that is null or not a number."""
    floats = [each for each in batch.columns if pa.types.is_floating(each.type)]
    nulls = any(each.null_count for each in batch.columns)
    return nulls or any(pc.any(pc.is_nan(each)).as_py() for each in floats)
