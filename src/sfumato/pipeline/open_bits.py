"""The bits about values that cells leave open, and the sets that leave most open.

A cell leaves open −log2 of the share of the row's own value among all source rows whose
values it covers (Gionis and Tassa 2009). NCP counts values instead, so that a set
of three out of hundreds costs it almost nothing, however often they occur.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sfumato.data.arrays import Floats, Ints
from sfumato.data.grouping import Grouping
from sfumato.hierarchies.axis import Axis, CodedAxis, Shape
from sfumato.hierarchies.labels import set_label
from sfumato.publish.group_spans import Extent

MOST = 5
"""Columns and groups that are named."""
MOST_TEXTS = 8
"""Values of a set that are listed."""


@dataclass(frozen=True, eq=False, kw_only=True)
class OpenBits:
    """What the cells of one column leave open."""

    extent: Extent
    """What each group covers."""
    ncp: Floats
    """NCP of each group's cell: 0 shows the value, 1 shows nothing."""

    @property
    def coded(self) -> CodedAxis:
        return self.extent.coded

    @property
    def grouping(self) -> Grouping:
        return self.extent.grouping

    @cached_property
    def counts(self) -> Floats:
        """How many source rows have each value."""
        return self.coded.counts.astype(np.float64)

    @property
    def there(self) -> float:
        """The bits of all rows, if nothing were shown."""
        known = self.counts[self.counts > 0]
        return float((known * np.log2(known.sum() / known)).sum())

    @cached_property
    def by_group(self) -> Floats:
        """The bits that all rows of each group leave open."""
        # Groups that show their value leave nothing open; rows left out, of group −1,
        # find the last place.
        opens = np.append(self.ncp > 0.0, False)
        rows = np.flatnonzero(opens.take(self.grouping.group_of, mode="wrap"))
        owner, codes = self.grouping.group_of[rows], self.coded.codes[rows]
        own = np.log2(np.maximum(self.counts, 1.0))[codes]
        known = np.bincount(owner, own, self.grouping.count)
        whole = self.grouping.sizes() * np.log2(np.maximum(self._covered, 1.0))
        return np.where(opens[:-1], np.maximum(whole - known, 0.0), 0.0)

    @property
    def lost(self) -> float:
        """The bits that all rows leave open, those of rows left out included."""
        if self.grouping.complete:
            return float(self.by_group.sum())
        gone = self.coded.codes[~self.grouping.kept]
        rows = max(len(self.coded.codes), 1)
        alone = np.log2(rows / np.maximum(self.counts, 1.0))[gone]
        return float(self.by_group.sum() + alone.sum())

    @cached_property
    def _covered(self) -> Floats:
        """The source rows whose value each group's cell covers.

        A cell that loses more than what its group covers shows nothing.
        """
        extent = self.extent
        shown = np.isclose(extent.ncp(), self.ncp)
        axis = self.coded.axis
        if axis.shape is Shape.FREE and axis.missing >= 0:
            low, high = extent.bounds
            shown &= (high != axis.missing) | (low == high)
        everything = float(self.counts.sum())
        return np.where(shown, self._of_extent(extent), everything)

    def _of_extent(self, extent: Extent) -> Floats:
        axis, sums = self.coded.axis, np.append(0.0, np.cumsum(self.counts))
        if extent.by_node:
            return _rows_below(self.coded, self.counts)[extent.nodes]
        if axis.shape is Shape.FREE:
            low, high = extent.bounds
            return np.asarray(sums[high.astype(np.int64) + 1] - sums[low])
        number, sets = extent.sets
        return np.array([self.counts[list(codes)].sum() for codes in sets])[number]

    def most_mixed(self) -> list[dict[str, Any]]:
        """The cells with several values whose rows leave most open, worst first."""
        if self.coded.axis.shape is not Shape.FLAT or not self.grouping.count:
            return []
        sizes = self.grouping.sizes()
        each = self.by_group / np.maximum(sizes, 1)
        values = self.extent.set_sizes
        number, sets = self.extent.sets
        worst = np.argsort(-each, kind="stable")[:MOST]
        rows = max(len(self.coded.codes), 1)
        bits = self.there / rows
        return [
            {
                "column": self.coded.name,
                "set": _set_text(self.coded.axis, sets[number[group]]),
                "rows": int(sizes[group]),
                "values": int(values[group]),
                "open": float(each[group] / bits) if bits else 0.0,
            }
            for group in worst
            if values[group] > 1
        ]


def _set_text(axis: Axis, codes: Sequence[int]) -> str:
    """The values of a set; of very many, the first ones."""
    texts = [axis.labels[code] for code in codes[:MOST_TEXTS]]
    more = len(codes) - len(texts)
    return set_label(texts) + (f" and {more} more" if more else "")


def _rows_below(coded: CodedAxis, counts: Floats) -> Floats:
    """The source rows below each node."""
    found = np.zeros(len(coded.axis.node_labels))
    for nodes in coded.axis.levels:
        found[nodes] = np.bincount(nodes, counts, len(found))[nodes]
    return found


def open_bits(extents: Sequence[Extent], ncp: Floats) -> list[OpenBits]:
    """What each column's cells leave open; `ncp` has a column per quasi-identifier."""
    return [
        OpenBits(extent=extent, ncp=ncp[:, place])
        for place, extent in enumerate(extents)
    ]


def share_lost(columns: Sequence[OpenBits]) -> float:
    """The share of all columns' bits that cells no longer tell."""
    there = sum(column.there for column in columns)
    return sum(column.lost for column in columns) / there if there else 0.0


def mixed_sets(columns: Sequence[OpenBits]) -> dict[str, Any]:
    """The five columns and the five groups whose sets leave most open, worst first."""
    sets = [column for column in columns if column.coded.axis.shape is Shape.FLAT]
    shares = [
        {
            "column": column.coded.name,
            "open": column.lost / (column.there or 1.0),
            "values": _mean_values(column),
        }
        for column in sets
    ]
    groups = [cell for column in sets for cell in column.most_mixed()]
    return {
        "columns": _worst(shares),
        "groups": _worst(groups),
    }


def _worst(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(found, key=lambda each: -each["open"])[:MOST]


def _mean_values(column: OpenBits) -> float:
    """How many values the cell of a row has, on average."""
    sizes: Ints = column.grouping.sizes()
    values = column.extent.set_sizes
    return float(sizes @ values / max(sizes.sum(), 1)) if len(sizes) else 0.0
