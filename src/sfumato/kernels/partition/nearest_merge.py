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


class MergingGroups(NamedTuple):
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


def new_merging_groups(space: BoxSpace, rows: Ints, starts: Ints) -> MergingGroups:
    """Groups of rows: `rows[starts[g]:starts[g + 1]]`, all rows of a group alike."""
    count = len(starts) - 1
    groups = MergingGroups(
        box=new_boxes(space.tables, count),
        size=np.zeros(count, dtype=np.int64),
        first=np.zeros(count, dtype=np.int64),
        last=np.zeros(count, dtype=np.int64),
        follower=np.full(len(rows), -1, dtype=np.int64),
        status=np.zeros(count, dtype=np.uint8),
        counters=np.zeros(3, dtype=np.int64),
    )
    _add_groups(space, rows, starts, groups)
    return groups


@both
def _add_groups(
    space: BoxSpace, rows: Ints, starts: Ints, groups: MergingGroups
) -> None:
    for g in range(len(starts) - 1):
        _add_group(space, rows[starts[g] : starts[g + 1]], g, groups)
    groups.counters[0] = len(starts) - 1


@inner
def _add_group(space: BoxSpace, rows: Ints, g: int, groups: MergingGroups) -> None:
    """Make group g of these rows."""
    clear(groups.box, g)
    for i in range(len(rows)):
        put_point(space.tables, groups.box, g, space.points[rows[i]])
        groups.follower[rows[i]] = rows[i + 1] if i + 1 < len(rows) else -1
    groups.size[g] = len(rows)
    groups.first[g] = rows[0]
    groups.last[g] = rows[-1]
    groups.status[g] = ALIVE


@both
def merge_some(
    space: BoxSpace,
    groups: MergingGroups,
    merges: int,
    boxes: Boxes,
    room: BoxHistograms,
) -> bool:
    """Let groups that break a rule merge, once each per round; whether all are done."""
    space, groups = borrow(space), borrow(groups)
    boxes, room = borrow(boxes), borrow(room)
    done = 0
    idle = 0
    while idle < groups.counters[0]:
        if done >= merges:
            return False
        g = groups.counters[1] % groups.counters[0]
        groups.counters[1] = g + 1
        idle += 1
        if groups.status[g] != ALIVE:
            continue
        if rows_ok(space, rows_of(groups, g), room):
            groups.status[g] = TIGHT
            continue
        nearest = _nearest(space, groups, g)
        if nearest < 0:
            return True
        _merge(space, groups, g, nearest)
        _split_large(space, groups, g, nearest, boxes, room)
        groups.counters[2] += 1
        done += 1
        idle = 0
    return True


@inner
def rows_of(groups: MergingGroups, g: int) -> Ints:
    """The rows of a group."""
    rows = np.empty(groups.size[g], dtype=np.int64)
    row = groups.first[g]
    for i in range(len(rows)):
        rows[i] = row
        row = groups.follower[row]
    return rows


@inner
def _nearest(space: BoxSpace, groups: MergingGroups, g: int) -> int:
    """The group that makes the smallest loss together with g, or −1."""
    # Arrays are taken out of their tuples first: this loop is where the time goes.
    cells, status, real = groups.box.cells, groups.status, space.tables.real
    starts = space.tables.axis[:, PAIRS].copy()
    sizes = space.tables.axis[:, SIZE].copy()
    own_low, own_high = cells[g, :, LOW].copy(), cells[g, :, HIGH].copy()
    found = -1
    best = np.inf
    for other in range(groups.counters[0]):
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
                loss += joined_loss(space.tables, groups.box, g, other, j)
            if loss >= best:
                break
        if loss < best:
            best = loss
            found = other
    return found


@inner
def _merge(space: BoxSpace, groups: MergingGroups, g: int, other: int) -> None:
    """Put the rows of another group into g."""
    join(space.tables, groups.box, g, other)
    groups.follower[groups.last[g]] = groups.first[other]
    groups.last[g] = groups.last[other]
    groups.size[g] += groups.size[other]
    groups.status[other] = GONE


@inner
def _split_large(
    space: BoxSpace,
    groups: MergingGroups,
    g: int,
    free: int,
    boxes: Boxes,
    room: BoxHistograms,
) -> None:
    """Split a group of twice the minimum or more; `free` takes the second half."""
    if groups.size[g] < 2 * space.rules.minimum:
        return
    rows = rows_of(groups, g)
    middle = split(space, rows, boxes, room)
    if middle == 0:
        return
    _add_group(space, rows[:middle], g, groups)
    _add_group(space, rows[middle:], free, groups)


@both
def groups_of(groups: MergingGroups) -> Codes:
    """The group of each row, numbered as in `groups`."""
    group_of = np.empty(len(groups.follower), dtype=np.int32)
    for g in range(groups.counters[0]):
        if groups.status[g] != GONE:
            group_of[rows_of(groups, g)] = g
    return group_of
