"""The exact nearest or farthest unit, from a tree of blocks with exact bounds.

Costs of units are sums over columns. A column's cost either follows from the box of
the group (a run or a set that the unit stretches) or stands in a table with one entry
per code, where the codes of a block are known as a set of bits. A block's bound is
the sum of the bounds of its columns; since rounding keeps order, no unit of the block
can lie below it. Of equal costs the unit with the lowest number wins.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt
from numba import types

from sfumato.kernels.boxes import FLAT
from sfumato.kernels.compiling import inner
from sfumato.kernels.units import (
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

RUN, SET, TABLE = 0, 1, 2
"""How the cost of a column is found."""

LOW_FROM, LOW_TO, HIGH_FROM, HIGH_TO = 0, 1, 2, 3
"""The extremes of the low and of the high codes of a block's units."""


class Index(NamedTuple):
    """A forest of blocks over the units that are left."""

    place: Ints
    """Units in the order of the blocks; those left come first in each leaf."""
    where: Ints
    leaf_of: Ints
    start: Ints
    alive: Ints
    """Units left below each block."""
    least: Ints
    """The lowest number of a unit left below each block."""
    child: Ints
    """(blocks, 2): −1 for a leaf."""
    parent: Ints
    masks: Words
    extremes: Codes
    roots: Ints
    """The block of each part."""


class Aim(NamedTuple):
    """What is searched for: the costs of one moment."""

    sign: Ints
    """1 for the nearest, −1 for the farthest, in a single place."""
    kind: Ints
    active: npt.NDArray[np.bool_]
    """Which columns count."""
    box: Box
    """Its first line is the group."""
    table_start: Ints
    costs: Floats
    """Cost of code c of column j: costs[table_start[j] + c]."""
    sizes: Ints
    """Codes of each column."""
    tiers: Ints
    """How many different costs the buckets of a column have."""
    tier_cost: Floats
    tier_mask: Words
    """(columns, tiers): buckets with that cost, costs ascending; of a set, first the
    buckets that the group has."""
    stack: Ints
    bounds: Floats
    best: Floats
    """The cost of the unit found last."""


@inner
def bucket(code: int, size: int) -> int:
    """The bucket of a code."""
    return code if size <= BUCKETS else code * BUCKETS // size


@numba.njit(cache=True, nogil=True)
def build_index(
    units: Units, kind: Ints, sizes: Ints, spread: Floats, parts: Ints, order: Ints
) -> Index:
    """Cut each part order[parts[p]:parts[p + 1]] into blocks at medians.

    A block is cut on the column whose codes span the most, times `spread`.
    """
    n, columns = units.low.shape
    most = 2 * (n // (LEAF // 2) + len(parts)) + 2
    index = Index(
        place=order.copy(),
        where=np.empty(n, dtype=np.int64),
        leaf_of=np.empty(n, dtype=np.int64),
        start=np.zeros(most, dtype=np.int64),
        alive=np.zeros(most, dtype=np.int64),
        least=np.zeros(most, dtype=np.int64),
        child=np.full((most, 2), -1, dtype=np.int64),
        parent=np.full(most, -1, dtype=np.int64),
        masks=np.zeros((most, columns), dtype=np.uint64),
        extremes=np.zeros((most, columns, 4), dtype=np.int32),
        roots=np.zeros(len(parts) - 1, dtype=np.int64),
    )
    count = 0
    for p in range(len(parts) - 1):
        index.roots[p] = count
        index.start[count] = parts[p]
        index.alive[count] = parts[p + 1] - parts[p]
        done = count
        count += 1
        while done < count:
            if index.alive[done] > LEAF:
                _cut(units, index, done, count, sizes, spread)
                count += 2
            done += 1
        for node in range(count - 1, index.roots[p] - 1, -1):
            _sum_up(units, index, node, kind, sizes)
    return index


@inner
def _cut(
    units: Units, index: Index, node: int, new: int, sizes: Ints, spread: Floats
) -> None:
    """Cut a block at the median of its widest column; new, new + 1 are the halves."""
    start = index.start[node]
    place = index.place[start : start + index.alive[node]]
    best = -1.0
    axis = 0
    counts = np.zeros(max(1, np.max(sizes)), dtype=np.int64)
    for j in range(units.low.shape[1]):
        width = spread[j] * _parting(units, place, j, counts) / max(sizes[j] - 1, 1)
        if width > best:
            best = width
            axis = j
    keys = np.empty(len(place), dtype=np.int64)
    for i in range(len(place)):
        keys[i] = np.int64(units.low[place[i], axis]) << 32 | place[i]
    keys.sort()
    for i in range(len(place)):
        place[i] = keys[i] & 0xFFFFFFFF
    half = _border(keys, len(place) // 2)
    for side in range(2):
        index.child[node, side] = new + side
        index.parent[new + side] = node
        index.start[new + side] = start + side * half
        index.alive[new + side] = half if side == 0 else len(place) - half


@inner
def _parting(units: Units, place: Ints, j: int, counts: Ints) -> float:
    """How much a cut on column j parts: the span of codes × the share of units that
    do not have the median code. `counts` holds zeros, and does so again afterwards.
    """
    lowest, highest = units.low[place[0], j], units.low[place[0], j]
    for u in place:
        code = units.low[u, j]
        lowest, highest = min(lowest, code), max(highest, code)
        counts[code] += 1
    seen, median = 0, 0
    for code in range(lowest, highest + 1):
        if 2 * seen < len(place):
            median = counts[code]
        seen += counts[code]
        counts[code] = 0
    return (highest - lowest) * (1.0 - median / len(place))


@inner
def _border(keys: Ints, half: int) -> int:
    """The place nearest to the middle where a new code begins, if there is one."""
    # Neither half may be far smaller, so that the tree stays shallow.
    for step in range(min(half // 2, half - LEAF // 2)):
        for place in (half - step, half + step):
            if (
                place < len(keys) - LEAF // 2
                and keys[place] >> 32 != keys[place - 1] >> 32
            ):
                return place
    return half


@inner
def _sum_up(units: Units, index: Index, node: int, kind: Ints, sizes: Ints) -> None:
    """Find what is known of a block from its units or from its halves."""
    if index.child[node, 0] < 0:
        start = index.start[node]
        for i in range(start, start + index.alive[node]):
            index.where[index.place[i]] = i
            index.leaf_of[index.place[i]] = node
        refresh_leaf(units, index, node, kind, sizes)
    else:
        refresh_block(index, node)


@inner
def refresh_leaf(
    units: Units, index: Index, node: int, kind: Ints, sizes: Ints
) -> None:
    """Find what is known of a leaf from the units left in it."""
    start = index.start[node]
    index.least[node] = np.iinfo(np.int64).max
    for i in range(start, start + index.alive[node]):
        index.least[node] = min(index.least[node], index.place[i])
    for j in range(units.low.shape[1]):
        mask = np.uint64(0)
        ends = index.extremes[node, j]
        ends[LOW_FROM], ends[HIGH_FROM] = np.iinfo(np.int32).max, np.iinfo(np.int32).max
        ends[LOW_TO], ends[HIGH_TO] = -1, -1
        for i in range(start, start + index.alive[node]):
            low, high = units.low[index.place[i], j], units.high[index.place[i], j]
            if kind[j] != RUN:
                mask |= np.uint64(1) << np.uint64(bucket(low, sizes[j]))
            ends[LOW_FROM] = min(ends[LOW_FROM], low)
            ends[LOW_TO] = max(ends[LOW_TO], low)
            ends[HIGH_FROM] = min(ends[HIGH_FROM], high)
            ends[HIGH_TO] = max(ends[HIGH_TO], high)
        index.masks[node, j] = mask


@inner
def refresh_block(index: Index, node: int) -> None:
    """Find what is known of a block from its halves."""
    one, two = index.child[node, 0], index.child[node, 1]
    index.alive[node] = index.alive[one] + index.alive[two]
    index.least[node] = min(index.least[one], index.least[two])
    for j in range(index.masks.shape[1]):
        index.masks[node, j] = index.masks[one, j] | index.masks[two, j]
        a, b, ends = index.extremes[one, j], index.extremes[two, j], index.extremes
        ends[node, j, LOW_FROM] = min(a[LOW_FROM], b[LOW_FROM])
        ends[node, j, LOW_TO] = max(a[LOW_TO], b[LOW_TO])
        ends[node, j, HIGH_FROM] = min(a[HIGH_FROM], b[HIGH_FROM])
        ends[node, j, HIGH_TO] = max(a[HIGH_TO], b[HIGH_TO])


@numba.njit(cache=True, nogil=True)
def remove(units: Units, index: Index, u: int, kind: Ints, sizes: Ints) -> None:
    """Take a unit out of the index."""
    node = index.leaf_of[u]
    index.alive[node] -= 1
    last = index.start[node] + index.alive[node]
    other, at = index.place[last], index.where[u]
    index.place[at], index.place[last] = other, u
    index.where[other], index.where[u] = at, last
    refresh_leaf(units, index, node, kind, sizes)
    node = index.parent[node]
    while node >= 0:
        refresh_block(index, node)
        node = index.parent[node]


@inner
def sort_tiers(aim: Aim, j: int) -> None:
    """Line the buckets of a table up by their lowest cost."""
    start, size = aim.table_start[j], aim.sizes[j]
    number = min(size, BUCKETS)
    least = np.full(number, np.inf)
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
    aim.tiers[j] = count


@inner
def bound_of(units: Units, index: Index, aim: Aim, node: int) -> float:
    """A cost that no unit left in a block lies below."""
    total = 0.0
    for j in range(len(aim.kind)):
        if not aim.active[j]:
            continue
        if aim.kind[j] == TABLE:
            q = 0
            mask = index.masks[node, j]
            while aim.tier_mask[j, q] & mask == np.uint64(0) and q < aim.tiers[j] - 1:
                q += 1
            total += aim.tier_cost[j, q]
        else:
            total += _stretch_bound(units, index, aim, node, j)
    return total


@inner
def _stretch_bound(units: Units, index: Index, aim: Aim, node: int, j: int) -> float:
    """The bound of one column without a table."""
    low, high = aim.box.low[0, j], aim.box.high[0, j]
    ends = index.extremes[node, j]
    if aim.kind[j] == RUN:
        if aim.sign[0] > 0:
            return run_loss(
                units, j, min(low, ends[LOW_TO]), max(high, ends[HIGH_FROM])
            )
        return -run_loss(units, j, min(low, ends[LOW_FROM]), max(high, ends[HIGH_TO]))
    count = np.int64(aim.box.count[0, j])
    if len(units.sets) > 0:
        # The buckets of a unit's lowest code say nothing of its other values.
        if aim.sign[0] > 0:
            return set_loss(units, j, count)
        return -set_loss(units, j, units.tables.size[j])
    if aim.sign[0] < 0:
        return -set_loss(units, j, count + 1)
    apart = index.masks[node, j] & aim.tier_mask[j, 0] == np.uint64(0)
    return set_loss(units, j, count + 1 if apart else count)


@inner
def cost_of(units: Units, aim: Aim, u: int) -> float:
    """The cost of a unit."""
    total = 0.0
    for j in range(len(aim.kind)):
        if not aim.active[j]:
            continue
        if aim.kind[j] == TABLE:
            total += aim.costs[np.uintp(aim.table_start[j] + units.low[u, j])]
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
    stack, bounds = aim.stack, aim.bounds
    waiting = 0
    if index.alive[root] > 0:
        stack[0], bounds[0] = root, bound_of(units, index, aim, root)
        waiting = 1
    while waiting > 0:
        waiting -= 1
        node, bound = stack[waiting], bounds[waiting]
        if bound > best or (bound == best and index.least[node] >= found):
            continue
        if index.child[node, 0] < 0:
            start = index.start[node]
            for i in range(start, start + index.alive[node]):
                u = index.place[i]
                cost = cost_of(units, aim, u)
                if cost < best or (cost == best and u < found):
                    best, found = cost, u
            continue
        one, two = index.child[node, 0], index.child[node, 1]
        first, second = np.inf, np.inf
        if index.alive[one] > 0:
            first = bound_of(units, index, aim, one)
        if index.alive[two] > 0:
            second = bound_of(units, index, aim, two)
        if second < first or (second == first and index.least[two] < index.least[one]):
            one, two, first, second = two, one, second, first
        if second < np.inf:
            stack[waiting], bounds[waiting] = two, second
            waiting += 1
        if first < np.inf:
            stack[waiting], bounds[waiting] = one, first
            waiting += 1
    aim.best[0] = best
    return found


def make_aim(kind: Ints, sizes: Ints, box: Box) -> Aim:
    """Room for the costs of one group after the other."""
    columns = len(kind)
    lengths = np.where(kind == TABLE, sizes, 0)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Aim(
        sign=np.ones(1, dtype=np.int64),
        kind=kind,
        active=np.ones(columns, dtype=np.bool_),
        box=box,
        table_start=starts[:-1],
        costs=np.zeros(max(int(starts[-1]), 1)),
        sizes=sizes,
        tiers=np.ones(columns, dtype=np.int64),
        tier_cost=np.zeros((columns, BUCKETS + 1)),
        tier_mask=np.zeros((columns, BUCKETS + 1), dtype=np.uint64),
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
        sizes[j] = units.tables.size[j]
        flat = units.tables.shape[j] == FLAT
        if len(units.sets) or sizes[j] > BUCKETS or units.tables.shape[j] == 1:
            kind[j] = SET if flat else RUN
    return kind, sizes


def search_pointers(units: Units, index: Index, aim: Aim) -> tuple[Any, Any]:
    """`nearest` and `remove` behind pointers, so that callers compile without them."""
    made = types_of(units, index, aim)
    (whole,) = types_of(aim.kind)
    return (
        pointer(nearest, types.int64(*made, types.int64)),
        pointer(remove, types.void(*made[:2], types.int64, whole, whole)),
    )


def types_of(*things: Any) -> list[Any]:
    """What compiled code takes these things for."""
    type_of: Any = numba.typeof
    return [type_of(thing) for thing in things]


@cache
def pointer(function: Any, signature: Any) -> Any:
    """A compiled function that others call without knowing its inside."""
    return numba.cfunc(signature, cache=True)(function.py_func)
