"""Keep units in a tree of blocks that summarize the units left in each.

For each column, a block knows the buckets of its codes, as bits, and their extremes.

Paper: none; k-member and TGC scan all rows for the nearest, this tree finds it exactly.
Cost: O(n log n × c) to build over n units with c columns; O(c × (LEAF + log n)) to take a
unit out; memory O(n + blocks × c).
Invariant: units left come first in each leaf; what a block says of codes, buckets and
the lowest number is exact for the units left in it; halves hold at least `LEAF` / 2
units, so that the tree is shallow.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.data.arrays import Codes, Floats, Ints, Words
from sfumato.kernels.clustering.units import Units
from sfumato.kernels.common.geometry import ABOVE
from sfumato.kernels.compilation.decorators import door, inner

LEAF = 16
"""A block of at most so many units is not cut further."""
BUCKETS = 64
"""Codes of a table are known to a block as so many buckets, or fewer."""
NONE = np.uint64(0)

KIND, USED, ACTIVE, START, CODE_COUNT, TIERS = range(6)
"""Columns of `UnitSearch.columns`: how the cost of a column is found; whether it counts by
itself, and at the moment; where its table starts in `costs`; its codes; how many
different costs its buckets have."""

BEGIN, ALIVE, LEAST, HALVES, PARENT = range(5)
"""Columns of `BlockTree.blocks`: where the units of a block begin; how many are left; the
lowest number of one left; the first of its two halves, −1 for a leaf; what it is half
of."""

LOW_FROM, LOW_TO, HIGH_FROM, HIGH_TO = range(4)
"""The extremes of the low and of the high codes of a block's units."""


class BlockTree(NamedTuple):
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


@inner
def bucket(code: int, size: int) -> int:
    """The bucket of a code."""
    return code if size <= BUCKETS else code * BUCKETS // size


def build_block_tree(
    units: Units, columns: Ints, spread: Floats, parts: Ints, order: Ints
) -> BlockTree:
    """Cut each part order[parts[p]:parts[p + 1]] into blocks at medians.

    A block is cut on the column whose codes span the most, times `spread`.
    """
    n = len(units.low)
    most = 2 * (n // (LEAF // 2) + len(parts)) + 2
    index = BlockTree(
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
    index: BlockTree,
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
    low: Codes, index: BlockTree, node: int, columns: Ints, spread: Floats, counts: Ints
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
    low: Codes, index: BlockTree, node: int, axis: int, counts: Ints, room: Ints
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
def _cut(low: Codes, index: BlockTree, node: int, axis: int, new: int) -> None:
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
    low: Codes, high: Codes, index: BlockTree, node: int, columns: Ints
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
def refresh_block(index: BlockTree, node: int) -> None:
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
def remove(low: Codes, high: Codes, index: BlockTree, columns: Ints, u: int) -> None:
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
def is_left(index: BlockTree, u: int) -> bool:
    """Whether a unit is in the index."""
    leaf = index.leaf_of[u]
    return index.where[u] < index.blocks[leaf, BEGIN] + index.blocks[leaf, ALIVE]
