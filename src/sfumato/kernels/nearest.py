"""The exact nearest or farthest unit, from a tree of blocks with exact bounds.

Costs of units are sums over columns. A column's cost either follows from the box of
the group (a run or a set that the unit stretches) or stands in a table with one entry
per code, where the codes of a block are known as a set of bits or, on a line, by their
extremes. A block's bound is the sum of the bounds of its columns; since rounding keeps
order, no unit of the block can lie below it. Of equal costs the unit with the lowest
number wins.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types

from sfumato.kernels.boxes import FLAT, FREE
from sfumato.kernels.compiling import inner
from sfumato.kernels.units import (
    COUNT,
    HIGH,
    LOW,
    SHAPE,
    SIZE,
    Box,
    Codes,
    Floats,
    Ints,
    Units,
    Words,
    cell_with,
    run_loss,
    set_loss,
)

LEAF = 16
"""A block of at most so many units is not cut further."""
BUCKETS = 64
"""Codes of a table are known to a block as so many buckets, or fewer."""
CODES = 256
"""A quasi-identifier with more codes has no table: it would have to be filled anew
whenever the group grows."""

RUN, SET, TABLE, LINE = range(4)
"""How the cost of a column is found: from a run, from a set, from a table, or from one
in which costs never fall on the way from the group to either side."""

KIND, ACTIVE, START, CODE_COUNT, TIERS = range(5)
"""Columns of `Aim.columns`: how the cost of a column is found; whether it counts; where
its table starts in `costs`; its codes; how many different costs its buckets have."""

BEGIN, ALIVE, LEAST, HALVES, PARENT = range(5)
"""Columns of `Index.blocks`: where the units of a block begin; how many are left; the
lowest number of one left; the first of its two halves, −1 for a leaf; what it is half
of."""

LOW_FROM, LOW_TO, HIGH_FROM, HIGH_TO = range(4)
"""The extremes of the low and of the high codes of a block's units."""


class Index(NamedTuple):
    """A forest of blocks over the units that are left."""

    place: Ints
    """Units in the order of the blocks; those left come first in each leaf."""
    where: Ints
    leaf_of: Ints
    blocks: Ints
    masks: Words
    """(blocks, columns): the buckets of the codes, but for runs and lines."""
    extremes: Codes
    """(blocks, columns, 4), for runs and lines."""
    roots: Ints
    """The block of each part."""


class Aim(NamedTuple):
    """What is searched for: the costs of one moment."""

    sign: Ints
    """1 for the nearest, −1 for the farthest, in a single place."""
    columns: Ints
    box: Box
    """Its first line is the group."""
    costs: Floats
    """Cost of code c of column j: costs[columns[j, START] + c]."""
    tier_cost: Floats
    tier_mask: Words
    """(columns, tiers): buckets with that cost, costs ascending; of a set, first the
    buckets that the group has."""
    stack: Ints
    bounds: Floats
    """Room for a search; in between, for anything."""
    best: Floats
    """The cost of the unit found last."""


@inner
def bucket(code: int, size: int) -> int:
    """The bucket of a code."""
    return code if size <= BUCKETS else code * BUCKETS // size


@numba.njit(cache=True, nogil=True)
def build_index(
    low: Codes, high: Codes, columns: Ints, spread: Floats, parts: Ints, place: Ints
) -> Index:
    """Cut each part place[parts[p]:parts[p + 1]] into blocks at medians.

    A block is cut on the column whose codes span the most, times `spread`. Units are
    put in the order of the blocks.
    """
    n = len(low)
    most = 2 * (n // (LEAF // 2) + len(parts)) + 2
    index = Index(
        place=place,
        where=np.empty(n, dtype=np.int64),
        leaf_of=np.empty(n, dtype=np.int64),
        blocks=np.full((most, 5), -1, dtype=np.int64),
        masks=np.zeros((most, len(columns)), dtype=np.uint64),
        extremes=np.zeros((most, len(columns), 4), dtype=np.int32),
        roots=np.zeros(len(parts) - 1, dtype=np.int64),
    )
    blocks, count = index.blocks, 0
    counts = np.zeros(np.max(columns[:, CODE_COUNT]), dtype=np.int64)
    room = np.empty(n, dtype=np.int64)
    for p in range(len(parts) - 1):
        index.roots[p] = count
        blocks[count, BEGIN] = parts[p]
        blocks[count, ALIVE] = parts[p + 1] - parts[p]
        done = count
        count += 1
        while done < count:
            if blocks[done, ALIVE] > LEAF:
                axis = _widest(low, index, done, columns, spread, counts)
                _cut(low[:, axis], index, done, count, counts, room)
                count += 2
            done += 1
        for node in range(count - 1, index.roots[p] - 1, -1):
            _sum_up(low, high, index, node, columns)
    return index


@inner
def _widest(
    low: Codes, index: Index, node: int, columns: Ints, spread: Floats, counts: Ints
) -> int:
    """The column on which a cut parts a block the most."""
    begin = index.blocks[node, BEGIN]
    place = index.place[begin : begin + index.blocks[node, ALIVE]]
    best, axis = -1.0, 0
    for j in range(len(columns)):
        parting = spread[j] * _parting(low[:, j], place, counts)
        width = parting / max(columns[j, CODE_COUNT] - 1, 1)
        if width > best:
            best, axis = width, j
    return axis


@inner
def _parting(codes: Codes, place: Ints, counts: Ints) -> float:
    """How much a cut on a column parts: the span of codes × the share of units that
    do not have the median code. `counts` holds zeros, and does so again afterwards.
    """
    lowest, highest = codes[place[0]], codes[place[0]]
    for u in place:
        lowest, highest = min(lowest, codes[u]), max(highest, codes[u])
        counts[codes[u]] += 1
    seen, median = 0, 0
    for code in range(lowest, highest + 1):
        if 2 * seen < len(place):
            median = counts[code]
        seen += counts[code]
        counts[code] = 0
    return (highest - lowest) * (1.0 - median / len(place))


@inner
def _cut(
    codes: Codes, index: Index, node: int, new: int, counts: Ints, room: Ints
) -> None:
    """Cut a block at the median of these codes; new, new + 1 are the halves."""
    blocks = index.blocks
    begin, length = blocks[node, BEGIN], blocks[node, ALIVE]
    _sort(codes, index.place[begin : begin + length], counts, room)
    half = _border(codes, index.place[begin : begin + length])
    blocks[node, HALVES] = new
    for side in range(2):
        blocks[new + side, PARENT] = node
        blocks[new + side, BEGIN] = begin + side * half
        blocks[new + side, ALIVE] = half if side == 0 else length - half


@inner
def _sort(codes: Codes, place: Ints, counts: Ints, room: Ints) -> None:
    """Sort units by their codes. `counts` holds zeros, and does so again afterwards."""
    lowest, highest = codes[place[0]], codes[place[0]]
    for u in place:
        lowest, highest = min(lowest, codes[u]), max(highest, codes[u])
        counts[codes[u]] += 1
    before = 0
    for code in range(lowest, highest + 1):
        before, counts[code] = before + counts[code], before
    for u in place:
        room[counts[codes[u]]] = u
        counts[codes[u]] += 1
    counts[lowest : highest + 1] = 0
    place[:] = room[: len(place)]


@inner
def _border(codes: Codes, place: Ints) -> int:
    """The place nearest to the middle where a new code begins, if there is one."""
    half = len(place) // 2
    # Neither half may be far smaller, so that the tree stays shallow.
    for step in range(min(half // 2, half - LEAF // 2)):
        for at in (half - step, half + step):
            if at < len(place) - LEAF // 2 and codes[place[at]] != codes[place[at - 1]]:
                return at
    return half


@inner
def _sum_up(low: Codes, high: Codes, index: Index, node: int, columns: Ints) -> None:
    """Find what is known of a block from its units or from its halves."""
    begin = index.blocks[node, BEGIN]
    if index.blocks[node, HALVES] >= 0:
        refresh_block(index, node, columns)
        return
    for i in range(begin, begin + index.blocks[node, ALIVE]):
        index.where[index.place[i]] = i
        index.leaf_of[index.place[i]] = node
    refresh_leaf(low, high, index, node, columns)


@inner
def refresh_leaf(
    low: Codes, high: Codes, index: Index, node: int, columns: Ints
) -> None:
    """Find what is known of a leaf from the units left in it."""
    begin = index.blocks[node, BEGIN]
    left = index.place[begin : begin + index.blocks[node, ALIVE]]
    index.blocks[node, LEAST] = np.iinfo(np.int64).max
    for u in left:
        index.blocks[node, LEAST] = min(index.blocks[node, LEAST], u)
    for j in range(len(columns)):
        if columns[j, KIND] == RUN or columns[j, KIND] == LINE:
            ends = index.extremes[node, j]
            ends[LOW_FROM] = ends[HIGH_FROM] = np.iinfo(np.int32).max
            ends[LOW_TO] = ends[HIGH_TO] = -1
            for u in left:
                ends[LOW_FROM] = min(ends[LOW_FROM], low[u, j])
                ends[LOW_TO] = max(ends[LOW_TO], low[u, j])
                ends[HIGH_FROM] = min(ends[HIGH_FROM], high[u, j])
                ends[HIGH_TO] = max(ends[HIGH_TO], high[u, j])
        else:
            mask = np.uint64(0)
            for u in left:
                at = bucket(low[u, j], columns[j, CODE_COUNT])
                mask |= np.uint64(1) << np.uint64(at)
            index.masks[node, j] = mask


@inner
def refresh_block(index: Index, node: int, columns: Ints) -> None:
    """Find what is known of a block from its halves."""
    one = index.blocks[node, HALVES]
    two = one + 1
    index.blocks[node, LEAST] = min(index.blocks[one, LEAST], index.blocks[two, LEAST])
    for j in range(len(columns)):
        if columns[j, KIND] == RUN or columns[j, KIND] == LINE:
            a, b, ends = index.extremes[one, j], index.extremes[two, j], index.extremes
            ends[node, j, LOW_FROM] = min(a[LOW_FROM], b[LOW_FROM])
            ends[node, j, LOW_TO] = max(a[LOW_TO], b[LOW_TO])
            ends[node, j, HIGH_FROM] = min(a[HIGH_FROM], b[HIGH_FROM])
            ends[node, j, HIGH_TO] = max(a[HIGH_TO], b[HIGH_TO])
        else:
            index.masks[node, j] = index.masks[one, j] | index.masks[two, j]


@numba.njit(cache=True, nogil=True)
def remove(low: Codes, high: Codes, index: Index, columns: Ints, u: int) -> None:
    """Take a unit out of the index."""
    node = index.leaf_of[u]
    index.blocks[node, ALIVE] -= 1
    last = index.blocks[node, BEGIN] + index.blocks[node, ALIVE]
    other, at = index.place[last], index.where[u]
    index.place[at], index.place[last] = other, u
    index.where[other], index.where[u] = at, last
    refresh_leaf(low, high, index, node, columns)
    node = index.blocks[node, PARENT]
    while node >= 0:
        index.blocks[node, ALIVE] -= 1
        refresh_block(index, node, columns)
        node = index.blocks[node, PARENT]


@inner
def is_left(index: Index, u: int) -> bool:
    """Whether a unit is in the index."""
    leaf = index.leaf_of[u]
    return index.where[u] < index.blocks[leaf, BEGIN] + index.blocks[leaf, ALIVE]


@inner
def sort_tiers(aim: Aim, j: int) -> None:
    """Line the buckets of a table up by their lowest cost."""
    start, size = aim.columns[j, START], aim.columns[j, CODE_COUNT]
    number = min(size, BUCKETS)
    least = aim.bounds[:number]
    least[:] = np.inf
    for code in range(size):
        at = bucket(code, size)
        least[at] = min(least[at], aim.costs[start + code])
    count = 0
    for at in range(number):
        place = count
        while place > 0 and aim.tier_cost[j, place - 1] > least[at]:
            place -= 1
        bit = np.uint64(1) << np.uint64(at)
        if place > 0 and aim.tier_cost[j, place - 1] == least[at]:
            aim.tier_mask[j, place - 1] |= bit
            continue
        for q in range(count, place, -1):
            aim.tier_cost[j, q] = aim.tier_cost[j, q - 1]
            aim.tier_mask[j, q] = aim.tier_mask[j, q - 1]
        aim.tier_cost[j, place] = least[at]
        aim.tier_mask[j, place] = bit
        count += 1
    aim.columns[j, TIERS] = count


@inner
def bound_of(units: Units, index: Index, aim: Aim, node: int) -> float:
    """A cost that no unit left in a block lies below."""
    total = 0.0
    for j in range(len(aim.columns)):
        if not aim.columns[j, ACTIVE]:
            continue
        kind = aim.columns[j, KIND]
        if kind == TABLE:
            last = aim.columns[j, TIERS] - 1
            mask = index.masks[node, j]
            q = 0
            while q < last and aim.tier_mask[j, q] & mask == np.uint64(0):
                q += 1
            total += aim.tier_cost[j, q]
        elif kind == LINE:
            total += _line_bound(index, aim, node, j)
        else:
            total += _stretch_bound(units, index, aim, node, j)
    return total


@inner
def _line_bound(index: Index, aim: Aim, node: int, j: int) -> float:
    """The bound of a line: the cost of the code nearest to the group, or farthest."""
    start = aim.columns[j, START]
    first, last = index.extremes[node, j, LOW_FROM], index.extremes[node, j, LOW_TO]
    if aim.sign[0] < 0:
        return min(aim.costs[start + first], aim.costs[start + last])
    return aim.costs[start + min(max(first, aim.box.cells[0, j, LOW]), last)]


@inner
def _stretch_bound(units: Units, index: Index, aim: Aim, node: int, j: int) -> float:
    """The bound of one column without a table."""
    here, ends = aim.box.cells[0, j], index.extremes[node, j]
    if aim.columns[j, KIND] == RUN:
        if aim.sign[0] > 0:
            low, high = min(here[LOW], ends[LOW_TO]), max(here[HIGH], ends[HIGH_FROM])
            return run_loss(units, j, low, high)
        low, high = min(here[LOW], ends[LOW_FROM]), max(here[HIGH], ends[HIGH_TO])
        return -run_loss(units, j, low, high)
    count = np.int64(here[COUNT])
    if len(units.sets) > 0:
        # The buckets of a unit's lowest code say nothing of its other values.
        if aim.sign[0] > 0:
            return set_loss(units, j, count)
        return -set_loss(units, j, units.axis[j, SIZE])
    if aim.sign[0] < 0:
        return -set_loss(units, j, count + 1)
    apart = index.masks[node, j] & aim.tier_mask[j, 0] == np.uint64(0)
    return set_loss(units, j, count + 1 if apart else count)


@inner
def cost_of(units: Units, aim: Aim, u: int) -> float:
    """The cost of a unit."""
    total = 0.0
    for j in range(len(aim.columns)):
        if not aim.columns[j, ACTIVE]:
            continue
        if aim.columns[j, START] >= 0:
            total += aim.costs[np.uintp(aim.columns[j, START] + units.low[u, j])]
        elif aim.sign[0] > 0:
            total += cell_with(units, aim.box, 0, j, u)
        else:
            total -= cell_with(units, aim.box, 0, j, u)
    return total


@numba.njit(cache=True, nogil=True)
def nearest(units: Units, index: Index, aim: Aim, root: int) -> int:
    """The unit with the lowest cost below a block; −1 if there is none.

    Its cost is left in `aim.best`.
    """
    best, found = np.inf, np.int64(-1)
    blocks, stack, bounds = index.blocks, aim.stack, aim.bounds
    stack[0], bounds[0] = root, -np.inf
    waiting = 1 if blocks[root, ALIVE] > 0 else 0
    while waiting > 0:
        waiting -= 1
        node, bound = stack[waiting], bounds[waiting]
        if bound > best or (bound == best and blocks[node, LEAST] >= found):
            continue
        half = blocks[node, HALVES]
        if half < 0:
            begin = blocks[node, BEGIN]
            for i in range(begin, begin + blocks[node, ALIVE]):
                u = index.place[i]
                cost = cost_of(units, aim, u)
                if cost < best or (cost == best and u < found):
                    best, found = cost, u
            continue
        before = waiting
        for node in range(half, half + 2):
            if blocks[node, ALIVE] > 0:
                bound = bound_of(units, index, aim, node)
                if bound < np.inf:
                    stack[waiting], bounds[waiting] = node, bound
                    waiting += 1
        if waiting == before + 2:
            _nearer_last(blocks, stack, bounds, before)
    aim.best[0] = best
    return found


@inner
def _nearer_last(blocks: Ints, stack: Ints, bounds: Floats, at: int) -> None:
    """Swap two halves that wait if the one to be looked at first is not the last."""
    one, two, first, second = stack[at], stack[at + 1], bounds[at], bounds[at + 1]
    if first < second or (first == second and blocks[one, LEAST] < blocks[two, LEAST]):
        stack[at], stack[at + 1], bounds[at], bounds[at + 1] = two, one, second, first


def make_aim(kind: Ints, sizes: Ints, box: Box) -> Aim:
    """Room for the costs of one group after the other."""
    tabled = (kind == TABLE) | (kind == LINE)
    ends = np.cumsum(np.where(tabled, sizes, 0))
    columns = np.zeros((len(kind), 5), dtype=np.int64)
    columns[:, KIND], columns[:, CODE_COUNT] = kind, sizes
    columns[:, ACTIVE] = columns[:, TIERS] = 1
    columns[:, START] = np.where(tabled, ends - sizes, -1)
    return Aim(
        sign=np.ones(1, dtype=np.int64),
        columns=columns,
        box=box,
        costs=np.zeros(max(int(ends[-1]), 1)),
        tier_cost=np.zeros((len(kind), BUCKETS + 1)),
        tier_mask=np.zeros((len(kind), BUCKETS + 1), dtype=np.uint64),
        stack=np.zeros(256, dtype=np.int64),
        bounds=np.zeros(256),
        best=np.zeros(1),
    )


def column_kinds(units: Units, secrets: Ints) -> tuple[Ints, Ints]:
    """How the cost of each column is found, and how many codes it has.

    `secrets` are the domains of the sensitive columns, whose values need not all occur.
    """
    columns = units.low.shape[1]
    sizes = np.ones(columns, dtype=np.int64)
    kind = np.full(columns, TABLE, dtype=np.int64)
    for j in range(columns):
        if j >= units.axes:
            sizes[j] = int(units.low[:, j].max(initial=0)) + 1
            if j - units.axes < len(secrets):
                sizes[j] = secrets[j - units.axes]
            continue
        sizes[j] = units.axis[j, SIZE]
        if len(units.sets) or sizes[j] > CODES:
            kind[j] = SET if units.axis[j, SHAPE] == FLAT else RUN
        elif units.axis[j, SHAPE] == FREE:
            kind[j] = LINE
    return kind, sizes


def search_pointers(units: Units, index: Index, aim: Aim) -> tuple[Any, Any]:
    """`nearest` and `remove` behind pointers, so that callers compile without them."""
    made = types_of(units, index, aim)
    codes, whole = types_of(units.low, aim.columns)
    return (
        pointer(nearest, types.int64(*made, types.int64)),
        pointer(remove, types.void(codes, codes, made[1], whole, types.int64)),
    )


def types_of(*things: Any) -> list[Any]:
    """What compiled code takes these things for."""
    type_of: Any = numba.typeof
    return [type_of(thing) for thing in things]


@cache
def pointer(function: Any, signature: Any) -> Any:
    """A compiled function that others call without knowing its inside."""
    return numba.cfunc(signature, cache=True)(function.py_func)
