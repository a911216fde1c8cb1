"""Add rows to groups and merge groups, with means, sets and histograms.

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


class KltProblem(NamedTuple):
    """What does not change: axes, rows and what is asked of groups."""

    space: NeighborSpace
    points: Floats
    """(tuples, 3 × axes): a number or a code, as low, as high and as sum."""
    asked: Ints
    """See `K` and the following."""
    share: Floats
    """The highest share of a value, per view."""


class KltGroups(NamedTuple):
    """All groups: as items to be found, and their rows as linked lists."""

    items: Items
    rows: Codes
    """(rows, 2 + views): see `FOLLOWER` and the following; what is needed of a row
    lies together, for groups are visited in no order."""
    counts: Ints
    """(views, values): room for one histogram, all zero between uses."""
    stamps: Ints
    """When each category was last seen; the next stamp comes last."""


def new_klt_groups(
    problem: KltProblem, tuple_of: Ints, values: Ints, categories: int
) -> KltGroups:
    """Room for as many groups as rows; `values` are those of the rows in each view.

    Of the groups nothing is touched before it is used.
    """
    rows, axes, views = len(tuple_of), len(problem.space.heads), len(values)
    lists = np.empty((rows, VALUE + views), dtype=np.int32)
    lists[:, FOLLOWER], lists[:, TUPLE], lists[:, VALUE:] = -1, tuple_of, values.T
    return KltGroups(
        items=Items(
            pairs=np.empty((rows, 3 * axes)),
            marks=np.empty((rows, COUNTS + 2 * views), dtype=np.int64),
        ),
        rows=lists,
        counts=np.zeros((views, int(values.max(initial=0)) + 1), dtype=np.int64),
        stamps=np.zeros(categories + 1, dtype=np.int64),
    )


@inner_numpy
def start_group(problem: KltProblem, groups: KltGroups, g: int, row: int) -> None:
    """Make group g of one row."""
    marks, at, axes = (
        groups.items.marks,
        groups.rows[row, TUPLE],
        len(problem.space.heads),
    )
    marks[g, SIZE], marks[g, RANK], marks[g, WANTED] = 1, g, EVERYTHING
    marks[g, HEAD] = marks[g, TAIL] = row
    for place in range(COUNTS, marks.shape[1]):
        marks[g, place] = 1
    for j in range(3 * axes):
        groups.items.pairs[g, j] = problem.points[at, j]


@inlined_numpy
def occurrences(
    problem: KltProblem, groups: KltGroups, g: int, v: int, row: int
) -> int:
    """How often the value of a row occurs in a group."""
    value = groups.rows[row, VALUE + v]
    count, row = 0, groups.items.marks[g, HEAD]
    while row >= 0:
        if groups.rows[row, VALUE + v] == value:
            count += 1
        row = groups.rows[row, FOLLOWER]
    return count


@inner_numpy
def take_in(problem: KltProblem, groups: KltGroups, g: int, row: int) -> None:
    """Add a row to a group."""
    marks, views = groups.items.marks, len(problem.share)
    for v in range(views):
        before = occurrences(problem, groups, g, v, row)
        if before == 0:
            marks[g, COUNTS + v] += 1
        most = COUNTS + views + v
        marks[g, most] = max(marks[g, most], before + 1)
    marks[g, SIZE] += 1
    for j in range(len(problem.space.heads)):
        _stretch(problem, groups, g, j, problem.points[groups.rows[row, TUPLE], j])
    groups.rows[marks[g, TAIL], FOLLOWER] = row
    marks[g, TAIL] = row


@inlined_numpy
def _stretch(
    problem: KltProblem, groups: KltGroups, g: int, j: int, value: float
) -> None:
    """Let a group cover a value, which is not yet in its list."""
    pairs, axes, ends = groups.items.pairs, len(problem.space.heads), problem.space.ends
    low, high = min(pairs[g, j], value), max(pairs[g, axes + j], value)
    if ends[SET] <= j < ends[NUMBER]:
        size = groups.items.marks[g, SIZE]
        pairs[g, 2 * axes + j] += value
        low = pairs[g, 2 * axes + j] / size
        if problem.asked[STRICT]:
            low = (pairs[g, j] * (size - 1) + value) / size
        high = low
    elif j < ends[SET]:
        low = high = pairs[g, j]
        if low != value and (low < MIXED or not _occurs(problem, groups, g, j, value)):
            key = _key_of(problem, j, low) ^ _key_of(problem, j, value)
            low = high = MIXED + key
    pairs[g, j], pairs[g, axes + j] = low, high


@inlined_numpy
def _key_of(problem: KltProblem, j: int, mark: float) -> int:
    """The key of a set by its mark."""
    if mark >= MIXED:
        return np.int64(mark - MIXED)
    return problem.space.whole[problem.space.heads[j, KEYS] + np.int64(mark)]


@inlined_numpy
def _occurs(
    problem: KltProblem, groups: KltGroups, g: int, j: int, value: float
) -> bool:
    row = groups.items.marks[g, HEAD]
    while row >= 0:
        if problem.points[groups.rows[row, TUPLE], j] == value:
            return True
        row = groups.rows[row, FOLLOWER]
    return False


@inner_numpy
def unite(problem: KltProblem, groups: KltGroups, g: int, other: int) -> None:
    """Add all rows of another group, which is then gone."""
    marks = groups.items.marks
    marks[g, SIZE] += marks[other, SIZE]
    for j in range(len(problem.space.heads)):
        _unite_axis(problem, groups, g, other, j)
    groups.rows[marks[g, TAIL], FOLLOWER] = marks[other, HEAD]
    marks[g, TAIL] = marks[other, TAIL]
    marks[other, RANK] = GONE
    views = len(problem.share)
    for v in range(views):
        _count(problem, groups, g, v)
        distinct, most = _sum_up(problem, groups, g, v)
        marks[g, COUNTS + v], marks[g, COUNTS + views + v] = distinct, most


@inner_numpy
def _unite_axis(
    problem: KltProblem, groups: KltGroups, g: int, other: int, j: int
) -> None:
    pairs, axes, ends = groups.items.pairs, len(problem.space.heads), problem.space.ends
    low = min(pairs[g, j], pairs[other, j])
    high = max(pairs[g, axes + j], pairs[other, axes + j])
    if ends[SET] <= j < ends[NUMBER]:
        size, added = groups.items.marks[g, SIZE], groups.items.marks[other, SIZE]
        pairs[g, 2 * axes + j] += pairs[other, 2 * axes + j]
        low = pairs[g, 2 * axes + j] / size
        if problem.asked[STRICT]:
            low = (pairs[g, j] * (size - added) + pairs[other, j] * added) / size
        high = low
    elif j < ends[SET] and pairs[g, j] != pairs[other, j]:
        low = high = MIXED + _united_key(problem, groups, g, other, j)
    pairs[g, j], pairs[g, axes + j] = low, high


@inner_numpy
def _united_key(
    problem: KltProblem, groups: KltGroups, g: int, other: int, j: int
) -> int:
    """The key of the union of two sets."""
    stamps, start, marks = (
        groups.stamps,
        problem.space.heads[j, KEYS],
        groups.items.marks,
    )
    stamps[-1] += 1
    key = 0
    for each in (g, other):
        row = marks[each, HEAD]
        while row >= 0:
            at = start + np.int64(problem.points[groups.rows[row, TUPLE], j])
            if stamps[at] != stamps[-1]:
                stamps[at] = stamps[-1]
                key ^= problem.space.whole[at]
            row = groups.rows[row, FOLLOWER]
    return key


@inner_numpy
def _count(problem: KltProblem, groups: KltGroups, g: int, v: int) -> None:
    """Add a group's values to the histogram in use."""
    row = groups.items.marks[g, HEAD]
    while row >= 0:
        groups.counts[v, groups.rows[row, VALUE + v]] += 1
        row = groups.rows[row, FOLLOWER]


@inner_numpy
def _sum_up(problem: KltProblem, groups: KltGroups, g: int, v: int) -> tuple[int, int]:
    """How many of a group's values are counted and the highest; counts are cleared."""
    distinct, most, row = 0, 0, groups.items.marks[g, HEAD]
    while row >= 0:
        value = groups.rows[row, VALUE + v]
        if groups.counts[v, value] > 0:
            distinct += 1
            most = max(most, groups.counts[v, value])
            groups.counts[v, value] = 0
        row = groups.rows[row, FOLLOWER]
    return distinct, most


@inner_numpy
def satisfied(problem: KltProblem, groups: KltGroups, g: int) -> bool:
    """Whether a group meets every requirement."""
    marks, views = groups.items.marks, len(problem.share)
    size = marks[g, SIZE]
    for v in range(views):
        if marks[g, COUNTS + v] < problem.asked[DISTINCT + v]:
            return False
        if marks[g, COUNTS + views + v] > (problem.share[v] + SLACK) * size:
            return False
    return size >= problem.asked[K]


@inner_numpy
def union_ok(
    problem: KltProblem, groups: KltGroups, g: int, other: int, every: bool
) -> bool:
    """Whether two groups together meet the shares, or every requirement."""
    marks, views = groups.items.marks, len(problem.share)
    size = marks[g, SIZE] + marks[other, SIZE]
    if every and size < problem.asked[K]:
        return False
    for v in range(views):
        needed = problem.asked[DISTINCT + v] if every else 0
        limit = (problem.share[v] + SLACK) * size
        distinct = max(marks[g, COUNTS + v], marks[other, COUNTS + v])
        most = COUNTS + views + v
        if distinct >= needed and marks[g, most] + marks[other, most] <= limit:
            continue
        _count(problem, groups, g, v)
        _count(problem, groups, other, v)
        distinct, highest = _sum_up(problem, groups, g, v)
        more, other_highest = _sum_up(problem, groups, other, v)
        if max(highest, other_highest) > limit or distinct + more < needed:
            return False
    return True


@inlined_numpy
def _has_room(problem: KltProblem, v: int, count: int, most: int, size: int) -> bool:
    """Whether a value that occurs `count` times may occur once more (step 3)."""
    after = max(most, count + 1)
    if problem.asked[STRICT]:
        return count == 0 or after / size < problem.share[v]
    return after <= (problem.share[v] + SLACK) * (size + 1)


@inner_numpy
def row_fits(problem: KltProblem, groups: KltGroups, g: int, row: int) -> bool:
    """Whether a group has room for the values of a row."""
    marks, views = groups.items.marks, len(problem.share)
    for v in range(views):
        count = occurrences(problem, groups, g, v, row)
        most = marks[g, COUNTS + views + v]
        if not _has_room(problem, v, count, most, marks[g, SIZE]):
            return False
    return True


@inner_numpy
def open_up(problem: KltProblem, groups: KltGroups, g: int) -> None:
    """Say whether a group takes rows, and which values of the first view."""
    marks, views = groups.items.marks, len(problem.share)
    size = marks[g, SIZE]
    marks[g, RANK] = g if size < problem.asked[K] else GONE
    marks[g, WANTED] = EVERYTHING
    if views == 0 or size >= problem.asked[K] or groups.counts.shape[1] > BITS:
        return
    most, view, absent = marks[g, COUNTS + views], np.int64(0), np.int64(0)
    if not _has_room(problem, view, absent, most, size):
        marks[g, WANTED] = 0
    elif not _has_room(problem, view, most, most, size):
        _close_for_common(problem, groups, g)


@inlined_numpy
def _close_for_common(problem: KltProblem, groups: KltGroups, g: int) -> None:
    """Take the values without room from those that a group wants."""
    marks, rows, counts = groups.items.marks, groups.rows, groups.counts
    most, size = marks[g, COUNTS + len(problem.share)], marks[g, SIZE]
    view, first, closed = np.int64(0), marks[g, HEAD], np.int64(0)
    row = first
    while row >= 0:
        value = np.int64(rows[row, VALUE])
        counts[0, value] += 1
        if not _has_room(problem, view, counts[0, value], most, size):
            closed |= 1 << value
        row = np.int64(rows[row, FOLLOWER])
    marks[g, WANTED] = EVERYTHING & ~closed
    row = first
    while row >= 0:
        counts[0, rows[row, VALUE]] = 0
        row = np.int64(rows[row, FOLLOWER])
