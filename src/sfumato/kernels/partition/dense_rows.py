"""Hold records as dense rows, and the boxes of runs of them, for cuts by gain.

A row is a few machine words. Each axis has two lanes of 16 bits (or 32, for axes with
very many codes): its code and how far that is from the highest a lane can hold, so that
one minimum widens a box at both ends. Behind them come bit sets of the values on flat
axes. Rows and boxes look alike, and `join` unites any two of them, a word at a time.

Paper: none; a layout of our own, for the cuts of `gain_cut`.
Cost: O(m) per row and per box on m axes, all lanes of a word at once; memory O(m) per
record of a small group and per run of a line.
Invariant: the highest bit of a lane is 0; the box of some records is the union of their
rows; the cost of a box equals that of one measured from its records.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sfumato.data.arrays import Bytes, Codes, Floats, Ints, Words
from sfumato.hierarchies.axis import Axis, Shape
from sfumato.kernels.common.geometry import (
    FIRST_WORD,
    FLAT,
    SHAPE,
    SIZE,
    WORDS,
    AxisTables,
    count_bits,
    run_loss,
    set_loss,
)
from sfumato.kernels.compilation.decorators import inlined, inner

SMALL = 512
"""Groups of up to this many records are cut to the end as dense rows."""
BUCKETS = 1 << 14
"""So many codes of all axes together have a box of their own while a group is scanned."""
DEEP = 64
"""Parts of a line that can wait: more than the logarithm of the longest."""
MOST_WORDS = 16
"""Bit sets of flat axes with more words than this would be slower than lines."""

WHOLE, CHOSEN, MASKS, RECORDS = range(4)
"""Rows of `boxes`: the box of the group; the values on the left of the best cut so far,
if it is on a flat axis; how lanes lie; then records, and what `PLACES` tells of."""
TOPS, TOP_BIT, LIMIT = range(3)
"""Places of `boxes[MASKS]`: the highest bit of every lane, the place of that of the first
lane, and the highest code that a lane can hold."""
LANE_WORD, LANE_SHIFT, ACTIVE, TRIED, BUCKET = range(5)
PLACES, CHOICE, STACK_LOW, STACK_HIGH = range(5, 9)
"""Rows of `info`: the word of each axis's lanes in a row, and the bit at which they start;
how many axes have several values in the group, and which ones; axes as they are tried;
the first bucket of each axis, or −1; where runs, heads, tails and buckets start; the
best cut so far; and parts of a line that wait."""
RUNS, HEADS, TAILS, FIRST_BUCKET, MOST_BUCKETS, FIRST_SET = range(6)
"""Places of `info[PLACES]`; the last ones have how many buckets there are, and the word
in which bit sets start."""
LEFT_WEIGHT, CUT_AXIS, LOW_CODE, HIGH_CODE = range(4)
"""Places of `info[CHOICE]`: rows on the left, the axis, and on a tree or free axis the
lowest and highest code on the left."""
WEIGHT, BEFORE, FIRST, LAST, KEYS, SPARE = range(6)
"""Rows of `line`: of each run its rows, the rows up to its end, its lowest and its
highest code; then room for sorting runs."""
HEAD_COST, TAIL_COST = 0, 1
"""Rows of `costs`."""


class DenseWorkspace(NamedTuple):
    """Arrays for one thread; few, because each makes compiled calls slower."""

    boxes: Words
    """(rows and boxes, words): see above."""
    line: Ints
    costs: Floats
    info: Ints
    weights: Ints
    """The table's rows behind each record, then behind each bucket."""
    order: Codes
    """(axes + 2, records): numbers of records by their code on each axis; then in the
    order in which the records will lie; then room."""
    sides: Bytes
    """Per record, 1 on the left of the cut."""


def can_be_dense(axes: Sequence[Axis]) -> bool:
    """Whether cuts by gain can be found in dense rows.

    Bounds need losses that grow with a cell, and bit sets must stay short.
    """
    words = sum((axis.size + 63) // 64 for axis in axes if axis.shape is Shape.FLAT)
    return words <= MOST_WORDS and all(_grows(axis) for axis in axes)


def _grows(axis: Axis) -> bool:
    """Whether a cell that covers more never loses less."""
    if axis.shares is not None:
        return False
    return axis.shape is not Shape.TREE or bool(
        (np.diff(axis.node_ncp[axis.levels], axis=0) >= 0).all()
    )


def make_dense_workspace(
    tables: AxisTables, capacity: int, *, used: bool
) -> DenseWorkspace:
    """Arrays for groups of up to `capacity` records; as good as none if not `used`."""
    axis = tables.axis if used else tables.axis[:0]
    records = min(capacity, SMALL) if used else 0
    longest = int(axis[:, SIZE].max(initial=1))
    places = max(min(longest, capacity), records) + 1
    buckets = min(int(axis[:, SIZE].sum()), BUCKETS)
    bits = 16 if longest < 1 << 15 else 32
    lines = -(-2 * bits * len(axis) // 64)
    width = max(lines + int(axis[:, WORDS].sum()), LIMIT + 1)
    starts = np.cumsum([RECORDS + records, places, places, places])
    boxes = np.zeros((int(starts[-1]) + buckets, width), dtype=np.uint64)
    tops = sum(1 << place for place in range(bits - 1, 64, bits))
    boxes[MASKS, : LIMIT + 1] = [tops, bits - 1, (1 << (bits - 1)) - 1]
    info = np.zeros((STACK_HIGH + 1, max(len(axis) + 1, DEEP)), dtype=np.int64)
    first_bit = 2 * bits * np.arange(len(axis))
    info[LANE_WORD, : len(axis)], info[LANE_SHIFT, : len(axis)] = divmod(first_bit, 64)
    info[PLACES, : FIRST_SET + 1] = [*starts, buckets, lines]
    return DenseWorkspace(
        boxes=boxes,
        line=np.empty((SPARE + 1, places), dtype=np.int64),
        costs=np.empty((2, places)),
        info=info,
        weights=np.empty(records + buckets, dtype=np.int64),
        order=np.empty((len(axis) + 2, records), dtype=np.int32),
        sides=np.zeros(records, dtype=np.uint8),
    )


@inner
def join(info: Ints, boxes: Words, target: int, one: int, other: int) -> None:
    """Make a box the union of two."""
    at, left, right = np.uintp(target), np.uintp(one), np.uintp(other)
    tops, drop = boxes[MASKS, TOPS], boxes[MASKS, TOP_BIT]
    lines = np.uintp(info[PLACES, FIRST_SET])
    for word in range(lines):
        w = np.uintp(word)
        here, there = boxes[left, w], boxes[right, w]
        # No lane borrows from the next: its highest bit is set before subtracting, and
        # stays set exactly where the other code is not higher.
        lower = ((here | tops) - there) & tops
        lower -= lower >> drop
        boxes[at, w] = (there & lower) | (here & ~lower)
    for word in range(lines, np.uintp(boxes.shape[1])):
        w = np.uintp(word)
        boxes[at, w] = boxes[left, w] | boxes[right, w]


@inlined
def low_code(info: Ints, boxes: Words, at: int, e: int) -> int:
    """The lowest code of a box on an axis, or the code of a row."""
    word = boxes[np.uintp(at), np.uintp(info[LANE_WORD, e])]
    return np.int64((word >> np.uint64(info[LANE_SHIFT, e])) & boxes[MASKS, LIMIT])


@inlined
def high_code(info: Ints, boxes: Words, at: int, e: int) -> int:
    """The highest code of a box on an axis that is not flat."""
    word = boxes[np.uintp(at), np.uintp(info[LANE_WORD, e])]
    shift = np.uint64(info[LANE_SHIFT, e]) + boxes[MASKS, TOP_BIT] + np.uint64(1)
    limit = boxes[MASKS, LIMIT]
    return np.int64(limit - ((word >> shift) & limit))


@inner
def box_cost(tables: AxisTables, info: Ints, boxes: Words, at: int) -> float:
    """Sum what a box loses on the axes on which the group has several values."""
    total = 0.0
    for place in range(1, info[ACTIVE, 0] + 1):
        total += cell_cost(tables, info, boxes, at, info[ACTIVE, place])
    return total


@inlined
def cell_cost(tables: AxisTables, info: Ints, boxes: Words, at: int, e: int) -> float:
    """What a box loses on one axis."""
    if tables.axis[e, SHAPE] == FLAT:
        return set_loss(tables, e, values_in(tables, info, boxes, at, e))
    low, high = low_code(info, boxes, at, e), high_code(info, boxes, at, e)
    return run_loss(tables, e, low, high)


@inlined
def values_in(tables: AxisTables, info: Ints, boxes: Words, at: int, e: int) -> int:
    """How many values a box shows on a flat axis."""
    found = np.int64(0)
    first = info[PLACES, FIRST_SET] + tables.axis[e, FIRST_WORD]
    for word in range(first, first + tables.axis[e, WORDS]):
        found += count_bits(boxes[np.uintp(at), np.uintp(word)])
    return found
