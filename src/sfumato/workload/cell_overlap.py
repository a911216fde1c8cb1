"""The share of each published cell that meets a condition.

Nothing says where in an interval or a set a row lies: all places are assumed to be
equally likely (Loukides and Shao 2008, section 2).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Floats, Ints
from sfumato.data.schema import Kind
from sfumato.hierarchies.cell_readings import NOWHERE, Reading, nearest
from sfumato.hierarchies.labels import DISCRETE
from sfumato.workload.conditions import BoundConditions


def fractions(reading: Reading, taken: BoundConditions) -> Floats:
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


def _of_spans(reading: Reading, spans: Ints, taken: BoundConditions) -> Floats:
    low, high = reading.low[spans, None], reading.high[spans, None]
    share = _overlap(reading.axis.kind, low, high, taken)
    if taken.listed.any():
        within = _listed_share(reading, spans, taken.leaves[taken.listed])
        share[:, taken.listed] = within
    return share


def _overlap(kind: Kind, low: Floats, high: Floats, taken: BoundConditions) -> Floats:
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

    A point between two values counts as the nearer one.
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
    near = nearest(line, reading.low[spans])
    return order, np.where(points, near, first), np.where(points, near + 1, after)


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
