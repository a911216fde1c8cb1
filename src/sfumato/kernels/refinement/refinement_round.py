"""Run one round of refinement: improve disjoint pools of groups near each other.

Groups come in blocks. In a block, a random group and the groups nearest to it
form a pool; the pool is polished and regrouped from random seeds, and the version that
loses least is kept. In a warm round, a regrouped pool is kept even if it loses a little
more.
Blocks share nothing, and each has a random stream of its own.

Paper: none; our own large-neighborhood search over groups.
Cost: O(b × p × m) to draw pools from a block of b groups, for p groups per pool on m
axes; improving a pool costs what polishing and regrouping do; O(n × m) to lay out n
rows; a round is linear in the table.
Invariant: every row keeps a group, and a pool hands back exactly its own rows; groups
that a pool returns meet every rule; the total loss falls by the sum of the figures'
GAIN, which is below zero only in a warm round; neither the number of threads nor the
order of blocks shows in the result.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sfumato.data.arrays import Codes, Floats, Ints, Words
from sfumato.kernels.common.borrowed_arrays import borrow
from sfumato.kernels.common.geometry import (
    FLAT,
    SHAPE,
    SIZE,
    count_bits,
    run_loss,
    set_loss,
)
from sfumato.kernels.common.random_streams import Stream, draw_below, draw_share
from sfumato.kernels.common.sorting import find_code
from sfumato.kernels.compilation.decorators import both, inner, pointer
from sfumato.kernels.refinement.moves_and_swaps import LEAST_GAIN, polish
from sfumato.kernels.refinement.point_space import PointSpace
from sfumato.kernels.refinement.pools import (
    CODE,
    EVALUATED,
    GROUPS,
    ITEMS,
    KEPT,
    LABEL,
    LIMIT,
    MOST_ITEMS,
    NOW,
    POINT,
    TOTAL,
    Pool,
    PoolRules,
    allowed,
    keep_amounts,
    measure,
    pool_loss,
)
from sfumato.kernels.refinement.regroup import FURTHEST, RANDOM, GrowthTargets, regroup

BLUR = 0.3
"""How much chance there is in what counts as near."""
HOPELESS = 1.25
"""A new deal that loses so many times more is not worth polishing."""
MOST_POOLED = 5
PER_POOL, PER_ITEM = 800, 40
"""What handling a pool costs, and each item in it, in groups weighed up."""

GAIN, REFUSED, BETTER, WEIGHED = 0, 1, 2, 3
"""Columns of the figures of a block: the loss saved, pools with a group that breaks a
rule to begin with, pools improved, and groups weighed up."""


class RefinedGroups(NamedTuple):
    """All groups: their rows, their items and their boxes."""

    rows: Ints
    starts: Ints
    item_starts: Ints
    items: Ints
    """The first row of each item of each group, items ascending."""
    amounts: Ints
    low: Codes
    high: Codes
    values: Words
    """(groups, axes): the values on a flat axis, folded into 64 bits."""


@both
def number_groups(label: Ints) -> tuple[Ints, Ints]:
    """Sort rows by group, and find where groups start; `label` is any row of the group.

    Groups are numbered by their first rows, and rows stay in order within them.
    """
    number = np.full(len(label), -1, dtype=np.int64)
    count = 0
    for row in range(len(label)):
        if number[label[row]] < 0:
            number[label[row]] = count
            count += 1
    starts = np.zeros(count + 1, dtype=np.int64)
    for row in range(len(label)):
        starts[number[label[row]] + 1] += 1
    for g in range(count):
        starts[g + 1] += starts[g]
    free = starts.copy()
    rows = np.empty(len(label), dtype=np.int64)
    for row in range(len(label)):
        g = number[label[row]]
        rows[free[g]] = row
        free[g] += 1
    return rows, starts


@both
def lay_out(
    space: PointSpace, item_of: Ints, rows: Ints, starts: Ints
) -> RefinedGroups:
    """Find the items and the box of each group."""
    count, axes = len(starts) - 1, space.points.shape[1]
    item_starts = np.zeros(count + 1, dtype=np.int64)
    items = np.empty(len(rows), dtype=np.int64)
    amounts = np.zeros(len(rows), dtype=np.int64)
    low = np.full((count, axes), np.iinfo(np.int32).max, dtype=np.int32)
    high = np.full((count, axes), -1, dtype=np.int32)
    values = np.zeros((count, axes), dtype=np.uint64)
    found = 0
    for g in range(count):
        for i in range(starts[g], starts[g + 1]):
            row = rows[i]
            if i > starts[g] and item_of[row] == item_of[rows[i - 1]]:
                amounts[found - 1] += 1
                continue
            items[found] = row
            amounts[found] = 1
            found += 1
            for j in range(axes):
                code = space.points[row, j]
                low[g, j] = min(low[g, j], code)
                high[g, j] = max(high[g, j], code)
                values[g, j] |= np.uint64(1) << np.uint64(code & 63)
        item_starts[g + 1] = found
    return RefinedGroups(
        rows, starts, item_starts, items[:found], amounts[:found], low, high, values
    )


def groups_of_rows(rows: Ints, starts: Ints) -> RefinedGroups:
    """Groups of which nobody asks for items or boxes."""
    none = np.empty(0, dtype=np.int64)
    box = np.empty((0, 0), dtype=np.int32)
    values = np.empty((0, 0), dtype=np.uint64)
    return RefinedGroups(rows, starts, none, none, none, box, box, values)


@inner
def items_in(groups: RefinedGroups, g: int) -> int:
    """Count the items of a group."""
    return groups.item_starts[g + 1] - groups.item_starts[g]


@inner
def cost_together(
    space: PointSpace,
    groups: RefinedGroups,
    g: int,
    other: int,
    total: float,
    limit: float,
) -> float:
    """What a row loses if two groups are one, added to `total` up to a limit.

    Sets of very many values are estimated.
    """
    for j in range(space.points.shape[1]):
        if space.tables.axis[j, SHAPE] == FLAT:
            count = count_bits(groups.values[g, j] | groups.values[other, j])
            total += set_loss(space.tables, j, count)
        else:
            low = min(groups.low[g, j], groups.low[other, j])
            high = max(groups.high[g, j], groups.high[other, j])
            total += run_loss(space.tables, j, low, high)
        if total >= limit:
            break
    return total


class RoundSteps(NamedTuple):
    """The parts of a round that are compiled apart, so that nothing is twice."""

    polish: Any
    regroup: Any


def make_round_steps(
    space: PointSpace, pool_rules: PoolRules, targets: GrowthTargets, pool: Pool
) -> RoundSteps:
    """Polishing and regrouping behind pointers."""
    stream = np.zeros(1, dtype=np.uint64)
    return RoundSteps(
        pointer(polish, "void", space, pool_rules, pool),
        pointer(regroup, "boolean", space, pool_rules, targets, pool, 0, stream),
    )


@both
def refine_blocks(
    space: PointSpace,
    pool_rules: PoolRules,
    targets: GrowthTargets,
    values: Codes,
    groups: RefinedGroups,
    item_of: Ints,
    blocks: Ints,
    bounds: Ints,
    first: int,
    last: int,
    starts: Stream,
    most: int,
    heat: float,
    enough: Floats,
    label: Ints,
    figures: Floats,
    pool: Pool,
    steps: RoundSteps,
) -> None:
    """Improve the pools of some blocks; `label` gets a row of each row's new group.

    `heat` is what regrouping a pool may lose on average. A pool is passed over if its rows
    lose no more than `enough`. `starts` has the word that each block's stream begins with.
    A block ends early once it has weighed up more groups than `pool.numbers[LIMIT]`.
    """
    space, pool_rules, targets = borrow(space), borrow(pool_rules), borrow(targets)
    groups, pool = borrow(groups), borrow(pool)
    stream = np.zeros(1, dtype=np.uint64)
    chosen = np.zeros(MOST_POOLED, dtype=np.int64)
    for block in range(first, last):
        stream[0] = starts[block]
        free = blocks[bounds[block] : bounds[block + 1]].copy()
        left = len(free)
        pool.numbers[EVALUATED] = 0
        while left > 0 and pool.numbers[EVALUATED] <= pool.numbers[LIMIT]:
            before = left
            left, size = choose(space, groups, free, left, most, chosen, stream)
            pool.numbers[EVALUATED] += before * (size - 1)
            fill(space, groups, values, item_of, chosen[:size], pool)
            old = pool_loss(pool)
            if old <= sum_over_rows(groups, chosen[:size], enough) + LEAST_GAIN:
                continue
            if not all_allowed(pool_rules, pool):
                figures[block, REFUSED] += 1
                continue
            pool.numbers[EVALUATED] += PER_POOL + PER_ITEM * pool.numbers[ITEMS]
            if heat > 0.0:
                new = change_pool(space, pool_rules, targets, pool, heat, stream, steps)
            else:
                new = improve_pool(space, pool_rules, targets, pool, stream, steps)
            if heat > 0.0 or new < old - LEAST_GAIN:
                figures[block, GAIN] += old - new
                figures[block, BETTER] += new < old - LEAST_GAIN
                label_pool_rows(groups, item_of, chosen[:size], pool, label)
        figures[block, WEIGHED] = pool.numbers[EVALUATED]


@inner
def sum_over_rows(groups: RefinedGroups, chosen: Ints, values: Floats) -> float:
    """The sum of the values of all rows of some groups."""
    total = 0.0
    for g in chosen:
        for i in range(groups.starts[g], groups.starts[g + 1]):
            total += values[groups.rows[i]]
    return total


@inner
def all_allowed(pool_rules: PoolRules, pool: Pool) -> bool:
    """Whether every group of the pool meets every rule."""
    for g in range(pool.numbers[GROUPS]):
        if not allowed(pool_rules, pool, g):
            return False
    return True


@inner
def choose(
    space: PointSpace,
    groups: RefinedGroups,
    free: Ints,
    left: int,
    most: int,
    chosen: Ints,
    stream: Stream,
) -> tuple[int, int]:
    """Take a random group and its nearest out of those free; return what is left."""
    at = draw_below(stream, left)
    g = free[at]
    left -= 1
    free[at] = free[left]
    chosen[0] = g
    size = 1
    room = MOST_ITEMS - items_in(groups, g)
    while size < most and left > 0:
        found = -1
        best = np.inf
        for i in range(left):
            # Random choices among near groups keep the same ones from meeting every time.
            cost = draw_share(stream) * BLUR
            if cost < best and items_in(groups, free[i]) <= room:
                cost = cost_together(space, groups, g, free[i], cost, best)
                if cost < best:
                    best = cost
                    found = i
        if found < 0:
            break
        chosen[size] = free[found]
        room -= items_in(groups, free[found])
        size += 1
        left -= 1
        free[found] = free[left]
    return left, size


@inner
def fill(
    space: PointSpace,
    groups: RefinedGroups,
    values: Codes,
    item_of: Ints,
    chosen: Ints,
    pool: Pool,
) -> None:
    """Put the rows of some groups into the pool, items in their order."""
    at = np.empty(len(chosen), dtype=np.int64)
    for z in range(len(chosen)):
        at[z] = groups.item_starts[chosen[z]]
    items = 0
    while True:
        least = np.int64(-1)
        for z in range(len(chosen)):
            if at[z] < groups.item_starts[chosen[z] + 1]:
                row = groups.items[at[z]]
                if least < 0 or item_of[row] < item_of[least]:
                    least = row
        if least < 0:
            break
        pool.items[POINT, items] = least
        pool.items[TOTAL, items] = 0
        for z in range(len(chosen)):
            pool.amounts[NOW, z, items] = 0
            if at[z] < groups.item_starts[chosen[z] + 1]:
                if item_of[groups.items[at[z]]] == item_of[least]:
                    pool.amounts[NOW, z, items] = groups.amounts[at[z]]
                    pool.items[TOTAL, items] += groups.amounts[at[z]]
                    at[z] += 1
        items += 1
    pool.numbers[ITEMS] = items
    pool.numbers[GROUPS] = len(chosen)
    for q in range(items):
        for j in range(len(pool.codes)):
            pool.codes[j, q] = space.points[pool.items[POINT, q], j]
    label_views(values, pool)
    for z in range(len(chosen)):
        measure(space, pool, z)


@inner
def label_views(values: Codes, pool: Pool) -> None:
    """Number the values of each view in the pool, ascending."""
    items = pool.numbers[ITEMS]
    for v in range(len(pool.lengths)):
        codes = pool.labels[CODE, v]
        length = 0
        for q in range(items):
            code = values[v, pool.items[POINT, q]]
            at = find_code(codes, length, code)
            if at == length or codes[at] != code:
                for i in range(length, at, -1):
                    codes[i] = codes[i - 1]
                codes[at] = code
                length += 1
        for q in range(items):
            code = values[v, pool.items[POINT, q]]
            pool.labels[LABEL, v, q] = find_code(codes, length, code)
        pool.lengths[v] = length


@inner
def improve_pool(
    space: PointSpace,
    pool_rules: PoolRules,
    targets: GrowthTargets,
    pool: Pool,
    stream: Stream,
    steps: RoundSteps,
) -> float:
    """Polish, then regroup twice; the amounts kept are those that lose least."""
    steps.polish(space, pool_rules, pool)
    best = pool_loss(pool)
    keep_amounts(pool)
    kept = pool.numbers[GROUPS]
    for how in (RANDOM, FURTHEST):
        if best <= LEAST_GAIN:
            break
        pool.numbers[GROUPS] = kept
        if not steps.regroup(space, pool_rules, targets, pool, how, stream):
            continue
        if pool_loss(pool) < HOPELESS * best:
            steps.polish(space, pool_rules, pool)
        loss = pool_loss(pool)
        if loss < best - LEAST_GAIN:
            best = loss
            keep_amounts(pool)
            kept = pool.numbers[GROUPS]
    pool.numbers[GROUPS] = kept
    return best


@inner
def change_pool(
    space: PointSpace,
    pool_rules: PoolRules,
    targets: GrowthTargets,
    pool: Pool,
    heat: float,
    stream: Stream,
    steps: RoundSteps,
) -> float:
    """Polish, then regroup once; the amounts kept may lose more than before.

    As in simulated annealing, a loss is accepted the more rarely the larger it is.
    """
    steps.polish(space, pool_rules, pool)
    loss = pool_loss(pool)
    keep_amounts(pool)
    kept = pool.numbers[GROUPS]
    how = np.int64(RANDOM)
    if loss > LEAST_GAIN and steps.regroup(
        space, pool_rules, targets, pool, how, stream
    ):
        if pool_loss(pool) < HOPELESS * loss:
            steps.polish(space, pool_rules, pool)
        if pool_loss(pool) < loss - heat * np.log(1.0 - draw_share(stream)):
            keep_amounts(pool)
            return pool_loss(pool)
    pool.numbers[GROUPS] = kept
    return loss


@inner
def label_pool_rows(
    groups: RefinedGroups, item_of: Ints, chosen: Ints, pool: Pool, label: Ints
) -> None:
    """Label the rows of the pool: each with the first row of its new group."""
    items, count = pool.numbers[ITEMS], pool.numbers[GROUPS]
    first = np.full(count, -1, dtype=np.int64)
    for z in range(len(chosen)):
        q = 0
        for i in range(groups.starts[chosen[z]], groups.starts[chosen[z] + 1]):
            row = groups.rows[i]
            while q < items and item_of[pool.items[POINT, q]] != item_of[row]:
                q += 1
            g = 0
            while pool.amounts[KEPT, g, q] == 0:
                g += 1
            pool.amounts[KEPT, g, q] -= 1
            if first[g] < 0:
                first[g] = row
            label[row] = first[g]


@both
def total_loss(space: PointSpace, groups: RefinedGroups) -> float:
    """What all rows lose."""
    total = 0.0
    widest = np.int64(0)
    for j in range(space.points.shape[1]):
        widest = max(widest, space.tables.axis[j, SIZE])
    seen = np.full(widest, -1, dtype=np.int64)
    for j in range(space.points.shape[1]):
        flat = space.tables.axis[j, SHAPE] == FLAT
        seen[:] = -1
        for g in range(len(groups.starts) - 1):
            size = groups.starts[g + 1] - groups.starts[g]
            if not flat:
                low, high = groups.low[g, j], groups.high[g, j]
                total += size * run_loss(space.tables, j, low, high)
                continue
            count = 0
            for i in range(groups.item_starts[g], groups.item_starts[g + 1]):
                code = space.points[groups.items[i], j]
                if seen[code] != g:
                    seen[code] = g
                    count += 1
            total += size * set_loss(space.tables, j, count)
    return total
