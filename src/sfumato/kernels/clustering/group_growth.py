"""Grow groups by their nearest unit: k-member and threshold-greedy clustering.

The search, the rules and the adding of a unit are called through pointers: a function
that is called by name would be compiled again inside each caller.

Paper: k-member (Byun et al. 2007, algorithm 1) is `grow_members`, which also serves
K-Members-p; threshold-greedy clustering is `grow_to_threshold`, algorithm 1 of Loukides
and Shao 2008 (lines 3 to 9: seed, add the nearest while the threshold holds, keep a
cluster that is large enough), and its pre-partitioning is `pre_partition`, algorithm 2.
Departs in k-member: once places are short only rows that a rule still needs are added.
Cost: one search of the tree per unit added, O(log n × m) where bounds are tight, O(n × m)
at worst, for n units on m axes; `pre_partition` O(n × m) per level of cuts, and O(v²) per
part for v sensitive values.
Invariant: a unit added is the nearest left, of equal ones the lowest number; groups
that are kept meet every rule; a group given up leaves its units to no other seed; parts
of `pre_partition` have at least `least` units and S-diversities of at most `most`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sfumato.data.arrays import Ints
from sfumato.kernels.clustering.add_unit import FILTERED, PART, ROWS, admit_all
from sfumato.kernels.clustering.block_tree import ALIVE, BlockTree, is_left, remove
from sfumato.kernels.clustering.group_state import (
    ENTRIES,
    FOLLOWER,
    GROUPS,
    HEAD,
    MEMBER,
    NOBODY,
    TIMES,
    ClusterRules,
    Clusters,
    PairwiseContributions,
    contribution,
)
from sfumato.kernels.clustering.nearest_unit import UnitSearch
from sfumato.kernels.clustering.sensitive_state import SensitiveState
from sfumato.kernels.clustering.units import Units
from sfumato.kernels.common.boxes import Boxes
from sfumato.kernels.compilation.decorators import door, inner

PATIENCE = 4
"""A group of so many times the least size takes rows that help, and no others."""


class GrowthState(NamedTuple):
    """Everything a growing group touches."""

    units: Units
    index: BlockTree
    search: UnitSearch
    clusters: Clusters
    sensitive_state: SensitiveState
    order: Ints
    """Seeds, in the order in which they are tried."""
    middle: Ints
    """The groups that were there when a unit was left over."""
    state: Ints
    seed: Any
    nearest: Any
    add: Any
    """Compiled functions, behind pointers."""


@door
def grow_members(work: GrowthState, cluster_rules: ClusterRules, limit: int) -> bool:
    """Grow up to `limit` groups of k-member; True if nothing is left to grow from."""
    units, index, search, clusters = work.units, work.index, work.search, work.clusters
    rules, sensitive_state, state, root = (
        cluster_rules.rules,
        work.sensitive_state,
        work.state,
        index.roots[0],
    )
    for _ in range(limit):
        if state[ROWS] < max(rules.minimum, 1):
            return True
        u = work.seed(units, index, search, work.order, state, root)
        g = _begin(clusters)
        allowed = False
        while u >= 0 and not allowed:
            work.add(
                units, index, search, clusters, sensitive_state, rules, state, g, u
            )
            if clusters.size[g] >= rules.minimum:
                allowed = cluster_rules.meets(
                    units, clusters, g, NOBODY, NOBODY, rules, cluster_rules.room
                )
            searching = not allowed
            while searching:
                u = work.nearest(units, index, search, root)
                patient = clusters.size[g] < PATIENCE * rules.minimum
                searching = u < 0 and patient and _lift_filter(search, state)
        if allowed:
            _close(clusters, search.box, g)
        else:
            _dissolve(units, index, search.columns, clusters, work.middle, state, g)
    return False


@inner
def _begin(clusters: Clusters) -> int:
    """Start an empty group; its number."""
    g = clusters.number[GROUPS]
    clusters.chain[g, HEAD] = -1
    clusters.size[g] = 0
    return g


@inner
def _lift_filter(search: UnitSearch, state: Ints) -> bool:
    """Keep nothing out any longer; whether anything was."""
    lifted = state[FILTERED] > 0
    state[FILTERED] = 0
    admit_all(search)
    return lifted


@inner
def _close(clusters: Clusters, here: Boxes, g: int) -> None:
    """Keep the group, with this box."""
    box = clusters.box
    for j in range(box.cells.shape[1]):
        for place in range(3):
            box.cells[g, j, place] = here.cells[0, j, place]
    for w in range(box.words.shape[1]):
        box.words[g, w] = here.words[0, w]
    clusters.number[GROUPS] += 1


@inner
def _dissolve(
    units: Units,
    index: BlockTree,
    columns: Ints,
    clusters: Clusters,
    middle: Ints,
    state: Ints,
    g: int,
) -> None:
    """Give the group up; its units are left over and start no other group."""
    entry = clusters.chain[g, HEAD]
    first = entry
    while entry >= 0:
        u = clusters.entry[entry, MEMBER]
        if clusters.left[u] > 0 and is_left(index, u):
            remove(units.low, units.high, index, columns, u)
            state[ROWS] -= clusters.left[u] * units.weight[u]
        middle[u] = g
        entry = clusters.entry[entry, FOLLOWER]
    entry = first
    while entry >= 0:
        clusters.left[clusters.entry[entry, MEMBER]] += clusters.entry[entry, TIMES]
        entry = clusters.entry[entry, FOLLOWER]
    clusters.number[ENTRIES] = first
    clusters.chain[g, HEAD] = -1
    clusters.size[g] = 0


@door
def grow_to_threshold(
    work: GrowthState, cluster_rules: ClusterRules, delta: float, limit: int
) -> bool:
    """Grow up to `limit` groups of TGC, part by part; True if all parts are done."""
    units, index, search, clusters = work.units, work.index, work.search, work.clusters
    rules, sensitive_state, state, tried = (
        cluster_rules.rules,
        work.sensitive_state,
        work.state,
        0,
    )
    while state[PART] < len(index.roots):
        root = index.roots[state[PART]]
        while index.blocks[root, ALIVE] > 0:
            if tried == limit:
                return False
            tried += 1
            u = work.seed(units, index, search, work.order, state, root)
            g = _begin(clusters)
            while u >= 0:
                work.add(
                    units, index, search, clusters, sensitive_state, rules, state, g, u
                )
                u = work.nearest(units, index, search, root)
                if search.best[0] > delta:
                    u = NOBODY
            if cluster_rules.meets(
                units, clusters, g, NOBODY, NOBODY, rules, cluster_rules.room
            ):
                _close(clusters, search.box, g)
            else:
                _dissolve(units, index, search.columns, clusters, work.middle, state, g)
        state[PART] += 1
    return True


@door
def pre_partition(
    units: Units,
    sizes: Ints,
    contributions: PairwiseContributions,
    least: int,
    most: float,
) -> tuple[Ints, Ints]:
    """Halve the units at medians while both halves are large and diverse enough.

    Algorithm 2 of Loukides and Shao: the axis with most values in the part is cut;
    both halves must have at least `least` units and a sum of S-diversities of at most
    `most` (the text; the printed comparison is reversed). Units with the median value
    are shared out so that both halves are equal, higher codes of the others first.
    Returns the order of the units and where parts begin.
    """
    n = len(units.low)
    order = np.arange(n)
    bounds = [0]
    stack = [(0, n)]
    histogram = np.zeros(max(1, np.max(sizes)), dtype=np.int64)
    while len(stack) > 0:
        low, high = stack.pop()
        middle = low + (high - low) // 2
        part = order[low:high]
        cut = middle - low >= least
        if cut:
            halves = _sorted_by_widest(units, part, histogram)
            half = middle - low
            cut = (
                _diversity(units, contributions, halves[:half], histogram)
                <= most + 1e-9
                and _diversity(units, contributions, halves[half:], histogram)
                <= most + 1e-9
            )
            if cut:
                part[:] = halves
                stack.append((middle, high))
                stack.append((low, middle))
        if not cut:
            bounds.append(high)
    return order, np.array(bounds)


@inner
def _sorted_by_widest(units: Units, part: Ints, marks: Ints) -> Ints:
    """The units of a part in the order of the axis with most values in it."""
    most, axis = 0, 0
    for j in range(units.axes):
        found = 0
        for u in part:
            code = units.low[u, j]
            found += marks[code] == 0
            marks[code] = 1
        for u in part:
            marks[units.low[u, j]] = 0
        if found > most:
            most, axis = found, j
    keys = np.empty(len(part), dtype=np.int64)
    top = np.int64(0xFFFFFFFF)
    for i in range(len(part)):
        keys[i] = np.int64(units.low[part[i], axis]) << 32 | (top - part[i])
    keys.sort()
    return top - (keys & top)


@inner
def _diversity(
    units: Units, contributions: PairwiseContributions, part: Ints, histogram: Ints
) -> float:
    """The sum of the S-diversities of some units."""
    total = 0.0
    rows = 0
    for u in part:
        rows += units.weight[u]
    for a in range(contributions.columns):
        j = units.axes + a
        values = np.unique(units.low[part, j])
        for u in part:
            histogram[units.low[u, j]] += units.weight[u]
        pairs = 0.0
        for one in values:
            for two in values:
                shared = contribution(contributions, a, one, two)
                pairs += shared * histogram[one] * histogram[two]
        histogram[values] = 0
        total += pairs / (float(rows) * rows)
    return total
