"""Grow groups by merging each with its nearest neighbor.

Paper: Xu et al. 2006, section 5.1 (bottom-up): a group below k merges with the group
with which the weighted certainty penalty grows least; one of 2k rows or more is split.
Departs in that rows with equal quasi-identifiers start as one group, and splits as
top-down does, which the paper leaves open.
Cost: O(g × m) per merge for g groups on m axes, at most one merge per group: O(g² × m)
in all; memory O(g × m).
Invariant: every row is in exactly one chain; boxes are those of their rows; when no
merge is left, every group meets every rule, or one group is all there is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Codes, Ints
from sfumato.kernels.common.borrowed_arrays import borrow
from sfumato.kernels.common.boxes import (
    HIGH,
    LOW,
    Boxes,
    clear,
    join,
    joined_loss,
    new_boxes,
    put_point,
)
from sfumato.kernels.common.geometry import PAIRS, SIZE
from sfumato.kernels.common.histograms import BoxHistograms
from sfumato.kernels.compilation.decorators import both, inner
from sfumato.kernels.partition.binary_split import split
from sfumato.kernels.partition.greedy_boxes import (
    BoxSpace,
    rows_ok,
)

ALIVE, TIGHT, GONE = range(3)
"""A group that may break a rule, one that meets them all, and one that was merged."""


class Colony(NamedTuple):
    """All groups: their boxes, and their rows as linked lists."""

    box: Boxes
    size: Ints
    first: Ints
    last: Ints
    follower: Ints
    """The next row of the same group, or −1."""
    status: npt.NDArray[np.uint8]
    counters: Ints
    """How many groups there are, the group to look at next, merges so far."""


def new_colony(space: BoxSpace, rows: Ints, starts: Ints) -> Colony:
    """Groups of rows: `rows[starts[g]:starts[g + 1]]`, all rows of a group alike."""
    count = len(starts) - 1
    colony = Colony(
        box=new_boxes(space.tables, count),
        size=np.zeros(count, dtype=np.int64),
        first=np.zeros(count, dtype=np.int64),
        last=np.zeros(count, dtype=np.int64),
        follower=np.full(len(rows), -1, dtype=np.int64),
        status=np.zeros(count, dtype=np.uint8),
        counters=np.zeros(3, dtype=np.int64),
    )
    _settle_groups(space, rows, starts, colony)
    return colony


@both
def _settle_groups(space: BoxSpace, rows: Ints, starts: Ints, colony: Colony) -> None:
    for g in range(len(starts) - 1):
        _add_group(space, rows[starts[g] : starts[g + 1]], g, colony)
    colony.counters[0] = len(starts) - 1


@inner
def _add_group(space: BoxSpace, rows: Ints, g: int, colony: Colony) -> None:
    """Make group g of these rows."""
    clear(colony.box, g)
    for i in range(len(rows)):
        put_point(space.tables, colony.box, g, space.points[rows[i]])
        colony.follower[rows[i]] = rows[i + 1] if i + 1 < len(rows) else -1
    colony.size[g] = len(rows)
    colony.first[g] = rows[0]
    colony.last[g] = rows[-1]
    colony.status[g] = ALIVE


@both
def merge_some(
    space: BoxSpace, colony: Colony, merges: int, boxes: Boxes, room: BoxHistograms
) -> bool:
    """Let groups that break a rule merge, once each per round; whether all are done."""
    space, colony = borrow(space), borrow(colony)
    boxes, room = borrow(boxes), borrow(room)
    done = 0
    idle = 0
    while idle < colony.counters[0]:
        if done >= merges:
            return False
        g = colony.counters[1] % colony.counters[0]
        colony.counters[1] = g + 1
        idle += 1
        if colony.status[g] != ALIVE:
            continue
        if rows_ok(space, rows_of(colony, g), room):
            colony.status[g] = TIGHT
            continue
        nearest = _nearest(space, colony, g)
        if nearest < 0:
            return True
        _merge(space, colony, g, nearest)
        _split_large(space, colony, g, nearest, boxes, room)
        colony.counters[2] += 1
        done += 1
        idle = 0
    return True


@inner
def rows_of(colony: Colony, g: int) -> Ints:
    """The rows of a group."""
    rows = np.empty(colony.size[g], dtype=np.int64)
    row = colony.first[g]
    for i in range(len(rows)):
        rows[i] = row
        row = colony.follower[row]
    return rows


@inner
def _nearest(space: BoxSpace, colony: Colony, g: int) -> int:
    """The group that makes the smallest loss together with g, or −1."""
    # Arrays are taken out of their tuples first: this loop is where the time goes.
    cells, status, real = colony.box.cells, colony.status, space.tables.real
    starts = space.tables.axis[:, PAIRS].copy()
    sizes = space.tables.axis[:, SIZE].copy()
    own_low, own_high = cells[g, :, LOW].copy(), cells[g, :, HIGH].copy()
    found = -1
    best = np.inf
    for other in range(colony.counters[0]):
        if other == g or status[other] == GONE:
            continue
        loss = 0.0
        for j in range(len(starts)):
            if starts[j] >= 0:
                low, high = (
                    min(own_low[j], cells[other, j, LOW]),
                    max(own_high[j], cells[other, j, HIGH]),
                )
                loss += real[np.uintp(starts[j] + low * sizes[j] + high)]
            else:
                loss += joined_loss(space.tables, colony.box, g, other, j)
            if loss >= best:
                break
        if loss < best:
            best = loss
            found = other
    return found


@inner
def _merge(space: BoxSpace, colony: Colony, g: int, other: int) -> None:
    """Put the rows of another group into g."""
    join(space.tables, colony.box, g, other)
    colony.follower[colony.last[g]] = colony.first[other]
    colony.last[g] = colony.last[other]
    colony.size[g] += colony.size[other]
    colony.status[other] = GONE


@inner
def _split_large(
    space: BoxSpace,
    colony: Colony,
    g: int,
    free: int,
    boxes: Boxes,
    room: BoxHistograms,
) -> None:
    """Split a group of twice the minimum or more; `free` takes the second half."""
    if colony.size[g] < 2 * space.rules.minimum:
        return
    rows = rows_of(colony, g)
    middle = split(space, rows, boxes, room)
    if middle == 0:
        return
    _add_group(space, rows[:middle], g, colony)
    _add_group(space, rows[middle:], free, colony)


@both
def groups_of(colony: Colony) -> Codes:
    """The group of each row, as the number of the group in the colony."""
    group_of = np.empty(len(colony.follower), dtype=np.int32)
    for g in range(colony.counters[0]):
        if colony.status[g] != GONE:
            group_of[rows_of(colony, g)] = g
    return group_of
