"""Keep groups of units that grow: entries, boxes, S-diversity, and the rules.

A group's members are *entries* (a unit and how many copies), chained per group. What a
group loses is known from its box in one step per axis, and from running sums of the
pairwise contributions of its sensitive values.

Paper: the last stage of k-member (Byun et al. 2007): `insert_rest` puts each leftover
where the loss grows least. S-diversity is that of Loukides and Shao 2008, definition
2.4, kept as a running sum of pairwise contributions. Merging groups that break a rule
(`merge_offending_groups`) is ours.
Cost: O(w × m) per copy inserted, for a window of w groups on m axes, plus the entries of
groups whose sensitive values count; O(g × m) per merge for g groups.
Invariant: chains hold each copy once; boxes, sizes and sums of contributions are those
of the chains; no group that takes a unit breaks a rule by it; a merged group has size 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sfumato.data.arrays import Codes, Floats, Ints
from sfumato.kernels.clustering.units import Units, cell_with, put
from sfumato.kernels.common.boxes import Boxes, cell_loss, join, joined_loss
from sfumato.kernels.common.group_rules import RuleTable, group_ok
from sfumato.kernels.common.histograms import BoxHistograms
from sfumato.kernels.compilation.decorators import door, inner, pointer

ENTRIES, GROUPS = range(2)
"""Places of `Clusters.number`."""
MEMBER, TIMES, FOLLOWER = range(3)
"""Columns of `Clusters.entry`: a unit, how many copies of it, and the next entry of the
same group, or −1."""
HEAD, TAIL = range(2)
"""Columns of `Clusters.chain`: the first and the last entry of a group."""

NOBODY = np.int64(-1)
"""No group, or no unit."""
ONE = np.int64(1)
"""A single copy, no literal: for those, compiled code is made anew."""

TRIES = 24
"""Partners that are tried for a union that meets the rules, before any will do."""


class PairwiseContributions(NamedTuple):
    """Sensitive columns whose S-diversity counts: pairwise contributions."""

    columns: int
    start: Ints
    """Where a column's matrix begins in `matrix`, or −1 for a line of numbers."""
    matrix: Floats
    position_start: Ints
    positions: Floats
    """Numbers scaled to 0 … 1, NaN for the missing one, for columns on a line."""
    sizes: Ints
    reach: float
    """The estimation range r: pairs further apart contribute nothing."""
    scale: Floats
    """What a column's S-diversity is multiplied by."""


class Clusters(NamedTuple):
    """All groups, and what is in none."""

    number: Ints
    entry: Ints
    chain: Ints
    size: Ints
    """Rows of each group; 0 for one that was merged into another."""
    box: Boxes
    left: Ints
    """Copies of each unit that no group has."""
    pairs: Floats
    """(groups, sensitive columns): sums of pairwise contributions."""


class ClusterRules(NamedTuple):
    """What is asked of every group."""

    rules: RuleTable
    room: BoxHistograms
    meets: Any
    """`group_meets`, or `group_is_large` where only sizes count, behind a pointer."""


@inner
def contribution(
    contributions: PairwiseContributions, a: int, one: int, two: int
) -> float:
    """Return how much one value of column a tells of another."""
    if one == two:
        return 1.0
    if contributions.start[a] >= 0:
        return contributions.matrix[
            contributions.start[a] + one * contributions.sizes[a] + two
        ]
    at = contributions.position_start[a]
    apart = abs(contributions.positions[at + one] - contributions.positions[at + two])
    return 1.0 - apart if apart <= contributions.reach + 1e-9 else 0.0


@inner
def contribution_sum(
    units: Units,
    clusters: Clusters,
    contributions: PairwiseContributions,
    g: int,
    a: int,
    u: int,
) -> float:
    """Sum what the values of group g tell of unit u's in column a."""
    total = 0.0
    value = np.int64(units.low[u, units.axes + a])
    entry = clusters.chain[g, HEAD]
    while entry >= 0:
        other = clusters.entry[entry, MEMBER]
        rows = clusters.entry[entry, TIMES] * units.weight[other]
        there = np.int64(units.low[other, units.axes + a])
        total += rows * contribution(contributions, a, value, there)
        entry = clusters.entry[entry, FOLLOWER]
    return total


@inner
def add_entry(clusters: Clusters, g: int, u: int, count: int) -> None:
    """Chain `count` copies of a unit to a group."""
    entry = clusters.number[ENTRIES]
    clusters.number[ENTRIES] += 1
    clusters.entry[entry, MEMBER] = u
    clusters.entry[entry, TIMES] = count
    clusters.entry[entry, FOLLOWER] = -1
    if clusters.chain[g, HEAD] < 0:
        clusters.chain[g, HEAD] = entry
    else:
        clusters.entry[clusters.chain[g, TAIL], FOLLOWER] = entry
    clusters.chain[g, TAIL] = entry


@inner
def add_unit(
    units: Units,
    clusters: Clusters,
    contributions: PairwiseContributions,
    g: int,
    u: int,
    changed: Ints,
) -> None:
    """Move one copy of a unit into a group: box, size and pairs follow."""
    w = units.weight[u]
    for a in range(contributions.columns):
        clusters.pairs[g, a] += (
            2 * w * contribution_sum(units, clusters, contributions, g, a, u) + w * w
        )
    add_entry(clusters, g, u, ONE)
    put(units, clusters.box, g, u, changed)
    clusters.size[g] += w
    clusters.left[u] -= 1


@inner
def group_is_large(
    units: Units,
    clusters: Clusters,
    g: int,
    h: int,
    u: int,
    rules: RuleTable,
    room: BoxHistograms,
) -> bool:
    """`group_meets` where a least size is all that is asked."""
    return _joint_size(units.weight, clusters.size, g, h, u) >= rules.minimum


@inner
def group_meets(
    units: Units,
    clusters: Clusters,
    g: int,
    h: int,
    u: int,
    rules: RuleTable,
    room: BoxHistograms,
) -> bool:
    """Tell whether group g, with group h and unit u (unless −1), is allowed."""
    size = _joint_size(units.weight, clusters.size, g, h, u)
    if size < rules.minimum:
        return False
    for v in range(len(room.lengths)):
        found = _count_group(units, clusters, g, v, 0, room)
        if h >= 0:
            found = _count_group(units, clusters, h, v, found, room)
        if u >= 0:
            found = _count_unit(units, u, 1, v, found, room)
        room.codes[v, :found].sort()
        for i in range(found):
            code = room.codes[v, i]
            room.counts[v, i] = room.tally[v, code]
            room.tally[v, code] = 0
        room.lengths[v] = found
    return group_ok(size, 0, room.codes, room.counts, room.lengths, rules)


@inner
def _joint_size(weight: Ints, sizes: Ints, g: int, h: int, u: int) -> int:
    """Count the rows of group g with group h (unless −1) and unit u (unless −1)."""
    rows = sizes[g]
    if h >= 0:
        rows += sizes[h]
    if u >= 0:
        rows += weight[u]
    return rows


def make_cluster_rules(
    units: Units, clusters: Clusters, rules: RuleTable, room: BoxHistograms
) -> ClusterRules:
    """The rules, behind a pointer, so that callers compile without them.

    Where only sizes are compared, nothing else is compiled at all.
    """
    judge = group_meets if len(rules.kinds) else group_is_large
    taken = (units, clusters, 0, 0, 0, rules, room)
    return ClusterRules(rules, room, pointer(judge, "boolean", *taken))


@inner
def _count_group(
    units: Units, clusters: Clusters, g: int, v: int, found: int, room: BoxHistograms
) -> int:
    entry = clusters.chain[g, HEAD]
    while entry >= 0:
        count = clusters.entry[entry, TIMES]
        found = _count_unit(units, clusters.entry[entry, MEMBER], count, v, found, room)
        entry = clusters.entry[entry, FOLLOWER]
    return found


@inner
def _count_unit(
    units: Units, u: int, count: int, v: int, found: int, room: BoxHistograms
) -> int:
    """Count the rows of some copies of a unit; return how many values there are now."""
    start = units.first[u]
    for i in range(start, start + units.weight[u]):
        code = units.values[v, i]
        if room.tally[v, code] == 0:
            room.codes[v, found] = code
            found += 1
        room.tally[v, code] += count
    return found


@inner
def loss_of(
    units: Units, clusters: Clusters, contributions: PairwiseContributions, g: int
) -> float:
    """The loss of one row of a group: its box and its S-diversity, as scaled."""
    total = 0.0
    for j in range(units.axes):
        total += cell_loss(units.tables, clusters.box, g, j)
    square = float(clusters.size[g]) * clusters.size[g]
    for a in range(contributions.columns):
        total += contributions.scale[a] * clusters.pairs[g, a] / square
    return total


@door
def insert_rest(
    units: Units,
    clusters: Clusters,
    contributions: PairwiseContributions,
    rest: Ints,
    begin: int,
    until: int,
    middle: Ints,
    by_rows: bool,
    cluster_rules: ClusterRules,
    losses: Floats,
    growth: Floats,
    changed: Ints,
    window: int,
) -> None:
    """Put the units rest[begin:until], copy by copy, where the loss grows least.

    Candidates for a unit are the `window` groups around group middle[u]; a group
    that would break a rule is passed over, so that a copy may stay left over.
    `by_rows` weighs losses by rows. `losses` are those of the groups, NaN where not
    known; `growth` and `changed` are room.
    """
    groups = clusters.number[GROUPS]
    for i in range(begin, until):
        u = rest[i]
        low = max(0, min(middle[u] - window // 2, groups - window))
        high = min(groups, low + window)
        for _ in range(clusters.left[u]):
            g = _best_place(
                units,
                clusters,
                contributions,
                u,
                low,
                high,
                by_rows,
                cluster_rules,
                losses,
                growth,
            )
            if g >= 0:
                add_unit(units, clusters, contributions, g, u, changed)
                losses[g] = np.nan


@inner
def _best_place(
    units: Units,
    clusters: Clusters,
    contributions: PairwiseContributions,
    u: int,
    low: int,
    high: int,
    by_rows: bool,
    cluster_rules: ClusterRules,
    losses: Floats,
    growth: Floats,
) -> int:
    """Find the group among low … high − 1 whose loss grows least and stays allowed."""
    refused = NOBODY
    for attempt in range(high - low + 1):
        best = np.inf
        # First only the least growth is exact; if its group refuses, so must all be.
        for g in range(low, high if attempt < 2 else low):
            if np.isnan(losses[g]):
                losses[g] = loss_of(units, clusters, contributions, g)
            growth[g] = _growth(
                units, clusters, contributions, g, u, by_rows, losses[g], best
            )
            best = min(best, growth[g]) if attempt == 0 else np.inf
        if refused >= 0:
            growth[refused] = np.inf
        found = _least(growth, low, high)
        if found < 0 or cluster_rules.meets(
            units, clusters, found, NOBODY, u, cluster_rules.rules, cluster_rules.room
        ):
            return found
        refused = found
    return NOBODY


@inner
def _least(growth: Floats, low: int, high: int) -> int:
    """Find where the lowest of growth[low:high] is; −1 if all are infinite."""
    best, found = np.inf, NOBODY
    for g in range(low, high):
        if growth[g] < best:
            best, found = growth[g], g
    return found


@inner
def _growth(
    units: Units,
    clusters: Clusters,
    contributions: PairwiseContributions,
    g: int,
    u: int,
    by_rows: bool,
    loss: float,
    best: float,
) -> float:
    """Return how much the loss of group g grows with unit u; infinite if above best.

    The box alone is a bound: contributions are never negative.
    """
    size, w = float(clusters.size[g]), float(units.weight[u])
    total = 0.0
    for j in range(units.axes):
        total += cell_with(units, clusters.box, g, j, u)
    if _weighed(total, loss, size, w, by_rows) > best:
        return np.inf
    square = (size + w) * (size + w)
    for a in range(contributions.columns):
        more = 2 * w * contribution_sum(units, clusters, contributions, g, a, u) + w * w
        total += contributions.scale[a] * (clusters.pairs[g, a] + more) / square
    return _weighed(total, loss, size, w, by_rows)


@inner
def _weighed(new: float, old: float, size: float, more: float, by_rows: bool) -> float:
    return new * (size + more) - old * size if by_rows else new - old


@door
def collect(
    units: Units, clusters: Clusters, contributions: PairwiseContributions, rest: Ints
) -> None:
    """Make one more group of all copies of these units that are left."""
    g = clusters.number[GROUPS]
    clusters.number[GROUPS] += 1
    changed = np.zeros(units.low.shape[1], dtype=np.int64)
    for u in rest:
        for _ in range(clusters.left[u]):
            add_unit(units, clusters, contributions, g, u, changed)


@door
def merge_offending_groups(
    units: Units,
    clusters: Clusters,
    contributions: PairwiseContributions,
    cluster_rules: ClusterRules,
    begin: int,
    limit: int,
) -> int:
    """Merge groups that break a rule, from group `begin`; at most `limit` merges.

    Returns the group to go on with. A group merges with the partner whose union
    loses least among the nearest few unions that meet the rules; if none does, with
    the nearest, and is looked at again.
    """
    growth = np.empty(clusters.number[GROUPS])
    merges = 0
    g = begin
    while g < clusters.number[GROUPS] and merges < limit:
        if clusters.size[g] == 0 or cluster_rules.meets(
            units, clusters, g, NOBODY, NOBODY, cluster_rules.rules, cluster_rules.room
        ):
            g += 1
            continue
        partner = _partner(units, clusters, contributions, g, growth, cluster_rules)
        if partner < 0:
            g += 1
            continue
        merge(units, clusters, contributions, g, partner)
        merges += 1
    return g


@inner
def _partner(
    units: Units,
    clusters: Clusters,
    contributions: PairwiseContributions,
    g: int,
    growth: Floats,
    cluster_rules: ClusterRules,
) -> int:
    """Choose the group to merge group g with; −1 if it is the only one."""
    size = float(clusters.size[g])
    own = 0.0
    for j in range(units.axes):
        own += cell_loss(units.tables, clusters.box, g, j)
    for h in range(len(growth)):
        growth[h] = np.inf
        if h != g and clusters.size[h] > 0:
            other, both = 0.0, 0.0
            for j in range(units.axes):
                other += cell_loss(units.tables, clusters.box, h, j)
                both += joined_loss(units.tables, clusters.box, g, h, j)
            more = float(clusters.size[h])
            growth[h] = both * (size + more) - own * size - other * more
    nearest = -1
    for _ in range(TRIES):
        h = np.argmin(growth)
        if growth[h] == np.inf:
            return nearest
        if nearest < 0:
            nearest = h
        if cluster_rules.meets(
            units, clusters, g, h, NOBODY, cluster_rules.rules, cluster_rules.room
        ):
            return h
        growth[h] = np.inf
    return nearest


@inner
def merge(
    units: Units,
    clusters: Clusters,
    contributions: PairwiseContributions,
    g: int,
    h: int,
) -> None:
    """Move everything of group h into group g."""
    for a in range(contributions.columns):
        between = 0.0
        entry = clusters.chain[h, HEAD]
        while entry >= 0:
            u = clusters.entry[entry, MEMBER]
            rows = clusters.entry[entry, TIMES] * units.weight[u]
            between += rows * contribution_sum(units, clusters, contributions, g, a, u)
            entry = clusters.entry[entry, FOLLOWER]
        clusters.pairs[g, a] += clusters.pairs[h, a] + 2 * between
    if clusters.chain[g, HEAD] < 0:
        clusters.chain[g, HEAD] = clusters.chain[h, HEAD]
    else:
        clusters.entry[clusters.chain[g, TAIL], FOLLOWER] = clusters.chain[h, HEAD]
    clusters.chain[g, TAIL] = clusters.chain[h, TAIL]
    join(units.tables, clusters.box, g, h)
    clusters.size[g] += clusters.size[h]
    clusters.size[h] = 0
    clusters.chain[h, HEAD] = -1


@door
def rows_to_groups(
    first: Ints, weight: Ints, clusters: Clusters, used: Ints, group_of: Codes
) -> None:
    """Find the group of each row, rows being sorted by unit; `used` holds zeros."""
    for g in range(clusters.number[GROUPS]):
        entry = clusters.chain[g, HEAD]
        while entry >= 0:
            u = clusters.entry[entry, MEMBER]
            more = clusters.entry[entry, TIMES] * weight[u]
            start = first[u] + used[u]
            for row in range(start, start + more):
                group_of[row] = g
            used[u] += more
            entry = clusters.entry[entry, FOLLOWER]
