"""A tree over points and groups that finds the nearest, ties included, exactly.

An item has a coordinate pair per axis. A *number* has its mean twice, a *set* of
categories its mark twice (the code of a single value, or a number that stands for
the set), a *tree* axis its lowest and its highest code. Bounds are made by the same
operations, in the same order, as distances. Rounding keeps order, so that a bound
never exceeds the distance of what it covers, to the last bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from sfumato.kernels.borrowing import borrow

NUMBER, SET, TREE = range(3)
"""How far apart two items are on an axis."""
KIND, KEYS, LEVELS, HEIGHT, LEAVES, LOSSES = range(6)
"""Of each axis: its kind, where its keys, levels and losses lie, and its extent."""
SIZE, RANK, WANTED, HEAD, TAIL, COUNTS = range(6)
"""Of each item: its rows; its rank, the lowest of equally near ones wins; a bit for
each value it may take in; the ends of its list of rows; how many values it has in
each view, and how often the commonest occurs."""
LEAST, MOST, FIRST, OPEN, SETS = range(5)
"""Of each node: the smallest and largest size below it, the lowest rank, all bits of
values, and for each axis a bit for the marks of sets."""
MIXED = float(1 << 51)
"""Marks of sets with several values start here; a single value is its own mark."""
GONE = np.iinfo(np.int64).max
"""The rank of an item that is not to be found."""
LEAF = 8
"""A leaf of the tree has at most so many items."""
DEEPEST = 128

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Space(NamedTuple):
    """The axes, in few arrays, so that what takes them compiles soon."""

    heads: Ints
    """(axes, 6): see `KIND` and the following."""
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


class Tree(NamedTuple):
    """Items in the order of the leaves, and the bounds of every node."""

    order: Ints
    leaf_of: Ints
    """The leaf of each item."""
    pairs: Floats
    """(nodes, 2 × axes)."""
    marks: Ints
    """(nodes, 4 + axes): see `LEAST` and the following."""


def plant(space: Space, items: Items, chosen: Ints, *, ceiling: float = np.inf) -> Tree:
    """A balanced tree over some of the items, at least one.

    Coordinates on set axes above the ceiling are not told apart when it branches.
    """
    leaves = 1
    while leaves * LEAF < len(chosen):
        leaves *= 2
    tree = Tree(
        order=chosen.astype(np.int64),
        leaf_of=np.empty(len(items.marks), dtype=np.int64),
        pairs=np.empty((2 * leaves - 1, 2 * len(space.heads))),
        marks=np.empty((2 * leaves - 1, SETS + len(space.heads)), dtype=np.int64),
    )
    settle(space, items, tree, ceiling)
    return tree


@numba.njit(cache=True, nogil=True, error_model="numpy")
def settle(space: Space, items: Items, tree: Tree, ceiling: float) -> None:
    """Split the items level by level, then bound every node."""
    space, items, tree = borrow(space), borrow(items), borrow(tree)
    count, leaves = len(tree.order), (len(tree.marks) + 1) // 2
    width = 1
    while width < leaves:
        for i in range(width):
            start, end = i * count // width, (i + 1) * count // width
            middle = (2 * i + 1) * count // (2 * width)
            axis = _widest(space, items, tree.order[start:end], ceiling)
            _part(items.pairs, axis, tree.order, start, end - 1, middle)
        width *= 2
    for leaf in range(leaves):
        for p in range(leaf * count // leaves, (leaf + 1) * count // leaves):
            tree.leaf_of[tree.order[p]] = leaf
        bound_leaf(space, items, tree, leaf)
    for node in range(leaves - 2, -1, -1):
        bound_node(space.heads, tree.pairs, tree.marks, node)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _widest(space: Space, items: Items, chosen: Ints, ceiling: float) -> int:
    """The axis on which some items differ most."""
    best, widest = -1.0, 0
    for j in range(len(space.heads)):
        low, high = np.inf, -np.inf
        for p in range(len(chosen)):
            value = items.pairs[chosen[p], j]
            low, high = min(low, value), max(high, value)
        if space.heads[j, KIND] == NUMBER:
            spread = (high - low) * (high - low)
        elif space.heads[j, KIND] == SET:
            spread = 1.0 if low < min(high, ceiling) else 0.0
        else:
            spread = tree_loss(space.heads, space.whole, space.real, j, low, high)
        if space.real[j] * spread > best:
            best, widest = space.real[j] * spread, j
    return widest


@numba.njit(cache=True, nogil=True, error_model="numpy")
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


@numba.njit(cache=True, nogil=True, error_model="numpy")
def bound_leaf(space: Space, items: Items, tree: Tree, leaf: int) -> None:
    """Bound a leaf by its items."""
    count, leaves = len(tree.order), (len(tree.marks) + 1) // 2
    node, axes = leaves - 1 + leaf, len(space.heads)
    _empty(space.heads, tree.pairs, tree.marks, node)
    for p in range(leaf * count // leaves, (leaf + 1) * count // leaves):
        i = tree.order[p]
        marks, bounds = items.marks[i], tree.marks[node]
        if marks[RANK] == GONE:
            continue
        for j in range(axes):
            low, high = items.pairs[i, j], items.pairs[i, axes + j]
            if space.heads[j, KIND] == SET:
                bounds[SETS + j] |= set_bit(low)
            else:
                _widen(space.heads, tree.pairs, node, j, low, high)
        bounds[LEAST] = min(bounds[LEAST], marks[SIZE])
        bounds[MOST] = max(bounds[MOST], marks[SIZE])
        bounds[FIRST] = min(bounds[FIRST], marks[RANK])
        bounds[OPEN] |= marks[WANTED]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def bound_node(heads: Ints, pairs: Floats, marks: Ints, node: int) -> None:
    """Bound a node by its children."""
    axes = len(heads)
    _empty(heads, pairs, marks, node)
    for child in range(2 * node + 1, 2 * node + 3):
        for j in range(axes):
            if heads[j, KIND] == SET:
                marks[node, SETS + j] |= marks[child, SETS + j]
            else:
                _widen(heads, pairs, node, j, pairs[child, j], pairs[child, axes + j])
        marks[node, LEAST] = min(marks[node, LEAST], marks[child, LEAST])
        marks[node, MOST] = max(marks[node, MOST], marks[child, MOST])
        marks[node, FIRST] = min(marks[node, FIRST], marks[child, FIRST])
        marks[node, OPEN] |= marks[child, OPEN]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _empty(heads: Ints, pairs: Floats, marks: Ints, node: int) -> None:
    marks[node, LEAST], marks[node, MOST] = GONE, 0
    marks[node, FIRST], marks[node, OPEN] = GONE, 0
    for j in range(len(heads)):
        start = -np.inf if heads[j, KIND] == TREE else np.inf
        pairs[node, j], pairs[node, len(heads) + j] = start, -start
        marks[node, SETS + j] = 0


@numba.njit(cache=True, nogil=True, error_model="numpy")
def set_bit(mark: float) -> int:
    """The bit of a set: of two sets with different bits the marks differ."""
    place = np.int64(mark) & 31
    return np.int64(1) << (place + 32 if mark >= MIXED else place)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _widen(
    heads: Ints, pairs: Floats, node: int, j: int, low: float, high: float
) -> None:
    """Let a node cover a pair; on tree axes it keeps what all its pairs cover."""
    at = len(heads) + j
    if heads[j, KIND] == TREE:
        pairs[node, j] = max(pairs[node, j], low)
        pairs[node, at] = min(pairs[node, at], high)
    else:
        pairs[node, j] = min(pairs[node, j], low)
        pairs[node, at] = max(pairs[node, at], high)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def renew(space: Space, items: Items, tree: Tree, item: int) -> None:
    """Bound the nodes above an item again, which has changed."""
    leaf = tree.leaf_of[item]
    bound_leaf(space, items, tree, leaf)
    node = (len(tree.marks) + 1) // 2 - 1 + leaf
    while node > 0:
        node = (node - 1) // 2
        bound_node(space.heads, tree.pairs, tree.marks, node)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def renew_rank(items: Items, tree: Tree, item: int) -> None:
    """The same after a change of an item's rank alone."""
    count, leaves = len(tree.order), (len(tree.marks) + 1) // 2
    leaf = tree.leaf_of[item]
    node, lowest = leaves - 1 + leaf, GONE
    for p in range(leaf * count // leaves, (leaf + 1) * count // leaves):
        lowest = min(lowest, items.marks[tree.order[p], RANK])
    tree.marks[node, FIRST] = lowest
    while node > 0:
        node = (node - 1) // 2
        left, right = tree.marks[2 * node + 1, FIRST], tree.marks[2 * node + 2, FIRST]
        tree.marks[node, FIRST] = min(left, right)


# What follows is called most, and takes plain arrays: to take one out of a tuple costs
# more than to use it.


@numba.njit(cache=True, nogil=True, error_model="numpy")
def tree_loss(
    heads: Ints, whole: Ints, real: Floats, j: int, low: float, high: float
) -> float:
    """NCP of the smallest node over a run of codes."""
    first, last = np.int64(low), np.int64(high)
    leaves, at = heads[j, LEAVES], heads[j, LEVELS]
    for _ in range(heads[j, HEIGHT]):
        node = whole[at + first]
        if node == whole[at + last]:
            return real[heads[j, LOSSES] + node]
        at += leaves
    return 1.0


@numba.njit(cache=True, nogil=True, error_model="numpy")
def distance(
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
    factor = (size * other) / (size + other)
    total, axes = 0.0, len(heads)
    for j in range(axes):
        if heads[j, KIND] == NUMBER:
            gap = query[j] - pairs[i, j]
            total += real[j] * (factor * (gap * gap))
        elif heads[j, KIND] == SET:
            if query[j] != pairs[i, j]:
                total += real[j]
        else:
            first = min(query[j], pairs[i, j])
            last = max(query[axes + j], pairs[i, axes + j])
            total += real[j] * tree_loss(heads, whole, real, j, first, last)
    return total


@numba.njit(cache=True, nogil=True, error_model="numpy")
def least_distance(
    heads: Ints,
    whole: Ints,
    real: Floats,
    query: Floats,
    size: int,
    pairs: Floats,
    marks: Ints,
    node: int,
) -> float:
    """No item below a node is nearer than this."""
    other = marks[node, LEAST]
    factor = (size * other) / (size + other)
    total, axes = 0.0, len(heads)
    for j in range(axes):
        low, high = pairs[node, j], pairs[node, axes + j]
        if heads[j, KIND] == NUMBER:
            gap = max(low - query[j], query[j] - high)
            if gap > 0.0:
                total += real[j] * (factor * (gap * gap))
        elif heads[j, KIND] == SET:
            if marks[node, SETS + j] & set_bit(query[j]) == 0:
                total += real[j]
        else:
            first, last = min(query[j], low), max(query[axes + j], high)
            total += real[j] * tree_loss(heads, whole, real, j, first, last)
    return total
