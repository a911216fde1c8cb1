"""An original and a published table side by side, as metrics look at them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.data.arrays import Codes, Counts, Flags, Floats, Ints
from sfumato.hierarchies.axis import Axis, CodedAxis
from sfumato.hierarchies.cell_readings import Reading


@dataclass(frozen=True, eq=False, kw_only=True)
class ComparedColumn:
    """A column of the original, and the same column as published."""

    original: CodedAxis
    codes: Codes
    """The text of each published row."""
    reading: Reading
    """What each text says on the original's axis."""

    @property
    def axis(self) -> Axis:
        return self.original.axis

    @property
    def numeric(self) -> bool:
        return self.axis.positions is not None

    @cached_property
    def before(self) -> Counts:
        """How many original rows have each value."""
        return np.bincount(self.original.codes, minlength=self.axis.size)

    @cached_property
    def after(self) -> Counts:
        """How many published rows show each text."""
        return np.bincount(self.codes, minlength=self.reading.count)

    @cached_property
    def blank(self) -> Flags:
        """Return the texts that say nothing: `*`, and what is not understood."""
        whole = (self.reading.node == self.axis.root) & (self.reading.leaf < 0)
        empty = (self.reading.sizes == 0) & ~self.reading.points
        return np.asarray(whole | empty | ~self.reading.understood)

    @cached_property
    def centers(self) -> Floats:
        """The number in the middle of what each text says; NaN where it says none.

        For an interval this is the midpoint, for a set the mean of its values.
        """
        positions = np.asarray(self.axis.positions)
        reading = self.reading
        centers = (reading.low + reading.high) / 2.0
        shown = reading.leaf >= 0
        centers[shown] = positions[reading.leaf[shown]]
        for text, row in zip(reading.sets, reading.members, strict=True):
            centers[text] = np.mean(positions[row & ~np.isnan(positions)])
        centers[self.blank] = np.nan
        return centers


@dataclass(frozen=True, eq=False, kw_only=True)
class ComparedTables:
    """Both tables in codes, for the metrics that need the original."""

    rows_in: int
    columns: Mapping[str, ComparedColumn]
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    groups: Codes
    """The group of each published row."""
    hidden: Flags
    """Published rows that show no quasi-identifier."""
    recorded: bool = False
    """Whether a private record says which rows were left out."""
    source_row: Ints | None = None
    """The original row behind each published row, where it is known."""
    covers: bool = True
    """Whether cells hold the original's values, as nodes, intervals and sets do."""
    people: bool = True
    """Whether published rows stand for people of the original."""

    @property
    def rows_out(self) -> int:
        return len(self.groups)

    @property
    def left_out(self) -> int:
        """Original rows without a published one."""
        return max(self.rows_in - self.rows_out, 0) if self.people else 0

    @cached_property
    def lost(self) -> Flags:
        """Return original rows that are unpublished, or show no quasi-identifier."""
        if self.source_row is None:
            raise TypeError("The comparison does not know which row is which.")
        lost = np.ones(self.rows_in, dtype=np.bool_)
        lost[self.source_row[~self.hidden]] = False
        return lost

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns of numbers."""
        return tuple(name for name, each in self.columns.items() if each.numeric)
