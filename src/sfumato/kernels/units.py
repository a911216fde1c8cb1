"""Units to be clustered, and what a group of them costs.

A unit is what moves as one: a row, of which there may be several alike (*copies*), or
all rows of a person. On each quasi-identifier it covers a run of codes (of one code,
for a row); a few further columns hold sensitive values. A group of units shows a box.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from sfumato.kernels.boxes import FLAT, AxisTables, run_cost, set_cost
from sfumato.kernels.compiling import inner

Ints = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]
Words = npt.NDArray[np.uint64]


class Units(NamedTuple):
    """All units, and the loss of boxes over them."""

    axes: int
    """How many quasi-identifiers there are; the columns after them are sensitive."""
    low: Codes
    """(units, columns): the lowest code of each unit; a sensitive value."""
    high: Codes
    sets: Words
    """(units, words): values on flat axes, for units of several rows; else empty."""
    copies: Ints
    weight: Ints
    """Rows in one copy."""
    first: Ints
    """Where the rows of each unit begin, rows being sorted by unit."""
    values: Codes
    """(views, rows sorted by unit): what the rules look at."""
    tables: AxisTables
    pair_start: Ints
    pairs: Floats
    """Losses of runs on axes with few codes, scaled; see `kernels.greedy`."""
    single: Floats
    """The loss of a cell with one value, per axis, scaled."""
    scale: Floats
    """What losses are multiplied by, per axis."""


class Box(NamedTuple):
    """What a group shows: extremes, and on flat axes the set and its size."""

    low: Codes
    high: Codes
    count: Codes
    words: Words


@numba.njit(cache=True, nogil=True)
def new_boxes(tables: AxisTables, number: int) -> Box:
    """Empty boxes, one per line."""
    axes = len(tables.size)
    words = max(np.sum(tables.words), 1)
    return Box(
        np.full((number, axes), np.iinfo(np.int32).max, dtype=np.int32),
        np.full((number, axes), -1, dtype=np.int32),
        np.zeros((number, axes), dtype=np.int32),
        np.zeros((number, words), dtype=np.uint64),
    )


@inner
def clear(box: Box, g: int) -> None:
    """Take everything out of box g."""
    box.low[g] = np.iinfo(np.int32).max
    box.high[g] = -1
    box.count[g] = 0
    box.words[g] = 0


@inner
def bits(word: int) -> int:
    """How many bits are set."""
    found = 0
    while word:
        word &= word - np.uint64(1)
        found += 1
    return found


@inner
def fresh_values(units: Units, box: Box, g: int, j: int, u: int) -> int:
    """How many values of flat axis j unit u adds to box g."""
    at = units.tables.word_start[j]
    if len(units.sets) == 0:
        code = units.low[u, j]
        word = box.words[g, at + code // 64]
        return 1 - np.int64((word >> np.uint64(code % 64)) & np.uint64(1))
    found = 0
    for w in range(at, at + units.tables.words[j]):
        found += bits(units.sets[u, w] & ~box.words[g, w])
    return found


@inner
def run_loss(units: Units, j: int, low: int, high: int) -> float:
    """The scaled loss of a cell over the codes low … high of a tree or free axis."""
    start = units.pair_start[j]
    if start >= 0:
        return units.pairs[np.uintp(start + low * units.tables.size[j] + high)]
    if low == high:
        return units.single[j]
    return units.scale[j] * run_cost(units.tables, j, low, high)


@inner
def set_loss(units: Units, j: int, count: int) -> float:
    """The scaled loss of a cell that shows `count` values of a flat axis."""
    if count <= 1:
        return units.single[j]
    return units.scale[j] * set_cost(units.tables, j, count)


@inner
def cell_with(units: Units, box: Box, g: int, j: int, u: int) -> float:
    """The loss of the cell of box g on axis j once it holds unit u as well."""
    if units.tables.shape[j] == FLAT:
        return set_loss(units, j, box.count[g, j] + fresh_values(units, box, g, j, u))
    low = min(box.low[g, j], units.low[u, j])
    return run_loss(units, j, low, max(box.high[g, j], units.high[u, j]))


@inner
def cell(units: Units, box: Box, g: int, j: int) -> float:
    """The loss of the cell of box g on axis j."""
    if units.tables.shape[j] == FLAT:
        return set_loss(units, j, box.count[g, j])
    return run_loss(units, j, box.low[g, j], box.high[g, j])


@inner
def put(units: Units, box: Box, g: int, u: int, changed: Ints) -> None:
    """Stretch box g to hold unit u; marks the axes that changed."""
    for j in range(units.axes):
        low, high = units.low[u, j], units.high[u, j]
        if units.tables.shape[j] == FLAT:
            fresh = fresh_values(units, box, g, j, u)
            if fresh > 0:
                _put_values(units, box, g, j, u)
                box.count[g, j] += fresh
                changed[j] = 1
        if low < box.low[g, j] or high > box.high[g, j]:
            box.low[g, j] = min(box.low[g, j], low)
            box.high[g, j] = max(box.high[g, j], high)
            changed[j] = 1


@inner
def _put_values(units: Units, box: Box, g: int, j: int, u: int) -> None:
    at = units.tables.word_start[j]
    if len(units.sets) == 0:
        code = units.low[u, j]
        bit = np.uint64(1) << np.uint64(code % 64)
        box.words[g, at + code // 64] |= bit
    else:
        for w in range(at, at + units.tables.words[j]):
            box.words[g, w] |= units.sets[u, w]


@inner
def joined_cell(units: Units, box: Box, g: int, h: int, j: int) -> float:
    """The loss on axis j of a cell that covers boxes g and h."""
    if units.tables.shape[j] == FLAT:
        at = units.tables.word_start[j]
        count = 0
        for w in range(at, at + units.tables.words[j]):
            count += bits(box.words[g, w] | box.words[h, w])
        return set_loss(units, j, count)
    low = min(box.low[g, j], box.low[h, j])
    return run_loss(units, j, low, max(box.high[g, j], box.high[h, j]))


@inner
def join(units: Units, box: Box, g: int, h: int) -> None:
    """Stretch box g to cover box h."""
    for w in range(box.words.shape[1]):
        box.words[g, w] |= box.words[h, w]
    for j in range(units.axes):
        box.low[g, j] = min(box.low[g, j], box.low[h, j])
        box.high[g, j] = max(box.high[g, j], box.high[h, j])
        if units.tables.shape[j] == FLAT:
            at = units.tables.word_start[j]
            count = 0
            for w in range(at, at + units.tables.words[j]):
                count += bits(box.words[g, w])
            box.count[g, j] = count
