"""Split a group in two around distant rows, and correct halves that break a rule.

Paper: Xu et al. 2006, section 5.2 (top-down): `_distant` picks the two seeds, `_sides`
lets every other row join the box that then loses less. Departs at the post-processing
step: a half that breaks a rule borrows the nearest rows of the other half, instead of
being merged with any group at the end, which would take a quadratic search.
Cost: O(r × m) for r rows on m axes; borrowing adds O(r log r), and O(r) per row moved
where rules look at sensitive values.
Invariant: rows are reordered within their segment, never lost or doubled; both halves
meet every rule, or the segment stays whole; the first side keeps its order.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Floats, Ints
from sfumato.kernels.common.borrowed_arrays import borrow
from sfumato.kernels.common.boxes import Boxes, clear, put_point
from sfumato.kernels.common.histograms import BoxHistograms
from sfumato.kernels.compilation.decorators import both, inner
from sfumato.kernels.partition.greedy_boxes import (
    BoxSpace,
    distances,
    loss,
    loss_with,
    rows_ok,
)

WHOLE, FIRST, SECOND = range(3)
"""Lines of the boxes that a split works with: of the group and of its two sides."""
HOPS = 3
"""How often to look for the farthest point from the last one found."""


@both
def split_segments(
    space: BoxSpace,
    order: Ints,
    segments: Ints,
    open_segments: int,
    boundaries: npt.NDArray[np.uint8],
    budget: int,
    boxes: Boxes,
    room: BoxHistograms,
) -> tuple[int, int]:
    """Split open segments of `order` until none is left or the budget is spent.

    A group starts at each row marked in `boundaries`. Returns how many segments are
    still open and how many rows are in groups that will not be split again.
    """
    space, boxes, room = borrow(space), borrow(boxes), borrow(room)
    settled = 0
    spent = 0
    while open_segments > 0 and spent < budget:
        open_segments -= 1
        start, end = segments[open_segments, 0], segments[open_segments, 1]
        spent += end - start
        rows = order[start:end]
        middle = split(space, rows, boxes, room)
        if middle == 0:
            settled += end - start
            continue
        boundaries[start + middle] = 1
        segments[open_segments, 0], segments[open_segments, 1] = start, start + middle
        segments[open_segments + 1, 0] = start + middle
        segments[open_segments + 1, 1] = end
        open_segments += 2
    return open_segments, settled


@inner
def split(space: BoxSpace, rows: Ints, boxes: Boxes, room: BoxHistograms) -> int:
    """Reorder a group into two; where the second starts, or 0 if it stays whole.

    Two groups never lose more than the one they come from, and even where they lose
    the same they may be split on with a gain.
    """
    if len(rows) < 2 * space.rules.minimum:
        return 0
    if _enclose(space, rows, boxes) <= 0.0:
        return 0
    side = _sides(space, rows, boxes)
    return _corrected(space, rows, _partition(rows, side), boxes, room)


@inner
def _enclose(space: BoxSpace, rows: Ints, boxes: Boxes) -> float:
    """Make a box of these rows; return its loss."""
    whole = np.int64(WHOLE)
    clear(boxes, whole)
    for row in rows:
        put_point(space.tables, boxes, whole, space.points[row])
    return loss(space.tables, boxes, whole)


@inner
def _sides(space: BoxSpace, rows: Ints, boxes: Boxes) -> npt.NDArray[np.uint8]:
    """Assign each row to the nearer of two boxes that grow from distant points."""
    # Literal numbers would be types of their own, each compiled separately.
    first, second, tables = np.int64(FIRST), np.int64(SECOND), space.tables
    one, other = _distant(space, rows)
    clear(boxes, first)
    clear(boxes, second)
    put_point(tables, boxes, first, space.points[rows[one]])
    put_point(tables, boxes, second, space.points[rows[other]])
    side = np.zeros(len(rows), dtype=np.uint8)
    side[other] = 1
    of_first, of_second = 0.0, 0.0
    for i in range(len(rows)):
        if i == one or i == other:
            continue
        point = space.points[rows[i]]
        with_first = loss_with(tables, boxes, first, point)
        with_second = loss_with(tables, boxes, second, point)
        gain = with_first - with_second
        # Between equals, the group that grows less: otherwise equal values are separated.
        if gain > 0.0 or (gain == 0.0 and of_second > of_first):
            side[i] = 1
            of_second = with_second
            put_point(tables, boxes, second, point)
        else:
            of_first = with_first
            put_point(tables, boxes, first, point)
    return side


@inner
def _distant(space: BoxSpace, rows: Ints) -> tuple[int, int]:
    """Find two rows far apart: from the first row to the farthest, a few times."""
    one, other = 0, 0
    reach = np.empty(len(rows))
    for _ in range(HOPS):
        distances(space, rows, space.points[rows[other]], reach)
        one, other = other, int(np.argmax(reach))
    return one, other


@inner
def _partition(rows: Ints, side: npt.NDArray[np.uint8]) -> int:
    """Put the rows of the first side first, keeping their order."""
    moved = rows.copy()
    at = 0
    for wanted in range(2):
        for i in range(len(rows)):
            if side[i] == wanted:
                rows[at] = moved[i]
                at += 1
    return len(rows) - int(np.sum(side))


@inner
def _corrected(
    space: BoxSpace,
    rows: Ints,
    middle: int,
    boxes: Boxes,
    room: BoxHistograms,
) -> int:
    """Let a side that breaks a rule borrow from the other; return where the second starts.

    Returns 0 if both sides break a rule, or if the lender would.
    """
    first_ok = rows_ok(space, rows[:middle], room)
    second_ok = rows_ok(space, rows[middle:], room)
    if first_ok and second_ok:
        return middle
    if not first_ok and not second_ok:
        return 0
    if second_ok:
        return _borrow(space, rows, middle, boxes, np.int64(FIRST), room)
    _swap_sides(rows, middle)
    return _borrow(space, rows, len(rows) - middle, boxes, np.int64(SECOND), room)


@inner
def _swap_sides(rows: Ints, middle: int) -> None:
    """Put the second side first: only a first side can borrow."""
    moved = rows.copy()
    for i in range(len(rows)):
        rows[i] = moved[(middle + i) % len(rows)]


@inner
def _borrow(
    space: BoxSpace, rows: Ints, middle: int, boxes: Boxes, g: int, room: BoxHistograms
) -> int:
    """Move the nearest rows of the second side to the first until it meets the rules.

    Box g is that of the side that borrows.
    """
    lender = rows[middle:].copy()
    # Distances to the box as it is: a heap then yields the nearest rows one by one, and
    # most of the lender never needs to be sorted.
    near = np.empty(len(lender))
    for i in range(len(lender)):
        near[i] = loss_with(space.tables, boxes, g, space.points[lender[i]])
    heap = _heap(near)
    least = space.rules.minimum
    meets = False
    while not meets and len(rows) - middle > least:
        left = len(rows) - middle - 1
        rows[middle] = lender[heap[0]]
        heap[0] = heap[left]
        _sink(near, heap, 0, left)
        middle += 1
        meets = middle >= least and rows_ok(space, rows[:middle], room)
    for i in range(len(rows) - middle):
        rows[middle + i] = lender[heap[i]]
    return middle if meets and rows_ok(space, rows[middle:], room) else 0


@inner
def _heap(near: Floats) -> Ints:
    """Make a heap of positions: the nearest first, of equals the first."""
    heap = np.arange(len(near))
    for start in range(len(near) // 2 - 1, -1, -1):
        _sink(near, heap, start, len(near))
    return heap


@inner
def _sink(near: Floats, heap: Ints, at: int, size: int) -> None:
    """Let the entry at a place of a heap sink to where it belongs."""
    while True:
        child = 2 * at + 1
        if child >= size:
            return
        if child + 1 < size and _before(near, heap[child + 1], heap[child]):
            child += 1
        if not _before(near, heap[child], heap[at]):
            return
        heap[at], heap[child] = heap[child], heap[at]
        at = child


@inner
def _before(near: Floats, one: int, other: int) -> bool:
    return near[one] < near[other] or (near[one] == near[other] and one < other)
