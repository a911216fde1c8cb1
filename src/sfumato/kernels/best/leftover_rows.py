"""Place rows that no box took: each goes where the loss rises least.

Paper: none; the last step of `harvest`, as k-member (Byun et al. 2007) places its
leftovers.
Cost: O(g × m) per placement for g groups on m axes; with rules O(i log v) more per group
tried, for its i items and v values; `absorb` adds O(g × m) per group merged.
Invariant: rows placed and rows left add up; a group that takes rows meets every rule
with them; boxes cover all items of their groups; on flat axes with more than 64 values
costs are lower bounds, because codes are folded into 64 bits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.data.arrays import Codes, Floats, Ints, Words
from sfumato.kernels.best.harvest_boxes import HarvestState, HarvestTables, count_values
from sfumato.kernels.common.geometry import (
    FLAT,
    SHAPE,
    count_bits,
    run_loss,
    set_loss,
)
from sfumato.kernels.compilation.decorators import both, inner
from sfumato.kernels.refinement.point_space import PointSpace
from sfumato.kernels.refinement.pools import PoolRules


class Released(NamedTuple):
    """Groups as linked parts: so many rows of an item, then the next part."""

    item: Ints
    rows: Ints
    follower: Ints
    head: Ints
    """The first part of each group, −1 if it has none."""
    used: Ints
    """One entry: how many parts there are."""
    size: Ints
    low: Codes
    high: Codes
    values: Words
    """(groups, axes): the values on a flat axis, folded into 64 bits."""


def make_released(parts: Ints, groups: int, axes: int, room: int) -> Released:
    """Make groups that can take `room` more parts, and one more group."""
    count = len(parts)
    return Released(
        item=np.zeros(count + room, dtype=np.int64),
        rows=np.zeros(count + room, dtype=np.int64),
        follower=np.zeros(count + room, dtype=np.int64),
        head=np.full(groups + 1, -1, dtype=np.int64),
        used=np.zeros(1, dtype=np.int64),
        size=np.zeros(groups + 1, dtype=np.int64),
        low=np.full((groups + 1, axes), np.iinfo(np.int32).max, dtype=np.int32),
        high=np.full((groups + 1, axes), -1, dtype=np.int32),
        values=np.zeros((groups + 1, axes), dtype=np.uint64),
    )


@both
def add_parts(space: PointSpace, released: Released, parts: Ints) -> None:
    """Take over parts: group, item, rows."""
    for i in range(len(parts)):
        add_part(space, released, parts[i, 0], parts[i, 1], parts[i, 2])


@inner
def add_part(
    space: PointSpace, released: Released, g: int, item: int, rows: int
) -> None:
    """Add some rows of an item to a group; `space` has one point per item."""
    at = released.used[0]
    released.used[0] += 1
    released.item[at] = item
    released.rows[at] = rows
    released.follower[at] = released.head[g]
    released.head[g] = at
    released.size[g] += rows
    for j in range(space.points.shape[1]):
        code = space.points[item, j]
        released.low[g, j] = min(released.low[g, j], code)
        released.high[g, j] = max(released.high[g, j], code)
        released.values[g, j] |= np.uint64(1) << np.uint64(code & 63)


@inner
def cost_joined(
    space: PointSpace,
    released: Released,
    g: int,
    low: Codes,
    high: Codes,
    values: Words,
) -> float:
    """What a row loses in a group together with another box."""
    total = 0.0
    for j in range(space.points.shape[1]):
        if space.tables.axis[j, SHAPE] == FLAT:
            count = count_bits(released.values[g, j] | values[j])
            total += set_loss(space.tables, j, count)
        else:
            lowest = min(released.low[g, j], low[j])
            highest = max(released.high[g, j], high[j])
            total += run_loss(space.tables, j, lowest, highest)
    return total


@both
def place_leftovers(
    space: PointSpace,
    tables: HarvestTables,
    pool_rules: PoolRules,
    harvest: HarvestState,
    released: Released,
    items: Ints,
) -> None:
    """Place what is left of some items; what fits nowhere stays left.

    Rows of an item go together where only sizes count, else one by one: each changes
    the histogram that the next is judged by.
    """
    groups = len(released.size) - 1
    rise = np.empty(groups)
    now = np.empty(groups)
    for g in range(groups):
        here = released.low[g], released.high[g], released.values[g]
        now[g] = cost_joined(space, released, g, *here) * released.size[g]
    values = np.zeros(space.points.shape[1], dtype=np.uint64)
    for item in items:
        point = space.points[item]
        for j in range(len(point)):
            values[j] = np.uint64(1) << np.uint64(point[j] & 63)
        while harvest.left[item] > 0:
            rows = harvest.left[item] if pool_rules.plain else np.int64(1)
            for g in range(groups):
                cost = cost_joined(space, released, g, point, point, values)
                rise[g] = cost * (released.size[g] + rows) - now[g]
            g = cheapest(tables, pool_rules, harvest, released, item, rows, rise)
            if g < 0:
                break
            harvest.left[item] -= rows
            now[g] += rise[g]
            add_part(space, released, g, item, rows)


@inner
def cheapest(
    tables: HarvestTables,
    pool_rules: PoolRules,
    harvest: HarvestState,
    released: Released,
    item: int,
    rows: int,
    rise: Floats,
) -> int:
    """Find the group with the smallest rise that may take some rows of an item, or −1."""
    for _ in range(len(rise)):
        g = np.argmin(rise)
        if rise[g] == np.inf:
            break
        if pool_rules.plain or may_take(
            tables, pool_rules, harvest, released, g, item, rows
        ):
            return g
        rise[g] = np.inf
    return -1


@inner
def may_take(
    tables: HarvestTables,
    pool_rules: PoolRules,
    harvest: HarvestState,
    released: Released,
    g: int,
    item: int,
    rows: int,
) -> bool:
    """Tell whether a group with some more rows of an item meets every rule."""
    size = released.size[g] + rows
    if size < pool_rules.minimum:
        return False
    items = 0
    at = released.head[g]
    while at >= 0:
        harvest.box[items] = released.item[at]
        harvest.taken[items] = released.rows[at]
        items += 1
        at = released.follower[at]
    harvest.box[items] = item
    harvest.taken[items] = rows
    items += rows > 0
    count_values(tables, harvest, items)
    return pool_rules.plain or pool_rules.judge(
        size, 0, harvest.codes, harvest.counts, harvest.lengths, pool_rules.table
    )


@both
def absorb(
    space: PointSpace,
    tables: HarvestTables,
    pool_rules: PoolRules,
    harvest: HarvestState,
    released: Released,
) -> bool:
    """Make a group of what is left and, while it must be, its nearest neighbors.

    Returns False if even all groups together break a rule.
    """
    own = len(released.size) - 1
    for item in range(len(harvest.left)):
        if harvest.left[item] > 0:
            add_part(space, released, own, item, harvest.left[item])
            harvest.left[item] = 0
    nothing = np.int64(0)
    while not may_take(tables, pool_rules, harvest, released, own, nothing, nothing):
        best, found = np.inf, -1
        box = released.low[own], released.high[own], released.values[own]
        for g in range(own):
            if released.size[g] > 0:
                cost = cost_joined(space, released, g, *box)
                if cost < best:
                    best, found = cost, g
        if found < 0:
            return False
        at = released.head[found]
        while at >= 0:
            add_part(space, released, own, released.item[at], released.rows[at])
            at = released.follower[at]
        released.size[found] = 0
        released.head[found] = -1
    return True


@both
def released_parts(released: Released) -> Ints:
    """List all parts: group, item, rows."""
    parts = np.empty((released.used[0], 3), dtype=np.int64)
    count = 0
    for g in range(len(released.head)):
        at = released.head[g]
        while at >= 0:
            parts[count, 0] = g
            parts[count, 1] = released.item[at]
            parts[count, 2] = released.rows[at]
            count += 1
            at = released.follower[at]
    return parts[:count]
