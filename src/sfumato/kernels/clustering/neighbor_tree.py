"""Build a tree over points and groups that finds the nearest, ties included, exactly.

An item has a coordinate per axis. A *set* of categories has its mark (the code of a
single value, or a number that stands for the set), a *number* its mean, a *tree* axis
its lowest and its highest code. Bounds are made by the same operations, in the same
order, as distances. Rounding keeps order, so that a bound never exceeds the distance
of what it covers, to the last bit.

Paper: the customized distance of Boger 2020, section 3.1: Ward's distance between means
of numbers, 0 or 1 for categories, and the loss of the common node on a hierarchy.
Cost: O(n log n × m) to build over n items on m axes; O(log n × m) to renew the nodes above
an item, less where nothing changes; memory O(n × m).
Invariant: a node's bounds cover every item below it that can be found; a bound never
exceeds a distance; nodes above depth `UNEVEN` may be unbalanced, deeper ones
are not, so no path exceeds `DEEPEST`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.data.arrays import Codes, Floats, Ints
from sfumato.kernels.common.borrowed_arrays import borrow
from sfumato.kernels.common.geometry import smallest_node
from sfumato.kernels.compilation.decorators import (
    both_numpy,
    inlined_numpy,
    inner_numpy,
)

SET, NUMBER, TREE = range(3)
"""How far apart two items are on an axis; axes come in this order."""
KEYS, LEVELS, HEIGHT, LEAVES, LOSSES = range(5)
"""Of each axis: where its keys, levels and losses lie, and its extent."""
SIZE, RANK, WANTED, HEAD, TAIL, COUNTS = range(6)
"""Of each item: its rows; its rank, the lowest of equally near ones wins; a bit for
each value it may take in; the ends of its list of rows; how many values it has in
each view, and how often the commonest occurs."""
START, END, PARENT, DEPTH = range(4)
"""Of each node: its items in the order of the tree, and where it is."""
CHILD, LEAST, MOST, SETS = range(4)
"""Of each node: its first child, the other follows, or 0 in a leaf; the smallest and
largest size below it; and for each axis of sets a bit for every mark below it."""
GONE = np.iinfo(np.int32).max
"""The rank of an item that is not to be found."""
MIXED = float(1 << 51)
"""Marks of sets with several values start here; a single value is its own mark."""
LEAF = 8
"""A leaf of the tree has at most so many items."""
UNEVEN = 64
"""From this depth on every node is halved."""
DEEPEST = 128


class NeighborSpace(NamedTuple):
    """The axes, in few arrays, so that what takes them compiles soon."""

    ends: Ints
    """How many axes are sets; sets or numbers; anything."""
    heads: Ints
    """(axes, 5): see `KEYS` and the following."""
    whole: Ints
    """Keys of set axes, below 2⁵¹, and levels of tree axes."""
    real: Floats
    """A weight for each axis, then the losses of the nodes."""


class Items(NamedTuple):
    """What can be found, tuples or groups."""

    pairs: Floats
    """(items, 3 × axes): low coordinates, high ones, sums of numbers."""
    marks: Ints
    """(items, …): see `SIZE` and the following."""


class NeighborTree(NamedTuple):
    """Items in the order of the leaves, and the bounds of every node."""

    order: Ints
    leaf_of: Ints
    """The leaf of each item."""
    places: Ints
    """(nodes, 4): see `START` and the following."""
    marks: Ints
    """(nodes, 3 + sets): see `CHILD` and the following."""
    pairs: Floats
    """(nodes, 2 × other axes): the lowest and the highest coordinate of each."""
    firsts: Codes
    """(nodes, values): the lowest rank of what may take in each value."""


def build_neighbor_tree(
    space: NeighborSpace, items: Items, chosen: Ints, *, values: int = 1
) -> NeighborTree:
    """A tree over some of the items, at least one.

    Ranks are told apart by the first so many bits of what is wanted. The last row of
    each array is room for bounds in the making.
    """
    most, sets = 2 * len(chosen) + 1, int(space.ends[SET])
    tree = NeighborTree(
        order=chosen.astype(np.int64),
        leaf_of=np.empty(len(items.marks), dtype=np.int64),
        places=np.empty((most, DEPTH + 1), dtype=np.int64),
        marks=np.empty((most, SETS + sets), dtype=np.int64),
        pairs=np.empty((most, 2 * (len(space.heads) - sets))),
        firsts=np.empty((most, values), dtype=np.int32),
    )
    split_and_bound(space, items, tree)
    return tree


@both_numpy
def split_and_bound(space: NeighborSpace, items: Items, tree: NeighborTree) -> None:
    """Split the items from the root downward, then bound every node."""
    space, items, tree = borrow(space), borrow(items), borrow(tree)
    places, node, used = tree.places, 0, 1
    places[0, START], places[0, END] = 0, len(tree.order)
    places[0, PARENT], places[0, DEPTH] = -1, 0
    while node < used:
        start, end, depth = places[node, START], places[node, END], places[node, DEPTH]
        tree.marks[node, CHILD] = 0
        if end - start > LEAF:
            middle = _split(space, items, tree.order, start, end, depth)
            tree.marks[node, CHILD] = used
            for child in range(used, used + 2):
                places[child, START] = start if child == used else middle
                places[child, END] = middle if child == used else end
                places[child, PARENT], places[child, DEPTH] = node, depth + 1
            used += 2
        else:
            for p in range(start, end):
                tree.leaf_of[tree.order[p]] = node
        node += 1
    for node in range(used - 1, -1, -1):
        bound(space, items, tree, node)


@inner_numpy
def _split(
    space: NeighborSpace, items: Items, order: Ints, start: int, end: int, depth: int
) -> int:
    """Put the items of a node in two parts, and say where the second begins."""
    axis, middle = _widest(space, items, order[start:end]), (start + end) // 2
    _part(items.pairs, axis, order, start, end - 1, middle)
    if axis >= space.ends[SET] or depth >= UNEVEN:
        return middle
    # A set that lay in both parts would have to be looked for in both.
    mark = items.pairs[order[middle], axis]
    low, high = _sifted(items.pairs, axis, order, start, end, mark)
    if low > start and (middle - low <= high - middle or high == end):
        return low
    return high if high < end else middle


@inner_numpy
def _sifted(
    pairs: Floats, axis: int, order: Ints, start: int, end: int, mark: float
) -> tuple[int, int]:
    """Gather the items with a mark; those before it are below, those after above it."""
    low, high = np.int64(start), np.int64(end)
    p = low
    while p < high:
        value = pairs[order[p], axis]
        if value < mark:
            order[p], order[low] = order[low], order[p]
            low += 1
            p += 1
        elif value > mark:
            high -= 1
            order[p], order[high] = order[high], order[p]
        else:
            p += 1
    return low, high


@inner_numpy
def _widest(space: NeighborSpace, items: Items, chosen: Ints) -> int:
    """The axis on which two of some items differ most on average."""
    best, widest = -1.0, 0
    for j in range(len(space.heads)):
        if j < space.ends[SET]:
            spread = _variety(items.pairs, j, chosen)
        else:
            spread = _spread(space, items.pairs, j, chosen)
        if space.real[j] * spread > best:
            best, widest = space.real[j] * spread, j
    return widest


@inner_numpy
def _variety(pairs: Floats, j: int, chosen: Ints) -> float:
    """How often two items have different marks; all sets of several count as one."""
    counts = np.zeros(64, dtype=np.int64)
    for p in range(len(chosen)):
        mark = pairs[chosen[p], j]
        counts[32 if mark >= MIXED else np.int64(mark) & 31] += 1
    same = 0.0
    for place in range(64):
        share = counts[place] / len(chosen)
        same += share * share
    return 1.0 - same


@inner_numpy
def _spread(space: NeighborSpace, pairs: Floats, j: int, chosen: Ints) -> float:
    """The mean squared difference of two numbers; of nodes, what covers all."""
    low, high, total, squares = np.inf, -np.inf, 0.0, 0.0
    origin = pairs[chosen[0], j]
    for p in range(len(chosen)):
        value = pairs[chosen[p], j]
        low, high = min(low, value), max(high, value)
        total += value - origin
        squares += (value - origin) * (value - origin)
    if j >= space.ends[NUMBER]:
        return tree_loss(space.heads, space.whole, space.real, j, low, high)
    mean = total / len(chosen)
    return 2.0 * max(squares / len(chosen) - mean * mean, 0.0)


@inner_numpy
def _part(
    pairs: Floats, axis: int, order: Ints, left: int, right: int, at: int
) -> None:
    """Move the items below the one that belongs to place `at` before it.

    Of equal ones the first comes first: leaves then hold neighbors in rank, and of
    many items at one place a search looks at the first leaf alone.
    """
    while left < right:
        middle = order[(left + right) // 2]
        pivot = pairs[middle, axis]
        i, j = left, right
        while i <= j:
            value = pairs[order[i], axis]
            while value < pivot or (value == pivot and order[i] < middle):
                i += 1
                value = pairs[order[i], axis]
            value = pairs[order[j], axis]
            while value > pivot or (value == pivot and order[j] > middle):
                j -= 1
                value = pairs[order[j], axis]
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        if at <= j:
            right = j
        elif at >= i:
            left = i
        else:
            return


@inner_numpy
def renew(space: NeighborSpace, items: Items, tree: NeighborTree, item: int) -> None:
    """Bound the nodes above an item again, which has changed."""
    node = tree.leaf_of[item]
    while node >= 0 and bound(space, items, tree, node):
        node = tree.places[node, PARENT]


@inner_numpy
def bound(space: NeighborSpace, items: Items, tree: NeighborTree, node: int) -> bool:
    """Bound a node by its items or its children; whether that changed anything."""
    marks, spare = tree.marks, len(tree.marks) - 1
    _clear(space, tree, spare)
    if marks[node, CHILD]:
        for child in range(marks[node, CHILD], marks[node, CHILD] + 2):
            _cover_node(space, tree, spare, child)
    else:
        for p in range(tree.places[node, START], tree.places[node, END]):
            if items.marks[tree.order[p], RANK] != GONE:
                _cover_item(space, items, tree, spare, tree.order[p])
    return _replaced(tree, node, spare)


@inlined_numpy
def _clear(space: NeighborSpace, tree: NeighborTree, node: int) -> None:
    sets = space.ends[SET]
    tree.marks[node, LEAST], tree.marks[node, MOST] = GONE, 0
    for j in range(sets):
        tree.marks[node, SETS + j] = 0
    for j in range(sets, len(space.heads)):
        start = np.inf if j < space.ends[NUMBER] else -np.inf
        tree.pairs[node, 2 * (j - sets)] = start
        tree.pairs[node, 2 * (j - sets) + 1] = -start
    for v in range(tree.firsts.shape[1]):
        tree.firsts[node, v] = GONE


@inlined_numpy
def _cover_item(
    space: NeighborSpace, items: Items, tree: NeighborTree, node: int, i: int
) -> None:
    marks, sets, axes = tree.marks, space.ends[SET], len(space.heads)
    size, wanted = items.marks[i, SIZE], items.marks[i, WANTED]
    marks[node, LEAST] = min(marks[node, LEAST], size)
    marks[node, MOST] = max(marks[node, MOST], size)
    for j in range(sets):
        marks[node, SETS + j] |= set_bit(items.pairs[i, j])
    for j in range(sets, axes):
        low, high = items.pairs[i, j], items.pairs[i, axes + j]
        _widen(space.ends, tree.pairs, node, j, low, high)
    for v in range(tree.firsts.shape[1]):
        if (wanted >> v) & 1:
            tree.firsts[node, v] = min(tree.firsts[node, v], items.marks[i, RANK])


@inlined_numpy
def _cover_node(
    space: NeighborSpace, tree: NeighborTree, node: int, child: int
) -> None:
    marks, pairs, firsts = tree.marks, tree.pairs, tree.firsts
    sets = space.ends[SET]
    marks[node, LEAST] = min(marks[node, LEAST], marks[child, LEAST])
    marks[node, MOST] = max(marks[node, MOST], marks[child, MOST])
    for j in range(sets):
        marks[node, SETS + j] |= marks[child, SETS + j]
    for j in range(sets, len(space.heads)):
        at = 2 * (j - sets)
        _widen(space.ends, pairs, node, j, pairs[child, at], pairs[child, at + 1])
    for v in range(firsts.shape[1]):
        firsts[node, v] = min(firsts[node, v], firsts[child, v])


@inlined_numpy
def _widen(
    ends: Ints, pairs: Floats, node: int, j: int, low: float, high: float
) -> None:
    """Let a node cover a pair; on tree axes it keeps what all its pairs cover."""
    at = 2 * (j - ends[SET])
    if j < ends[NUMBER]:
        pairs[node, at] = min(pairs[node, at], low)
        pairs[node, at + 1] = max(pairs[node, at + 1], high)
    else:
        pairs[node, at] = max(pairs[node, at], low)
        pairs[node, at + 1] = min(pairs[node, at + 1], high)


@inlined_numpy
def _replaced(tree: NeighborTree, node: int, spare: int) -> bool:
    """Give a node the bounds of another; whether they are different."""
    different = False
    for place in range(LEAST, tree.marks.shape[1]):
        different |= tree.marks[node, place] != tree.marks[spare, place]
        tree.marks[node, place] = tree.marks[spare, place]
    for place in range(tree.pairs.shape[1]):
        different |= tree.pairs[node, place] != tree.pairs[spare, place]
        tree.pairs[node, place] = tree.pairs[spare, place]
    for v in range(tree.firsts.shape[1]):
        different |= tree.firsts[node, v] != tree.firsts[spare, v]
        tree.firsts[node, v] = tree.firsts[spare, v]
    return different


# These functions are called most and take plain arrays: taking an array out of a tuple
# costs more than using it.


@inlined_numpy
def set_bit(mark: float) -> int:
    """The bit of a set: of two sets with different bits the marks differ."""
    place = np.int64(mark) & 31
    return np.int64(1) << (place + 32 if mark >= MIXED else place)


@inner_numpy
def tree_loss(
    heads: Ints, whole: Ints, real: Floats, j: int, low: float, high: float
) -> float:
    """NCP of the smallest node over a run of codes."""
    first, last = np.int64(low), np.int64(high)
    at, leaves, height = heads[j, LEVELS], heads[j, LEAVES], heads[j, HEIGHT]
    node = smallest_node(whole, at, leaves, height, first, last)
    return real[heads[j, LOSSES] + node]


@inlined_numpy
def distance(
    ends: Ints,
    heads: Ints,
    whole: Ints,
    real: Floats,
    query: Floats,
    size: int,
    pairs: Floats,
    other: int,
    i: int,
) -> float:
    """How far item i, of a size, is from a group of a size; the query has its pairs."""
    factor, total, axes = (size * other) / (size + other), 0.0, len(heads)
    for j in range(ends[SET]):
        if query[j] != pairs[i, j]:
            total += real[j]
    for j in range(ends[SET], ends[NUMBER]):
        gap = query[j] - pairs[i, j]
        total += real[j] * (factor * (gap * gap))
    for j in range(ends[NUMBER], axes):
        first = min(query[j], pairs[i, j])
        last = max(query[axes + j], pairs[i, axes + j])
        total += real[j] * tree_loss(heads, whole, real, j, first, last)
    return total


@inlined_numpy
def least_distance(
    ends: Ints,
    heads: Ints,
    whole: Ints,
    real: Floats,
    query: Floats,
    bits: Ints,
    size: int,
    marks: Ints,
    pairs: Floats,
    node: int,
    best: float,
) -> float:
    """No item below a node is nearer than this; above `best` it need not be exact."""
    total, sets, axes = 0.0, ends[SET], len(heads)
    for j in range(sets):
        if marks[node, SETS + j] & bits[j] == 0:
            total += real[j]
    if total > best:
        return total
    for j in range(sets, ends[NUMBER]):
        low, high = pairs[node, 2 * (j - sets)], pairs[node, 2 * (j - sets) + 1]
        gap = max(low - query[j], query[j] - high)
        if gap > 0.0:
            factor = (size * marks[node, LEAST]) / (size + marks[node, LEAST])
            total += real[j] * (factor * (gap * gap))
    for j in range(ends[NUMBER], axes):
        low, high = pairs[node, 2 * (j - sets)], pairs[node, 2 * (j - sets) + 1]
        first, last = min(query[j], low), max(query[axes + j], high)
        total += real[j] * tree_loss(heads, whole, real, j, first, last)
    return total
