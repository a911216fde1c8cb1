"""Lower bounds on what a single row loses, whatever group of at least k rows it is in.

Two bounds hold for axes of any shape, and the larger of them is one as well:

- *by column*: on each axis the cell of the group covers the row's value and the values
  of k rows; the row loses at least the sum of the cheapest such cells.
- *by neighbor*: k − 1 other rows are in the group, so one of them is at least as far away
  as the (k − 1)-th nearest; the group's box covers both.

Both rest on one fact: a box never loses less than a smaller one inside it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Codes, Counts, Floats
from sfumato.hierarchies.axis import Axis, CodedAxis, Shape

Rows = npt.NDArray[np.int64]


def column_bound(coded: CodedAxis, code: int, least: int) -> float:
    """The loss of the cheapest cell over a code that covers `least` rows."""
    counts, axis = coded.counts, coded.axis
    if axis.shape is Shape.TREE:
        return _cheapest_node(axis, counts, code, least)
    if counts[code] >= least:
        return _single(axis, code)
    if axis.shape is Shape.FLAT:
        return _smallest_set(axis, counts, code, least)
    return _shortest_interval(axis, counts, code, least)


def neighbor_bound(
    quasi: tuple[CodedAxis, ...],
    tuples: Codes,
    weights: Counts,
    *,
    row: Codes,
    least: int,
) -> float:
    """The weighted loss of a row together with its (least − 1)-th nearest other row."""
    apart = np.zeros(len(tuples))
    for j, coded in enumerate(quasi):
        losses = coded.axis.weight * pair_losses(coded.axis, int(row[j]))
        apart += losses[tuples[:, j]]
    order = _nearest(apart, least)
    reached = np.searchsorted(np.cumsum(weights[order]), least)
    return float(apart[order[min(int(reached), len(order) - 1)]])


def _nearest(apart: Floats, number: int) -> Rows:
    """Some tuples in the order of their distance: so many of the nearest ones.

    Each stands for a row at least, so that so many rows are among them.
    """
    if number >= len(apart):
        return np.argsort(apart, kind="stable")
    near = np.argpartition(apart, number - 1)[:number]
    return near[np.argsort(apart[near], kind="stable")]


def pair_losses(axis: Axis, code: int) -> Floats:
    """The loss of a cell over a code and each other one."""
    others = np.arange(axis.size)
    if axis.shape is Shape.FLAT:
        return axis.set_ncp(np.where(others == code, 1, 2))
    low, high = np.minimum(others, code), np.maximum(others, code)
    if axis.shape is Shape.TREE:
        return axis.node_ncp[axis.covering(low, high)]
    return axis.interval_ncp(low, high)


def _single(axis: Axis, code: int) -> float:
    return float(axis.node_ncp[code]) if axis.shares is not None else 0.0


def _cheapest_node(axis: Axis, counts: Counts, code: int, least: int) -> float:
    for level in axis.levels:
        if counts[level == level[code]].sum() >= least:
            return float(axis.node_ncp[level[code]])
    return float(axis.node_ncp[axis.root])


def _smallest_set(axis: Axis, counts: Counts, code: int, least: int) -> float:
    """The fewest values beside this one that have enough rows, the commonest first."""
    others = np.sort(np.delete(counts, code))[::-1]
    more = np.searchsorted(np.cumsum(others), least - counts[code]) + 1
    size = min(1 + int(more), axis.size)
    return float(axis.set_ncp(np.array([size]))[0])


def _shortest_interval(axis: Axis, counts: Counts, code: int, least: int) -> float:
    """The cheapest interval over a code that has enough rows; all, if none has."""
    whole = float(axis.node_ncp[axis.root])
    last = axis.size - 1 - (axis.missing >= 0)
    if code > last:
        return whole
    reached = np.cumsum(counts[: last + 1])
    starts = np.arange(code + 1)
    before = np.where(starts > 0, reached[starts - 1], 0)
    ends = np.maximum(np.searchsorted(reached, before + least), code)
    fits = ends <= last
    if not fits.any():
        return whole
    return min(whole, float(axis.interval_ncp(starts[fits], ends[fits]).min()))
