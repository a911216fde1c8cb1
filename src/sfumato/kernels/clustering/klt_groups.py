"""Let groups take in rows and each other, with means, sets and histograms.

Paper: Boger 2020, section 3.1: the clusters of K,L,θ clustering, their representatives
(means, sets of categories, or nodes) and what is asked of them. θ compares the count of
the commonest value with the size of the group. `STRICT` follows the published program
where it departs from the text.
Cost: O(s × v) to take a row into a group of s rows with v views; O(s₁ + s₂) to unite two
groups; O(1) to ask whether a group is satisfied.
Invariant: sums, sets and counts are those of the rows in the list; two sets have the
same mark exactly if they have the same key, which is the exclusive or of their values'
keys; counts are all zero between uses.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.data.arrays import Codes, Floats, Ints
from sfumato.kernels.clustering.neighbor_tree import (
    COUNTS,
    GONE,
    HEAD,
    KEYS,
    MIXED,
    NUMBER,
    RANK,
    SET,
    SIZE,
    TAIL,
    WANTED,
    Items,
    NeighborSpace,
)
from sfumato.kernels.compilation.decorators import inlined_numpy, inner_numpy

K, FILL, STRICT, DISTINCT = range(4)
"""What is asked: rows per group; rows at which step 2 is done; whether step 3 tests
shares, and means are carried on and rounded, as in the program of 2020; and, from here
on, values per view."""
FOLLOWER, TUPLE, VALUE = range(3)
"""Of each row: the next one of its group, or −1; its tuple; its sensitive values."""
BITS = 63
"""Up to so many values have a bit of their own."""
EVERYTHING = (1 << BITS) - 1
SLACK = 1e-9
"""A share that is met exactly is met: the tolerance of the models."""


class World(NamedTuple):
    """What does not change: axes, rows and what is asked of groups."""

    space: NeighborSpace
    points: Floats
    """(tuples, 3 × axes): a number or a code, as low, as high and as sum."""
    asked: Ints
    """See `K` and the following."""
    share: Floats
    """The highest share of a value, per view."""


class Flock(NamedTuple):
    """All groups: as items to be found, and their rows as linked lists."""

    items: Items
    rows: Codes
    """(rows, 2 + views): see `FOLLOWER` and the following; what is needed of a row
    lies together, for groups are visited in no order."""
    counts: Ints
    """(views, values): room for one histogram, all zero between uses."""
    stamps: Ints
    """When each category was last seen; the next stamp comes last."""


def new_flock(world: World, tuple_of: Ints, values: Ints, categories: int) -> Flock:
    """Room for as many groups as rows; `values` are those of the rows in each view.

    Of the groups nothing is touched before it is used.
    """
    rows, axes, views = len(tuple_of), len(world.space.heads), len(values)
    lists = np.empty((rows, VALUE + views), dtype=np.int32)
    lists[:, FOLLOWER], lists[:, TUPLE], lists[:, VALUE:] = -1, tuple_of, values.T
    return Flock(
        items=Items(
            pairs=np.empty((rows, 3 * axes)),
            marks=np.empty((rows, COUNTS + 2 * views), dtype=np.int64),
        ),
        rows=lists,
        counts=np.zeros((views, int(values.max(initial=0)) + 1), dtype=np.int64),
        stamps=np.zeros(categories + 1, dtype=np.int64),
    )


@inner_numpy
def start_group(world: World, flock: Flock, g: int, row: int) -> None:
    """Make group g of one row."""
    marks, at, axes = flock.items.marks, flock.rows[row, TUPLE], len(world.space.heads)
    marks[g, SIZE], marks[g, RANK], marks[g, WANTED] = 1, g, EVERYTHING
    marks[g, HEAD] = marks[g, TAIL] = row
    for place in range(COUNTS, marks.shape[1]):
        marks[g, place] = 1
    for j in range(3 * axes):
        flock.items.pairs[g, j] = world.points[at, j]


@inlined_numpy
def occurrences(world: World, flock: Flock, g: int, v: int, row: int) -> int:
    """How often the value of a row occurs in a group."""
    value = flock.rows[row, VALUE + v]
    count, row = 0, flock.items.marks[g, HEAD]
    while row >= 0:
        if flock.rows[row, VALUE + v] == value:
            count += 1
        row = flock.rows[row, FOLLOWER]
    return count


@inner_numpy
def take_in(world: World, flock: Flock, g: int, row: int) -> None:
    """Add a row to a group."""
    marks, views = flock.items.marks, len(world.share)
    for v in range(views):
        before = occurrences(world, flock, g, v, row)
        if before == 0:
            marks[g, COUNTS + v] += 1
        most = COUNTS + views + v
        marks[g, most] = max(marks[g, most], before + 1)
    marks[g, SIZE] += 1
    for j in range(len(world.space.heads)):
        _stretch(world, flock, g, j, world.points[flock.rows[row, TUPLE], j])
    flock.rows[marks[g, TAIL], FOLLOWER] = row
    marks[g, TAIL] = row


@inlined_numpy
def _stretch(world: World, flock: Flock, g: int, j: int, value: float) -> None:
    """Let a group cover a value, which is not yet in its list."""
    pairs, axes, ends = flock.items.pairs, len(world.space.heads), world.space.ends
    low, high = min(pairs[g, j], value), max(pairs[g, axes + j], value)
    if ends[SET] <= j < ends[NUMBER]:
        size = flock.items.marks[g, SIZE]
        pairs[g, 2 * axes + j] += value
        low = pairs[g, 2 * axes + j] / size
        if world.asked[STRICT]:
            low = (pairs[g, j] * (size - 1) + value) / size
        high = low
    elif j < ends[SET]:
        low = high = pairs[g, j]
        if low != value and (low < MIXED or not _occurs(world, flock, g, j, value)):
            key = _key_of(world, j, low) ^ _key_of(world, j, value)
            low = high = MIXED + key
    pairs[g, j], pairs[g, axes + j] = low, high


@inlined_numpy
def _key_of(world: World, j: int, mark: float) -> int:
    """The key of a set by its mark."""
    if mark >= MIXED:
        return np.int64(mark - MIXED)
    return world.space.whole[world.space.heads[j, KEYS] + np.int64(mark)]


@inlined_numpy
def _occurs(world: World, flock: Flock, g: int, j: int, value: float) -> bool:
    row = flock.items.marks[g, HEAD]
    while row >= 0:
        if world.points[flock.rows[row, TUPLE], j] == value:
            return True
        row = flock.rows[row, FOLLOWER]
    return False


@inner_numpy
def unite(world: World, flock: Flock, g: int, other: int) -> None:
    """Add all rows of another group, which is then gone."""
    marks = flock.items.marks
    marks[g, SIZE] += marks[other, SIZE]
    for j in range(len(world.space.heads)):
        _unite_axis(world, flock, g, other, j)
    flock.rows[marks[g, TAIL], FOLLOWER] = marks[other, HEAD]
    marks[g, TAIL] = marks[other, TAIL]
    marks[other, RANK] = GONE
    views = len(world.share)
    for v in range(views):
        _count(world, flock, g, v)
        distinct, most = _sum_up(world, flock, g, v)
        marks[g, COUNTS + v], marks[g, COUNTS + views + v] = distinct, most


@inner_numpy
def _unite_axis(world: World, flock: Flock, g: int, other: int, j: int) -> None:
    pairs, axes, ends = flock.items.pairs, len(world.space.heads), world.space.ends
    low = min(pairs[g, j], pairs[other, j])
    high = max(pairs[g, axes + j], pairs[other, axes + j])
    if ends[SET] <= j < ends[NUMBER]:
        size, added = flock.items.marks[g, SIZE], flock.items.marks[other, SIZE]
        pairs[g, 2 * axes + j] += pairs[other, 2 * axes + j]
        low = pairs[g, 2 * axes + j] / size
        if world.asked[STRICT]:
            low = (pairs[g, j] * (size - added) + pairs[other, j] * added) / size
        high = low
    elif j < ends[SET] and pairs[g, j] != pairs[other, j]:
        low = high = MIXED + _united_key(world, flock, g, other, j)
    pairs[g, j], pairs[g, axes + j] = low, high


@inner_numpy
def _united_key(world: World, flock: Flock, g: int, other: int, j: int) -> int:
    """The key of the union of two sets."""
    stamps, start, marks = flock.stamps, world.space.heads[j, KEYS], flock.items.marks
    stamps[-1] += 1
    key = 0
    for each in (g, other):
        row = marks[each, HEAD]
        while row >= 0:
            at = start + np.int64(world.points[flock.rows[row, TUPLE], j])
            if stamps[at] != stamps[-1]:
                stamps[at] = stamps[-1]
                key ^= world.space.whole[at]
            row = flock.rows[row, FOLLOWER]
    return key


@inner_numpy
def _count(world: World, flock: Flock, g: int, v: int) -> None:
    """Add a group's values to the histogram in use."""
    row = flock.items.marks[g, HEAD]
    while row >= 0:
        flock.counts[v, flock.rows[row, VALUE + v]] += 1
        row = flock.rows[row, FOLLOWER]


@inner_numpy
def _sum_up(world: World, flock: Flock, g: int, v: int) -> tuple[int, int]:
    """How many of a group's values are counted and the highest; counts are cleared."""
    distinct, most, row = 0, 0, flock.items.marks[g, HEAD]
    while row >= 0:
        value = flock.rows[row, VALUE + v]
        if flock.counts[v, value] > 0:
            distinct += 1
            most = max(most, flock.counts[v, value])
            flock.counts[v, value] = 0
        row = flock.rows[row, FOLLOWER]
    return distinct, most


@inner_numpy
def satisfied(world: World, flock: Flock, g: int) -> bool:
    """Whether a group meets every requirement."""
    marks, views = flock.items.marks, len(world.share)
    size = marks[g, SIZE]
    for v in range(views):
        if marks[g, COUNTS + v] < world.asked[DISTINCT + v]:
            return False
        if marks[g, COUNTS + views + v] > (world.share[v] + SLACK) * size:
            return False
    return size >= world.asked[K]


@inner_numpy
def union_ok(world: World, flock: Flock, g: int, other: int, every: bool) -> bool:
    """Whether two groups together meet the shares, or every requirement."""
    marks, views = flock.items.marks, len(world.share)
    size = marks[g, SIZE] + marks[other, SIZE]
    if every and size < world.asked[K]:
        return False
    for v in range(views):
        needed = world.asked[DISTINCT + v] if every else 0
        limit = (world.share[v] + SLACK) * size
        distinct = max(marks[g, COUNTS + v], marks[other, COUNTS + v])
        most = COUNTS + views + v
        if distinct >= needed and marks[g, most] + marks[other, most] <= limit:
            continue
        _count(world, flock, g, v)
        _count(world, flock, other, v)
        distinct, highest = _sum_up(world, flock, g, v)
        more, other_highest = _sum_up(world, flock, other, v)
        if max(highest, other_highest) > limit or distinct + more < needed:
            return False
    return True


@inlined_numpy
def _has_room(world: World, v: int, count: int, most: int, size: int) -> bool:
    """Whether a value that occurs `count` times may occur once more (step 3)."""
    after = max(most, count + 1)
    if world.asked[STRICT]:
        return count == 0 or after / size < world.share[v]
    return after <= (world.share[v] + SLACK) * (size + 1)


@inner_numpy
def row_fits(world: World, flock: Flock, g: int, row: int) -> bool:
    """Whether a group has room for the values of a row."""
    marks, views = flock.items.marks, len(world.share)
    for v in range(views):
        count = occurrences(world, flock, g, v, row)
        most = marks[g, COUNTS + views + v]
        if not _has_room(world, v, count, most, marks[g, SIZE]):
            return False
    return True


@inner_numpy
def open_up(world: World, flock: Flock, g: int) -> None:
    """Say whether a group takes rows, and which values of the first view."""
    marks, views = flock.items.marks, len(world.share)
    size = marks[g, SIZE]
    marks[g, RANK] = g if size < world.asked[K] else GONE
    marks[g, WANTED] = EVERYTHING
    if views == 0 or size >= world.asked[K] or flock.counts.shape[1] > BITS:
        return
    most, view, absent = marks[g, COUNTS + views], np.int64(0), np.int64(0)
    if not _has_room(world, view, absent, most, size):
        marks[g, WANTED] = 0
    elif not _has_room(world, view, most, most, size):
        _close_for_common(world, flock, g)


@inlined_numpy
def _close_for_common(world: World, flock: Flock, g: int) -> None:
    """Take the values without room from those that a group wants."""
    marks, rows, counts = flock.items.marks, flock.rows, flock.counts
    most, size = marks[g, COUNTS + len(world.share)], marks[g, SIZE]
    view, first, closed = np.int64(0), marks[g, HEAD], np.int64(0)
    row = first
    while row >= 0:
        value = np.int64(rows[row, VALUE])
        counts[0, value] += 1
        if not _has_room(world, view, counts[0, value], most, size):
            closed |= 1 << value
        row = np.int64(rows[row, FOLLOWER])
    marks[g, WANTED] = EVERYTHING & ~closed
    row = first
    while row >= 0:
        counts[0, rows[row, VALUE]] = 0
        row = np.int64(rows[row, FOLLOWER])
