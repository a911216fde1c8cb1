"""Raise the prices of rows as far as known boxes allow, on the whole.

What is raised is the sum of all prices after each was changed by the least that a box
around it has to spare, be that a rise or a fall. It is a concave function of the prices.
Its slope at a tuple is its rows, less what is asked of it: each row asks the k rows with
the highest prices in its tightest box, the same from each. Prices follow the slope, as
long a way as would raise the sum by a few percent if it were the same on the whole way.

Paper: the subgradient method with the step of Polyak 1969, on the dual of facility
location (Erlenkotter 1978).
Cost: O(p + n) per step for p tuples in boxes and n tuples in all, and O(p × k) where
all prices change their order.
Invariant: the tuples of a box stay the same, in another order: those with the highest
prices of k rows first. What is returned is the best of all steps, and fair in the boxes
that are known; a box that is not known may cost less than its prices ask for
(`tight_boxes` finds it).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.data.arrays import Codes, Floats, Ints
from sfumato.kernels.common.borrowed_arrays import borrow
from sfumato.kernels.compilation.decorators import both, inner

FURTHER = 0.03
"""The share of the best sum by which a step aims above it."""
STEP = 0.5
"""The share of the way to that aim that is taken."""


class KnownBoxes(NamedTuple):
    """Boxes found so far, each with tuples in it."""

    costs: Floats
    starts: Ints
    tuples: Codes


class Asked(NamedTuple):
    """What prices lead to in the known boxes."""

    spare: Floats
    """The least that a box around a tuple has to spare; infinite without a box."""
    tightest: Ints
    """That box, or −1."""
    counted: Ints
    """How many tuples of a box have the highest prices of k rows."""
    asking: Floats
    """The rows whose tightest box each is."""
    slope: Floats
    """Per row of each tuple."""


@both
def known_spare(boxes: KnownBoxes, rows: Ints, least: int, prices: Floats) -> Floats:
    """The least that a known box around each tuple has to spare.

    It is never below what the box really has to spare: only some of its tuples are kept.
    """
    asked = room_for_asked(len(boxes.costs), len(rows))
    look_at_boxes(boxes, rows, least, prices, asked)
    return asked.spare


@both
def box_spares(boxes: KnownBoxes, rows: Ints, least: int, prices: Floats) -> Floats:
    """What each known box costs above the mean of the highest prices in it."""
    boxes = borrow(boxes)
    spares = np.empty(len(boxes.costs))
    for box in range(len(boxes.costs)):
        inside = boxes.tuples[boxes.starts[box] : boxes.starts[box + 1]]
        counted = highest_first(inside, rows, least, prices)
        spares[box] = spare_of(boxes.costs[box], inside[:counted], rows, least, prices)
    return spares


@both
def climb(
    boxes: KnownBoxes, rows: Ints, least: int, prices: Floats, steps: int
) -> Floats:
    """Take so many steps from some prices; return the best that are fair."""
    asked = room_for_asked(len(boxes.costs), len(rows))
    prices, best = prices.copy(), prices.copy()
    most = -np.inf
    for _ in range(steps):
        look_at_boxes(boxes, rows, least, prices, asked)
        total = 0.0
        for t in range(len(rows)):
            if asked.tightest[t] >= 0:
                prices[t] += asked.spare[t]
            total += rows[t] * prices[t]
        if total > most:
            most = total
            best[:] = prices
        steepness = find_slope(boxes, rows, least, asked)
        if steepness == 0.0:
            break
        way = STEP * ((1.0 + FURTHER) * most - total) / steepness
        for t in range(len(rows)):
            prices[t] += way * asked.slope[t]
    return best


@inner
def room_for_asked(boxes: int, tuples: int) -> Asked:
    """Room for what prices lead to."""
    return Asked(
        np.empty(tuples, dtype=np.float64),
        np.empty(tuples, dtype=np.int64),
        np.empty(boxes, dtype=np.int64),
        np.empty(boxes, dtype=np.float64),
        np.empty(tuples, dtype=np.float64),
    )


@inner
def look_at_boxes(
    boxes: KnownBoxes, rows: Ints, least: int, prices: Floats, asked: Asked
) -> None:
    """Find what each box has to spare, and the tightest box of each tuple."""
    boxes, rows, prices, asked = (
        borrow(boxes),
        borrow(rows),
        borrow(prices),
        borrow(asked),
    )
    asked.spare[:] = np.inf
    asked.tightest[:] = -1
    for box in range(len(boxes.costs)):
        inside = boxes.tuples[boxes.starts[box] : boxes.starts[box + 1]]
        counted = highest_first(inside, rows, least, prices)
        asked.counted[box] = counted
        spare = spare_of(boxes.costs[box], inside[:counted], rows, least, prices)
        for t in inside:
            if spare < asked.spare[t]:
                asked.spare[t] = spare
                asked.tightest[t] = box


@inner
def spare_of(
    cost: float, highest: Codes, rows: Ints, least: int, prices: Floats
) -> float:
    """What a box costs above the mean of its highest prices, of `least` rows."""
    asked, left = 0.0, np.int64(least)
    for t in highest:
        asked += min(rows[t], left) * prices[t]
        left -= rows[t]
    return cost - asked / least


@inner
def highest_first(inside: Codes, rows: Ints, least: int, prices: Floats) -> int:
    """Move the tuples with the highest prices of `least` rows to the front, in order."""
    counted, held = 0, np.int64(0)
    for i in range(len(inside)):
        t = inside[i]
        price = prices[t]
        if held >= least and price <= prices[inside[counted - 1]]:
            continue
        inside[i] = inside[counted]
        at = counted
        while at > 0 and prices[inside[at - 1]] < price:
            inside[at] = inside[at - 1]
            at -= 1
        inside[at] = t
        counted += 1
        held += rows[t]
        while held - rows[inside[counted - 1]] >= least:
            counted -= 1
            held -= rows[inside[counted]]
    return counted


@inner
def find_slope(boxes: KnownBoxes, rows: Ints, least: int, asked: Asked) -> float:
    """Find by how much the sum rises with each price; return its square, by rows."""
    boxes, rows, asked = borrow(boxes), borrow(rows), borrow(asked)
    asked.asking[:] = 0.0
    for t in range(len(rows)):
        if asked.tightest[t] >= 0:
            asked.asking[asked.tightest[t]] += rows[t]
    asked.slope[:] = 1.0
    for box in range(len(boxes.costs)):
        share, left = asked.asking[box] / least, np.int64(least)
        if share > 0.0:
            start = boxes.starts[box]
            for t in boxes.tuples[start : start + asked.counted[box]]:
                asked.slope[t] -= share * min(rows[t], left) / rows[t]
                left -= rows[t]
    square = 0.0
    for t in range(len(rows)):
        square += rows[t] * asked.slope[t] ** 2
    return square
