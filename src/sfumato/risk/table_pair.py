"""A published table beside its original, both as codes on the same axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np

from sfumato.data.arrays import Codes, Counts, Flags, Floats, Ints
from sfumato.data.published_cells import distinct_tuples
from sfumato.data.safe_repr import SafeRepr, counted
from sfumato.hierarchies.axis import CodedAxis
from sfumato.hierarchies.cell_readings import Reading


class PublishedForm(StrEnum):
    """How the cells of a published table relate to those of its original."""

    GENERALIZED = "generalized"
    """A cell is the value, or a node, interval or set that holds it."""
    SWAPPED = "swapped"
    """Quasi-identifiers are exact; sensitive values changed places."""
    ANATOMIZED = "anatomized"
    """Quasi-identifiers are exact; sensitive values are in a table of their own."""
    MICROAGGREGATED = "microaggregated"
    """Numbers are means or other typical values of a group."""
    SYNTHETIC = "synthetic"
    """No row stands for a person of the original."""

    @property
    def exact(self) -> bool:
        """Whether quasi-identifiers are published as they are."""
        return self in (PublishedForm.SWAPPED, PublishedForm.ANATOMIZED)

    @property
    def truthful(self) -> bool:
        """Whether a quasi-identifier's cell must hold the original's value."""
        return self.exact or self is PublishedForm.GENERALIZED


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ColumnReading(SafeRepr):
    """A published column: the text of each row as a code, and what each text says."""

    name: str
    codes: Codes
    """The text of each published row."""
    reading: Reading

    def _summary(self) -> str:
        return counted(len(self.codes), "cell")

    def covers(self, rows: Ints | Codes, leaves: Ints | Codes) -> Flags:
        """Whether the cells of published rows may stand for the leaves beside them."""
        return self.reading.covers(self.codes[rows], leaves)

    @cached_property
    def counts(self) -> Counts:
        """How many rows show each text."""
        return np.bincount(self.codes, minlength=self.reading.count)

    @property
    def unrecognized(self) -> int:
        """How many cells have a text that means nothing on the original's axis."""
        return int(self.counts[~self.reading.understood].sum())

    @property
    def unfounded(self) -> int:
        """How many cells are understood, but hold no value of the original."""
        empty = self.reading.understood & (self.reading.sizes == 0)
        return int(self.counts[empty].sum())


def groups_by_cells(columns: Sequence[ColumnReading]) -> Codes:
    """Group the published rows whose cells say the same in all of some columns."""
    said = [each.reading.meaning[each.codes] for each in columns]
    return distinct_tuples(said, len(said[0]))[0].astype(np.int32)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Pair(SafeRepr):
    """An original and a table published from it, ready for metrics, risk and attacks.

    Published rows that stand for several rows (a column of counts) are repeated. The
    sensitive values of an anatomized group are assigned to its rows in the order of
    their table: only their counts in the group are meaningful.
    """

    rows: int
    """Rows of the original."""
    original: Mapping[str, CodedAxis]
    """Quasi-identifiers, sensitive and insensitive columns of the original."""
    published: Mapping[str, ColumnReading]
    """The same columns as published; a quasi-identifier that was dropped shows `*`."""
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    """Sensitive columns that are in both tables."""
    form: PublishedForm
    groups: Codes
    """The group of each published row: its tuple of quasi-identifier cells, its published
    group number, or the group of the private record."""
    source_row: Ints | None = None
    """The original row behind each published row, where it is known."""
    recorded: bool = False
    """Whether the private record of the release says so."""
    subject: Codes | None = None
    """The person behind each row of the original, where a column says so."""
    weights: Floats | None = None
    """How many people each row of the original stands for, where a column says so."""
    dropped: tuple[str, ...] = ()
    """Quasi-identifiers that the published table does not have."""
    row_numbers: tuple[str, ...] = ()
    """Columns that the original lacks and that number rows: they may name the row."""
    count_column: str | None = None
    """The column that says how many rows each published row stands for."""

    def _summary(self) -> str:
        return (
            f"{counted(self.rows, 'original row')}, "
            f"{counted(self.rows_out, 'published row')}, {self.form}"
        )

    @property
    def rows_out(self) -> int:
        """Published rows, each as often as it stands for a row."""
        return len(self.groups)

    @cached_property
    def group_sizes(self) -> Counts:
        """Published rows of each group."""
        return np.bincount(self.groups)

    @cached_property
    def cell_groups(self) -> Codes:
        """The tuple of quasi-identifier cells of each published row."""
        if not self.quasi:
            return np.zeros(self.rows_out, dtype=np.int32)
        if not self.form.exact:
            return self.groups
        return groups_by_cells([self.published[name] for name in self.quasi])

    @cached_property
    def original_groups(self) -> Codes:
        """The tuple of quasi-identifiers of each original row."""
        codes = [self.original[name].codes for name in self.quasi]
        return distinct_tuples(codes, self.rows)[0].astype(np.int32)

    @cached_property
    def hidden(self) -> Flags:
        """Published rows that show no quasi-identifier: suppressed, but left in."""
        if not self.quasi:
            return np.zeros(self.rows_out, dtype=np.bool_)
        result = np.ones(self.rows_out, dtype=np.bool_)
        for name in self.quasi:
            column = self.published[name]
            root, axis = column.reading.node, column.reading.axis
            result &= ((root == axis.root) & (axis.size > 1))[column.codes]
        return result

    @property
    def unrecognized(self) -> dict[str, int]:
        """Cells that mean nothing on the original's axis, by column, where there are
        any."""
        found = {name: each.unrecognized for name, each in self.published.items()}
        return {name: count for name, count in found.items() if count}
