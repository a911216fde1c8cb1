"""Bound the rows that must leave a group before it can meet a convex rule.

Each bound comes from a function of the group's counts that is convex, grows in
proportion with them, and is above zero where the rule is broken. Splitting off r rows
lowers such a function by at most r times its largest value on a single row, so that
at least (value now) / (that largest value) rows must go.

For the earth mover's distance the function is the gain of one fixed price per value,
f, over the reference: E(f) − E_reference(f) − t. With f = the share of levels at which
the value's node is over-represented it equals the distance of the group as it is.

Paper: none. OLA (El Emam et al. 2009) and Incognito prune below a failing node only
for monotone rules; this bound prunes for entropy, recursive diversity, t-closeness and
β-likeness as well.
Cost: O(v) time per rule for a group with v distinct values; hierarchical closeness
takes O(v × h) for h levels, recursive diversity O(v × l).
Invariant: the bound never exceeds the fewest rows whose removal makes the group meet
the rule, and lies between 1 and the size of the group.
"""

from __future__ import annotations

import numpy as np

from sfumato.data.arrays import Codes, Floats, Ints
from sfumato.data.rules import Distance, RuleKind
from sfumato.kernels.common.count_rules import TOLERANCE, entropy, largest_of
from sfumato.kernels.common.group_rules import RuleTable
from sfumato.kernels.common.rule_layout import (
    APART,
    HEIGHT,
    LEVELS,
    NODE_SHARES,
    SHARES,
    VALUES,
)
from sfumato.kernels.compilation.decorators import inner_numpy

ENTROPY = int(RuleKind.ENTROPY)
RECURSIVE = int(RuleKind.RECURSIVE)
SHARE = int(RuleKind.SHARE)
CLOSENESS = int(RuleKind.CLOSENESS)
LIKENESS = int(RuleKind.LIKENESS)
EQUAL = int(Distance.EQUAL)
HIERARCHICAL = int(Distance.HIERARCHICAL)
ROUNDING = 1e-6


@inner_numpy
def fewest_removals(
    size: int, codes: Codes, counts: Ints, lengths: Ints, table: RuleTable
) -> int:
    """Bound from below the rows a group that breaks a rule must lose; at least 1."""
    most = 1.0
    for line in range(len(table.kinds)):
        v = table.views[line]
        if v >= 0 and table.heads[v, APART] == 0:
            n = lengths[v]
            found = _for_rule(size, codes[v, :n], counts[v, :n], v, line, table)
            # Rounding up is sound, for rows are whole; ROUNDING keeps noise in the last
            # bits from rounding a bound of exactly 3 up to 4.
            most = max(most, np.ceil(found - ROUNDING))
    return min(int(most), size)


@inner_numpy
def _for_rule(
    size: int, codes: Codes, counts: Ints, v: int, line: int, table: RuleTable
) -> float:
    kind = table.kinds[line]
    limit, second = table.parameters[line, 0], table.parameters[line, 1]
    if kind == CLOSENESS and (second == EQUAL or second == HIERARCHICAL):
        return _for_closeness(size, codes, counts, v, limit, int(second), table)
    # Entropy: size × (limit − entropy) is convex in the counts, and `limit` on one row.
    if kind == ENTROPY and limit > 0.0:
        return size * (limit - entropy(counts, len(counts))) / limit
    # Share: one row of the commonest value adds 1 − limit to (count − limit × size).
    if kind == SHARE and limit < 1.0:
        return (largest_of(counts, len(counts)) - limit * size) / (1.0 - limit)
    if kind == RECURSIVE and table.marks[line] < 0:
        return _for_recursive(size, counts, limit, int(second))
    if kind == LIKENESS:
        return _for_likeness(size, codes, counts, v, limit, second > 0.0, table)
    return 0.0


@inner_numpy
def _for_closeness(
    size: int,
    codes: Codes,
    counts: Ints,
    v: int,
    limit: float,
    kind: int,
    table: RuleTable,
) -> float:
    # The root, at which everything is alike, moves nothing and is left out.
    height = 1
    if kind == HIERARCHICAL:
        height = max(table.heads[v, HEIGHT] - 1, 1)
    price = np.zeros(len(codes))
    allowed = limit + TOLERANCE
    for level in range(height):
        allowed += _price_level(size, codes, counts, v, level, table, price) / height
    paid, highest = 0.0, 0.0
    for i in range(len(codes)):
        paid += counts[i] * price[i] / height
        highest = max(highest, price[i] / height)
    # Even the dearest value alone is close enough: no removal is forced.
    if highest <= allowed:
        return 0.0
    return (paid - allowed * size) / (highest - allowed)


@inner_numpy
def _price_level(
    size: int,
    codes: Codes,
    counts: Ints,
    v: int,
    level: int,
    table: RuleTable,
    price: Floats,
) -> float:
    """Add 1 to the price of values under over-represented nodes; return their share."""
    nodes = table.heads[v, LEVELS] + level * table.heads[v, VALUES]
    shares = table.heads[v, NODE_SHARES] + level * table.heads[v, VALUES]
    reference = 0.0
    start = 0
    while start < len(codes):
        node = table.whole[nodes + codes[start]]
        end = start
        here = 0
        while end < len(codes) and table.whole[nodes + codes[end]] == node:
            here += counts[end]
            end += 1
        expected = table.real[shares + codes[start]]
        if here > expected * size:
            reference += expected
            for i in range(start, end):
                price[i] += 1.0
        start = end
    return reference


@inner_numpy
def _for_recursive(size: int, counts: Ints, c: float, l: int) -> float:
    """Bound removals by r₁ − c × tail, which losing one row lowers by at most 1."""
    left = counts.copy()
    head = 0
    # Only the l − 1 largest counts are needed: selecting them beats sorting for small l.
    for _ in range(max(l - 1, 0)):
        largest = 0
        for i in range(len(left)):
            if left[i] > left[largest]:
                largest = i
        head += left[largest]
        left[largest] = 0
    return largest_of(counts, len(counts)) - c * (size - head)


@inner_numpy
def _for_likeness(
    size: int,
    codes: Codes,
    counts: Ints,
    v: int,
    beta: float,
    enhanced: bool,
    table: RuleTable,
) -> float:
    most = 0.0
    for i in range(len(codes)):
        expected = table.real[table.heads[v, SHARES] + codes[i]]
        if expected <= 0.0:
            continue
        growth = min(beta, -np.log(expected)) if enhanced else beta
        allowed = (1.0 + growth) * expected
        # A value that may fill a whole group forces nothing out.
        if allowed < 1.0:
            excess = counts[i] - (allowed + TOLERANCE) * size
            most = max(most, excess / (1.0 - allowed))
    return most
