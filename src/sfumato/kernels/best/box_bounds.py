"""Bound from below what a box around a row costs that holds k rows and certain values.

On every axis the box holds some values already, may not hold some, and costs no less
than the cheapest cell that covers k of the rows that are left. So with any one tuple in
it, the box costs at least the sum, over the axes, of that cell or of the cell that holds
the tuple's value too, whichever costs more. Tuples whose sum is not below the cheapest
box known cannot be in a cheaper one; without them cells may cost more, and so on. Of k
rows one has at least the k-th smallest sum, which is the bound.

A *value* is a place in tables that hold the values of one axis after the other, in
the order of the axis: of intervals by number, of nodes by the level at which they hold
the row, of sets in any order. An interval costs what it reaches to the left and to the
right of the row.

Paper: none; our own bound.
Cost: O(t × m) for each of up to four passes over t tuples on m axes, and O(V log V) for
the values of an axis of sets.
Invariant: no box that holds the row, the values held, none of those ruled out, and k
rows or more costs less than the bound, unless it costs no less than the cheapest known.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.data.arrays import Codes, Floats, Ints
from sfumato.kernels.compilation.decorators import inner

LINE, BITS, SET = 0, 1, 2
"""Kinds of axes: costs are lengths, logarithms of shares, or numbers of values."""
ALIVE, KEPT, NEAR, LOOKS, MOST_LOOKS = 0, 1, 2, 3, 4
"""Places of `Sums.numbers`: tuples of `alive`, `kept` and `near`, cells looked at, and
at most."""
PASSES = 4
"""Passes of a bound at most, and those that a limit never takes away."""
FIRST_PASSES = 2
NEAR_VALUES, FAR_LOOKS = 16_384, 3
"""With more values than these, a look at a cell takes as long as so many."""


class NearTuples(NamedTuple):
    """Distinct tuples, among them the row's own."""

    values: Codes
    """(tuples, axes)"""
    rows: Ints


class RowAxes(NamedTuple):
    """What cells around one row cost."""

    kinds: Ints
    starts: Ints
    """Where the values of each axis start, and where they end."""
    own: Ints
    """The row's own value on each axis."""
    reach: Floats
    """How far a cell must reach on its side of the row to hold each value."""
    base: Floats
    """What a cell with the row's value alone reaches."""
    scale: Floats
    """What a logarithm, or a value of a set, is multiplied by."""
    whole: Floats
    """The most that a cell of each axis costs."""


class Partial(NamedTuple):
    """What is known of a box: values that it holds, and values that are ruled out."""

    low: Ints
    high: Ints
    first: Ints
    """The lowest value of each axis that is not ruled out; not for sets."""
    last: Ints
    size: Ints
    """How many values of a set are held."""
    known: Ints
    """Of each value of a set: 1 if it is held, −1 if it is ruled out."""
    floor: Floats
    """The least that the cell of each axis costs."""
    costs: Floats
    """What the cell of the axis costs at least if it holds each value too."""


class Sums(NamedTuple):
    """Tuples and rows while a bound is computed, and the cheapest box so far."""

    alive: Ints
    """Tuples that may be in a cheaper box, whatever it holds."""
    kept: Ints
    apart: Floats
    """What a box costs at least with each tuple of `kept`."""
    rows: Ints
    """Rows with each value."""
    near_rows: Ints
    """Of those, the rows that are among the nearest."""
    keys: Floats
    near: Ints
    """The nearest tuples with enough rows, as a heap with the farthest first."""
    numbers: Ints
    cheapest: Floats


@inner
def start_over(axes: RowAxes, partial: Partial) -> None:
    """Let the box hold the row's own values and rule out nothing."""
    partial.known[:] = 0
    for axis in range(len(axes.own)):
        own = axes.own[axis]
        partial.low[axis] = partial.high[axis] = own
        partial.first[axis] = axes.starts[axis]
        partial.last[axis] = axes.starts[axis + 1] - 1
        partial.size[axis] = 1
        partial.known[own] = 1


@inner
def axis_of(axes: RowAxes, value: int) -> int:
    """The axis of a value."""
    axis = 0
    while axes.starts[axis + 1] <= value:
        axis += 1
    return axis


@inner
def hold(axes: RowAxes, partial: Partial, value: int) -> None:
    """Let the box hold a value."""
    axis = axis_of(axes, value)
    partial.known[value] = 1
    partial.size[axis] += 1
    partial.low[axis] = min(partial.low[axis], value)
    partial.high[axis] = max(partial.high[axis], value)


@inner
def rule_out(axes: RowAxes, partial: Partial, value: int) -> None:
    """Let the box not hold a value; nor, on a line, any beyond it."""
    axis = axis_of(axes, value)
    partial.known[value] = -1
    if value > axes.own[axis]:
        partial.last[axis] = min(partial.last[axis], value - 1)
    else:
        partial.first[axis] = max(partial.first[axis], value + 1)


@inner
def cost_of_run(axes: RowAxes, axis: int, low: int, high: int) -> float:
    """What an interval or a node costs."""
    reach = axes.base[axis] + axes.reach[low] + axes.reach[high]
    if axes.kinds[axis] == BITS:
        reach = axes.whole[axis] + axes.scale[axis] * np.log(reach)
    return min(reach, axes.whole[axis])


@inner
def cost_of_set(axes: RowAxes, axis: int, size: int) -> float:
    """What a set of so many values costs."""
    return axes.scale[axis] * size if size > 1 else 0.0


@inner
def fill_costs(axes: RowAxes, partial: Partial) -> None:
    """Find what cells cost with each value, infinite for those that are ruled out."""
    for axis in range(len(axes.own)):
        low, high, size = partial.low[axis], partial.high[axis], partial.size[axis]
        if axes.kinds[axis] == SET:
            now = cost_of_set(axes, axis, size)
            more = cost_of_set(axes, axis, size + 1)
        else:
            now = cost_of_run(axes, axis, low, high)
        partial.floor[axis] = now
        for value in range(axes.starts[axis], axes.starts[axis + 1]):
            if axes.kinds[axis] == SET:
                cost = now if partial.known[value] == 1 else more
                if partial.known[value] == -1:
                    cost = np.inf
            elif value < partial.first[axis] or value > partial.last[axis]:
                cost = np.inf
            elif low <= value <= high:
                cost = now
            else:
                cost = cost_of_run(axes, axis, min(low, value), max(high, value))
            partial.costs[value] = cost


@inner
def bound_of_rest(
    tuples: NearTuples,
    axes: RowAxes,
    least: int,
    partial: Partial,
    sums: Sums,
    everywhere: bool,
) -> float:
    """The least that a cheaper box with `least` rows costs, infinite if none has them."""
    fill_costs(axes, partial)
    cheapest, alive = sums.cheapest[0], sums.numbers[ALIVE]
    sums.kept[:alive] = sums.alive[:alive]
    sums.numbers[KEPT] = alive
    for done in range(PASSES):
        if done >= FIRST_PASSES and is_spent(sums):
            break
        if count_rows(tuples, axes, partial, sums, cheapest) < least:
            return np.inf
        if not raise_floors(axes, least, partial, sums):
            break
    if everywhere:
        kept = sums.numbers[KEPT]
        sums.alive[:kept] = sums.kept[:kept]
        sums.numbers[ALIVE] = kept
    return nearest_rows(tuples, least, sums)


@inner
def is_spent(sums: Sums) -> bool:
    """Return whether as many cells were looked at as may be."""
    return sums.numbers[LOOKS] >= sums.numbers[MOST_LOOKS]


@inner
def count_rows(
    tuples: NearTuples, axes: RowAxes, partial: Partial, sums: Sums, cheapest: float
) -> int:
    """Keep the tuples that may be in a cheaper box, and count the rows of values."""
    width, kept, total = len(axes.own), 0, np.int64(0)
    sums.rows[:] = 0
    count = sums.numbers[KEPT]
    for i in range(count):
        t = sums.kept[i]
        apart = 0.0
        for axis in range(width):
            apart += partial.costs[np.uintp(tuples.values[t, axis])]
        if apart >= cheapest or apart == np.inf:
            continue
        sums.kept[kept] = t
        sums.apart[kept] = apart
        kept += 1
        rows = tuples.rows[t]
        total += rows
        for axis in range(width):
            sums.rows[np.uintp(tuples.values[t, axis])] += rows
    sums.numbers[KEPT] = kept
    far = FAR_LOOKS if len(axes.reach) > NEAR_VALUES else 1
    sums.numbers[LOOKS] += far * (width * (count + kept + 16) + len(axes.reach))
    return total


@inner
def raise_floors(axes: RowAxes, least: int, partial: Partial, sums: Sums) -> bool:
    """Raise what cells cost to the cheapest with enough rows; return if any rose."""
    rose = False
    for axis in range(len(axes.own)):
        if axes.kinds[axis] == SET:
            cost = cheapest_set(axes, axis, least, partial, sums)
        else:
            cost = cheapest_run(axes, axis, least, partial, sums)
        if cost <= partial.floor[axis]:
            continue
        partial.floor[axis] = cost
        rose = True
        for value in range(axes.starts[axis], axes.starts[axis + 1]):
            partial.costs[value] = max(partial.costs[value], cost)
    return rose


@inner
def cheapest_run(
    axes: RowAxes, axis: int, least: int, partial: Partial, sums: Sums
) -> float:
    """What the cheapest interval costs that has enough rows."""
    low, first, last = partial.low[axis], partial.first[axis], partial.last[axis]
    inside, high = np.int64(0), partial.high[axis]
    for value in range(low, high + 1):
        inside += sums.rows[value]
    while inside < least and high < last:
        high += 1
        inside += sums.rows[high]
    cost = np.inf
    if inside >= least:
        cost = cost_of_run(axes, axis, low, high)
    while low > first:
        low -= 1
        inside += sums.rows[low]
        while high > partial.high[axis] and inside - sums.rows[high] >= least:
            inside -= sums.rows[high]
            high -= 1
        if inside >= least:
            cost = min(cost, cost_of_run(axes, axis, low, high))
    return cost


@inner
def cheapest_set(
    axes: RowAxes, axis: int, least: int, partial: Partial, sums: Sums
) -> float:
    """What the smallest set costs that has enough rows: the commonest values first."""
    inside, size = np.int64(0), partial.size[axis]
    start, end = axes.starts[axis], axes.starts[axis + 1]
    for value in range(start, end):
        if partial.known[value] == 1:
            inside += sums.rows[value]
    if inside >= least:
        return cost_of_set(axes, axis, size)
    others = sums.rows[start:end].copy()
    for value in range(start, end):
        if partial.known[value] != 0:
            others[value - start] = 0
    others.sort()
    for i in range(len(others) - 1, -1, -1):
        inside += others[i]
        size += 1
        if inside >= least:
            break
    return cost_of_set(axes, axis, size)


@inner
def nearest_rows(tuples: NearTuples, least: int, sums: Sums) -> float:
    """Find the nearest tuples with enough rows; return how far the farthest of them is."""
    count, rows = 0, np.int64(0)
    for i in range(sums.numbers[KEPT]):
        apart, t = sums.apart[i], sums.kept[i]
        if rows >= least and apart >= sums.keys[0]:
            continue
        count = push_far(sums, count, apart, t)
        rows += tuples.rows[t]
        while rows - tuples.rows[sums.near[0]] >= least:
            rows -= tuples.rows[sums.near[0]]
            count = pop_far(sums, count)
    sums.numbers[NEAR] = count
    return sums.keys[0]


@inner
def push_far(sums: Sums, count: int, apart: float, t: int) -> int:
    """Add a tuple to the heap; return how many are in it."""
    at = count
    while at > 0:
        above = (at - 1) // 2
        if sums.keys[above] >= apart:
            break
        sums.keys[at], sums.near[at] = sums.keys[above], sums.near[above]
        at = above
    sums.keys[at], sums.near[at] = apart, t
    return count + 1


@inner
def pop_far(sums: Sums, count: int) -> int:
    """Take the farthest tuple off the heap; return how many are in it."""
    count -= 1
    apart, t, at = sums.keys[count], sums.near[count], 0
    while True:
        below = 2 * at + 1
        if below >= count:
            break
        if below + 1 < count and sums.keys[below + 1] > sums.keys[below]:
            below += 1
        if sums.keys[below] <= apart:
            break
        sums.keys[at], sums.near[at] = sums.keys[below], sums.near[below]
        at = below
    sums.keys[at], sums.near[at] = apart, t
    return count


@inner
def box_of_nearest(
    tuples: NearTuples, axes: RowAxes, partial: Partial, sums: Sums
) -> int:
    """Take the box of the nearest rows if it is the cheapest so far.

    Return the value on which to split: one that these rows need, on the axis where their
    box costs most above the least that it must.
    """
    sums.near_rows[:] = 0
    for i in range(sums.numbers[NEAR]):
        t = sums.near[i]
        for axis in range(len(axes.own)):
            sums.near_rows[tuples.values[t, axis]] += tuples.rows[t]
    total, widest, chosen = 0.0, -1.0, np.int64(-1)
    for axis in range(len(axes.own)):
        if axes.kinds[axis] == SET:
            cost, value = set_of_nearest(axes, axis, partial, sums)
        else:
            cost, value = run_of_nearest(axes, axis, partial, sums)
        total += cost
        if value >= 0 and cost - partial.floor[axis] > widest:
            widest, chosen = cost - partial.floor[axis], value
    sums.cheapest[0] = min(sums.cheapest[0], total)
    return chosen


@inner
def set_of_nearest(
    axes: RowAxes, axis: int, partial: Partial, sums: Sums
) -> tuple[float, int]:
    """The cost of the set of the nearest rows, and its commonest value not yet held."""
    size, chosen = partial.size[axis], np.int64(-1)
    for value in range(axes.starts[axis], axes.starts[axis + 1]):
        if sums.near_rows[value] > 0 and partial.known[value] == 0:
            size += 1
            if chosen < 0 or sums.near_rows[value] > sums.near_rows[chosen]:
                chosen = np.int64(value)
    return cost_of_set(axes, axis, size), chosen


@inner
def run_of_nearest(
    axes: RowAxes, axis: int, partial: Partial, sums: Sums
) -> tuple[float, int]:
    """The cost of the interval of the nearest rows, and its end that is farther off."""
    low, high = partial.low[axis], partial.high[axis]
    for value in range(partial.first[axis], partial.last[axis] + 1):
        if sums.near_rows[value] > 0:
            low, high = min(low, value), max(high, value)
    chosen = np.int64(-1)
    left = axes.reach[low] - axes.reach[partial.low[axis]]
    right = axes.reach[high] - axes.reach[partial.high[axis]]
    if high > partial.high[axis] and right >= left:
        chosen = np.int64(high)
    elif low < partial.low[axis]:
        chosen = np.int64(low)
    return cost_of_run(axes, axis, low, high), chosen
