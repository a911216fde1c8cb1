"""Incognito's pass over the lattice: which nodes qualify, which cannot."""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

from sfumato.kernels.lattice import (
    ABOVE,
    CHECKED,
    CURSOR,
    DEAD,
    DONE,
    FEWEST,
    OPEN,
    PENDING,
    Problem,
    levels_of,
    next_run,
)
from sfumato.kernels.nodes import GROUPS, LOST, SUPPRESSED, Work, judge

Ints = npt.NDArray[np.int64]
Status = npt.NDArray[np.uint8]


@numba.njit(cache=True, nogil=True)
def visit_subsets(
    order: Ints,
    checks: int,
    problem: Problem,
    status: Status,
    within: npt.NDArray[np.bool_],
    counters: Ints,
    work: Work,
) -> bool:
    """Visit nodes in order, checking at most `checks`; whether the end is reached.

    A node is DEAD if no node below it can be within the limit, and ABOVE if a node
    below it is.
    """
    levels = np.zeros(len(problem.heights), dtype=np.int64)
    stop = counters[CHECKED] + checks
    while counters[CURSOR] < len(order):
        if counters[CHECKED] >= stop or counters[PENDING] >= 0:
            return False
        node = order[counters[CURSOR]]
        counters[CURSOR] += 1
        if status[node] != OPEN:
            continue
        levels_of(node, problem, levels)
        if _subset_is_dead(node, levels, problem, status):
            status[node] = DEAD
            continue
        status[node] = _check(levels, problem, counters, work)
        if work.counts[SUPPRESSED] <= problem.limit and work.counts[GROUPS] > 0:
            if problem.rules.drifting:
                counters[PENDING] = node
            else:
                within[node] = True
                mark_above(node, problem, status)
    return counters[PENDING] < 0


@numba.njit(cache=True, nogil=True)
def _check(levels: Ints, problem: Problem, counters: Ints, work: Work) -> int:
    judge(
        problem.chunks,
        problem.runs,
        problem.rules,
        problem.weights,
        levels,
        problem.limit,
        work,
    )
    counters[CHECKED] += 1
    counters[FEWEST] = min(counters[FEWEST], work.counts[SUPPRESSED])
    return DEAD if work.counts[LOST] > problem.limit else DONE


@numba.njit(cache=True, nogil=True)
def _subset_is_dead(node: int, levels: Ints, problem: Problem, status: Status) -> bool:
    """Whether leaving one column out already loses too many rows."""
    for j in range(len(levels)):
        rest = problem.heights[j] - 1 - levels[j]
        if rest > 0 and status[node + rest * problem.strides[j]] == DEAD:
            return True
    return False


@numba.njit(cache=True, nogil=True)
def mark_above(node: int, problem: Problem, status: Status) -> None:
    """No node above this one is minimal."""
    levels = np.zeros(len(problem.heights), dtype=np.int64)
    levels_of(node, problem, levels)
    room = problem.heights - 1 - levels
    last = len(levels) - 1
    counter = np.zeros(last + 1, dtype=np.int64)
    offset = 0
    while offset >= 0:
        start = node + offset
        for above in range(start, start + room[last] + 1):
            if above != node and status[above] != DEAD:
                status[above] = ABOVE
        offset = next_run(offset, counter, room, problem.strides)
