"""Reassign the rows of a pool: groups grow from random seeds, nearest row first.

While a group grows, the rules are looked at through a `GrowthTargets`: how many distinct
values it will need and how far values may exceed their share. The targets only steer;
the rules decide whether a group may stay.

Paper: the growth step of k-member (Byun et al. 2007), within a pool and from random or
furthest seeds.
Cost: O(i × m) per row added to a growing group, for i items on m axes; O(i) more per
view that steers; O(g × m) per leftover row for g groups.
Invariant: rows dealt out and rows left add up to the pool's; costs with every item are
kept exact as a group stretches; groups meet every rule, or the deal fails as a whole.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Codes, Floats, Ints
from sfumato.kernels.common.borrowed_arrays import borrow
from sfumato.kernels.common.geometry import (
    FLAT,
    PAIRS,
    PLACES,
    SHAPE,
    SIZE,
    UNIT,
    AxisTables,
    long_run_loss,
)
from sfumato.kernels.common.random_streams import Stream, draw_below
from sfumato.kernels.compilation.decorators import both, inner
from sfumato.kernels.refinement.point_space import PointSpace
from sfumato.kernels.refinement.pools import (
    CODE,
    EVALUATED,
    GROUPS,
    HIGHEST,
    ITEMS,
    LABEL,
    LEFT,
    LOWEST,
    NEAR,
    NO_ITEM,
    NOW,
    PRESENT,
    TOTAL,
    Pool,
    PoolRules,
    allowed,
    clear_group,
    cost_of,
    cost_with,
    put,
    shift,
)

RANDOM, FURTHEST = 0, 1
"""Where the next group starts: anywhere, or far from the last row dealt out."""
OVER, LACKING = 0, 1
"""Rows of what is known of a growing group, one column per view."""
TIE = 1e-9


class GrowthTargets(NamedTuple):
    """What the rules ask of each view, roughly."""

    distinct: Ints
    """How many values a group needs, 0 if any will do."""
    excess: Floats
    """How far shares may exceed their reference, all together; infinite if unasked."""
    reference: Floats
    """(views, codes): the shares that groups are compared with; zeros if unasked."""
    most: Floats
    """(views, codes): the largest share that a value may have."""
    trimmed: npt.NDArray[np.bool_]
    """Views whose commonest values may break a rule."""
    active: bool


@both
def regroup(
    space: PointSpace,
    pool_rules: PoolRules,
    targets: GrowthTargets,
    pool: Pool,
    how: int,
    stream: Stream,
) -> bool:
    """Deal all rows of the pool out; return False if that leads to no allowed groups."""
    space, pool_rules = borrow(space), borrow(pool_rules)
    targets, pool = borrow(targets), borrow(pool)
    state = np.zeros((2, len(pool.lengths)))
    items, before = pool.numbers[ITEMS], pool.numbers[GROUPS]
    rows = np.int64(0)
    for q in range(items):
        pool.items[LEFT, q] = pool.items[TOTAL, q]
        rows += pool.items[TOTAL, q]
    # Aim between half and all of the mean size: where groups may be larger, varying it
    # finds other numbers of groups.
    half = rows // max(2 * before, 4)
    target_size = max(pool_rules.minimum, half + draw_below(stream, half + 1))
    pool.numbers[GROUPS] = 0
    last = -1
    while rows >= pool_rules.minimum and rows > 0:
        g = pool.numbers[GROUPS]
        if g == len(pool.size):
            return False
        pool.amounts[NOW, g, :items] = 0
        clear_group(space, pool, g)
        seed = first_item(space, pool, how, last, stream)
        last = grow(
            space, pool_rules, targets, pool, g, seed, target_size, stream, state
        )
        if last < 0:
            for q in range(items):
                pool.items[LEFT, q] += pool.amounts[NOW, g, q]
            break
        rows -= pool.size[g]
        pool.cost[g] = cost_of(space, pool, g)
        pool.numbers[GROUPS] += 1
    return place_rest(space, pool_rules, pool)


@inner
def first_item(
    space: PointSpace, pool: Pool, how: int, last: int, stream: Stream
) -> int:
    """Choose where the next group starts."""
    items = pool.numbers[ITEMS]
    start = draw_below(stream, items)
    furthest = how == FURTHEST and last >= 0
    if furthest:
        measure_from(space, pool, last)
    found = -1
    for i in range(items):
        q = (start + i) % items
        if pool.items[LEFT, q] > 0:
            if not furthest:
                return q
            if found < 0 or pool.costs[NEAR, q] > pool.costs[NEAR, found]:
                found = q
    return found


@inner
def measure_from(space: PointSpace, pool: Pool, p: int) -> None:
    """What a row of a group of item p and each other item loses."""
    tables, near = space.tables, pool.costs[NEAR]
    items = pool.numbers[ITEMS]
    near[:items] = 0.0
    for j in range(len(pool.codes)):
        codes = pool.codes[j]
        code, unit = codes[p], tables.factor[j, UNIT]
        # Not `run_loss`: what it looks up of the axis would be read again after every
        # write to `near`, since nothing tells the compiler that they lie apart.
        start, size, real = tables.axis[j, PAIRS], tables.axis[j, SIZE], tables.real
        if tables.axis[j, SHAPE] == FLAT:
            for q in range(items):
                near[q] += 2 * unit if codes[q] != code else 0.0
        elif start >= 0:
            for q in range(items):
                low, high = min(code, codes[q]), max(code, codes[q])
                near[q] += real[np.uintp(start + low * size + high)]
        else:
            for q in range(items):
                low, high = min(code, codes[q]), max(code, codes[q])
                near[q] += long_run_loss(tables, j, np.int64(low), np.int64(high))


@inner
def grow(
    space: PointSpace,
    pool_rules: PoolRules,
    targets: GrowthTargets,
    pool: Pool,
    g: int,
    q: int,
    target_size: int,
    stream: Stream,
    state: Floats,
) -> int:
    """Grow group g from item q until it is allowed; the last item, −1 if it fails."""
    minimum = max(pool_rules.minimum, 1)
    plain = pool_rules.plain
    rows = pool.items[LEFT, q] if plain else np.int64(1)
    if rows >= minimum and rows < 4 * minimum and draw_below(stream, 2) == 0:
        rows = minimum
    deal(space, pool, g, q, rows)
    measure_from(space, pool, q)
    while not allowed(pool_rules, pool, g):
        p = nearest(targets, pool, g, minimum, target_size, stream, state)
        if p < 0:
            if not targets.active or target_size > 4 * pool.size[g] + 64:
                return -1
            target_size += 1 + target_size // 8
            continue
        rows = (
            min(pool.items[LEFT, p], minimum - pool.size[g]) if plain else np.int64(1)
        )
        stretch(space, pool, g, p, rows)
        q = p
    return q


@inner
def deal(space: PointSpace, pool: Pool, g: int, q: int, rows: int) -> None:
    """Give group g some of the rows that are left."""
    put(space, pool, g, q, rows)
    pool.amounts[NOW, g, q] += rows
    pool.items[LEFT, q] -= rows


@inner
def stretch(space: PointSpace, pool: Pool, g: int, p: int, rows: int) -> None:
    """Deal rows to a growing group and keep the costs with every other item right."""
    tables, items, near = space.tables, pool.numbers[ITEMS], pool.costs[NEAR]
    for j in range(len(pool.codes)):
        code, codes = pool.codes[j, p], pool.codes[j, :items]
        if tables.axis[j, SHAPE] == FLAT:
            at = tables.axis[j, PLACES]
            if pool.counts[g, at + code] == 0:
                widen_set(
                    pool.counts[g, at : at + tables.axis[j, SIZE]],
                    pool.edges[g, j, PRESENT],
                    code,
                    tables.factor[j, UNIT],
                    codes,
                    near,
                )
            continue
        low, high = pool.edges[g, j, LOWEST], pool.edges[g, j, HIGHEST]
        if code < low or code > high:
            widen_run(tables, j, low, high, code, codes, near)
    deal(space, pool, g, p, rows)


@inner
def widen_run(
    tables: AxisTables,
    j: int,
    low: int,
    high: int,
    code: int,
    codes: Codes,
    near: Floats,
) -> None:
    """Correct costs for a new lowest or highest code of a run."""
    new_low, new_high = min(low, code), max(high, code)
    start, size, real = tables.axis[j, PAIRS], tables.axis[j, SIZE], tables.real
    if start >= 0:
        for q in range(len(codes)):
            at = start + min(low, codes[q]) * size + max(high, codes[q])
            to = start + min(new_low, codes[q]) * size + max(new_high, codes[q])
            near[q] = near[q] - real[np.uintp(at)] + real[np.uintp(to)]
        return
    for q in range(len(codes)):
        a, b = np.int64(min(low, codes[q])), np.int64(max(high, codes[q]))
        near[q] -= long_run_loss(tables, j, a, b)
        a, b = np.int64(min(new_low, codes[q])), np.int64(max(new_high, codes[q]))
        near[q] += long_run_loss(tables, j, a, b)


@inner
def widen_set(
    counts: Codes, present: int, code: int, unit: float, codes: Codes, near: Floats
) -> None:
    """Correct costs for a new value in a set of `present` values."""
    inside = unit if present > 1 else 2 * unit
    outside = unit if present > 0 else 2 * unit
    for q in range(len(codes)):
        if codes[q] != code:
            near[q] += inside if counts[codes[q]] > 0 else outside


@inner
def nearest(
    targets: GrowthTargets,
    pool: Pool,
    g: int,
    minimum: int,
    target_size: int,
    stream: Stream,
    state: Floats,
) -> int:
    """Find the item left that costs a growing group least, ties at random; or −1.

    `state` is room for what is known of the group.
    """
    items = pool.numbers[ITEMS]
    pool.numbers[EVALUATED] += 1 + items // 8
    target_size = max(target_size, pool.size[g] + 1)
    if targets.active:
        pool.numbers[EVALUATED] += items // 16
        measure_excess(targets, pool, g, minimum, target_size, state)
    start = draw_below(stream, items)
    found = -1
    best = np.inf
    for i in range(items):
        q = start + i
        if q >= items:
            q -= items
        if pool.items[LEFT, q] > 0 and pool.costs[NEAR, q] < best - TIE:
            if targets.active and not helps_rules(
                targets, pool, g, q, target_size, state
            ):
                continue
            best = pool.costs[NEAR, q]
            found = q
    return found


@inner
def measure_excess(
    targets: GrowthTargets,
    pool: Pool,
    g: int,
    minimum: int,
    target_size: int,
    state: Floats,
) -> None:
    """For each view: how far a group of `target_size` rows would exceed its reference
    by now, and whether only values that it lacks will do."""
    for v in range(len(pool.lengths)):
        state[OVER, v] = 0.0
        missing = targets.distinct[v]
        for label in range(pool.lengths[v]):
            have = pool.histogram[g, v, label]
            missing -= have > 0
            over = (
                have / target_size - targets.reference[v, pool.labels[CODE, v, label]]
            )
            if over > 0:
                state[OVER, v] += over
        state[LACKING, v] = missing > 0 and missing >= minimum - pool.size[g]


@inner
def helps_rules(
    targets: GrowthTargets, pool: Pool, g: int, q: int, target_size: int, state: Floats
) -> bool:
    """Tell whether a row of item q brings group g nearer to what the rules ask."""
    for v in range(len(pool.lengths)):
        have = pool.histogram[g, v, pool.labels[LABEL, v, q]]
        if state[LACKING, v] > 0 and have > 0:
            return False
        code = pool.labels[CODE, v, pool.labels[LABEL, v, q]]
        if have + 1 > targets.most[v, code] * target_size + TIE:
            return False
        if targets.excess[v] < np.inf:
            before = have / target_size - targets.reference[v, code]
            after = before + 1 / target_size
            rise = max(after, 0.0) - max(before, 0.0)
            if state[OVER, v] + rise > targets.excess[v] + TIE:
                return False
    return True


@inner
def place_rest(space: PointSpace, pool_rules: PoolRules, pool: Pool) -> bool:
    """Put rows that are left where they cost least; False if one finds no place."""
    if pool.numbers[GROUPS] == 0:
        return False
    for q in range(pool.numbers[ITEMS]):
        if pool.items[LEFT, q] == 0:
            continue
        found = cheapest_group(space, pool_rules, pool, q, pool.items[LEFT, q])
        if found < 0:
            return False
        deal(space, pool, found, q, pool.items[LEFT, q])
        pool.cost[found] = cost_of(space, pool, found)
    return True


@inner
def cheapest_group(
    space: PointSpace, pool_rules: PoolRules, pool: Pool, q: int, rows: int
) -> int:
    """Find the group whose loss grows least with some rows of an item; −1 if none may."""
    found = -1
    nothing = np.int64(NO_ITEM)
    best = np.inf
    for g in range(pool.numbers[GROUPS]):
        size = pool.size[g]
        limit = (best + pool.cost[g] * size) / (size + rows)
        joined = cost_with(space, pool, g, nothing, q, limit)
        rise = joined * (size + rows) - pool.cost[g] * size
        if rise < best:
            shift(pool, g, q, rows)
            fine = allowed(pool_rules, pool, g)
            shift(pool, g, q, -rows)
            if fine:
                best = rise
                found = g
    return found
