"""Run the steps of K,L,θ clustering on a tree that finds the nearest exactly.

Paper: Boger 2020, section 3.1, steps 1 to 6. Steps 1 and 2: `_start` starts a group with
the first row left and adds the nearest ones that bring a new sensitive value, the others
wait. Step 3: waiting rows join the nearest group of fewer than K rows with room for their
value. Step 4, repeating 1 to 3 for what still waits, is the caller's loop. Step 5: `_mend`
merges a group that is not satisfied with the nearest that completes it, else with the
nearest that does not harm it. Step 6: `label_rows` keeps the satisfied groups.
Cost: one search of the tree per row or merge, O(log n × m) where bounds are tight and
O(n × m) at worst, for n items on m axes, plus O(log n × m) to renew bounds.
Invariant: what a search finds is the nearest item that serves, of equally near ones the
lowest rank; every row is in one group or in the queue; rows without a place are
labeled −1, never lost.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.data.arrays import Floats, Ints
from sfumato.kernels.clustering.klt_groups import (
    DISTINCT,
    EVERYTHING,
    FILL,
    FOLLOWER,
    TUPLE,
    VALUE,
    Flock,
    K,
    World,
    occurrences,
    open_up,
    row_fits,
    satisfied,
    start_group,
    take_in,
    union_ok,
    unite,
)
from sfumato.kernels.clustering.neighbor_tree import (
    CHILD,
    COUNTS,
    DEEPEST,
    END,
    GONE,
    HEAD,
    MOST,
    RANK,
    SET,
    SIZE,
    START,
    TAIL,
    WANTED,
    Items,
    NeighborTree,
    distance,
    least_distance,
    renew,
    set_bit,
)
from sfumato.kernels.common.borrowed_arrays import borrow
from sfumato.kernels.compilation.decorators import both_numpy, inner_numpy

ANY, ROOM, COMPLETE, HARMLESS = range(4)
"""What is looked for: any item, a group with room for a row, a group that completes
another, a group that does not break the shares of another."""
GROUPS, QUEUED, NEXT, LEFT, MERGES, STACK = range(6)
"""Counters of a run, and where the stack of a search begins."""
FORM, PLACE, MERGE, MERGE_ONCE = range(4)
"""What a call of `advance` does."""


class KltWorkspace(NamedTuple):
    """Counters, room for searching, and the rows that wait."""

    counters: Ints
    bits: Ints
    bounds: Floats
    queue: Ints


def new_desk(rows: int, axes: int) -> KltWorkspace:
    """A desk for a table of so many rows and axes."""
    return KltWorkspace(
        counters=np.zeros(STACK + DEEPEST, dtype=np.int64),
        bits=np.empty(axes, dtype=np.int64),
        bounds=np.empty(DEEPEST),
        queue=np.empty(rows, dtype=np.int64),
    )


@both_numpy
def advance(
    step: int,
    world: World,
    flock: Flock,
    items: Items,
    tree: NeighborTree,
    desk: KltWorkspace,
    waiting: Ints,
    most: int,
) -> None:
    """One stretch of a step, the only door: behind it all is compiled once.

    FORM: steps 1 and 2 for about `most` rows; `items` are tuples, whose queues lie in
    `waiting`. PLACE: step 3 for the waiting rows; `items` are the groups. MERGE: step
    5 for at most `most` merges.
    """
    world, flock, items = borrow(world), borrow(flock), borrow(items)
    tree, desk, waiting = borrow(tree), borrow(desk), borrow(waiting)
    if step == FORM:
        end = max(desk.counters[LEFT] - most, 0)
        while desk.counters[LEFT] > end:
            _start(world, flock, items, tree, desk, waiting)
    elif step == PLACE:
        for place in range(len(waiting)):
            row = waiting[place]
            g = _search(world, flock, items, tree, desk, np.int64(ROOM), row)
            if g >= 0:
                take_in(world, flock, g, row)
                open_up(world, flock, g)
                renew(world.space, items, tree, g)
            else:
                _enqueue(desk, row)
    else:
        end = desk.counters[MERGES] + most
        while desk.counters[NEXT] < desk.counters[GROUPS]:
            if desk.counters[MERGES] == end:
                break
            _mend(world, flock, items, tree, desk, step == MERGE_ONCE)


@inner_numpy
def _start(
    world: World,
    flock: Flock,
    items: Items,
    tree: NeighborTree,
    desk: KltWorkspace,
    waiting: Ints,
) -> None:
    """Steps 1 and 2 for one group: start it with the first row and let it grow."""
    g = desk.counters[GROUPS]
    desk.counters[GROUPS] += 1
    at = np.int64(flock.rows[tree.firsts[0, 0], TUPLE])
    start_group(world, flock, g, _withdraw(world, items, tree, desk, waiting, at))
    while desk.counters[LEFT] > 0 and not _formed(world, flock, g):
        at = _search(world, flock, items, tree, desk, np.int64(ANY), g)
        row = _withdraw(world, items, tree, desk, waiting, at)
        if _brings_new(world, flock, g, row):
            take_in(world, flock, g, row)
        else:
            _enqueue(desk, row)


@inner_numpy
def _enqueue(desk: KltWorkspace, row: int) -> None:
    desk.queue[desk.counters[QUEUED]] = row
    desk.counters[QUEUED] += 1


@inner_numpy
def _withdraw(
    world: World,
    items: Items,
    tree: NeighborTree,
    desk: KltWorkspace,
    waiting: Ints,
    at: int,
) -> int:
    """Take the first row of a tuple's queue."""
    row = items.marks[at, RANK]
    desk.counters[LEFT] -= 1
    items.marks[at, HEAD] += 1
    if items.marks[at, HEAD] == items.marks[at, TAIL]:
        items.marks[at, RANK] = GONE
    else:
        items.marks[at, RANK] = waiting[items.marks[at, HEAD]]
    renew(world.space, items, tree, at)
    return row


@inner_numpy
def _formed(world: World, flock: Flock, g: int) -> bool:
    """Whether a group has the values, and the rows, that step 2 asks for."""
    for v in range(len(world.share)):
        if flock.items.marks[g, COUNTS + v] < world.asked[DISTINCT + v]:
            return False
    return flock.items.marks[g, SIZE] >= world.asked[FILL]


@inner_numpy
def _brings_new(world: World, flock: Flock, g: int, row: int) -> bool:
    """Whether a row has a new value wherever a group still lacks some."""
    for v in range(len(world.share)):
        lacks = flock.items.marks[g, COUNTS + v] < world.asked[DISTINCT + v]
        if lacks and occurrences(world, flock, g, v, row) > 0:
            return False
    return True


@inner_numpy
def _mend(
    world: World,
    flock: Flock,
    items: Items,
    tree: NeighborTree,
    desk: KltWorkspace,
    once: bool,
) -> None:
    """Step 5 for the next group: one merge, unless it needs none or finds none."""
    g, partner = desk.counters[NEXT], np.int64(-1)
    if items.marks[g, RANK] != GONE and not satisfied(world, flock, g):
        for purpose in range(np.int64(COMPLETE), np.int64(HARMLESS + 1)):
            if partner < 0:
                partner = _search(world, flock, items, tree, desk, purpose, g)
    if partner >= 0:
        unite(world, flock, g, partner)
        renew(world.space, items, tree, partner)
        renew(world.space, items, tree, g)
        desk.counters[MERGES] += 1
    if partner < 0 or once:
        desk.counters[NEXT] += 1


@inner_numpy
def _search(
    world: World,
    flock: Flock,
    items: Items,
    tree: NeighborTree,
    desk: KltWorkspace,
    purpose: int,
    subject: int,
) -> int:
    """The nearest item that serves the purpose, or −1; the lowest rank of several.

    `subject` is the row that looks for room, or the group that looks for a row or for
    another group.
    """
    needed, value, size = np.int64(0), np.int64(0), np.int64(1)
    told = purpose == ANY
    if purpose == ROOM:
        query = world.points[flock.rows[subject, TUPLE]]
        if tree.firsts.shape[1] > 1:
            value, told = np.int64(flock.rows[subject, VALUE]), len(world.share) == 1
    else:
        query, size = flock.items.pairs[subject], flock.items.marks[subject, SIZE]
        if purpose == COMPLETE:
            needed = world.asked[K] - size
    ends, heads = world.space.ends, world.space.heads
    whole, real, bits = world.space.whole, world.space.real, desk.bits
    for j in range(ends[SET]):
        bits[j] = set_bit(query[j])
    pairs, marks = items.pairs, items.marks
    order, places = tree.order, tree.places
    nodes, boxes, firsts = tree.marks, tree.pairs, tree.firsts
    stack, bounds = desk.counters, desk.bounds
    best, lowest, answer = np.inf, np.int64(GONE), np.int64(-1)
    stack[STACK], bounds[0], top = 0, 0.0, np.int64(1)
    while top > 0:
        top -= 1
        node, least = stack[STACK + top], bounds[top]
        if least > best or (least == best and firsts[node, value] >= lowest):
            continue
        child = nodes[node, CHILD]
        if child:
            before = top
            for each in range(child, child + 2):
                first = firsts[each, value]
                if first == GONE or (needed > 0 and nodes[each, MOST] < needed):
                    continue
                least = least_distance(
                    ends, heads, whole, real, query, bits, size, nodes, boxes, each,
                    best,
                )  # fmt: skip
                if least < best or (least == best and first < lowest):
                    stack[STACK + top], bounds[top] = each, least
                    top += 1
            if top == before + 2:
                a, b = bounds[before], bounds[before + 1]
                nearer = firsts[child, value] < firsts[child + 1, value]
                if a < b or (a == b and nearer):
                    stack[STACK + before], stack[STACK + before + 1] = child + 1, child
                    bounds[before], bounds[before + 1] = b, a
            continue
        for p in range(places[node, START], places[node, END]):
            i = order[p]
            rank, other = marks[i, RANK], marks[i, SIZE]
            if rank == GONE or (marks[i, WANTED] >> value) & 1 == 0:
                continue
            if purpose >= COMPLETE and i == subject:
                continue
            far = distance(ends, heads, whole, real, query, size, pairs, other, i)
            if far > best or (far == best and rank >= lowest):
                continue
            if told or _serves(world, flock, i, purpose, subject):
                best, lowest, answer = far, rank, i
    return answer


@inner_numpy
def _serves(world: World, flock: Flock, i: int, purpose: int, subject: int) -> bool:
    if purpose == ROOM:
        return row_fits(world, flock, i, subject)
    return union_ok(world, flock, subject, i, purpose == COMPLETE)


@both_numpy
def open_groups(world: World, flock: Flock, count: int) -> None:
    """Before step 3: say of every group what it has room for."""
    world, flock = borrow(world), borrow(flock)
    for g in range(count):
        open_up(world, flock, g)


def show_groups(flock: Flock, count: int) -> None:
    """Before step 5: every group can be found by every other."""
    flock.items.marks[:count, RANK] = np.arange(count)
    flock.items.marks[:count, WANTED] = EVERYTHING


@both_numpy
def label_rows(world: World, flock: Flock, count: int, labels: Ints) -> None:
    """Step 6: the group of each row of groups that meet every requirement, else −1."""
    world, flock = borrow(world), borrow(flock)
    for row in range(len(labels)):
        labels[row] = -1
    for g in range(count):
        if flock.items.marks[g, RANK] == GONE or not satisfied(world, flock, g):
            continue
        row = flock.items.marks[g, HEAD]
        while row >= 0:
            labels[row] = g
            row = flock.rows[row, FOLLOWER]
