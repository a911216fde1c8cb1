"""A table as Sfumato works on it: immutable, columnar, coded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.data.arrays import Codes
from sfumato.data.number_grid import Ends
from sfumato.data.safe_repr import SafeRepr, counted
from sfumato.data.schema import DateOrder, Kind, Schema


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Column(SafeRepr):
    """A coded column: each cell is an index into its distinct values.

    Values are sorted by what they mean: numbers by size, dates by time, ordered
    categories as declared, the rest by text; the missing value is last.
    """

    name: str
    kind: Kind
    codes: Codes
    """One code per row, contiguous int32."""
    labels: tuple[str, ...]
    """The distinct values as text, exactly as a CSV file would show them."""
    numbers: npt.NDArray[np.float64] | None = None
    """For numeric kinds: the value of each label (dates as days since 1970-01-01,
    datetimes as seconds), NaN for the missing one."""
    missing: int = -1
    """The code of the missing value, or -1. Several marks share one code."""
    dates: DateOrder | None = None
    """How dates are written."""
    steps: tuple[Ends, ...] | None = None
    """The ends of each value's step, where values are steps of a grid; `numbers` are
    then their middles."""

    def _summary(self) -> str:
        return f"{counted(len(self.codes), 'row')}, {counted(self.size, 'value')}"

    @property
    def size(self) -> int:
        return len(self.labels)


@dataclass(frozen=True, eq=False, repr=False)
class Table(SafeRepr):
    """The source table unchanged, with the columns that matter to privacy in coded form."""

    schema: Schema
    source: pa.Table
    """Every column as it was read (text columns may be dictionaries); cells of a
    quasi-identifier that share a code are alike."""
    columns: Mapping[str, Column]
    """Coded quasi-identifiers, sensitive, subject and weight columns."""
    told_by_codes: frozenset[str] = frozenset()
    """Coded columns of texts whose codes tell every cell: no texts share a code."""

    def _summary(self) -> str:
        return (
            f"{counted(self.rows, 'row')}, {counted(len(self.columns), 'coded column')}"
        )

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", MappingProxyType(dict(self.columns)))

    def __reduce__(self) -> tuple[Any, ...]:
        # A view of a dictionary cannot be pickled, for another process.
        parts = (self.schema, self.source, dict(self.columns), self.told_by_codes)
        return type(self), parts

    @property
    def rows(self) -> int:
        return int(self.source.num_rows)
