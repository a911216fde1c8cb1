"""Find out which boxes that are known already would be worth opening as new groups.

Searching the lattice (`candidate_boxes`) takes most of the time of a reopening. Prices of
rows (`kernels/best/price_ascent`) come with the boxes that hold them down, and groups that
lose little lie in such boxes. So most of the time only those are looked at.

Paper: none; pricing of columns, with the columns kept from the solution of the dual.
Cost: O(p + b) for p places of the block's tuples in boxes, each with the rows of the
tuple, and b boxes of the whole table.
Invariant: what is returned is as `candidate_boxes` returns it: a box has enough rows that
gain or can be spared, and promises to gain at least what was asked for.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.data.arrays import Codes, Floats, Ints
from sfumato.kernels.common.borrowed_arrays import borrow
from sfumato.kernels.compilation.decorators import inner
from sfumato.kernels.refinement.block_groups import GroupBlock
from sfumato.kernels.refinement.candidate_boxes import FOUND, LOOKS, CandidateBoxes


class PricedRows(NamedTuple):
    """What rows must lose on the whole, and boxes that cost hardly more than that."""

    prices: Floats
    """Of each row. The rows of a group lose no less than their prices together."""
    tuple_of: Ints
    costs: Floats
    """What a row loses in each box."""
    starts: Ints
    """Where the boxes of each tuple start in `boxes`, and where the last one's end."""
    boxes: Codes


class BoxTuples(NamedTuple):
    """The tuples of a block, box by box."""

    row_of: Ints
    """The first row of each tuple."""
    starts: Ints
    tuples: Codes


@inner
def choose_known_boxes(
    priced: PricedRows, block: GroupBlock, rows: Ints, minimum: int, least: float
) -> tuple[CandidateBoxes, Ints]:
    """The known boxes that promise to gain `least`, and the first row of each tuple."""
    priced, block = borrow(priced), borrow(block)
    inside = tuples_by_box(priced, block, rows)
    count = len(priced.costs)
    chosen = CandidateBoxes(
        np.empty((0, 0), dtype=np.int32),
        np.empty(count, dtype=np.float64),
        np.empty(count, dtype=np.float64),
        np.zeros(count + 1, dtype=np.int64),
        inside.tuples,
        np.zeros(3, dtype=np.int64),
    )
    over = np.empty(len(rows), dtype=np.float64)
    found, at = 0, 0
    for box in range(count):
        start, end = inside.starts[box], inside.starts[box + 1]
        tuples, cost = inside.tuples[start:end], priced.costs[box]
        gain = promised_gain(block, inside.row_of, tuples, cost, minimum, over)
        if end > start and gain >= least:
            chosen.costs[found] = cost
            chosen.gains[found] = gain
            # Chosen boxes move forward, into the room of those that were not chosen.
            for i in range(start, end):
                chosen.parts[at] = inside.tuples[i]
                at += 1
            found += 1
            chosen.starts[found] = at
    chosen.numbers[FOUND] = found
    chosen.numbers[LOOKS] = len(inside.tuples) + count
    return chosen, inside.row_of


@inner
def tuples_by_box(priced: PricedRows, block: GroupBlock, rows: Ints) -> BoxTuples:
    """List the tuples of a block that lie in each box."""
    row_of = first_rows(block)
    starts = np.zeros(len(priced.costs) + 1, dtype=np.int64)
    for row in row_of:
        t = priced.tuple_of[rows[row]]
        for box in priced.boxes[priced.starts[t] : priced.starts[t + 1]]:
            starts[box + 1] += 1
    for box in range(len(priced.costs)):
        starts[box + 1] += starts[box]
    free, tuples = starts.copy(), np.empty(starts[-1], dtype=np.int32)
    for i in range(len(row_of)):
        t = priced.tuple_of[rows[row_of[i]]]
        for box in priced.boxes[priced.starts[t] : priced.starts[t + 1]]:
            tuples[free[box]] = i
            free[box] += 1
    return BoxTuples(row_of, starts, tuples)


@inner
def first_rows(block: GroupBlock) -> Ints:
    """The first of all rows of a block that are alike."""
    result = np.empty(len(block.alike), dtype=np.int64)
    found = 0
    for row in range(len(block.alike)):
        if block.alike[row] == row:
            result[found] = row
            found += 1
    return result[:found]


@inner
def promised_gain(
    block: GroupBlock,
    row_of: Ints,
    tuples: Codes,
    cost: float,
    minimum: int,
    over: Floats,
) -> float:
    """What rows gain that lose more than `cost`, less what it costs to fill a box up.

    −∞ if too few rows gain or are in groups that can spare one.
    """
    gain, gaining, others = 0.0, 0, 0
    for i in tuples:
        row, first = row_of[i], row_of[i]
        while row < len(block.alike) and block.alike[row] == first:
            g = block.group_of[row]
            if block.cost[g] > cost:
                gain += block.cost[g] - cost
                gaining += 1
            elif block.size[g] > minimum:
                over[others] = cost - block.cost[g]
                others += 1
            row += 1
    if gaining + others < minimum:
        return -np.inf
    if gaining < minimum:
        over[:others].sort()
        for i in range(minimum - gaining):
            gain -= over[i]
    return gain


@inner
def gap_of_group(priced: PricedRows, block: GroupBlock, rows: Ints, g: int) -> float:
    """What group g loses above the prices of its rows: at most what it can gain."""
    gap = block.cost[g] * block.size[g]
    row = block.first[g]
    while row >= 0:
        gap -= priced.prices[rows[row]]
        row = block.after[row]
    return gap
