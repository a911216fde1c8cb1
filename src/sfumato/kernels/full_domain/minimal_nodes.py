"""Walk the lattice as Incognito does: which nodes qualify, which cannot.

A subset of the quasi-identifiers is the whole table with every other column at its
top, so that one status per node of the whole lattice serves all subsets.

Paper: LeFevre, DeWitt and Ramakrishnan 2005: the breadth-first search of the candidate
graph (`visit_subsets`), the subset property that prunes it (`_subset_is_dead`) and the
generalization property (`mark_above`). Departs where groups are suppressed: a node that
fails by its loss alone prunes its subsets' supersets, never nodes above it. Frequency
sets are rolled up from the distinct tuples (`node_rollup.place`) instead of from the
node below, which costs the same look-up per tuple.
Cost: O(t × c) per node checked, for t distinct tuples in c chunks; O(columns) per node
skipped; O(nodes above) per minimal node found.
Invariant: a node is DEAD only if it and every node below it loses more rows than the
limit; the nodes within the limit that are not ABOVE are exactly the minimal ones.
"""

from __future__ import annotations

import numpy as np

from sfumato.data.arrays import Ints
from sfumato.kernels.common.tuple_chunks import Chunks
from sfumato.kernels.compilation.decorators import both, inner
from sfumato.kernels.full_domain.lattice_search import (
    ABOVE,
    CHECKED,
    CURSOR,
    DEAD,
    DONE,
    FEWEST,
    OPEN,
    PENDING,
    LatticeProblem,
    Status,
    levels_of,
    next_run,
)
from sfumato.kernels.full_domain.node_judging import (
    GROUPS,
    LOST,
    SUPPRESSED,
    NodeRules,
    judge,
)
from sfumato.kernels.full_domain.node_rollup import NodeWorkspace


@both
def visit_subsets(
    order: Ints,
    checks: int,
    problem: LatticeProblem,
    status: Status,
    counters: Ints,
    chunks: Chunks,
    work: NodeWorkspace,
    judging: NodeRules | None,
) -> bool:
    """Visit nodes in order, check at most `checks`; return whether the end is reached.

    A node is DEAD if no node below it can be within the limit, and ABOVE if a node
    below it is. Stops at each node within the limit, which is then PENDING.
    """
    levels = np.zeros(len(problem.heights), dtype=np.int64)
    stop = counters[CHECKED] + checks
    while counters[CURSOR] < len(order):
        if counters[CHECKED] >= stop:
            return False
        node = order[counters[CURSOR]]
        counters[CURSOR] += 1
        if status[node] != OPEN:
            continue
        levels_of(node, problem.heights, problem.strides, levels)
        if _subset_is_dead(node, levels, problem.heights, problem.strides, status):
            status[node] = DEAD
            continue
        judge(
            chunks,
            problem.weights,
            levels,
            problem.minimum,
            problem.limit,
            work,
            judging,
        )
        suppressed = work.counts[SUPPRESSED]
        counters[CHECKED] += 1
        counters[FEWEST] = min(counters[FEWEST], suppressed)
        status[node] = DEAD if work.counts[LOST] > problem.limit else DONE
        if suppressed <= problem.limit and work.counts[GROUPS] > 0:
            counters[PENDING] = node
            return False
    return True


@inner
def _subset_is_dead(
    node: int, levels: Ints, heights: Ints, strides: Ints, status: Status
) -> bool:
    """Tell whether leaving one column out already loses too many rows.

    A column at its top says nothing, so that node stands for the subset without it.
    """
    for j in range(len(levels)):
        rest = heights[j] - 1 - levels[j]
        if rest > 0 and status[node + rest * strides[j]] == DEAD:
            return True
    return False


@both
def mark_above(node: int, heights: Ints, strides: Ints, status: Status) -> None:
    """Mark every node above this one: it is not minimal."""
    last = len(heights) - 1
    room = np.zeros(last + 1, dtype=np.int64)
    levels_of(node, heights, strides, room)
    for j in range(last + 1):
        room[j] = heights[j] - 1 - room[j]
    counter = np.zeros(last + 1, dtype=np.int64)
    offset = 0
    while offset >= 0:
        start = node + offset
        for above in range(start, start + room[last] + 1):
            # DEAD is kept: it also prunes nodes that add a column, ABOVE does not.
            if above != node and status[above] != DEAD:
                status[above] = ABOVE
        offset = next_run(offset, counter, room, strides)
