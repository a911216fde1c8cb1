"""Keep the boxes of groups: what each group shows on every axis.

A box has a cell per axis: its lowest and highest code and, on a flat axis, how many
values it shows and the set of them, a bit each in 64-bit words. Boxes only grow.

Cost: O(1) to put a code into a box or to ask for the loss of a cell; O(w) for w words
of a set where two boxes are joined; memory O(m + w) per box on m axes.
Invariant: an empty box has low above high and no bit set; COUNT is the number of bits
set on a flat axis and 0 elsewhere; a box covers every code that was put into it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.data.arrays import Codes, Words
from sfumato.kernels.common.geometry import (
    ABOVE,
    FIRST_WORD,
    FLAT,
    SHAPE,
    WORDS,
    AxisTables,
    count_bits,
    run_loss,
    set_loss,
)
from sfumato.kernels.compilation.decorators import inlined, inner

LOW, HIGH, COUNT = range(3)
"""Places of a cell of a box: its extremes, and on a flat axis the size of its set."""


class Boxes(NamedTuple):
    """What groups show: a cell per axis, and the sets of the flat axes."""

    cells: Codes
    """(boxes, axes, 3)"""
    words: Words
    """(boxes, words)"""


def new_boxes(tables: AxisTables, number: int) -> Boxes:
    """Empty boxes, one per line."""
    cells = np.zeros((number, len(tables.axis), 3), dtype=np.int32)
    cells[:, :, LOW], cells[:, :, HIGH] = ABOVE, -1
    return Boxes(cells, np.zeros((number, tables.set_words), dtype=np.uint64))


@inner
def clear(boxes: Boxes, g: int) -> None:
    """Take everything out of box g."""
    for j in range(boxes.cells.shape[1]):
        boxes.cells[g, j, LOW] = ABOVE
        boxes.cells[g, j, HIGH] = -1
        boxes.cells[g, j, COUNT] = 0
    for w in range(boxes.words.shape[1]):
        boxes.words[g, w] = 0


@inner
def lacks(tables: AxisTables, words: Words, g: int, j: int, code: int) -> int:
    """1 if the set of box g on flat axis j has not this code, else 0."""
    word = words[g, tables.axis[j, FIRST_WORD] + code // 64]
    return 1 - np.int64((word >> np.uint64(code % 64)) & np.uint64(1))


@inner
def put_value(tables: AxisTables, words: Words, g: int, j: int, code: int) -> int:
    """Put a code into the set of box g on flat axis j; 1 if it is new, else 0."""
    at = tables.axis[j, FIRST_WORD] + code // 64
    bit = np.uint64(1) << np.uint64(code % 64)
    new = words[g, at] & bit == np.uint64(0)
    words[g, at] |= bit
    return np.int64(new)


@inner
def put_point(tables: AxisTables, boxes: Boxes, g: int, point: Codes) -> None:
    """Stretch box g to hold a point."""
    cells = boxes.cells
    for j in range(len(point)):
        code = point[j]
        if tables.axis[j, SHAPE] == FLAT:
            cells[g, j, COUNT] += put_value(tables, boxes.words, g, j, code)
        cells[g, j, LOW] = min(cells[g, j, LOW], code)
        cells[g, j, HIGH] = max(cells[g, j, HIGH], code)


@inlined
def cell_loss(tables: AxisTables, boxes: Boxes, g: int, j: int) -> float:
    """The loss of the cell of box g on axis j."""
    cells = boxes.cells
    if tables.axis[j, SHAPE] == FLAT:
        return set_loss(tables, j, np.int64(cells[g, j, COUNT]))
    return run_loss(tables, j, cells[g, j, LOW], cells[g, j, HIGH])


@inlined
def cell_loss_with(
    tables: AxisTables, boxes: Boxes, g: int, j: int, code: int
) -> float:
    """The loss of the cell of box g on axis j once it holds a code as well."""
    cells = boxes.cells
    if tables.axis[j, SHAPE] == FLAT:
        count = cells[g, j, COUNT] + lacks(tables, boxes.words, g, j, code)
        return set_loss(tables, j, count)
    low, high = min(cells[g, j, LOW], code), max(cells[g, j, HIGH], code)
    return run_loss(tables, j, low, high)


@inner
def joined_loss(tables: AxisTables, boxes: Boxes, g: int, h: int, j: int) -> float:
    """The loss on axis j of a cell that covers boxes g and h."""
    cells = boxes.cells
    if tables.axis[j, SHAPE] == FLAT:
        at = tables.axis[j, FIRST_WORD]
        count = np.int64(0)
        for w in range(at, at + tables.axis[j, WORDS]):
            count += count_bits(boxes.words[g, w] | boxes.words[h, w])
        return set_loss(tables, j, count)
    low = min(cells[g, j, LOW], cells[h, j, LOW])
    high = max(cells[g, j, HIGH], cells[h, j, HIGH])
    return run_loss(tables, j, low, high)


@inner
def join(tables: AxisTables, boxes: Boxes, g: int, h: int) -> None:
    """Stretch box g to cover box h."""
    cells = boxes.cells
    for w in range(boxes.words.shape[1]):
        boxes.words[g, w] |= boxes.words[h, w]
    for j in range(cells.shape[1]):
        cells[g, j, LOW] = min(cells[g, j, LOW], cells[h, j, LOW])
        cells[g, j, HIGH] = max(cells[g, j, HIGH], cells[h, j, HIGH])
        if tables.axis[j, SHAPE] == FLAT:
            at = tables.axis[j, FIRST_WORD]
            count = 0
            for w in range(at, at + tables.axis[j, WORDS]):
                count += count_bits(boxes.words[g, w])
            cells[g, j, COUNT] = count
