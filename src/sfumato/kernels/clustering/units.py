"""Units to be clustered, and what a group of them shows and loses.

A unit is what moves as one: a row, of which there may be several alike (*copies*), or
all rows of a person. On each quasi-identifier it covers a run of codes (of one code,
for a row); a few further columns hold sensitive values. A group of units shows a box.

Cost: O(1) per cell for units of one row, O(w) for units with sets of w words; memory
O(u × (m + w)) for u units on m axes.
Invariant: low ≤ high on every axis of a unit, equal for a single row; `sets` is empty
unless a unit has several rows; a box covers every unit put into it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.data.arrays import Codes, Ints, Words
from sfumato.kernels.common.boxes import COUNT, HIGH, LOW, Boxes, lacks, put_value
from sfumato.kernels.common.geometry import (
    FIRST_WORD,
    FLAT,
    SHAPE,
    WORDS,
    AxisTables,
    count_bits,
    run_loss,
    set_loss,
)
from sfumato.kernels.compilation.decorators import inner


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
    tables: AxisTables

    @property
    def copies(self) -> Ints:
        """How many there are of each unit."""
        return np.diff(self.first) // self.weight


@inner
def fresh_values(units: Units, words: Words, g: int, j: int, u: int) -> int:
    """How many values of flat axis j unit u adds to box g."""
    if len(units.sets) == 0:
        return lacks(units.tables, words, g, j, units.low[u, j])
    at = units.tables.axis[j, FIRST_WORD]
    found = 0
    for w in range(at, at + units.tables.axis[j, WORDS]):
        found += count_bits(units.sets[u, w] & ~words[g, w])
    return found


@inner
def cell_with(units: Units, box: Boxes, g: int, j: int, u: int) -> float:
    """The loss of the cell of box g on axis j once it holds unit u as well."""
    if units.tables.axis[j, SHAPE] == FLAT:
        fresh = fresh_values(units, box.words, g, j, u)
        return set_loss(units.tables, j, box.cells[g, j, COUNT] + fresh)
    low = min(box.cells[g, j, LOW], units.low[u, j])
    high = max(box.cells[g, j, HIGH], units.high[u, j])
    return run_loss(units.tables, j, np.int64(low), np.int64(high))


@inner
def put(units: Units, box: Boxes, g: int, u: int, changed: Ints) -> None:
    """Stretch box g to hold unit u; marks the axes that changed."""
    cells = box.cells
    for j in range(units.axes):
        low, high = units.low[u, j], units.high[u, j]
        if units.tables.axis[j, SHAPE] == FLAT:
            fresh = _put_values(units.tables, low, units.sets, box.words, g, j, u)
            if fresh > 0:
                cells[g, j, COUNT] += fresh
                changed[j] = 1
        if low < cells[g, j, LOW] or high > cells[g, j, HIGH]:
            cells[g, j, LOW] = min(cells[g, j, LOW], low)
            cells[g, j, HIGH] = max(cells[g, j, HIGH], high)
            changed[j] = 1


@inner
def _put_values(
    tables: AxisTables, code: int, sets: Words, words: Words, g: int, j: int, u: int
) -> int:
    """Put the values of a unit into a set of box g; how many of them are new."""
    if len(sets) == 0:
        return put_value(tables, words, g, j, code)
    at = tables.axis[j, FIRST_WORD]
    fresh = 0
    for w in range(at, at + tables.axis[j, WORDS]):
        fresh += count_bits(sets[u, w] & ~words[g, w])
        words[g, w] |= sets[u, w]
    return fresh
