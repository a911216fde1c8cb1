"""Deal the rows of a block out among the boxes of its groups, at the least loss.

A row may go to any group whose box holds it. Such a move changes only what that row
loses, so a chain of moves, each into the group that the next row leaves, changes the loss
by what a row loses in the last group, less what it loses in the first. A chain gains if it
starts in a group that can spare a row and ends in one that loses less. Groups are looked
at from the lowest loss on: of all groups that a chain leads from to this one, the dearest
that can spare a row gives it. Where none can, no later chain leads through these groups.

Paper: none; augmenting paths, which find the best sizes of groups because these are the
bases of a polymatroid (Edmonds 1970).
Cost: O(t × g × m) to find which of g boxes hold t tuples on m axes, and O(p) for a chain,
where p counts the tuples in all boxes. A limit on what is looked at ends the search.
Invariant: every row is in a group whose box held it before; no group gets smaller that had
the minimum of rows or fewer; without a limit, no other way to do that loses less.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.data.arrays import Codes, Flags, Floats, Ints
from sfumato.kernels.common.borrowed_arrays import borrow
from sfumato.kernels.compilation.decorators import both, inner
from sfumato.kernels.refinement.block_groups import rows_of
from sfumato.kernels.refinement.refinement_round import WEIGHED, RefinedGroups

NOBODY = -1
LEAST_GAIN = 1e-9


class GroupBoxes(NamedTuple):
    """The boxes of groups, as far as a group can stretch without losing more."""

    low: Codes
    """(groups, axes)"""
    high: Codes
    costs: Floats
    """What a row loses in each."""


class HeldTuples(NamedTuple):
    """The tuples of a block that lie in each box."""

    rows: Ints
    """Where the rows of each tuple start, and where the last one's end."""
    starts: Ints
    tuples: Codes


class Chains(NamedTuple):
    """The groups from which a chain leads to the one that is looked at."""

    row_of: Ints
    """The row that leaves each group; −1 where no chain begins."""
    next_of: Ints
    """Where it goes."""
    groups: Ints
    """The groups that were reached, in order."""


@both
def deal_blocks(
    points: Codes,
    boxes: GroupBoxes,
    minimum: int,
    groups: RefinedGroups,
    blocks: Ints,
    bounds: Ints,
    first: int,
    last: int,
    most_looks: int,
    label: Ints,
    figures: Floats,
) -> None:
    """Deal the rows of some blocks out; `label` gets a row of each row's new group."""
    groups, boxes = borrow(groups), borrow(boxes)
    place_of = np.empty(len(label), dtype=np.int64)
    for number in range(first, last):
        chosen = blocks[bounds[number] : bounds[number + 1]]
        rows = rows_of(groups, chosen)
        for i in range(len(rows)):
            place_of[rows[i]] = i
        group_of = np.empty(len(rows), dtype=np.int64)
        for g in range(len(chosen)):
            for i in range(groups.starts[chosen[g]], groups.starts[chosen[g] + 1]):
                group_of[place_of[groups.rows[i]]] = g
        held = tuples_in_boxes(points[rows], boxes, chosen)
        costs = boxes.costs[chosen]
        figures[number, WEIGHED] = deal(held, costs, minimum, group_of, most_looks)
        stands = np.full(len(chosen), NOBODY, dtype=np.int64)
        for i in range(len(rows)):
            if stands[group_of[i]] == NOBODY:
                stands[group_of[i]] = rows[i]
            label[rows[i]] = stands[group_of[i]]


@inner
def tuples_in_boxes(points: Codes, boxes: GroupBoxes, chosen: Ints) -> HeldTuples:
    """List the tuples of sorted points that each box holds."""
    rows = np.empty(len(points) + 1, dtype=np.int64)
    count = 0
    for i in range(len(points)):
        if i == 0 or (points[i] != points[i - 1]).any():
            rows[count] = i
            count += 1
    rows[count] = len(points)
    starts = np.zeros(len(chosen) + 1, dtype=np.int64)
    inside = np.empty(4 * len(points), dtype=np.int32)
    found = 0
    for g in range(len(chosen)):
        if found + count > len(inside):
            larger = np.empty(2 * len(inside) + count, dtype=np.int32)
            larger[:found] = inside[:found]
            inside = larger
        low, high = boxes.low[chosen[g]], boxes.high[chosen[g]]
        for t in range(count):
            point = points[rows[t]]
            ok = True
            for j in range(len(low)):
                if point[j] < low[j] or point[j] > high[j]:
                    ok = False
                    break
            if ok:
                inside[found] = t
                found += 1
        starts[g + 1] = found
    return HeldTuples(rows[: count + 1], starts, inside[:found])


@inner
def deal(
    held: HeldTuples, costs: Floats, minimum: int, group_of: Ints, most_looks: int
) -> int:
    """Make chains as long as one gains; return how many tuples were looked at."""
    held = borrow(held)
    count, looks = len(costs), 0
    sizes = np.zeros(count, dtype=np.int64)
    for g in group_of:
        sizes[g] += 1
    done = np.zeros(count, dtype=np.bool_)
    chains = Chains(
        np.empty(count, dtype=np.int64),
        np.empty(count, dtype=np.int64),
        np.empty(count, dtype=np.int64),
    )
    for last in np.argsort(costs, kind="mergesort"):
        while not done[last] and looks <= most_looks:
            reached, seen = find_chains(held, group_of, last, done, chains)
            looks += seen
            first = last
            for g in chains.groups[:reached]:
                if sizes[g] > minimum and costs[g] > costs[first] + LEAST_GAIN:
                    first = g
            if first == last:
                done[chains.groups[:reached]] = True
            sizes[first] -= 1
            sizes[last] += 1
            move_along(group_of, chains, first, last)
    return looks


@inner
def find_chains(
    held: HeldTuples, group_of: Ints, last: int, done: Flags, chains: Chains
) -> tuple[int, int]:
    """Find all groups from which a chain leads to the last one, and count the looks."""
    row_of, next_of, groups = chains.row_of, chains.next_of, chains.groups
    row_of[:] = NOBODY
    groups[0] = last
    reached, at, looks = 1, 0, 0
    while at < reached:
        g = groups[at]
        at += 1
        looks += held.starts[g + 1] - held.starts[g]
        for t in held.tuples[held.starts[g] : held.starts[g + 1]]:
            for row in range(held.rows[t], held.rows[t + 1]):
                other = group_of[row]
                if row_of[other] == NOBODY and other != last and not done[other]:
                    row_of[other] = row
                    next_of[other] = g
                    groups[reached] = other
                    reached += 1
    return reached, looks


@inner
def move_along(group_of: Ints, chains: Chains, first: int, last: int) -> None:
    """Move the row that leaves each group of a chain on to the next one."""
    g = first
    while g != last:
        row = chains.row_of[g]
        g = chains.next_of[g]
        group_of[row] = g
