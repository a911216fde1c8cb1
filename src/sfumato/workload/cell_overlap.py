"""What each published text stands for, and how much of it a condition takes.

A text is a value of the column, an interval, a point between values (a mean), or a set
of values. Nothing says where in an interval or a set a row lies: all places are taken
to be equally likely (Loukides and Shao 2008, section 2).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, isinf, isnan

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Floats, Ints
from sfumato.data.schema import Kind
from sfumato.hierarchies.axis import STAR, Axis
from sfumato.hierarchies.cell_leaves import cover_matrix
from sfumato.hierarchies.labels import DISCRETE, parse_interval, parse_value
from sfumato.workload.conditions import Taken

NOWHERE = -1


@dataclass(frozen=True, eq=False)
class Reading:
    """The distinct texts of a published column against the axis of the original."""

    axis: Axis
    leaf: Ints
    """The value that each text shows; −1 where it is none, or several."""
    low: Floats
    """The lowest number that each text stands for; NaN where it is no interval."""
    high: Floats
    sets: Ints
    """The texts that are sets of values."""
    members: npt.NDArray[np.bool_]
    """(sets, leaves): the values in each of them."""

    @property
    def count(self) -> int:
        return len(self.leaf)


def exact(axis: Axis) -> Reading:
    """The reading of an original: every code is a value."""
    nothing = np.full(axis.size, np.nan)
    return Reading(
        axis,
        np.arange(axis.size),
        nothing,
        nothing,
        np.zeros(0, dtype=np.int64),
        np.zeros((0, axis.size), dtype=np.bool_),
    )


def read(axis: Axis, texts: Sequence[str | None]) -> Reading:
    """Read published texts; None is the missing cell."""
    reader = _OverlapReader(axis)
    leaf = np.array([reader.leaf_of(text) for text in texts], dtype=np.int64)
    spans = [
        reader.span_of(text) if at == NOWHERE else (np.nan, np.nan)
        for text, at in zip(texts, leaf, strict=True)
    ]
    low, high = np.array(spans, dtype=np.float64).reshape(-1, 2).T
    others = np.flatnonzero((leaf == NOWHERE) & np.isnan(low))
    members = cover_matrix(axis, [texts[i] for i in others])
    found = members.any(axis=1)
    return Reading(axis, leaf, low, high, others[found], members[found])


class _OverlapReader:
    """Reads texts one by one, with the labels of an axis indexed once."""

    def __init__(self, axis: Axis) -> None:
        self.axis = axis
        self.leaf = {label: code for code, label in enumerate(axis.labels)}
        self.number = _by_number(axis)
        self.nodes = _bounds_by_label(axis)
        known = () if axis.positions is None else axis.positions
        numbers = np.array([each for each in known if not isnan(each)])
        self.line = (numbers.min(), numbers.max()) if len(numbers) else None

    def leaf_of(self, text: str | None) -> int:
        if text is None:
            return self.axis.missing
        at = self.leaf.get(text, NOWHERE)
        if at != NOWHERE or not self.number:
            return at
        # The same number may be written otherwise: 37 and 37.0.
        return self.number.get(parse_value(text, kind=self._spelled), NOWHERE)

    def span_of(self, text: str | None) -> tuple[float, float]:
        """The numbers a text stands for; NaN where they are no interval."""
        if text is None or self.line is None:
            return np.nan, np.nan
        if text == STAR:
            return self.line
        interval = parse_interval(text, kind=self.axis.kind)
        if interval is not None:
            return self._clipped(*interval.bounds(self.axis.kind))
        if text in self.nodes:
            return self.nodes[text]
        point = parse_value(text, kind=self._spelled)
        return point, point

    @property
    def _spelled(self) -> Kind:
        """A mean of whole numbers is written as a decimal."""
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


def fractions(reading: Reading, taken: Taken) -> Floats:
    """(texts, queries): the share of each text that each condition takes."""
    result = np.zeros((reading.count, len(taken.low)))
    shown = np.flatnonzero(reading.leaf != NOWHERE)
    result[shown] = taken.leaves.T[reading.leaf[shown]]
    if len(reading.sets):
        sizes = reading.members.sum(axis=1, keepdims=True)
        both = reading.members.astype(np.float64) @ taken.leaves.T.astype(np.float64)
        result[reading.sets] = both / sizes
    spans = np.flatnonzero(~np.isnan(reading.low))
    if len(spans):
        result[spans] = _of_spans(reading, spans, taken)
    return result


def _of_spans(reading: Reading, spans: Ints, taken: Taken) -> Floats:
    low, high = reading.low[spans, None], reading.high[spans, None]
    share = _overlap(reading.axis.kind, low, high, taken)
    if taken.listed.any():
        within = _listed_share(reading, spans, taken.leaves[taken.listed])
        share[:, taken.listed] = within
    return share


def _overlap(kind: Kind, low: Floats, high: Floats, taken: Taken) -> Floats:
    """Length of the common part over length of the interval; days and whole numbers
    are counted."""
    point = low == high
    inside = (low >= taken.low) & (low <= taken.high)
    if kind in DISCRETE:
        first = np.maximum(low, np.ceil(taken.low))
        last = np.minimum(high, np.floor(taken.high))
        part = np.maximum(last - first + 1, 0) / (high - low + 1)
    else:
        common = np.minimum(high, taken.high) - np.maximum(low, taken.low)
        part = np.maximum(common, 0) / np.where(point, 1.0, high - low)
    return np.where(point, inside, part)


def _listed_share(
    reading: Reading, spans: Ints, leaves: npt.NDArray[np.bool_]
) -> Floats:
    """The share of listed values among those that an interval may stand for."""
    order, first, after = _runs(reading, spans)
    sums = np.zeros((len(order) + 1, len(leaves)))
    np.cumsum(leaves.T[order], axis=0, out=sums[1:])
    units = after - first
    if reading.axis.kind in DISCRETE:
        whole = reading.high[spans] - reading.low[spans] + 1
        units = np.where(reading.low[spans] == reading.high[spans], units, whole)
    return np.asarray((sums[after] - sums[first]) / np.maximum(units, 1)[:, None])


def _runs(reading: Reading, spans: Ints) -> tuple[Ints, Ints, Ints]:
    """Leaves in order of their numbers, and the run of them in each interval.

    A point between two values is taken for the nearer one.
    """
    positions = reading.axis.positions
    if positions is None:
        raise TypeError(f"Axis '{reading.axis.name}' is not a line of numbers.")
    order = np.argsort(positions, kind="stable")
    order = order[~np.isnan(positions[order])]
    line = positions[order]
    first = np.searchsorted(line, reading.low[spans], side="left")
    after = np.searchsorted(line, reading.high[spans], side="right")
    points = reading.low[spans] == reading.high[spans]
    near = _nearest(line, reading.low[spans])
    return order, np.where(points, near, first), np.where(points, near + 1, after)


def _nearest(line: Floats, places: Floats) -> Ints:
    right = np.clip(np.searchsorted(line, places), 0, len(line) - 1)
    left = np.maximum(right - 1, 0)
    nearer = np.abs(line[left] - places) <= np.abs(line[right] - places)
    return np.where(nearer, left, right)


def spread(reading: Reading) -> Floats:
    """(texts, leaves + 1): how likely each text stands for each value.

    The last place holds what no value of the original stands for.
    """
    size = reading.axis.size
    result = np.zeros((reading.count, size + 1))
    shown = np.flatnonzero(reading.leaf != NOWHERE)
    result[shown, reading.leaf[shown]] = 1.0
    result[reading.sets, :size] = reading.members / reading.members.sum(
        axis=1, keepdims=True
    )
    spans = np.flatnonzero(~np.isnan(reading.low))
    if len(spans):
        order, first, after = _runs(reading, spans)
        ranks = np.arange(len(order))
        inside = (ranks >= first[:, None]) & (ranks < after[:, None])
        sizes = np.maximum(inside.sum(axis=1, keepdims=True), 1)
        result[np.ix_(spans, order)] = inside / sizes
    result[:, size] = 1.0 - result.sum(axis=1)
    return result
