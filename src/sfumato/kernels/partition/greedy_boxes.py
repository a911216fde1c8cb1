"""Points, boxes and segments of rows for the greedy algorithms of Xu et al.

A box is what a group shows: on a tree or free axis its lowest and highest code, on a
flat axis the set of its values. `loss` is the sum of the weighted losses of its cells.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Codes, Floats, Ints
from sfumato.kernels.common.geometry import FLAT, AxisTables, run_cost, set_cost
from sfumato.kernels.common.group_rules import RuleTable, group_ok
from sfumato.kernels.compilation.decorators import both, inner
from sfumato.kernels.full_domain.node_groups import sort_codes

PAIR_LIMIT = 256
"""Axes with at most so many codes have the loss of every run of codes in a table."""


class BoxSpace(NamedTuple):
    """The rows as points, and what boxes over them cost."""

    points: Codes
    """(rows, axes), contiguous."""
    tables: AxisTables
    pair_start: Ints
    """Where an axis's losses of runs begin in `pairs`, or −1."""
    pairs: Floats
    values: Codes
    """(views, rows): the sensitive values, as the rules look at them."""
    rules: RuleTable


class GrowingBox(NamedTuple):
    """One box that grows."""

    low: Codes
    high: Codes
    values: Codes
    """How many values a flat axis shows."""
    words: npt.NDArray[np.uint64]


class BoxHistograms(NamedTuple):
    """Room for the histogram of each view of one group."""

    tally: Ints
    codes: Codes
    counts: Ints
    lengths: Ints


@both
def pair_losses(tables: AxisTables) -> tuple[Ints, Floats]:
    """The loss of every run of codes, for axes with few codes."""
    start = np.full(len(tables.size), -1, dtype=np.int64)
    total = 0
    for j in range(len(tables.size)):
        if tables.shape[j] != FLAT and tables.size[j] <= PAIR_LIMIT:
            start[j] = total
            total += tables.size[j] * tables.size[j]
    pairs = np.zeros(total)
    for j in range(len(start)):
        if start[j] >= 0:
            for low in range(tables.size[j]):
                for high in range(low, tables.size[j]):
                    at = start[j] + low * tables.size[j] + high
                    pairs[at] = run_cost(tables, j, low, high)
    return start, pairs


@inner
def run_loss(space: BoxSpace, j: int, low: int, high: int) -> float:
    """The loss of a cell over the codes low … high of a tree or free axis."""
    start = space.pair_start[j]
    if start >= 0:
        return space.pairs[np.uintp(start + low * space.tables.size[j] + high)]
    return run_cost(space.tables, j, low, high)


@inner
def new_box(tables: AxisTables) -> GrowingBox:
    """An empty box."""
    axes = len(tables.size)
    return GrowingBox(
        np.full(axes, np.iinfo(np.int32).max, dtype=np.int32),
        np.full(axes, -1, dtype=np.int32),
        np.zeros(axes, dtype=np.int32),
        np.zeros(max(int(tables.words.sum()), 1), dtype=np.uint64),
    )


@inner
def empty(box: GrowingBox) -> None:
    """Take everything out of a box."""
    box.low[:] = np.iinfo(np.int32).max
    box.high[:] = -1
    box.values[:] = 0
    box.words[:] = 0


@inner
def holds(tables: AxisTables, box: GrowingBox, j: int, code: int) -> bool:
    """Whether the set of a flat axis has a value already."""
    word = box.words[tables.word_start[j] + code // 64]
    return (word >> np.uint64(code % 64)) & np.uint64(1) == np.uint64(1)


@inner
def put(tables: AxisTables, box: GrowingBox, point: Codes) -> None:
    """Stretch a box to hold a point."""
    for j in range(len(point)):
        code = point[j]
        if tables.shape[j] == FLAT and not holds(tables, box, j, code):
            box.words[tables.word_start[j] + code // 64] |= np.uint64(1) << np.uint64(
                code % 64
            )
            box.values[j] += 1
        box.low[j] = min(box.low[j], code)
        box.high[j] = max(box.high[j], code)


@inner
def loss(space: BoxSpace, box: GrowingBox) -> float:
    """The loss of one row of a group with this box."""
    total = 0.0
    for j in range(len(box.low)):
        if space.tables.shape[j] == FLAT:
            total += set_cost(space.tables, j, box.values[j])
        else:
            total += run_loss(space, j, box.low[j], box.high[j])
    return total


@inner
def loss_with(space: BoxSpace, box: GrowingBox, point: Codes) -> float:
    """The loss of one row of a group once it holds this point as well."""
    start, pairs, size = space.pair_start, space.pairs, space.tables.size
    low, high = box.low, box.high
    total = 0.0
    for j in range(len(point)):
        code = point[j]
        if start[j] >= 0:
            at = start[j] + min(low[j], code) * size[j] + max(high[j], code)
            total += pairs[np.uintp(at)]
        else:
            total += _cell_with(space, box, j, code)
    return total


@inner
def _cell_with(space: BoxSpace, box: GrowingBox, j: int, code: int) -> float:
    """The loss of a cell once it holds a code, on an axis without a table."""
    if space.tables.shape[j] == FLAT:
        more = 0 if holds(space.tables, box, j, code) else 1
        return set_cost(space.tables, j, box.values[j] + more)
    return run_cost(space.tables, j, min(box.low[j], code), max(box.high[j], code))


@inner
def distances(space: BoxSpace, rows: Ints, origin: Codes, result: Floats) -> None:
    """The loss of a group of each row and the origin."""
    points, pairs = space.points, space.pairs
    result[:] = 0.0
    for j in range(len(origin)):
        code, start, size = origin[j], space.pair_start[j], space.tables.size[j]
        for i in range(len(rows)):
            here = points[rows[i], j]
            if start >= 0:
                at = start + min(code, here) * size + max(code, here)
                result[i] += pairs[np.uintp(at)]
            elif here != code:
                result[i] += _loss_of_two(space, j, min(code, here), max(code, here))


@inner
def _loss_of_two(space: BoxSpace, j: int, low: int, high: int) -> float:
    """The loss of a cell over two different codes, on an axis without a table."""
    if space.tables.shape[j] == FLAT:
        return set_cost(space.tables, j, 2)
    return run_cost(space.tables, j, low, high)


def histograms_for(values: Codes) -> BoxHistograms:
    """Room for histograms of these views."""
    views = values.shape[0]
    most = int(values.max(initial=0)) + 1
    return BoxHistograms(
        tally=np.zeros((views, most), dtype=np.int64),
        codes=np.zeros((views, most), dtype=np.int32),
        counts=np.zeros((views, most), dtype=np.int64),
        lengths=np.zeros(views, dtype=np.int64),
    )


@both
def rows_ok(space: BoxSpace, rows: Ints, room: BoxHistograms) -> bool:
    """Whether these rows may be a group."""
    if len(rows) < space.rules.minimum:
        return False
    if len(space.rules.kinds) == 0:
        return True
    for v in range(len(room.lengths)):
        _count_values(space.values[v], rows, v, room)
    return group_ok(len(rows), 0, room.codes, room.counts, room.lengths, space.rules)


@inner
def _count_values(values: Codes, rows: Ints, v: int, room: BoxHistograms) -> None:
    """The histogram of one view over some rows, values ascending."""
    found = 0
    for row in rows:
        code = values[row]
        if room.tally[v, code] == 0:
            room.codes[v, found] = code
            found += 1
        room.tally[v, code] += 1
    sort_codes(room.codes[v], found)
    for i in range(found):
        code = room.codes[v, i]
        room.counts[v, i] = room.tally[v, code]
        room.tally[v, code] = 0
    room.lengths[v] = found
