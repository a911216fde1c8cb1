"""Search over all full-domain generalizations: states, bounds and sweeps.

A node is a level per column; its number is the levels in mixed radix, last column
fastest. The loss of node x is at least `low[x] + rise[x]`:

- Separable loss (a sum over cells): `low` is what generalization alone costs, from the
  columns' marginals, and `rise` what rows cost that are lost at a node above x. Rows
  suppressed at y are suppressed below y, where they cost at least as much more than
  being published as they do at y.
- Discernibility: every row costs at least the size of its group at any node z below
  x, and no less than the minimum; that is `low`. A row lost at y above x costs `rows`
  instead, which adds at least `rows` − max(its group's size at y, minimum).
- Average group size: each group kept at x holds a group of z that has the minimum
  size, or consists of at least that many rows from smaller groups of z; so there are
  at most large(z) + small_rows(z) // minimum of them. `rise` is nothing.

A node is skipped when its bound exceeds the best loss by more than the tolerance, so
that every node within the tolerance of the optimum is seen, whatever the order.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from sfumato.kernels.chunks import Chunks
from sfumato.kernels.nodes import (
    FLOOR,
    GROUPS,
    LARGE,
    LOST,
    LOST_PENALTY,
    PENALTY,
    SMALL_ROWS,
    SQUARES,
    SUPPRESSED,
    WASTE,
    Rules,
    Runs,
    Work,
    judge,
)

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

SEPARABLE, DISCERNIBILITY, AVERAGE_SIZE = range(3)
OPEN, DONE, DEAD, ABOVE = range(4)
TOLERANCE = 1e-12

CHECKED, CURSOR, FEWEST, PENDING = range(4)
"""What `Search.counters` holds: nodes checked, place in the order, the smallest
number of rows that any checked node suppresses, and a node that is within the limit
by the weaker rules and waits to be judged by those asked for, or −1."""


class Problem(NamedTuple):
    """What is searched: tuples, rules, loss and the lattice."""

    chunks: Chunks
    runs: Runs
    rules: Rules
    weights: Floats
    """What suppressing a row adds to the loss, laid out like `Chunks.groups`; empty
    if suppression costs nothing."""
    goal: int
    rows: int
    limit: int
    """How many rows may be suppressed."""
    heights: Ints
    strides: Ints
    bounded: bool
    """Whether a lost row costs at least as much below as here."""


class Search(NamedTuple):
    """What is known of every node."""

    status: npt.NDArray[np.uint8]
    low: Floats
    rise: Floats
    value: Floats
    """Loss of the nodes that were checked and are within the limit, else infinite."""
    guide: Floats
    """Which node to try first when going down: that with the smallest guide."""
    least: Floats
    """The smallest extra loss of any suppressed row, per node; or empty."""
    best: Floats
    """One entry: the lowest loss found."""
    counters: Ints


@numba.njit(cache=True, nogil=True)
def levels_of(node: int, problem: Problem, levels: Ints) -> None:
    """Write the levels of a node."""
    for j in range(len(levels)):
        levels[j] = (node // problem.strides[j]) % problem.heights[j]


@numba.njit(cache=True, nogil=True)
def worth_a_look(node: int, search: Search) -> bool:
    """Whether a node is open and may be as good as the best."""
    if search.status[node] != OPEN:
        return False
    bound = search.low[node] + search.rise[node]
    return bound <= search.best[0] + tolerance(search.best[0])


@numba.njit(cache=True, nogil=True)
def tolerance(value: float) -> float:
    """How close two losses must be to count as equal."""
    return TOLERANCE * max(1.0, abs(value)) if np.isfinite(value) else 0.0


@numba.njit(cache=True, nogil=True)
def examine(
    node: int, problem: Problem, search: Search, work: Work, levels: Ints
) -> bool:
    """Check a node, note its loss, tell the nodes around; whether it is in the limit."""
    levels_of(node, problem, levels)
    judge(
        problem.chunks,
        problem.runs,
        problem.rules,
        problem.weights,
        levels,
        problem.limit,
        work,
    )
    counts = work.counts
    search.counters[CHECKED] += 1
    search.status[node] = DONE
    search.counters[FEWEST] = min(search.counters[FEWEST], counts[SUPPRESSED])
    if counts[LOST] > problem.limit:
        _kill_below(levels, problem, search)
        return False
    within = counts[SUPPRESSED] <= problem.limit and counts[GROUPS] > 0
    if within and problem.rules.drifting:
        search.counters[PENDING] = node
    elif within:
        search.value[node] = loss_of(node, problem, search, work)
        search.best[0] = min(search.best[0], search.value[node])
    if problem.bounded:
        _raise_below(levels, problem, search, work)
    if problem.goal != SEPARABLE:
        _raise_above(levels, _floor_above(problem, work), problem, search)
    return within


@numba.njit(cache=True, nogil=True)
def loss_of(node: int, problem: Problem, search: Search, work: Work) -> float:
    """The loss of the node just judged."""
    counts = work.counts
    if problem.goal == SEPARABLE:
        return search.low[node] + work.sums[PENALTY]
    if problem.goal == DISCERNIBILITY:
        return float(counts[SQUARES] + problem.rows * counts[SUPPRESSED])
    minimum = problem.rules.inherited.minimum
    return (problem.rows - counts[SUPPRESSED]) / (counts[GROUPS] * minimum)


@numba.njit(cache=True, nogil=True)
def _floor_above(problem: Problem, work: Work) -> float:
    """What every node above the one just judged costs at least."""
    counts = work.counts
    if problem.goal == DISCERNIBILITY:
        return float(counts[FLOOR])
    minimum = problem.rules.inherited.minimum
    most = counts[LARGE] + counts[SMALL_ROWS] // minimum
    kept = max(problem.rows - problem.limit, minimum)
    return max(kept / (max(most, 1) * minimum), 1.0)


@numba.njit(cache=True, nogil=True)
def _kill_below(levels: Ints, problem: Problem, search: Search) -> None:
    """No node below can be within the limit."""
    last = len(levels) - 1
    counter = np.zeros(last + 1, dtype=np.int64)
    node = 0
    while node >= 0:
        search.status[node : node + levels[last] + 1] = DEAD
        node = next_run(node, counter, levels, problem.strides)


@numba.njit(cache=True, nogil=True)
def _raise_below(levels: Ints, problem: Problem, search: Search, work: Work) -> None:
    """Rows lost here are lost below: raise the bound of every node below."""
    lost = float(work.counts[LOST])
    if problem.goal == DISCERNIBILITY:
        penalty = float(work.counts[WASTE])
    else:
        penalty = work.sums[LOST_PENALTY]
    if penalty <= 0.0 and (lost <= 0.0 or len(search.least) == 0):
        return
    last = len(levels) - 1
    counter = np.zeros(last + 1, dtype=np.int64)
    node = 0
    while node >= 0:
        for x in range(node, node + levels[last] + 1):
            rise = penalty
            if len(search.least) > 0:
                rise = max(rise, lost * search.least[x])
            if rise > search.rise[x]:
                search.rise[x] = rise
        node = next_run(node, counter, levels, problem.strides)


@numba.njit(cache=True, nogil=True)
def next_run(node: int, counter: Ints, levels: Ints, strides: Ints) -> int:
    """The next run of nodes in the box below `levels`, or −1."""
    for j in range(len(levels) - 2, -1, -1):
        if counter[j] < levels[j]:
            counter[j] += 1
            return node + strides[j]
        node -= counter[j] * strides[j]
        counter[j] = 0
    return -1


@numba.njit(cache=True, nogil=True)
def _raise_above(levels: Ints, floor: float, problem: Problem, search: Search) -> None:
    """Raise the bound of every node above to `floor`."""
    room = problem.heights - 1 - levels
    last = len(levels) - 1
    counter = np.zeros(last + 1, dtype=np.int64)
    here = np.sum(levels * problem.strides)
    offset = 0
    while offset >= 0:
        for x in range(here + offset, here + offset + room[last] + 1):
            if floor > search.low[x]:
                search.low[x] = floor
        offset = next_run(offset, counter, room, problem.strides)


@numba.njit(cache=True, nogil=True)
def descend(problem: Problem, search: Search, work: Work) -> None:
    """Go down from the top, always to the most promising node within the limit."""
    columns = len(problem.heights)
    levels = np.zeros(columns, dtype=np.int64)
    below = np.zeros(columns, dtype=np.int64)
    node = len(search.status) - 1
    if not worth_a_look(node, search):
        return
    moved = examine(node, problem, search, work, levels)
    while moved:
        moved = False
        levels_of(node, problem, levels)
        found = 0
        for j in range(columns):
            if levels[j] > 0:
                below[found] = node - problem.strides[j]
                found += 1
        _sort_by(search.guide, below, found)
        for i in range(found):
            if worth_a_look(below[i], search) and examine(
                below[i], problem, search, work, levels
            ):
                node = below[i]
                moved = True
                break


@numba.njit(cache=True, nogil=True)
def _sort_by(guide: Floats, nodes: Ints, count: int) -> None:
    """Insertion sort of a few nodes, smallest guide first."""
    for i in range(1, count):
        node = nodes[i]
        at = i - 1
        while at >= 0 and guide[nodes[at]] > guide[node]:
            nodes[at + 1] = nodes[at]
            at -= 1
        nodes[at + 1] = node


@numba.njit(cache=True, nogil=True)
def sweep(
    order: Ints, checks: int, problem: Problem, search: Search, work: Work
) -> bool:
    """Visit nodes in order, checking at most `checks`; whether the end is reached."""
    levels = np.zeros(len(problem.heights), dtype=np.int64)
    counters = search.counters
    stop = counters[CHECKED] + checks
    while counters[CURSOR] < len(order):
        if counters[CHECKED] >= stop or counters[PENDING] >= 0:
            return False
        node = order[counters[CURSOR]]
        counters[CURSOR] += 1
        if worth_a_look(node, search):
            examine(node, problem, search, work, levels)
    return counters[PENDING] < 0
