"""Points, and the losses of boxes over them, for the greedy algorithms of Xu et al.

Paper: Xu et al. 2006, section 3: the weighted certainty penalty of a group is the sum of
the weighted losses of its cells, times its rows.
Cost: O(m) per point on m axes; O(r) to judge r rows where rules look at their values.
Invariant: `loss_with` of a box and a point is the loss of the box after the point is
put into it; distances are those of boxes over two points, to the last bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.data.arrays import Codes, Floats, Ints
from sfumato.kernels.common.boxes import HIGH, LOW, Boxes, cell_loss, cell_loss_with
from sfumato.kernels.common.geometry import (
    FLAT,
    PAIRS,
    SHAPE,
    SIZE,
    AxisTables,
    long_run_loss,
    set_loss,
)
from sfumato.kernels.common.group_rules import RuleTable, group_ok
from sfumato.kernels.common.histograms import BoxHistograms
from sfumato.kernels.compilation.decorators import both, inner
from sfumato.kernels.full_domain.node_judging import sort_codes


class BoxSpace(NamedTuple):
    """The rows as points, and what boxes over them cost."""

    points: Codes
    """(rows, axes), contiguous."""
    tables: AxisTables
    values: Codes
    """(views, rows): the sensitive values, as the rules look at them."""
    rules: RuleTable


@inner
def loss(tables: AxisTables, boxes: Boxes, g: int) -> float:
    """The loss of one row of a group with box g."""
    total = 0.0
    for j in range(boxes.cells.shape[1]):
        total += cell_loss(tables, boxes, g, j)
    return total


@inner
def loss_with(tables: AxisTables, boxes: Boxes, g: int, point: Codes) -> float:
    """The loss of one row of a group with box g once it holds this point as well."""
    # Arrays are taken out of their tuples first: this loop is where the time goes.
    axis, real, cells = tables.axis, tables.real, boxes.cells
    total = 0.0
    for j in range(len(point)):
        code, start = point[j], axis[j, PAIRS]
        if start >= 0:
            low, high = min(cells[g, j, LOW], code), max(cells[g, j, HIGH], code)
            total += real[np.uintp(start + low * axis[j, SIZE] + high)]
        else:
            total += cell_loss_with(tables, boxes, g, j, code)
    return total


@inner
def distances(space: BoxSpace, rows: Ints, origin: Codes, result: Floats) -> None:
    """The loss of a group of each row and the origin."""
    points, tables, real = space.points, space.tables, space.tables.real
    result[:] = 0.0
    for j in range(len(origin)):
        # Not `run_loss`: what it looks up of the axis would be read again after every
        # write to `result`, since nothing tells the compiler that they lie apart.
        code, start, size = origin[j], tables.axis[j, PAIRS], tables.axis[j, SIZE]
        for i in range(len(rows)):
            here = points[rows[i], j]
            if start >= 0:
                at = start + min(code, here) * size + max(code, here)
                result[i] += real[np.uintp(at)]
            elif here != code:
                result[i] += _loss_of_two(tables, j, min(code, here), max(code, here))


@inner
def _loss_of_two(tables: AxisTables, j: int, low: int, high: int) -> float:
    """The loss of a cell over two different codes, on an axis without a table."""
    if tables.axis[j, SHAPE] == FLAT:
        return set_loss(tables, j, np.int64(2))
    return long_run_loss(tables, j, np.int64(low), np.int64(high))


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
