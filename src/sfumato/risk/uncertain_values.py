"""What a sensitive column shows for sure where cells may stand for several values.

A cell is uncertain if it is a label of the hierarchy above the values, an interval, a
set, `*`, or a text that means nothing. Every figure here is a bound over all ways in
which uncertain cells may have got their values, so that making a cell less certain
never raises l and never lowers θ or t.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.data.arrays import Codes, Counts, Flags, Floats, Ints
from sfumato.data.rules import Distance, View
from sfumato.hierarchies.axis import CodedAxis
from sfumato.models.common.distances import earth_mover
from sfumato.models.common.groups import build_groups, value_shares
from sfumato.risk.table_pair import ColumnReading, Pair


def uncertain_texts(column: ColumnReading) -> Flags:
    """Which texts of a column stand for several values, or for nobody knows which."""
    return (column.reading.leaf < 0) & (column.counts > 0)


def uncertain_cells(column: ColumnReading) -> int:
    """How many cells of a column do not say which value they are."""
    return int(column.counts[uncertain_texts(column)].sum())


@dataclass(frozen=True, eq=False)
class UncertainColumn:
    """A sensitive column of a pair, some of whose cells are uncertain."""

    pair: Pair
    name: str

    @property
    def column(self) -> ColumnReading:
        return self.pair.published[self.name]

    @cached_property
    def _ends(self) -> tuple[Ints, Ints]:
        """The first and the last value that each text may be.

        A text that means nothing may be any, and a set counts with all values between
        its ends: it is then less certain than it is.
        """
        reading = self.column.reading
        anything = (reading.leaf < 0) & ((reading.sizes == 0) | ~reading.understood)
        first = np.where(anything, 0, reading.first).astype(np.int64)
        last = np.where(anything, reading.axis.size - 1, reading.last)
        return first, last.astype(np.int64)

    @cached_property
    def _entries(self) -> tuple[Ints, Ints, Counts]:
        """Each group with each text in it, and how many rows or persons show it."""
        texts, groups = self.column.codes.astype(np.int64), self.pair.groups
        keys = groups.astype(np.int64) * self.column.reading.count + texts
        if self._subject is not None:
            people = int(self._subject.max(initial=0)) + 1
            keys = np.unique(keys * people + self._subject) // people
        found, counts = np.unique(keys, return_counts=True)
        number = self.column.reading.count
        return found // number, found % number, counts

    @property
    def _subject(self) -> Codes | None:
        pair = self.pair
        if pair.subject is None or pair.source_row is None:
            return None
        return pair.subject[pair.source_row]

    @cached_property
    def _sizes(self) -> Counts:
        """The rows, or persons, of each group."""
        if self._subject is None:
            return self.pair.group_sizes
        people = int(self._subject.max(initial=0)) + 1
        pairs = np.unique(self.pair.groups.astype(np.int64) * people + self._subject)
        return np.bincount(pairs // people, minlength=len(self.pair.group_sizes))

    def distinct(self) -> Ints:
        """The fewest different values that each group can have.

        The fewest points that hit every run of possible values, found from the left in
        all groups at once: the next point is the earliest end of a run that begins
        after the last point.
        """
        owner, text, _ = self._entries
        first, last = self._ends[0][text], self._ends[1][text]
        count = len(self.pair.group_sizes)
        found = np.zeros(count, dtype=np.int64)
        point = np.full(count, -1, dtype=np.int64)
        while len(owner):
            ahead = first > point[owner]
            owner, first, last = owner[ahead], first[ahead], last[ahead]
            there = np.unique(owner)
            point[there] = np.iinfo(np.int64).max
            np.minimum.at(point, owner, last)
            found[there] += 1
        return found

    def commonest(self) -> Floats:
        """The largest share that one value can have in each group."""
        owner, text, counts = self._entries
        first, last = self._ends[0][text], self._ends[1][text]
        place = np.concatenate([first, last + 1])
        group = np.concatenate([owner, owner])
        change = np.concatenate([counts, -counts])
        # At one place, runs end before others begin.
        order = np.lexsort((change, place, group))
        height = np.cumsum(change[order])
        most = np.zeros(len(self.pair.group_sizes), dtype=np.int64)
        np.maximum.at(most, group[order], height)
        shares: Floats = np.minimum(most / np.maximum(self._sizes, 1), 1.0)
        return shares

    def shift(self) -> Floats | None:
        """A bound on each group's earth mover's distance from the original's values.

        The distance is convex: a group is no further off than its certain cells and
        each uncertain cell at its furthest value, each by its share. None where persons
        have several rows.
        """
        if self._subject is not None:
            return None
        column, uncertain = self.column, uncertain_texts(self.column)
        known = ~uncertain[column.codes]
        groups, count = self.pair.groups, len(self.pair.group_sizes)
        moved = np.zeros(count)
        if known.any():
            kept, dense = np.unique(groups[known], return_inverse=True)
            leaf = column.reading.leaf[column.codes[known]]
            rows = np.bincount(dense)
            moved[kept] = self._distances(dense.astype(np.int32), leaf) * rows
        furthest = self._furthest(uncertain)
        moved += np.bincount(groups, furthest[column.codes], minlength=count)
        mean: Floats = moved / np.maximum(self.pair.group_sizes, 1)
        return np.minimum(mean, 1.0)

    def _furthest(self, uncertain: Flags) -> Floats:
        """For each uncertain text the distance of its furthest value, and 0 for others."""
        axis = self.column.reading.axis
        leaves = np.arange(axis.size, dtype=np.int32)
        alone = self._distances(leaves, leaves)
        furthest = np.zeros(self.column.reading.count)
        for text in np.flatnonzero(uncertain):
            first, last = self._ends[0][text], self._ends[1][text]
            furthest[text] = alone[first : last + 1].max()
        return furthest

    def _distances(self, groups: Codes, leaves: Codes | Ints) -> Floats:
        """The distance of each group of values from the original's distribution."""
        coded, view = self.pair.original[self.name], View(self.name, reference="source")
        found = build_groups(
            groups,
            int(groups.max(initial=-1)) + 1,
            sensitive={self.name: CodedAxis(coded.axis, leaves.astype(np.int32))},
            views=[view],
            source_reference={view: value_shares(coded.axis, coded.codes, None)},
        )
        return earth_mover(found.histograms[view], distance=Distance.DEFAULT)
