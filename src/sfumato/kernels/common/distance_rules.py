"""Measure the earth mover's distance and the S-diversity of one group, compiled.

All take ascending `codes[:n]` with `counts[:n]`; zero counts are skipped. `heads[v]` is
a view's line of the rule table (see `rule_table`).

Paper: the equal, ordered and hierarchical distances of t-closeness (Li, Li and
Venkatasubramanian 2007, section 4.2), the last as the mean of the total variation over
the levels, which equals its recursion; S-diversity of Loukides and Shao 2008,
definitions 2.3 and 2.4, over ordered pairs with each row paired with itself.
Cost: O(n) for the equal and O(n × h) for the hierarchical distance, for n entries and h
levels; O(n log d) for the ordered one on d values; S-diversity O(n) on a line and
O(n × h) on a tree, never O(n²).
Invariant: nodes cover runs of codes, so that ascending entries of a node are
consecutive; distances lie between 0 and 1, and S-diversity between 1 / size and 1.
"""

from __future__ import annotations

from sfumato.data.arrays import Codes, Counts, Floats
from sfumato.data.rules import Distance
from sfumato.kernels.common.count_rules import TOLERANCE, total_of
from sfumato.kernels.common.rule_layout import (
    CUMULATIVE,
    DOMAIN,
    HEIGHT,
    LEVELS,
    LINE_METRIC,
    METRIC,
    NODE_LEAVES,
    NODE_SHARES,
    POSITIONS,
    PREFIX,
    RANKS,
    TREE_METRIC,
    VALUES,
)
from sfumato.kernels.compilation.decorators import both_numpy, inner_numpy

ORDERED = int(Distance.ORDERED)
HIERARCHICAL = int(Distance.HIERARCHICAL)


@inner_numpy
def earth_mover(
    codes: Codes,
    counts: Counts,
    n: int,
    kind: int,
    heads: Counts,
    v: int,
    whole: Counts,
    real: Floats,
) -> float:
    """Return the distance to the reference."""
    if kind == ORDERED:
        return _ordered(codes, counts, n, heads, v, whole, real)
    # The root is left out: there all mass is in one node, and none moves.
    height = max(heads[v, HEIGHT] - 1, 1) if kind == HIERARCHICAL else 1
    distance = 0.0
    for level in range(height):
        distance += _variation(codes, counts, n, level, heads, v, whole, real)
    return distance / height


@inner_numpy
def _variation(
    codes: Codes,
    counts: Counts,
    n: int,
    level: int,
    heads: Counts,
    v: int,
    whole: Counts,
    real: Floats,
) -> float:
    """Return half the sum of |share − reference| over the nodes of a level."""
    nodes = heads[v, LEVELS] + level * heads[v, VALUES]
    shares = heads[v, NODE_SHARES] + level * heads[v, VALUES]
    total = total_of(counts, n)
    # Start from the whole reference: a node that the group lacks differs by its share,
    # so that only nodes that occur have to be visited.
    differing = 1.0
    i = 0
    while i < n:
        node, expected = whole[nodes + codes[i]], real[shares + codes[i]]
        here = 0
        while i < n and whole[nodes + codes[i]] == node:
            here += counts[i]
            i += 1
        if here > 0:
            differing += abs(here / total - expected) - expected
    return differing / 2.0


@inner_numpy
def _ordered(
    codes: Codes,
    counts: Counts,
    n: int,
    heads: Counts,
    v: int,
    whole: Counts,
    real: Floats,
) -> float:
    """Sum |difference of cumulative shares| over the values, over their number − 1.

    Between two values that occur the group's cumulative share is constant, so that
    each stretch is one binary search instead of one step per value of the domain.
    """
    total = total_of(counts, n)
    domain = heads[v, DOMAIN]
    cumulative, prefix = heads[v, CUMULATIVE], heads[v, PREFIX]
    low = 0
    running = 0
    moved = 0.0
    for i in range(n):
        if counts[i] > 0:
            high = whole[heads[v, RANKS] + codes[i]]
            moved += _segment(real, cumulative, prefix, low, high, running / total)
            running += counts[i]
            low = high
    moved += _segment(real, cumulative, prefix, low, domain, 1.0)
    return moved / max(domain - 1, 1)


@inner_numpy
def _segment(
    real: Floats, cumulative: int, prefix: int, low: int, high: int, level: float
) -> float:
    """Sum |level − cumulative share| over the ranks low … high − 1.

    Cumulative shares never fall: those below the level come first, and prefix sums
    give either part in one subtraction.
    """
    cross, end = low, high
    while cross < end:
        middle = (cross + end) // 2
        if real[cumulative + middle] < level:
            cross = middle + 1
        else:
            end = middle
    above = (cross - low) * level - (real[prefix + cross] - real[prefix + low])
    under = real[prefix + high] - real[prefix + cross] - (high - cross) * level
    return above + under


@both_numpy
def s_diversity(
    codes: Codes,
    counts: Counts,
    n: int,
    r: float,
    heads: Counts,
    v: int,
    whole: Counts,
    real: Floats,
) -> float:
    """Return the mean pairwise contribution of values at most r apart."""
    total = total_of(counts, n)
    if heads[v, METRIC] == LINE_METRIC:
        pairs = _line_pairs(codes, counts, n, r, real, heads[v, POSITIONS])
    elif heads[v, METRIC] == TREE_METRIC:
        pairs = _tree_pairs(codes, counts, n, r, heads, v, whole, real)
    else:
        same = _squares(counts, n)
        pairs = same + counted(1.0 - 1.0 / heads[v, DOMAIN], r) * (total * total - same)
    return pairs / total / total


@inner_numpy
def counted(contribution: float, r: float) -> float:
    """Return a pairwise contribution, or 0 where the pair is further apart than r."""
    return contribution if contribution >= 1.0 - r - TOLERANCE else 0.0


@inner_numpy
def _squares(counts: Counts, n: int) -> float:
    total = 0.0
    for i in range(n):
        total += float(counts[i]) * counts[i]
    return total


@inner_numpy
def _line_pairs(
    codes: Codes, counts: Counts, n: int, r: float, real: Floats, start: int
) -> float:
    """Sum contributions of numbers in order: each meets those before it within reach.

    A window slides along; its count and its sum give 1 − |difference| over all of it
    at once. The missing one, whose position is NaN, compares false and meets nobody.
    """
    pairs = _squares(counts, n)
    first = 0
    number = 0.0
    moment = 0.0
    for i in range(n):
        here = real[start + codes[i]]
        if here >= 0.0 or here < 0.0:
            while not real[start + codes[first]] >= here - r - TOLERANCE:
                gone = real[start + codes[first]]
                if gone >= 0.0 or gone < 0.0:
                    number -= counts[first]
                    moment -= counts[first] * gone
                first += 1
            pairs += 2.0 * counts[i] * (number - (number * here - moment))
            number += counts[i]
            moment += counts[i] * here
    return pairs


@inner_numpy
def _tree_pairs(
    codes: Codes,
    counts: Counts,
    n: int,
    r: float,
    heads: Counts,
    v: int,
    whole: Counts,
    real: Floats,
) -> float:
    """Sum contributions by the smallest node over both: equal values, then by level."""
    pairs = _squares(counts, n)
    for level in range(1, heads[v, HEIGHT]):
        nodes = heads[v, LEVELS] + level * heads[v, VALUES]
        leaves = heads[v, NODE_LEAVES] + level * heads[v, VALUES]
        i = 0
        while i < n:
            start, node = i, whole[nodes + codes[i]]
            weight = counted(
                1.0 - (real[leaves + codes[i]] - 1.0) / heads[v, DOMAIN], r
            )
            while i < n and whole[nodes + codes[i]] == node:
                i += 1
            if weight > 0.0:
                below = nodes - heads[v, VALUES]
                pairs += weight * _parted(codes, counts, start, i, below, whole)
    return pairs


@inner_numpy
def _parted(
    codes: Codes, counts: Counts, start: int, end: int, nodes: int, whole: Counts
) -> float:
    """Count ordered pairs of entries start … end − 1 that lie under different nodes."""
    total = 0.0
    squares = 0.0
    i = start
    while i < end:
        node = whole[nodes + codes[i]]
        here = 0.0
        while i < end and whole[nodes + codes[i]] == node:
            here += counts[i]
            i += 1
        total += here
        squares += here * here
    return total * total - squares
