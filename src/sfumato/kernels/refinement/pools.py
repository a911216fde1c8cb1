"""Keep a pool: a few groups whose rows may be reassigned.

Rows with equal quasi-identifiers and equal sensitive values are one *item* of a pool;
`amounts[NOW, g, q]` is how many rows of item q group g has. What a group shows is kept
so that adding, removing or exchanging one row costs a few look-ups per axis: on tree
and free axes the two lowest and the two highest codes, on flat axes how often each
value occurs. Histograms of the sensitive views have one place per value in the pool.

Paper: none; the state of a local search over groups (`moves_and_swaps`, `regroup`).
Cost: O(m) per change asked for on m axes; O(i × m) to measure a group of i items from
scratch; memory O(g × (i + p)) for g groups, i items and p values of flat axes, once per
thread.
Invariant: edges, counts, size and histograms of a group follow from its amounts; what
`cost_with` says of a change is the cost measured after it is made, if below the limit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sfumato.data.arrays import Codes, Floats, Ints
from sfumato.kernels.common.geometry import (
    ABOVE,
    FLAT,
    PAIRS,
    PLACES,
    SHAPE,
    SIZE,
    UNIT,
    long_run_loss,
)
from sfumato.kernels.common.group_rules import RuleTable, group_ok
from sfumato.kernels.compilation.decorators import inner, pointer
from sfumato.kernels.refinement.point_space import PointSpace

LOWEST, LOW, HIGHEST, HIGH, PRESENT = 0, 1, 2, 3, 4
"""Places of `Pool.edges`: the lowest code and the lowest without one row of it, the
highest and the highest without one row of it; how many values a flat axis shows."""
NO_ITEM = -1

ITEMS, GROUPS, EVALUATED, LIMIT = 0, 1, 2, 3
"""Places of `Pool.numbers`: how many items and groups there are, how many groups were
weighed up in this block, and after how many a block ends."""
POINT, TOTAL, LEFT, FIRST_SIDE, SECOND_SIDE = 0, 1, 2, 3, 4
"""Rows of `Pool.items`: the row that stands for an item, its rows, those not dealt out
yet, and the items of two groups."""
NEAR, WITHOUT_FIRST, WITHOUT_SECOND = 0, 1, 2
"""Rows of `Pool.costs`: of a growing group with an item, of two groups without one."""
NOW, KEPT = 0, 1
"""Planes of `Pool.amounts`: as it is, and the best so far."""
LABEL, CODE = 0, 1
"""Planes of `Pool.labels`: the place of an item's value in the histograms, and the code
behind a place."""

MOST_ITEMS = 1024
"""A pool has at most so many items."""
MOST_GROUPS = 64
"""… and so many groups, fewer where flat axes have very many values."""
FLAT_ROOM = 1 << 22


class PoolRules(NamedTuple):
    """The rules that every group must meet."""

    minimum: int
    plain: bool
    """Whether the size of a group is all that counts."""
    table: RuleTable
    judge: Any
    """`group_ok`, compiled apart from the kernels that ask it."""


class Pool(NamedTuple):
    """Room for one pool at a time, and its state."""

    numbers: Ints
    items: Ints
    codes: Codes
    """(axes, items)"""
    costs: Floats
    amounts: Codes
    """(2, groups, items)"""
    size: Ints
    cost: Floats
    """What a row of each group loses."""
    edges: Codes
    """(groups, axes, 5)"""
    counts: Codes
    """(groups, values of all flat axes): how often each value occurs."""
    labels: Codes
    """(2, views, items)"""
    lengths: Ints
    histogram: Ints
    """(groups, views, places)"""


def make_pool_rules(table: RuleTable) -> PoolRules:
    """The rules behind a pointer, compiled only where there are any."""
    plain = len(table.kinds) == 0
    codes, counts = np.zeros((1, 1), dtype=np.int32), np.zeros((1, 1), dtype=np.int64)
    taken = (0, 0, codes, counts, counts[0], table)
    judge = pointer(_never if plain else group_ok, "boolean", *taken)
    return PoolRules(table.minimum, plain, table, judge)


def _never(
    size: int, population: int, codes: Codes, counts: Ints, lengths: Ints, table: Any
) -> bool:
    """Stands where nothing but the size of a group counts."""
    return False


def make_pool(space: PointSpace, views: int) -> Pool:
    """Room for a thread; pages that are not touched cost nothing."""
    axes, places = space.points.shape[1], max(space.tables.values, 1)
    groups, items = max(8, min(MOST_GROUPS, FLAT_ROOM // places)), MOST_ITEMS
    return Pool(
        numbers=np.zeros(4, dtype=np.int64),
        items=np.zeros((5, items), dtype=np.int64),
        codes=np.zeros((axes, items), dtype=np.int32),
        costs=np.zeros((3, items)),
        amounts=np.zeros((2, groups, items), dtype=np.int32),
        size=np.zeros(groups, dtype=np.int64),
        cost=np.zeros(groups),
        edges=np.zeros((groups, axes, 5), dtype=np.int32),
        counts=np.zeros((groups, places), dtype=np.int32),
        labels=np.zeros((2, views, items), dtype=np.int32),
        lengths=np.zeros(views, dtype=np.int64),
        histogram=np.zeros((groups, views, items), dtype=np.int64),
    )


@inner
def clear_group(space: PointSpace, pool: Pool, g: int) -> None:
    """Make group g empty; its amounts are left alone."""
    pool.size[g] = 0
    pool.cost[g] = 0.0
    edges, counts, codes = pool.edges[g], pool.counts[g], pool.codes
    for j in range(len(edges)):
        edges[j, LOWEST] = ABOVE
        edges[j, LOW] = ABOVE
        edges[j, HIGHEST] = -1
        edges[j, HIGH] = -1
        edges[j, PRESENT] = 0
        if space.tables.axis[j, SHAPE] == FLAT:
            at = space.tables.axis[j, PLACES]
            for q in range(pool.numbers[ITEMS]):
                counts[at + codes[j, q]] = 0
    for v in range(len(pool.lengths)):
        pool.histogram[g, v, : pool.lengths[v]] = 0


@inner
def put(space: PointSpace, pool: Pool, g: int, q: int, rows: int) -> None:
    """Count some rows of an item to group g; its amounts are left alone."""
    edges, counts = pool.edges[g], pool.counts[g]
    for j in range(len(edges)):
        code = pool.codes[j, q]
        if space.tables.axis[j, SHAPE] == FLAT:
            at = space.tables.axis[j, PLACES] + code
            edges[j, PRESENT] += counts[at] == 0
            counts[at] += rows
            continue
        # The second extremes are those that remain when one row goes.
        twice = rows > 1
        if code < edges[j, LOWEST]:
            edges[j, LOW] = code if twice else edges[j, LOWEST]
            edges[j, LOWEST] = code
        elif code < edges[j, LOW]:
            edges[j, LOW] = code
        if code > edges[j, HIGHEST]:
            edges[j, HIGH] = code if twice else edges[j, HIGHEST]
            edges[j, HIGHEST] = code
        elif code > edges[j, HIGH]:
            edges[j, HIGH] = code
    shift(pool, g, q, rows)


@inner
def shift(pool: Pool, g: int, q: int, rows: int) -> None:
    """Change the size and the histograms of group g by some rows of an item."""
    pool.size[g] += rows
    for v in range(len(pool.lengths)):
        pool.histogram[g, v, pool.labels[LABEL, v, q]] += rows


@inner
def measure(space: PointSpace, pool: Pool, g: int) -> None:
    """Find out what group g shows and loses, from its amounts."""
    clear_group(space, pool, g)
    for q in range(pool.numbers[ITEMS]):
        if pool.amounts[NOW, g, q] > 0:
            put(space, pool, g, q, pool.amounts[NOW, g, q])
    pool.cost[g] = cost_of(space, pool, g)


@inner
def cost_of(space: PointSpace, pool: Pool, g: int) -> float:
    """What a row of group g loses."""
    nothing = np.int64(NO_ITEM)
    return cost_with(space, pool, g, nothing, nothing, np.inf)


@inner
def cost_with(
    space: PointSpace, pool: Pool, g: int, out: int, into: int, limit: float
) -> float:
    """What a row of group g loses without a row of `out` and with one of `into`.

    Either may be NO_ITEM. A group is never asked for without its only row. Infinity as
    soon as some of the axes lose as much as the limit.
    """
    axis, factor, real = space.tables.axis, space.tables.factor, space.tables.real
    codes, edges, counts = pool.codes, pool.edges, pool.counts
    total = 0.0
    for j in range(len(codes)):
        if total >= limit:
            return np.inf
        old = codes[j, out] if out >= 0 else np.int32(-1)
        new = codes[j, into] if into >= 0 else np.int32(-1)
        if axis[j, SHAPE] == FLAT:
            values = np.int64(edges[g, j, PRESENT])
            if old != new:
                at = axis[j, PLACES]
                values -= old >= 0 and counts[g, at + old] == 1
                values += new >= 0 and counts[g, at + new] == 0
            if values > 1:
                total += values * factor[j, UNIT]
            continue
        low, high = edges[g, j, LOWEST], edges[g, j, HIGHEST]
        if old == low:
            low = edges[g, j, LOW]
        if old == high:
            high = edges[g, j, HIGH]
        if new >= 0:
            low = min(low, new)
            high = max(high, new)
        start = axis[j, PAIRS]
        if start >= 0:
            total += real[np.uintp(start + low * axis[j, SIZE] + high)]
        else:
            total += long_run_loss(space.tables, j, np.int64(low), np.int64(high))
    return total


@inner
def allowed(pool_rules: PoolRules, pool: Pool, g: int) -> bool:
    """Whether group g, as it is counted, meets every rule."""
    if pool.size[g] < pool_rules.minimum:
        return False
    if pool_rules.plain:
        return True
    return pool_rules.judge(
        pool.size[g],
        0,
        pool.labels[CODE],
        pool.histogram[g],
        pool.lengths,
        pool_rules.table,
    )


@inner
def pool_loss(pool: Pool) -> float:
    """Return what all rows of the pool lose."""
    total = 0.0
    for g in range(pool.numbers[GROUPS]):
        total += pool.cost[g] * pool.size[g]
    return total


@inner
def keep_amounts(pool: Pool) -> None:
    """Remember how the rows are dealt out now."""
    for g in range(pool.numbers[GROUPS]):
        for i in range(pool.numbers[ITEMS]):
            pool.amounts[KEPT, g, i] = pool.amounts[NOW, g, i]
