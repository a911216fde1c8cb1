"""Keep the groups of a block as lists of rows that a change can move and move back.

A change moves rows between groups, and notes each move. `settle` then measures the groups
that were touched, judges them by the rules, and undoes all moves unless it is taken.

Paper: none; the state of a local search over groups (`close_and_open`).
Cost: O(1) to move a row, and O(r × m) to measure a group of r rows on m axes; O(g × m) to
find the cheapest of g groups for a row.
Invariant: every row is in the list of one group; boxes, sizes and histograms follow from
the rows after `settle`, which leaves everything as it was where it returns False.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.data.arrays import Codes, Floats, Ints
from sfumato.kernels.common.geometry import run_loss
from sfumato.kernels.common.sorting import find_code
from sfumato.kernels.compilation.decorators import inner
from sfumato.kernels.refinement.point_space import PointSpace
from sfumato.kernels.refinement.pools import PoolRules
from sfumato.kernels.refinement.refinement_round import RefinedGroups

USED, EMPTY, CHANGE, NOTED, TOUCHED, WORK, MOST_WORK = range(7)
"""Places of `GroupBlock.numbers`: group numbers in use, those of them that are empty, the
number of the current change, moves and groups noted of it, and groups weighed up, so far
and at most."""
NO_GROUP, NO_ROW = -1, -1


class GroupBlock(NamedTuple):
    """The groups of a block: lists of rows, boxes and histograms."""

    codes: Codes
    """(rows, axes), sorted, so that equal rows stand together"""
    alike: Ints
    """The first row that is like each row"""
    labels: Codes
    """(views, rows): the place of each row's value in the histograms"""
    places: Codes
    """(views, places): the code behind a place"""
    lengths: Ints
    group_of: Ints
    first: Ints
    after: Ints
    before: Ints
    size: Ints
    cost: Floats
    shares: Floats
    """(groups, axes): what of the cost each axis bears"""
    low: Codes
    high: Codes
    histogram: Ints
    """(groups, views, places)"""
    empty: Ints
    moved: Ints
    """The rows that the current change moved, in order."""
    source: Ints
    """Where each of them was."""
    touched: Ints
    """The groups that it changed."""
    marked: Ints
    """The change that touched each group last."""
    barred: Ints
    """The change in which each group was last barred from taking rows in."""
    numbers: Ints
    lost: Floats
    """What the groups lost before that the current change touched, in one place."""


@inner
def rows_of(groups: RefinedGroups, chosen: Ints) -> Ints:
    """The rows of some groups, sorted."""
    count = 0
    for g in chosen:
        count += groups.starts[g + 1] - groups.starts[g]
    rows = np.empty(count, dtype=np.int64)
    at = 0
    for g in chosen:
        for i in range(groups.starts[g], groups.starts[g + 1]):
            rows[at] = groups.rows[i]
            at += 1
    rows.sort()
    return rows


@inner
def make_block(
    space: PointSpace,
    pool_rules: PoolRules,
    values: Codes,
    groups: RefinedGroups,
    chosen: Ints,
    rows: Ints,
) -> GroupBlock:
    """Lay the groups of a block out."""
    count, axes = len(rows), space.points.shape[1]
    views = 0 if pool_rules.plain else len(values)
    labels, places, lengths = label_values(values, rows, views)
    most = len(chosen) + count // max(pool_rules.minimum, 1) + 2
    block = GroupBlock(
        np.empty((count, axes), dtype=np.int32),
        np.zeros(count, dtype=np.int64),
        labels,
        places,
        lengths,
        np.empty(count, dtype=np.int64),
        np.full(most, NO_ROW, dtype=np.int64),
        np.full(count, NO_ROW, dtype=np.int64),
        np.full(count, NO_ROW, dtype=np.int64),
        np.zeros(most, dtype=np.int64),
        np.zeros(most, dtype=np.float64),
        np.zeros((most, axes), dtype=np.float64),
        np.zeros((most, axes), dtype=np.int32),
        np.zeros((most, axes), dtype=np.int32),
        np.zeros((most, views, places.shape[1]), dtype=np.int64),
        np.zeros(most, dtype=np.int64),
        np.zeros(count, dtype=np.int64),
        np.zeros(count, dtype=np.int64),
        np.zeros(most, dtype=np.int64),
        np.zeros(most, dtype=np.int64),
        np.zeros(most, dtype=np.int64),
        np.zeros(7, dtype=np.int64),
        np.zeros(1, dtype=np.float64),
    )
    for i in range(count):
        block.alike[i] = i
        for j in range(axes):
            block.codes[i, j] = space.points[rows[i], j]
        if i > 0 and same_codes(block, i, i - 1):
            block.alike[i] = block.alike[i - 1]
    for g in range(len(chosen)):
        group = chosen[g]
        for i in range(groups.starts[group], groups.starts[group + 1]):
            enter(block, np.searchsorted(rows, groups.rows[i]), g)
        measure_box(space, block, g)
    block.numbers[USED] = len(chosen)
    return block


@inner
def label_values(values: Codes, rows: Ints, views: int) -> tuple[Codes, Codes, Ints]:
    """Number the values of each view in the block, ascending."""
    labels = np.zeros((views, len(rows)), dtype=np.int32)
    lengths = np.zeros(views, dtype=np.int64)
    widest = 1
    for v in range(views):
        widest = max(widest, len(np.unique(values[v][rows])))
    places = np.zeros((views, widest), dtype=np.int32)
    for v in range(views):
        found = np.unique(values[v][rows])
        lengths[v] = len(found)
        places[v, : len(found)] = found
        for i in range(len(rows)):
            labels[v, i] = find_code(places[v], len(found), values[v, rows[i]])
    return labels, places, lengths


@inner
def all_meet(pool_rules: PoolRules, block: GroupBlock) -> bool:
    """Whether every group meets every rule to begin with."""
    for g in range(block.numbers[USED]):
        if not meets_rules(pool_rules, block, g):
            return False
    return True


@inner
def meets_rules(pool_rules: PoolRules, block: GroupBlock, g: int) -> bool:
    """Whether group g meets every rule; an empty one does."""
    if block.size[g] == 0:
        return True
    if block.size[g] < pool_rules.minimum:
        return False
    if pool_rules.plain:
        return True
    return pool_rules.judge(
        block.size[g],
        0,
        block.places,
        block.histogram[g],
        block.lengths,
        pool_rules.table,
    )


@inner
def block_loss(block: GroupBlock) -> float:
    """Return what all rows of the block lose."""
    total = 0.0
    for g in range(block.numbers[USED]):
        total += block.cost[g] * block.size[g]
    return total


@inner
def enter(block: GroupBlock, row: int, g: int) -> None:
    """Put a row into group g; its box is left alone."""
    head = block.first[g]
    block.after[row] = head
    block.before[row] = NO_ROW
    if head >= 0:
        block.before[head] = row
    block.first[g] = row
    block.size[g] += 1
    block.group_of[row] = g
    for v in range(len(block.lengths)):
        block.histogram[g, v, block.labels[v, row]] += 1


@inner
def leave(block: GroupBlock, row: int) -> None:
    """Take a row out of its group; its box is left alone."""
    g = block.group_of[row]
    before, after = block.before[row], block.after[row]
    if before >= 0:
        block.after[before] = after
    else:
        block.first[g] = after
    if after >= 0:
        block.before[after] = before
    block.size[g] -= 1
    for v in range(len(block.lengths)):
        block.histogram[g, v, block.labels[v, row]] -= 1


@inner
def move(block: GroupBlock, row: int, g: int) -> None:
    """Move a row to group g, and note it, so that it can be undone."""
    old = block.group_of[row]
    touch(block, old)
    touch(block, g)
    at = block.numbers[NOTED]
    block.moved[at] = row
    block.source[at] = old
    block.numbers[NOTED] += 1
    leave(block, row)
    enter(block, row, g)


@inner
def touch(block: GroupBlock, g: int) -> None:
    """Note that the current change touches group g, and what it lost until then."""
    if block.marked[g] != block.numbers[CHANGE]:
        block.marked[g] = block.numbers[CHANGE]
        block.touched[block.numbers[TOUCHED]] = g
        block.numbers[TOUCHED] += 1
        block.lost[0] += block.cost[g] * block.size[g]


@inner
def begin_change(block: GroupBlock) -> None:
    """Begin a change, with nothing moved."""
    block.numbers[CHANGE] += 1
    block.numbers[NOTED] = 0
    block.numbers[TOUCHED] = 0
    block.lost[0] = 0.0


@inner
def bar(block: GroupBlock, g: int) -> None:
    """Keep rows from being placed in group g by the current change."""
    block.barred[g] = block.numbers[CHANGE]


@inner
def undo_moves(space: PointSpace, block: GroupBlock, down_to: int) -> None:
    """Undo the moves noted after the first few; the boxes they stretched shrink again."""
    noted = block.numbers[NOTED]
    stretched = np.empty(noted - down_to, dtype=np.int64)
    for i in range(noted - 1, down_to - 1, -1):
        row = block.moved[i]
        stretched[i - down_to] = block.group_of[row]
        leave(block, row)
        enter(block, row, block.source[i])
    for i in range(len(stretched)):
        if i == 0 or stretched[i] != stretched[i - 1]:
            measure_box(space, block, stretched[i])
    block.numbers[NOTED] = down_to


@inner
def measure_box(space: PointSpace, block: GroupBlock, g: int) -> None:
    """Find the box of group g and what a row loses in it."""
    low, high, codes = block.low[g], block.high[g], block.codes
    row = block.first[g]
    block.cost[g] = 0.0
    if row < 0:
        return
    for j in range(len(low)):
        low[j] = high[j] = codes[row, j]
    while row >= 0:
        for j in range(len(low)):
            low[j] = min(low[j], codes[row, j])
            high[j] = max(high[j], codes[row, j])
        row = block.after[row]
    block.cost[g] = cost_of_box(space, block, g)


@inner
def cost_of_box(space: PointSpace, block: GroupBlock, g: int) -> float:
    """What a row loses in the box of group g; what each axis bears is noted."""
    cost = 0.0
    for j in range(block.codes.shape[1]):
        share = run_loss(space.tables, j, block.low[g, j], block.high[g, j])
        block.shares[g, j] = share
        cost += share
    return cost


@inner
def stretch(space: PointSpace, block: GroupBlock, g: int, row: int) -> None:
    """Stretch the box of group g over a row."""
    changed = False
    for j in range(block.codes.shape[1]):
        code = block.codes[row, j]
        if code < block.low[g, j]:
            block.low[g, j] = code
            changed = True
        if code > block.high[g, j]:
            block.high[g, j] = code
            changed = True
    if changed:
        block.cost[g] = cost_of_box(space, block, g)


@inner
def settle(
    space: PointSpace, pool_rules: PoolRules, block: GroupBlock, least: float
) -> bool:
    """Take the current change if rules hold and it gains `least`, or else undo it."""
    gain = block.lost[0]
    taken = True
    for i in range(block.numbers[TOUCHED]):
        g = block.touched[i]
        taken = taken and meets_rules(pool_rules, block, g)
        if taken:
            measure_box(space, block, g)
            gain -= block.cost[g] * block.size[g]
    taken = taken and gain > least
    if not taken:
        for i in range(block.numbers[NOTED] - 1, -1, -1):
            leave(block, block.moved[i])
            enter(block, block.moved[i], block.source[i])
    for i in range(block.numbers[TOUCHED]):
        g = block.touched[i]
        if not taken:
            measure_box(space, block, g)
        if block.size[g] == 0:
            block.empty[block.numbers[EMPTY]] = g
            block.numbers[EMPTY] += 1
    return taken


@inner
def cheapest_group(
    space: PointSpace, block: GroupBlock, row: int, limit: float
) -> tuple[int, float]:
    """Find the group that a row joins at the least loss, its own and the group's.

    Groups that the current change has barred are passed over. Most groups are left at the
    first axis that would have to be stretched.
    """
    best, found = limit, NO_GROUP
    axes, change = block.codes.shape[1], block.numbers[CHANGE]
    codes = block.codes[row]
    for g in range(block.numbers[USED]):
        size, cost = block.size[g], block.cost[g]
        if size == 0 or block.barred[g] == change or cost >= best:
            continue
        room = (best - cost) / (size + 1)
        more = 0.0
        for j in range(axes):
            low, high = block.low[g, j], block.high[g, j]
            if codes[j] < low or codes[j] > high:
                low, high = min(low, codes[j]), max(high, codes[j])
                more += run_loss(space.tables, j, low, high) - block.shares[g, j]
                if more >= room:
                    break
        if more < room:
            best, found = cost + more * (size + 1), g
    block.numbers[WORK] += 1 + block.numbers[USED] // 4
    return found, best


@inner
def same_codes(block: GroupBlock, row: int, other: int) -> bool:
    """Whether two rows are alike on all axes."""
    for j in range(block.codes.shape[1]):
        if block.codes[row, j] != block.codes[other, j]:
            return False
    return True
