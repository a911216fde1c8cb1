"""Run the steps of K,L,θ clustering on a tree that finds the nearest exactly.

Paper: Boger 2020, section 3.1, steps 1 to 6. Steps 1 and 2: `_start` starts a group with
the first row left and adds the nearest ones that bring a new sensitive value, the others
wait. Step 3: waiting rows join the nearest group of fewer than K rows with room for their
value. Step 4, repeating 1 to 3 for what still waits, is the caller's loop. Step 5:
`_merge_next` merges a group that is not satisfied with the nearest that completes it,
else with the nearest that does not harm it. Step 6: `label_rows` keeps the
satisfied groups.
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
    K,
    KltGroups,
    KltProblem,
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


def new_klt_workspace(rows: int, axes: int) -> KltWorkspace:
    """A workspace for a table of so many rows and axes."""
    return KltWorkspace(
        counters=np.zeros(STACK + DEEPEST, dtype=np.int64),
        bits=np.empty(axes, dtype=np.int64),
        bounds=np.empty(DEEPEST),
        queue=np.empty(rows, dtype=np.int64),
    )


@both_numpy
def advance(
    step: int,
    problem: KltProblem,
    groups: KltGroups,
    items: Items,
    tree: NeighborTree,
    workspace: KltWorkspace,
    waiting: Ints,
    most: int,
) -> None:
    """Run a part of a step; the only entry point, so that all of it is compiled once.

    FORM: steps 1 and 2 for about `most` rows; `items` are tuples, whose queues lie in
    `waiting`. PLACE: step 3 for the waiting rows; `items` are the groups. MERGE: step
    5 for at most `most` merges.
    """
    problem, groups, items = borrow(problem), borrow(groups), borrow(items)
    tree, workspace, waiting = borrow(tree), borrow(workspace), borrow(waiting)
    if step == FORM:
        end = max(workspace.counters[LEFT] - most, 0)
        while workspace.counters[LEFT] > end:
            _start(problem, groups, items, tree, workspace, waiting)
    elif step == PLACE:
        for place in range(len(waiting)):
            row = waiting[place]
            g = _search(problem, groups, items, tree, workspace, np.int64(ROOM), row)
            if g >= 0:
                take_in(problem, groups, g, row)
                open_up(problem, groups, g)
                renew(problem.space, items, tree, g)
            else:
                _enqueue(workspace, row)
    else:
        end = workspace.counters[MERGES] + most
        while workspace.counters[NEXT] < workspace.counters[GROUPS]:
            if workspace.counters[MERGES] == end:
                break
            _merge_next(problem, groups, items, tree, workspace, step == MERGE_ONCE)


@inner_numpy
def _start(
    problem: KltProblem,
    groups: KltGroups,
    items: Items,
    tree: NeighborTree,
    workspace: KltWorkspace,
    waiting: Ints,
) -> None:
    """Steps 1 and 2 for one group: start it with the first row and let it grow."""
    g = workspace.counters[GROUPS]
    workspace.counters[GROUPS] += 1
    at = np.int64(groups.rows[tree.firsts[0, 0], TUPLE])
    start_group(
        problem, groups, g, _withdraw(problem, items, tree, workspace, waiting, at)
    )
    while workspace.counters[LEFT] > 0 and not _formed(problem, groups, g):
        at = _search(problem, groups, items, tree, workspace, np.int64(ANY), g)
        row = _withdraw(problem, items, tree, workspace, waiting, at)
        if _brings_new(problem, groups, g, row):
            take_in(problem, groups, g, row)
        else:
            _enqueue(workspace, row)


@inner_numpy
def _enqueue(workspace: KltWorkspace, row: int) -> None:
    workspace.queue[workspace.counters[QUEUED]] = row
    workspace.counters[QUEUED] += 1


@inner_numpy
def _withdraw(
    problem: KltProblem,
    items: Items,
    tree: NeighborTree,
    workspace: KltWorkspace,
    waiting: Ints,
    at: int,
) -> int:
    """Take the first row of a tuple's queue."""
    row = items.marks[at, RANK]
    workspace.counters[LEFT] -= 1
    items.marks[at, HEAD] += 1
    if items.marks[at, HEAD] == items.marks[at, TAIL]:
        items.marks[at, RANK] = GONE
    else:
        items.marks[at, RANK] = waiting[items.marks[at, HEAD]]
    renew(problem.space, items, tree, at)
    return row


@inner_numpy
def _formed(problem: KltProblem, groups: KltGroups, g: int) -> bool:
    """Whether a group has the values, and the rows, that step 2 asks for."""
    for v in range(len(problem.share)):
        if groups.items.marks[g, COUNTS + v] < problem.asked[DISTINCT + v]:
            return False
    return groups.items.marks[g, SIZE] >= problem.asked[FILL]


@inner_numpy
def _brings_new(problem: KltProblem, groups: KltGroups, g: int, row: int) -> bool:
    """Whether a row has a new value wherever a group still lacks some."""
    for v in range(len(problem.share)):
        lacks = groups.items.marks[g, COUNTS + v] < problem.asked[DISTINCT + v]
        if lacks and occurrences(problem, groups, g, v, row) > 0:
            return False
    return True


@inner_numpy
def _merge_next(
    problem: KltProblem,
    groups: KltGroups,
    items: Items,
    tree: NeighborTree,
    workspace: KltWorkspace,
    once: bool,
) -> None:
    """Step 5 for the next group: one merge, unless it needs none or finds none."""
    g, partner = workspace.counters[NEXT], np.int64(-1)
    if items.marks[g, RANK] != GONE and not satisfied(problem, groups, g):
        for purpose in range(np.int64(COMPLETE), np.int64(HARMLESS + 1)):
            if partner < 0:
                partner = _search(problem, groups, items, tree, workspace, purpose, g)
    if partner >= 0:
        unite(problem, groups, g, partner)
        renew(problem.space, items, tree, partner)
        renew(problem.space, items, tree, g)
        workspace.counters[MERGES] += 1
    if partner < 0 or once:
        workspace.counters[NEXT] += 1


@inner_numpy
def _search(
    problem: KltProblem,
    groups: KltGroups,
    items: Items,
    tree: NeighborTree,
    workspace: KltWorkspace,
    purpose: int,
    subject: int,
) -> int:
    """The nearest item that serves the purpose, or −1; the lowest rank of several.

    `subject` is the row that looks for room, or the group that looks for a row or for
    another group.
    """
    needed, value, size = np.int64(0), np.int64(0), np.int64(1)
    always_serves = purpose == ANY
    if purpose == ROOM:
        query = problem.points[groups.rows[subject, TUPLE]]
        if tree.firsts.shape[1] > 1:
            value, always_serves = (
                np.int64(groups.rows[subject, VALUE]),
                len(problem.share) == 1,
            )
    else:
        query, size = groups.items.pairs[subject], groups.items.marks[subject, SIZE]
        if purpose == COMPLETE:
            needed = problem.asked[K] - size
    ends, heads = problem.space.ends, problem.space.heads
    whole, real, bits = problem.space.whole, problem.space.real, workspace.bits
    for j in range(ends[SET]):
        bits[j] = set_bit(query[j])
    pairs, marks = items.pairs, items.marks
    order, places = tree.order, tree.places
    nodes, boxes, firsts = tree.marks, tree.pairs, tree.firsts
    stack, bounds = workspace.counters, workspace.bounds
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
            if always_serves or _serves(problem, groups, i, purpose, subject):
                best, lowest, answer = far, rank, i
    return answer


@inner_numpy
def _serves(
    problem: KltProblem, groups: KltGroups, i: int, purpose: int, subject: int
) -> bool:
    if purpose == ROOM:
        return row_fits(problem, groups, i, subject)
    return union_ok(problem, groups, subject, i, purpose == COMPLETE)


@both_numpy
def open_groups(problem: KltProblem, groups: KltGroups, count: int) -> None:
    """Before step 3: say of every group what it has room for."""
    problem, groups = borrow(problem), borrow(groups)
    for g in range(count):
        open_up(problem, groups, g)


def show_groups(groups: KltGroups, count: int) -> None:
    """Before step 5: every group can be found by every other."""
    groups.items.marks[:count, RANK] = np.arange(count)
    groups.items.marks[:count, WANTED] = EVERYTHING


@both_numpy
def label_rows(
    problem: KltProblem, groups: KltGroups, count: int, labels: Ints
) -> None:
    """Step 6: the group of each row of groups that meet every requirement, else −1."""
    problem, groups = borrow(problem), borrow(groups)
    for row in range(len(labels)):
        labels[row] = -1
    for g in range(count):
        if groups.items.marks[g, RANK] == GONE or not satisfied(problem, groups, g):
            continue
        row = groups.items.marks[g, HEAD]
        while row >= 0:
            labels[row] = g
            row = groups.rows[row, FOLLOWER]
