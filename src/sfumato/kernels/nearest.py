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
import numpy.typing as npt
from numba import types

from sfumato.kernels.boxes import FLAT, FREE
from sfumato.kernels.compiling import door, inner
from sfumato.kernels.units import (
    ABOVE,
    COUNT,
    HIGH,
    LOW,
    SHAPE,
    SIZE,
    WORD,
    Box,
    Codes,
    Floats,
    Ints,
    Lines,
    Units,
    Words,
    cell_with,
    run_loss,
    set_loss,
)

LEAF = 16
"""A block of at most so many units is not cut further."""
NONE = np.uint64(0)
GROWING = np.int64(0)
"""The line of a box that stands for the growing group."""
BUCKETS = 64
"""Codes of a table are known to a block as so many buckets, or fewer."""
CODES = 256
"""A quasi-identifier with more codes has no table: it would have to be filled anew
whenever the group grows."""

RUN, SET, TABLE, LINE = range(4)
"""How the cost of a column is found: from a run, from a set, from a table, or from one
in which costs never fall on the way from the group to either side."""

KIND, USED, ACTIVE, START, CODE_COUNT, TIERS = range(6)
"""Columns of `Aim.columns`: how the cost of a column is found; whether it counts by
itself, and at the moment; where its table starts in `costs`; its codes; how many
different costs its buckets have."""

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
    """(blocks, columns): the buckets of the low codes."""
    extremes: Codes
    """(blocks, columns, 4)"""
    roots: Ints
    """The block of each part."""


class Aim(NamedTuple):
    """What is searched for: the costs of one moment."""

    sign: Ints
    """1 for the nearest, −1 for the farthest, in a single place."""
    columns: Ints
    changed: Ints
    """Columns whose tables are not up to date."""
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


def build_index(
    units: Units, columns: Ints, spread: Floats, parts: Ints, order: Ints
) -> Index:
    """Cut each part order[parts[p]:parts[p + 1]] into blocks at medians.

    A block is cut on the column whose codes span the most, times `spread`.
    """
    n = len(units.low)
    most = 2 * (n // (LEAF // 2) + len(parts)) + 2
    index = Index(
        place=order.copy(),
        where=np.zeros(n, dtype=np.int64),
        leaf_of=np.zeros(n, dtype=np.int64),
        blocks=np.full((most, 5), -1, dtype=np.int64),
        masks=np.zeros((most, len(columns)), dtype=np.uint64),
        extremes=np.zeros((most, len(columns), 4), dtype=np.int32),
        roots=np.zeros(len(parts) - 1, dtype=np.int64),
    )
    counts = np.zeros(columns[:, CODE_COUNT].max(), dtype=np.int64)
    room = np.zeros(n, dtype=np.int64)
    cut_parts(units.low, units.high, index, columns, spread, parts, counts, room)
    return index


@door
def cut_parts(
    low: Codes,
    high: Codes,
    index: Index,
    columns: Ints,
    spread: Floats,
    parts: Ints,
    counts: Ints,
    room: Ints,
) -> None:
    """Cut all parts, each into blocks behind those of the one before."""
    blocks, done = index.blocks, np.int64(0)
    for p in range(len(parts) - 1):
        index.roots[p] = done
        blocks[done, BEGIN] = parts[p]
        blocks[done, ALIVE] = parts[p + 1] - parts[p]
        count = done + 1
        while done < count:
            if blocks[done, ALIVE] > LEAF:
                axis = _widest(low, index, done, columns, spread, counts)
                _sort(low, index, done, axis, counts, room)
                _cut(low, index, done, axis, count)
                count += 2
            done += 1
        for node in range(count - 1, index.roots[p] - 1, -1):
            if blocks[node, HALVES] >= 0:
                refresh_block(index, node)
                continue
            for i in range(
                blocks[node, BEGIN], blocks[node, BEGIN] + blocks[node, ALIVE]
            ):
                index.where[index.place[i]], index.leaf_of[index.place[i]] = i, node
            refresh_leaf(low, high, index, node, columns)


@inner
def _widest(
    low: Codes, index: Index, node: int, columns: Ints, spread: Floats, counts: Ints
) -> int:
    """The column on which a cut parts a block the most: the span of its codes × the
    share of units that do not have the median code. `counts` holds zeros.
    """
    place, begin = index.place, index.blocks[node, BEGIN]
    length = index.blocks[node, ALIVE]
    best, axis = -1.0, 0
    for j in range(len(columns)):
        lowest, highest = low[place[begin], j], low[place[begin], j]
        for i in range(begin, begin + length):
            code = low[place[i], j]
            lowest, highest = min(lowest, code), max(highest, code)
            counts[code] += 1
        seen, median = 0, 0
        for code in range(lowest, highest + 1):
            if 2 * seen < length:
                median = counts[code]
            seen += counts[code]
            counts[code] = 0
        parting = spread[j] * ((highest - lowest) * (1.0 - median / length))
        width = parting / max(columns[j, CODE_COUNT] - 1, 1)
        if width > best:
            best, axis = width, j
    return axis


@inner
def _sort(
    low: Codes, index: Index, node: int, axis: int, counts: Ints, room: Ints
) -> None:
    """Sort the units of a block by their codes on an axis. `counts` holds zeros."""
    place, begin = index.place, index.blocks[node, BEGIN]
    end = begin + index.blocks[node, ALIVE]
    lowest, highest = low[place[begin], axis], low[place[begin], axis]
    for i in range(begin, end):
        code = low[place[i], axis]
        lowest, highest = min(lowest, code), max(highest, code)
        counts[code] += 1
    at = begin
    for code in range(lowest, highest + 1):
        at, counts[code] = at + counts[code], at
    for i in range(begin, end):
        code = low[place[i], axis]
        room[counts[code]] = place[i]
        counts[code] += 1
    for code in range(lowest, highest + 1):
        counts[code] = 0
    for i in range(begin, end):
        place[i] = room[i]


@inner
def _cut(low: Codes, index: Index, node: int, axis: int, new: int) -> None:
    """Cut a sorted block near its middle; new, new + 1 are the halves."""
    blocks = index.blocks
    begin, length = blocks[node, BEGIN], blocks[node, ALIVE]
    half = _border(low, index.place, begin, length, axis)
    blocks[node, HALVES] = new
    for side in range(2):
        blocks[new + side, PARENT] = node
        blocks[new + side, BEGIN] = begin + side * half
        blocks[new + side, ALIVE] = half if side == 0 else length - half


@inner
def _border(low: Codes, place: Ints, begin: int, length: int, axis: int) -> int:
    """The place nearest to the middle where a new code begins, if there is one."""
    half = length // 2
    # Neither half may be far smaller, so that the tree stays shallow.
    for step in range(min(half // 2, half - LEAF // 2)):
        for way in range(2):
            at = half + step if way else half - step
            one, two = place[begin + at - 1], place[begin + at]
            if at < length - LEAF // 2 and low[one, axis] != low[two, axis]:
                return at
    return half


@inner
def refresh_leaf(
    low: Codes, high: Codes, index: Index, node: int, columns: Ints
) -> None:
    """Find what is known of a leaf from the units left in it."""
    blocks, place, ends = index.blocks, index.place, index.extremes
    begin = blocks[node, BEGIN]
    end = begin + blocks[node, ALIVE]
    blocks[node, LEAST] = len(low)
    for i in range(begin, end):
        blocks[node, LEAST] = min(blocks[node, LEAST], place[i])
    for j in range(len(columns)):
        mask, size = NONE, columns[j, CODE_COUNT]
        ends[node, j, LOW_FROM] = ends[node, j, HIGH_FROM] = ABOVE
        ends[node, j, LOW_TO] = ends[node, j, HIGH_TO] = -1
        for i in range(begin, end):
            lowest, highest = low[place[i], j], high[place[i], j]
            mask |= np.uint64(1) << np.uint64(bucket(np.int64(lowest), size))
            ends[node, j, LOW_FROM] = min(ends[node, j, LOW_FROM], lowest)
            ends[node, j, LOW_TO] = max(ends[node, j, LOW_TO], lowest)
            ends[node, j, HIGH_FROM] = min(ends[node, j, HIGH_FROM], highest)
            ends[node, j, HIGH_TO] = max(ends[node, j, HIGH_TO], highest)
        index.masks[node, j] = mask


@inner
def refresh_block(index: Index, node: int) -> None:
    """Find what is known of a block from its halves."""
    blocks, masks, ends = index.blocks, index.masks, index.extremes
    one = blocks[node, HALVES]
    two = one + 1
    blocks[node, ALIVE] = blocks[one, ALIVE] + blocks[two, ALIVE]
    blocks[node, LEAST] = min(blocks[one, LEAST], blocks[two, LEAST])
    for j in range(masks.shape[1]):
        masks[node, j] = masks[one, j] | masks[two, j]
        for least in range(LOW_FROM, HIGH_TO, 2):
            ends[node, j, least] = min(ends[one, j, least], ends[two, j, least])
            most = least + 1
            ends[node, j, most] = max(ends[one, j, most], ends[two, j, most])


@inner
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
        refresh_block(index, node)
        node = index.blocks[node, PARENT]


@inner
def is_left(index: Index, u: int) -> bool:
    """Whether a unit is in the index."""
    leaf = index.leaf_of[u]
    return index.where[u] < index.blocks[leaf, BEGIN] + index.blocks[leaf, ALIVE]


@inner
def _renew(axes: int, lines: Lines, aim: Aim) -> None:
    """Bring the tables of costs up to date with the group."""
    for j in range(len(aim.columns)):
        if aim.changed[j] and aim.columns[j, START] >= 0:
            if j < axes:
                _fill(lines, aim, j)
            if aim.columns[j, KIND] == TABLE:
                _sort_tiers(aim, j)
        aim.changed[j] = 0


@inner
def _fill(lines: Lines, aim: Aim, j: int) -> None:
    """The cost of the cell on axis j once it holds each code."""
    start, cells = aim.columns[j, START], aim.box.cells
    low, high = np.int64(cells[0, j, LOW]), np.int64(cells[0, j, HIGH])
    flat = lines.axis[j, SHAPE] == FLAT
    for code in range(aim.columns[j, CODE_COUNT]):
        if flat:
            word = aim.box.words[0, lines.axis[j, WORD] + code // 64]
            has = np.int64((word >> np.uint64(code % 64)) & np.uint64(1))
            cost = set_loss(lines, j, np.int64(cells[0, j, COUNT]) + 1 - has)
        else:
            cost = run_loss(lines, j, min(low, code), max(high, code))
        aim.costs[start + code] = cost if aim.sign[0] > 0 else -cost


@inner
def _sort_tiers(aim: Aim, j: int) -> None:
    """Line the buckets of a table up by their lowest cost."""
    start, size = aim.columns[j, START], aim.columns[j, CODE_COUNT]
    number = min(size, BUCKETS)
    least = aim.bounds
    for at in range(number):
        least[at] = np.inf
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
def _stretch_bound(
    units: Units, masks: Words, ends: Codes, aim: Aim, node: int, j: int
) -> float:
    """The bound of one column without a table."""
    cells, sign = aim.box.cells, aim.sign[0]
    if aim.columns[j, KIND] == RUN:
        one, two = (LOW_TO, HIGH_FROM) if sign > 0 else (LOW_FROM, HIGH_TO)
        low = np.int64(min(cells[0, j, LOW], ends[node, j, one]))
        high = np.int64(max(cells[0, j, HIGH], ends[node, j, two]))
        return sign * run_loss(units.lines, j, low, high)
    count = np.int64(cells[0, j, COUNT])
    if len(units.sets) > 0:
        # The buckets of a unit's lowest code say nothing of its other values.
        count = count if sign > 0 else units.lines.axis[j, SIZE]
    elif sign < 0 or masks[node, j] & aim.tier_mask[j, 0] == NONE:
        count += 1
    return sign * set_loss(units.lines, j, count)


@inner
def nearest(units: Units, index: Index, aim: Aim, root: int) -> int:
    """The unit with the lowest cost below a block; −1 if there is none.

    Its cost is left in `aim.best`. Arrays are taken out of their tuples once, and blocks
    are bounded right here: a call with so many arrays costs more than a bound.
    """
    blocks, masks, extremes = index.blocks, index.masks, index.extremes
    columns, costs, cells = aim.columns, aim.costs, aim.box.cells
    tier_cost, tier_mask = aim.tier_cost, aim.tier_mask
    stack, bounds, forward = aim.stack, aim.bounds, aim.sign[0] > 0
    _renew(units.axes, units.lines, aim)
    best, found = np.inf, np.int64(-1)
    stack[0], bounds[0] = root, -np.inf
    waiting = 1 if blocks[root, ALIVE] > 0 else 0
    while waiting > 0:
        waiting -= 1
        node, bound = stack[waiting], bounds[waiting]
        if bound > best or (bound == best and blocks[node, LEAST] >= found):
            continue
        half, before = blocks[node, HALVES], waiting
        if half < 0:
            best, found = _look(units, index, aim, node, best, found)
            continue
        for node in range(half, half + 2):
            if blocks[node, ALIVE] == 0:
                continue
            bound = 0.0
            for j in range(len(columns)):
                if not columns[j, ACTIVE]:
                    continue
                if columns[j, KIND] == TABLE:
                    q, last = 0, columns[j, TIERS] - 1
                    while q < last and tier_mask[j, q] & masks[node, j] == NONE:
                        q += 1
                    bound += tier_cost[j, q]
                elif columns[j, KIND] == LINE:
                    start, first = columns[j, START], extremes[node, j, LOW_FROM]
                    last = extremes[node, j, LOW_TO]
                    if forward:
                        code = min(max(first, cells[0, j, LOW]), last)
                        bound += costs[start + code]
                    else:
                        bound += min(costs[start + first], costs[start + last])
                else:
                    bound += _stretch_bound(units, masks, extremes, aim, node, j)
            if bound < np.inf:
                stack[waiting], bounds[waiting] = node, bound
                waiting += 1
        if waiting == before + 2:
            _nearer_last(blocks, stack, bounds, before)
    aim.best[0] = best
    return found


@inner
def _look(
    units: Units, index: Index, aim: Aim, node: int, best: float, found: int
) -> tuple[float, int]:
    """The nearest of a leaf's units and of the one found before, and its cost."""
    place, low, columns, costs = index.place, units.low, aim.columns, aim.costs
    begin = index.blocks[node, BEGIN]
    for i in range(begin, begin + index.blocks[node, ALIVE]):
        u, cost = place[i], 0.0
        for j in range(len(columns)):
            if not columns[j, ACTIVE]:
                continue
            if columns[j, START] >= 0:
                cost += costs[np.uintp(columns[j, START] + low[u, j])]
            else:
                cost += aim.sign[0] * cell_with(units, aim.box, GROWING, j, u)
        if cost < best or (cost == best and u < found):
            best, found = cost, u
    return best, found


@inner
def _nearer_last(blocks: Ints, stack: Ints, bounds: Floats, at: int) -> None:
    """Swap two halves that wait if the one to be looked at first is not the last."""
    one, two, first, second = stack[at], stack[at + 1], bounds[at], bounds[at + 1]
    if first < second or (first == second and blocks[one, LEAST] < blocks[two, LEAST]):
        stack[at], stack[at + 1], bounds[at], bounds[at + 1] = two, one, second, first


def make_aim(kind: Ints, sizes: Ints, used: npt.NDArray[np.bool_], box: Box) -> Aim:
    """Room for the costs of one group after the other."""
    tabled = (kind == TABLE) | (kind == LINE)
    ends = np.cumsum(np.where(tabled, sizes, 0))
    columns = np.zeros((len(kind), 6), dtype=np.int64)
    columns[:, KIND], columns[:, CODE_COUNT] = kind, sizes
    columns[:, USED] = used
    columns[:, TIERS] = 1
    columns[:, START] = np.where(tabled, ends - sizes, -1)
    return Aim(
        sign=np.ones(1, dtype=np.int64),
        columns=columns,
        changed=np.ones(len(kind), dtype=np.int64),
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
        sizes[j] = units.lines.axis[j, SIZE]
        if len(units.sets) or sizes[j] > CODES:
            kind[j] = SET if units.lines.axis[j, SHAPE] == FLAT else RUN
        elif units.lines.axis[j, SHAPE] == FREE:
            kind[j] = LINE
    return kind, sizes


def nearest_pointer(units: Units, index: Index, aim: Aim) -> Any:
    """`nearest` behind a pointer, so that callers compile without it."""
    return pointer(nearest, types.int64(*types_of(units, index, aim), types.int64))


def types_of(*things: Any) -> list[Any]:
    """What compiled code takes these things for."""
    type_of: Any = numba.typeof
    return [type_of(thing) for thing in things]


@cache
def pointer(function: Any, signature: Any) -> Any:
    """A compiled function that others call without knowing its inside."""
    return numba.cfunc(signature, cache=True)(function.py_func)
