"""What each published text of a column says, read against the axis of the original.

A text is a value of the column, a node of its hierarchy, an interval, a point between
values (a mean), or a set of values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite, isinf, isnan

import numpy as np

from sfumato.data.arrays import Codes, Flags, Floats, Ints
from sfumato.data.schema import Kind
from sfumato.hierarchies.axis import STAR, Axis, Indices
from sfumato.hierarchies.cell_leaves import CellLeaves, LeafReader
from sfumato.hierarchies.labels import parse_interval, parse_value

NOWHERE = -1


@dataclass(frozen=True, eq=False, kw_only=True)
class Reading:
    """The distinct texts of a published column against the axis of the original."""

    axis: Axis
    leaf: Ints
    """The value that each text shows; −1 where it is none, or several."""
    node: Ints
    """The node that each text names, of those that are no value; −1 where it is none."""
    low: Floats
    """The lowest number that each text stands for; NaN where it is no interval."""
    high: Floats
    first: Codes
    """The first leaf that each text covers."""
    last: Codes
    """The last leaf that each text covers; before the first where it covers none."""
    scattered: Mapping[int, Flags]
    """The leaves of each text whose leaves are no run."""
    understood: Flags
    """Whether all parts of each text have a meaning on this axis."""

    @property
    def count(self) -> int:
        return len(self.leaf)

    @property
    def points(self) -> Flags:
        """Which texts are single numbers that the original does not have."""
        single = (self.leaf == NOWHERE) & (self.low == self.high)
        return np.asarray(single & (self.sizes == 0))

    @cached_property
    def sizes(self) -> Ints:
        """How many values of the original each text may stand for."""
        sizes = self.last.astype(np.int64) - self.first + 1
        for text, mask in self.scattered.items():
            sizes[text] = int(mask.sum())
        return sizes

    @cached_property
    def sets(self) -> Ints:
        """The texts that are sets of values, and not intervals."""
        others = (self.leaf == NOWHERE) & np.isnan(self.low) & (self.sizes > 0)
        return np.flatnonzero(others)

    @cached_property
    def members(self) -> Flags:
        """(sets, leaves): the values in each set."""
        return self.cover(self.sets)

    def cover(self, texts: Ints) -> Flags:
        """(texts, leaves): whether each of some texts may stand for each value."""
        leaves = np.arange(self.axis.size)
        return self.covers(texts[:, None], leaves[None, :])

    def covers(self, texts: Indices, leaves: Indices) -> Flags:
        """Whether each text may stand for the leaf beside it; both are broadcast."""
        texts, leaves = np.broadcast_arrays(texts, leaves)
        inside = (self.first[texts] <= leaves) & (leaves <= self.last[texts])
        if self.scattered:
            row_of, masks = self._scattered
            rows = row_of[texts]
            at = rows >= 0
            inside[at] = masks[rows[at], leaves[at]]
        return inside

    @cached_property
    def _scattered(self) -> tuple[Ints, Flags]:
        row_of = np.full(self.count, -1, dtype=np.int64)
        row_of[list(self.scattered)] = np.arange(len(self.scattered))
        return row_of, np.array(list(self.scattered.values()), dtype=np.bool_)

    @cached_property
    def meaning(self) -> Codes:
        """A code for each text; texts that say the same share one.

        A text that is not understood has a meaning of its own. So does the root, where
        it covers a single value: it hides that value.
        """
        known: dict[object, int] = {}
        codes = np.empty(self.count, dtype=np.int32)
        ends = zip(self.first, self.last, self.low, self.high, strict=True)
        for text, (first, last, low, high) in enumerate(ends):
            mask = self.scattered.get(text)
            hides = self.node[text] == self.axis.root and self.leaf[text] < 0
            said: object = (int(first), int(last), str(low), str(high), bool(hides))
            if mask is not None:
                said = (mask.tobytes(), str(low), str(high))
            codes[text] = known.setdefault(
                said if self.understood[text] else text, len(known)
            )
        return codes

    def ncp(self) -> Floats:
        """Return the NCP of a cell with each text; 1 if it is not understood."""
        return self._losses(self.axis.node_ncp, self.axis.set_ncp(self.sizes))

    def loss(self) -> Floats:
        """Generalized loss of a cell with each text."""
        return self._losses(self.axis.node_loss, self.axis.set_loss(self.sizes))

    def _losses(self, by_node: Floats, by_size: Floats) -> Floats:
        losses = np.where(np.isnan(self.low), by_size, self._lengths)
        named = self.node >= 0
        losses[named] = by_node[self.node[named]]
        losses[self.leaf >= 0] = 0.0
        losses[~self.understood] = 1.0
        return losses

    @property
    def _lengths(self) -> Floats:
        """The share of the line that each interval takes."""
        positions = self.axis.positions
        if positions is None or np.isnan(positions).all():
            return np.zeros(self.count)
        ends = np.nanmin(positions), np.nanmax(positions)
        length = np.clip(self.high, *ends) - np.clip(self.low, *ends)
        return np.asarray(length / (self.axis.span or 1.0))


def exact(axis: Axis) -> Reading:
    """The reading of an original: every code is a value."""
    leaves, nothing = np.arange(axis.size), np.full(axis.size, np.nan)
    return Reading(
        axis=axis,
        leaf=leaves,
        node=np.full(axis.size, NOWHERE),
        low=nothing,
        high=nothing,
        first=leaves.astype(np.int32),
        last=leaves.astype(np.int32),
        scattered={},
        understood=np.ones(axis.size, dtype=np.bool_),
    )


def read(
    axis: Axis, texts: Sequence[str | None], *, missing_hides: bool = False
) -> Reading:
    """Read published texts; None is the missing cell.

    With `missing_hides` a missing cell is a value that was suppressed, and may stand
    for any.
    """
    reader = _CellReader(axis, missing_hides=missing_hides)
    leaf = np.array([reader.leaf_of(text) for text in texts], dtype=np.int64)
    found = [reader.leaves(text) for text in texts]
    spans = [
        reader.span_of(text) if at == NOWHERE else (np.nan, np.nan)
        for text, at in zip(texts, leaf, strict=True)
    ]
    low, high = np.array(spans, dtype=np.float64).reshape(-1, 2).T
    whole = np.array([each.whole for each in found], dtype=np.bool_)
    runs = np.array([each[:2] for each in found], dtype=np.int32).reshape(-1, 2)
    return Reading(
        axis=axis,
        leaf=leaf,
        node=np.array([reader.node_of(text) for text in texts], dtype=np.int64),
        low=low,
        high=high,
        first=np.where(leaf >= 0, leaf, runs[:, 0]).astype(np.int32),
        last=np.where(leaf >= 0, leaf, runs[:, 1]).astype(np.int32),
        scattered={i: e.mask for i, e in enumerate(found) if e.mask is not None},
        understood=whole | (leaf >= 0) | ~np.isnan(low),
    )


def nearest(line: Floats, numbers: Floats) -> Ints:
    """The place of the nearest number of a sorted line; the lower one of two."""
    right = np.clip(np.searchsorted(line, numbers), 0, len(line) - 1)
    left = np.maximum(right - 1, 0)
    nearer = np.abs(line[left] - numbers) <= np.abs(line[right] - numbers)
    return np.where(nearer, left, right)


class _CellReader:
    """Reads texts one by one, with the labels of an axis indexed once."""

    def __init__(self, axis: Axis, *, missing_hides: bool) -> None:
        self.axis = axis
        self.missing = STAR if missing_hides else None
        self.by_label = LeafReader(axis)
        self.number = _by_number(axis)
        self.bounds = _bounds_by_label(axis)
        known = () if axis.positions is None else axis.positions
        numbers = np.array([each for each in known if not isnan(each)])
        self.line = (numbers.min(), numbers.max()) if len(numbers) else None

    def leaves(self, text: str | None) -> CellLeaves:
        return self.by_label.leaves(self.missing if text is None else text)

    def leaf_of(self, text: str | None) -> int:
        if text is None:
            return NOWHERE if self.missing else self.axis.missing
        at = self.by_label.leaf.get(text, NOWHERE)
        if at != NOWHERE or not self.number:
            return at
        # The same number may be written differently: 37 and 37.0.
        return self.number.get(parse_value(text, kind=self._spelled), NOWHERE)

    def node_of(self, text: str | None) -> int:
        """The widest node of that label."""
        text = self.missing if text is None else text
        if text is None:
            return NOWHERE
        if text == STAR:
            return self.axis.root
        nodes = self.by_label.nodes.get(text, ())
        return max(nodes, key=lambda node: self.axis.node_ncp[node], default=NOWHERE)

    def span_of(self, text: str | None) -> tuple[float, float]:
        """The numbers a text stands for; NaN where they are no interval."""
        text = self.missing if text is None else text
        if text is None or self.line is None:
            return np.nan, np.nan
        if text == STAR:
            return self.line
        interval = parse_interval(text, kind=self.axis.kind)
        if interval is not None:
            return self._clipped(*interval.bounds(self.axis.kind))
        if text in self.bounds:
            return self.bounds[text]
        point = parse_value(text, kind=self._spelled)
        return point, point

    @property
    def _spelled(self) -> Kind:
        """Return the number as a decimal, as means of whole numbers are written."""
        kind = self.axis.kind
        return Kind.DECIMAL if kind is Kind.INTEGER else kind

    def _clipped(self, low: float, high: float) -> tuple[float, float]:
        """One-sided intervals end where the column ends."""
        first, last = self.line or (low, high)
        low = min(first, high) if isinf(low) else low
        return low, max(last, low) if isinf(high) else high


def _by_number(axis: Axis) -> dict[float, int]:
    if axis.positions is None:
        return {}
    return {at: code for code, at in enumerate(axis.positions.tolist()) if at == at}


def _bounds_by_label(axis: Axis) -> dict[str, tuple[float, float]]:
    """The interval of each node that has one and shares its label with none."""
    if axis.node_bounds is None:
        return {}
    often = Counter(axis.node_labels)
    bounds = zip(axis.node_labels, axis.node_bounds.tolist(), strict=True)
    return {
        label: (low, high)
        for label, (low, high) in bounds
        if often[label] == 1 and isfinite(low) and isfinite(high)
    }
