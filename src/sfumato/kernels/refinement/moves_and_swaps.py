"""Move single rows and swap pairs of rows between the groups of a pool.

Paper: none; first-improvement local search over moves and swaps, like that of
Kernighan and Lin 1970, on the loss of a grouping.
Cost: O(i_a × i_b × m) per step for groups of i_a and i_b items on m axes, less what the
bounds skip; at most `STEPS` steps per pair and `PASSES` passes over all pairs, and no
step once the block has spent its work.
Invariant: each step lowers the loss of the pool by more than `LEAST_GAIN`; both groups
meet every rule after it; the rows of the pool stay the same.
"""

from __future__ import annotations

import numpy as np

from sfumato.kernels.common.borrowed_arrays import borrow
from sfumato.kernels.compilation.decorators import both, inner
from sfumato.kernels.refinement.point_space import PointSpace
from sfumato.kernels.refinement.pools import (
    EVALUATED,
    FIRST_SIDE,
    GROUPS,
    ITEMS,
    LIMIT,
    NO_ITEM,
    NOW,
    WITHOUT_FIRST,
    Pool,
    PoolRules,
    allowed,
    cost_with,
    measure,
    shift,
)

PASSES = 3
"""How often all pairs of changed groups are looked at."""
STEPS = 50
"""Moves and swaps between two groups in one go, at most."""
LEAST_GAIN = 1e-9
"""A change counts if it lowers the loss of the pool by more than this."""


@both
def polish(space: PointSpace, pool_rules: PoolRules, pool: Pool) -> None:
    """Move and swap rows between pairs of groups while that lowers the loss."""
    space, pool_rules, pool = borrow(space), borrow(pool_rules), borrow(pool)
    groups = pool.numbers[GROUPS]
    dirty = np.ones(groups, dtype=np.uint8)
    for _ in range(PASSES):
        changed = np.zeros(groups, dtype=np.uint8)
        for a in range(groups):
            for b in range(a + 1, groups):
                if (dirty[a] | dirty[b] | changed[a] | changed[b]) == 0:
                    continue
                for _ in range(STEPS):
                    if pool.numbers[EVALUATED] > pool.numbers[LIMIT]:
                        return
                    if not improve(space, pool_rules, pool, a, b):
                        break
                    changed[a] = 1
                    changed[b] = 1
        if not changed.any():
            break
        dirty = changed


@inner
def improve(
    space: PointSpace, pool_rules: PoolRules, pool: Pool, a: int, b: int
) -> bool:
    """Make the best move or swap between two groups; whether there is one."""
    now = pool.cost[a] * pool.size[a] + pool.cost[b] * pool.size[b]
    if now <= LEAST_GAIN:
        return False
    # Literal numbers would be types of their own, each compiled separately.
    one, other = np.int64(0), np.int64(1)
    in_a = take_sides(space, pool, a, one)
    in_b = take_sides(space, pool, b, other)
    best = now - LEAST_GAIN
    best, first = best_move(space, pool_rules, pool, a, b, one, in_a, best)
    best, second = best_move(space, pool_rules, pool, b, a, other, in_b, best)
    if second != NO_ITEM:
        first = NO_ITEM
    best, out, into = best_swap(space, pool_rules, pool, a, b, in_a, in_b, best)
    if out != NO_ITEM:
        first, second = out, into
    if first == NO_ITEM and second == NO_ITEM:
        return False
    if first != NO_ITEM:
        pool.amounts[NOW, a, first] -= 1
        pool.amounts[NOW, b, first] += 1
    if second != NO_ITEM:
        pool.amounts[NOW, b, second] -= 1
        pool.amounts[NOW, a, second] += 1
    measure(space, pool, a)
    measure(space, pool, b)
    return True


@inner
def take_sides(space: PointSpace, pool: Pool, g: int, side: int) -> int:
    """List the items of a group and its costs without each; how many there are."""
    found = 0
    nothing = np.int64(NO_ITEM)
    for q in range(pool.numbers[ITEMS]):
        if pool.amounts[NOW, g, q] > 0:
            pool.items[FIRST_SIDE + side, found] = q
            cost = 0.0
            if pool.size[g] > 1:
                cost = cost_with(space, pool, g, q, nothing, np.inf)
            pool.costs[WITHOUT_FIRST + side, found] = cost
            found += 1
    pool.numbers[EVALUATED] += found
    return found


@inner
def best_move(
    space: PointSpace,
    pool_rules: PoolRules,
    pool: Pool,
    a: int,
    b: int,
    side: int,
    found: int,
    best: float,
) -> tuple[float, int]:
    """Find the best move of a row from a to b that beats `best`, and what it leaves."""
    item = nothing = np.int64(NO_ITEM)
    if pool.size[a] <= max(pool_rules.minimum, 1):
        return best, item
    less, more = pool.size[a] - 1, pool.size[b] + 1
    for i in range(found):
        rest = pool.costs[WITHOUT_FIRST + side, i] * less
        # A box never shrinks by taking in a row: this is a bound, and costs nothing.
        if rest + pool.cost[b] * more >= best:
            continue
        q = pool.items[FIRST_SIDE + side, i]
        pool.numbers[EVALUATED] += 1
        limit = (best - rest) / more
        loss = rest + cost_with(space, pool, b, nothing, q, limit) * more
        if loss < best and exchange_ok(pool_rules, pool, a, b, q, nothing):
            best, item = loss, q
    return best, item


@inner
def best_swap(
    space: PointSpace,
    pool_rules: PoolRules,
    pool: Pool,
    a: int,
    b: int,
    in_a: int,
    in_b: int,
    best: float,
) -> tuple[float, int, int]:
    """Find the best swap of two rows that beats `best`, and what it leaves."""
    out = into = NO_ITEM
    rows_a, rows_b = pool.size[a], pool.size[b]
    for i in range(in_a):
        rest_a = pool.costs[WITHOUT_FIRST + 0, i] * rows_a
        q = pool.items[FIRST_SIDE + 0, i]
        for l in range(in_b):
            rest_b = pool.costs[WITHOUT_FIRST + 1, l] * rows_b
            # Neither box gets cheaper than without the row it gives away.
            if rest_a + rest_b >= best:
                continue
            p = pool.items[FIRST_SIDE + 1, l]
            pool.numbers[EVALUATED] += 1
            limit = (best - rest_b) / rows_a
            loss = cost_with(space, pool, a, q, p, limit) * rows_a
            if loss + rest_b >= best:
                continue
            limit = (best - loss) / rows_b
            loss += cost_with(space, pool, b, p, q, limit) * rows_b
            if loss < best and exchange_ok(pool_rules, pool, a, b, q, p):
                best, out, into = loss, q, p
    return best, out, into


@inner
def exchange_ok(
    pool_rules: PoolRules, pool: Pool, a: int, b: int, out: int, into: int
) -> bool:
    """Whether both groups stay allowed if a gives `out` to b, and b `into` to a."""
    if pool_rules.plain:
        return True
    shift(pool, a, out, -1)
    shift(pool, b, out, 1)
    if into != NO_ITEM:
        shift(pool, b, into, -1)
        shift(pool, a, into, 1)
    fine = allowed(pool_rules, pool, a) and allowed(pool_rules, pool, b)
    shift(pool, a, out, 1)
    shift(pool, b, out, -1)
    if into != NO_ITEM:
        shift(pool, b, into, 1)
        shift(pool, a, into, -1)
    return fine
