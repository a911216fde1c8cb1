"""Units to be clustered, and what a group of them costs.

A unit is what moves as one: a row, of which there may be several alike (*copies*), or
all rows of a person. On each quasi-identifier it covers a run of codes (of one code,
for a row); a few further columns hold sensitive values. A group of units shows a box.

Every array that a compiled function takes makes all its calls longer and slower to
compile; so what is known of the axes lies in `levels` and `real`, and a line of `axis`
per axis says where.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sfumato.data.arrays import Codes, Floats, Ints, Words
from sfumato.hierarchies.axis import Axis, Shape
from sfumato.kernels.common.geometry import FLAT, TREE, axis_tables
from sfumato.kernels.compilation.decorators import inner

ABOVE = np.int32(2**31 - 1)
"""Above every code."""

PAIR_LIMIT = 256
"""Axes with at most so many codes have the loss of every run of codes in a table."""


SHAPE, SIZE, WORD, WORDS, PAIRS, HEIGHT, LEVELS, NODES, POSITIONS = range(9)
"""Columns of `Lines.axis`: the shape and size of an axis; where its words start in a
set, and how many they are; where its losses of runs start in `real`, or −1; its height;
and where its levels, losses of nodes and positions start."""

UNIT, WEIGHT, SINGLE, SCALE = range(4)
"""Columns of `Lines.factor`: weight / span of a free axis, weight / size of a flat one;
the weight; the loss of a cell with one value, scaled; what losses are multiplied by."""

LOW, HIGH, COUNT = range(3)
"""Places of a cell of a box: its extremes, and on a flat axis the size of its set."""


class Lines(NamedTuple):
    """What is known of the axes."""

    axis: Ints
    factor: Floats
    levels: Codes
    real: Floats
    """Losses of nodes, positions, and losses of runs, these scaled."""


class Units(NamedTuple):
    """All units, and the loss of boxes over them."""

    axes: int
    """How many quasi-identifiers there are; the columns after them are sensitive."""
    low: Codes
    """(units, columns): the lowest code of each unit; a sensitive value."""
    high: Codes
    sets: Words
    """(units, words): values on flat axes, for units of several rows; else empty."""
    weight: Ints
    """Rows in one copy."""
    first: Ints
    """Where the rows of each unit begin, rows being sorted by unit."""
    values: Codes
    """(views, rows sorted by unit): what the rules look at."""
    lines: Lines

    @property
    def copies(self) -> Ints:
        """How many there are of each unit."""
        return np.diff(self.first) // self.weight


class ShownCells(NamedTuple):
    """What groups show: a cell per axis, and the sets of the flat axes."""

    cells: Codes
    """(groups, axes, 3)"""
    words: Words


def lay_axes(axes: Sequence[Axis], scale: Floats, single: Floats) -> Lines:
    """Lay axes out, their losses scaled, with those of a single code."""
    tables = axis_tables(axes)
    lines = np.full((len(axes), 9), -1, dtype=np.int64)
    lines[:, SHAPE], lines[:, SIZE] = tables.shape, tables.size
    lines[:, WORD], lines[:, WORDS] = tables.word_start, tables.words
    lines[:, HEIGHT], lines[:, LEVELS] = tables.height, tables.level_start
    lines[:, NODES] = tables.node_start
    lines[:, POSITIONS] = len(tables.node_cost) + tables.position_start
    parts = [tables.node_cost, tables.positions]
    for j, axis in enumerate(axes):
        if axis.shape is not Shape.FLAT and axis.size <= PAIR_LIMIT:
            lines[j, PAIRS] = sum(map(len, parts))
            parts.append(_run_losses(axis, tables.unit[j], scale[j], single[j]))
    return Lines(
        axis=lines,
        factor=np.column_stack([tables.unit, tables.weight, single, scale]),
        levels=tables.levels,
        real=np.concatenate(parts).astype(np.float64),
    )


def _run_losses(axis: Axis, unit: float, scale: float, single: float) -> Floats:
    """The scaled loss of every run of codes low … high, as a flattened square."""
    low, high = np.divmod(np.arange(axis.size * axis.size), axis.size)
    low, high = np.minimum(low, high), np.maximum(low, high)
    if axis.shape is Shape.TREE:
        losses = axis.weight * axis.node_ncp[axis.covering(low, high)]
    else:
        numbers = np.asarray(axis.positions, dtype=np.float64)
        losses = (numbers[high] - numbers[low]) * unit
        losses = np.where(np.isnan(losses), axis.weight, losses)
    return np.where(low == high, single, losses * scale)


def new_boxes(units: Units, number: int) -> ShownCells:
    """Empty boxes, one per line."""
    cells = np.zeros((number, units.axes, 3), dtype=np.int32)
    cells[:, :, LOW], cells[:, :, HIGH] = ABOVE, -1
    return ShownCells(cells, np.zeros((number, units.sets.shape[1]), dtype=np.uint64))


@inner
def clear(box: ShownCells, g: int) -> None:
    """Take everything out of box g."""
    for j in range(box.cells.shape[1]):
        box.cells[g, j, LOW] = ABOVE
        box.cells[g, j, HIGH] = -1
        box.cells[g, j, COUNT] = 0
    for w in range(box.words.shape[1]):
        box.words[g, w] = 0


@inner
def bits(word: int) -> int:
    """How many bits are set."""
    found = 0
    while word:
        word &= word - np.uint64(1)
        found += 1
    return found


@inner
def fresh_values(units: Units, words: Words, g: int, j: int, u: int) -> int:
    """How many values of flat axis j unit u adds to box g."""
    at = units.lines.axis[j, WORD]
    if len(units.sets) == 0:
        code = units.low[u, j]
        word = words[g, at + code // 64]
        return 1 - np.int64((word >> np.uint64(code % 64)) & np.uint64(1))
    found = 0
    for w in range(at, at + units.lines.axis[j, WORDS]):
        found += bits(units.sets[u, w] & ~words[g, w])
    return found


@inner
def run_loss(lines: Lines, j: int, low: int, high: int) -> float:
    """The scaled loss of a cell over the codes low … high of a tree or free axis."""
    start = lines.axis[j, PAIRS]
    if start >= 0:
        return lines.real[np.uintp(start + low * lines.axis[j, SIZE] + high)]
    return _long_run_loss(lines, j, low, high)


@inner
def _long_run_loss(lines: Lines, j: int, low: int, high: int) -> float:
    """The same on an axis without a table of runs."""
    axis, factor = lines.axis, lines.factor
    if low == high:
        return factor[j, SINGLE]
    if axis[j, SHAPE] == TREE:
        at = axis[j, LEVELS]
        for _ in range(axis[j, HEIGHT] - 1):
            if lines.levels[at + low] == lines.levels[at + high]:
                break
            at += axis[j, SIZE]
        return factor[j, SCALE] * lines.real[axis[j, NODES] + lines.levels[at + low]]
    at = axis[j, POSITIONS]
    length = lines.real[at + high] - lines.real[at + low]
    if np.isnan(length):
        return factor[j, SCALE] * factor[j, WEIGHT]
    return factor[j, SCALE] * (length * factor[j, UNIT])


@inner
def set_loss(lines: Lines, j: int, count: int) -> float:
    """The scaled loss of a cell that shows `count` values of a flat axis."""
    if count <= 1:
        return lines.factor[j, SINGLE]
    return lines.factor[j, SCALE] * (count * lines.factor[j, UNIT])


@inner
def cell_with(units: Units, box: ShownCells, g: int, j: int, u: int) -> float:
    """The loss of the cell of box g on axis j once it holds unit u as well."""
    if units.lines.axis[j, SHAPE] == FLAT:
        fresh = fresh_values(units, box.words, g, j, u)
        return set_loss(units.lines, j, box.cells[g, j, COUNT] + fresh)
    low = min(box.cells[g, j, LOW], units.low[u, j])
    high = max(box.cells[g, j, HIGH], units.high[u, j])
    return run_loss(units.lines, j, np.int64(low), np.int64(high))


@inner
def cell(units: Units, box: ShownCells, g: int, j: int) -> float:
    """The loss of the cell of box g on axis j."""
    here = box.cells
    if units.lines.axis[j, SHAPE] == FLAT:
        return set_loss(units.lines, j, np.int64(here[g, j, COUNT]))
    low, high = np.int64(here[g, j, LOW]), np.int64(here[g, j, HIGH])
    return run_loss(units.lines, j, low, high)


@inner
def put(units: Units, box: ShownCells, g: int, u: int, changed: Ints) -> None:
    """Stretch box g to hold unit u; marks the axes that changed."""
    cells = box.cells
    for j in range(units.axes):
        low, high = units.low[u, j], units.high[u, j]
        if units.lines.axis[j, SHAPE] == FLAT:
            fresh = _put_values(units.lines.axis, low, units.sets, box.words, g, j, u)
            if fresh > 0:
                cells[g, j, COUNT] += fresh
                changed[j] = 1
        if low < cells[g, j, LOW] or high > cells[g, j, HIGH]:
            cells[g, j, LOW] = min(cells[g, j, LOW], low)
            cells[g, j, HIGH] = max(cells[g, j, HIGH], high)
            changed[j] = 1


@inner
def _put_values(
    axis: Ints, code: int, sets: Words, words: Words, g: int, j: int, u: int
) -> int:
    """Put the values of a unit into a set of box g; how many of them are new."""
    at = axis[j, WORD]
    if len(sets) == 0:
        bit = np.uint64(1) << np.uint64(code % 64)
        new = words[g, at + code // 64] & bit == np.uint64(0)
        words[g, at + code // 64] |= bit
        return np.int64(new)
    fresh = 0
    for w in range(at, at + axis[j, WORDS]):
        fresh += bits(sets[u, w] & ~words[g, w])
        words[g, w] |= sets[u, w]
    return fresh


@inner
def joined_cell(units: Units, box: ShownCells, g: int, h: int, j: int) -> float:
    """The loss on axis j of a cell that covers boxes g and h."""
    cells = box.cells
    if units.lines.axis[j, SHAPE] == FLAT:
        at = units.lines.axis[j, WORD]
        count = np.int64(0)
        for w in range(at, at + units.lines.axis[j, WORDS]):
            count += bits(box.words[g, w] | box.words[h, w])
        return set_loss(units.lines, j, count)
    low = min(cells[g, j, LOW], cells[h, j, LOW])
    high = max(cells[g, j, HIGH], cells[h, j, HIGH])
    return run_loss(units.lines, j, np.int64(low), np.int64(high))


@inner
def join(units: Units, box: ShownCells, g: int, h: int) -> None:
    """Stretch box g to cover box h."""
    cells = box.cells
    for w in range(box.words.shape[1]):
        box.words[g, w] |= box.words[h, w]
    for j in range(units.axes):
        cells[g, j, LOW] = min(cells[g, j, LOW], cells[h, j, LOW])
        cells[g, j, HIGH] = max(cells[g, j, HIGH], cells[h, j, HIGH])
        if units.lines.axis[j, SHAPE] == FLAT:
            at = units.lines.axis[j, WORD]
            count = 0
            for w in range(at, at + units.lines.axis[j, WORDS]):
                count += bits(box.words[g, w])
            cells[g, j, COUNT] = count
