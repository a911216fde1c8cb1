"""Search all full-domain generalizations: states, bounds and sweeps.

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
  at most large(z) + small_rows(z) // minimum of them. `rise` is zero.

A node is skipped when its bound exceeds the best loss by more than the tolerance, so
that every node within the tolerance of the optimum is seen, whatever the order.

Paper: the task of OLA (El Emam et al. 2009) and Flash (Kohlmayer et al. 2012). Both
walk chains of nodes and rely on monotone rules; this sweeps by bounds instead, which
also serves rules that suppression may break. Datafly (Sweeney 1997) and local recoding
(Prasser et al. 2016) judge single nodes with the same states.
Cost: O(t × c) per node checked, for t distinct tuples in c chunks, plus one pass over
the nodes below (and, for group sizes, above) it; memory O(nodes).
Invariant: low[x] + rise[x] never exceeds the loss of node x, nor does a bound ever
fall; a DEAD node suppresses more rows than the limit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Floats, Ints
from sfumato.kernels.common.tuple_chunks import Chunks
from sfumato.kernels.compilation.decorators import both, inner
from sfumato.kernels.full_domain.node_judging import (
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
    NodeRules,
    judge,
)
from sfumato.kernels.full_domain.node_rollup import NodeWorkspace

Status = npt.NDArray[np.uint8]

SEPARABLE, DISCERNIBILITY, AVERAGE_SIZE = range(3)
OPEN, DONE, DEAD, ABOVE = range(4)
TOLERANCE = 1e-12

CHECKED, CURSOR, FEWEST, PENDING = range(4)
"""What `LatticeSearch.counters` holds: nodes checked, place in the order, the smallest
number of rows that any checked node suppresses, and the node within the limit at
which a visit stopped, or −1."""


class LatticeProblem(NamedTuple):
    """What is searched: the loss and the lattice, beside tuples and rules."""

    weights: Floats
    """What suppressing a row adds to the loss, laid out like `Chunks.groups`; empty
    if suppression costs nothing."""
    goal: int
    rows: int
    minimum: int
    """The smallest size of a group."""
    limit: int
    """How many rows may be suppressed."""
    heights: Ints
    strides: Ints
    bounded: bool
    """Whether a lost row costs at least as much below as here."""
    drifting: bool
    """Whether the rules are weaker than those asked for: what groups are compared with
    depends on the rows kept, and nodes within the limit must be judged again."""


class LatticeSearch(NamedTuple):
    """What is known of every node."""

    status: Status
    low: Floats
    rise: Floats
    value: Floats
    """Loss of the nodes that were checked and are within the limit, else infinite."""
    least: Floats
    """The smallest extra loss of any suppressed row, per node; or empty."""
    best: Floats
    """One entry: the lowest loss found."""
    counters: Ints


@both
def tolerance(value: float) -> float:
    """Return how close two losses must be to count as equal."""
    return TOLERANCE * max(1.0, abs(value)) if np.isfinite(value) else 0.0


@both
def visit(
    order: Ints,
    checks: int,
    to_first: bool,
    problem: LatticeProblem,
    search: LatticeSearch,
    chunks: Chunks,
    work: NodeWorkspace,
    judging: NodeRules | None,
) -> bool:
    """Check the nodes of `order` that may be as good as the best, at most `checks`.

    Stops early at a node within the limit if asked to go `to_first`, or if it must be
    judged again; it is then PENDING. Returns whether the end is reached.
    """
    counters, best, counts = search.counters, search.best, work.counts
    levels = np.zeros(len(problem.heights), dtype=np.int64)
    stop = counters[CHECKED] + checks
    while counters[CURSOR] < len(order):
        if counters[CHECKED] >= stop:
            return False
        node = order[counters[CURSOR]]
        counters[CURSOR] += 1
        bound = search.low[node] + search.rise[node]
        # Nodes within the tolerance are checked too: ties are broken later, by levels,
        # and must not depend on which of them came first.
        if search.status[node] != OPEN or bound > best[0] + tolerance(best[0]):
            continue
        levels_of(node, problem.heights, problem.strides, levels)
        judge(
            chunks,
            problem.weights,
            levels,
            problem.minimum,
            problem.limit,
            work,
            judging,
        )
        counters[CHECKED] += 1
        counters[FEWEST] = min(counters[FEWEST], counts[SUPPRESSED])
        search.status[node] = DONE
        # Rows lost here are lost at every node below: none of those can qualify.
        if counts[LOST] > problem.limit:
            fill_below(levels, problem.strides, search.status, DEAD)
            continue
        _raise_bounds(levels, problem, search, counts, work.sums)
        if counts[SUPPRESSED] <= problem.limit and counts[GROUPS] > 0:
            if not problem.drifting:
                loss = _loss(search.low[node], problem, counts, work.sums)
                search.value[node] = loss
                best[0] = min(best[0], loss)
            if problem.drifting or to_first:
                counters[PENDING] = node
                return False
    return True


@inner
def levels_of(node: int, heights: Ints, strides: Ints, levels: Ints) -> None:
    """Write the levels of a node."""
    for j in range(len(levels)):
        levels[j] = (node // strides[j]) % heights[j]


@inner
def _loss(low: float, problem: LatticeProblem, counts: Ints, sums: Floats) -> float:
    """Return the loss of the node just judged."""
    if problem.goal == SEPARABLE:
        return low + sums[PENALTY]
    if problem.goal == DISCERNIBILITY:
        return float(counts[SQUARES] + problem.rows * counts[SUPPRESSED])
    kept = problem.rows - counts[SUPPRESSED]
    return kept / (counts[GROUPS] * problem.minimum)


@inner
def _raise_bounds(
    levels: Ints,
    problem: LatticeProblem,
    search: LatticeSearch,
    counts: Ints,
    sums: Floats,
) -> None:
    """Raise the bounds of all nodes below and above the one just judged."""
    if problem.bounded:
        penalty = sums[LOST_PENALTY]
        if problem.goal == DISCERNIBILITY:
            penalty = float(counts[WASTE])
        lost = float(counts[LOST])
        _raise_below(levels, problem.strides, penalty, lost, search.rise, search.least)
    if problem.goal == SEPARABLE:
        return
    floor = float(counts[FLOOR])
    if problem.goal == AVERAGE_SIZE:
        most = counts[LARGE] + counts[SMALL_ROWS] // problem.minimum
        kept = max(problem.rows - problem.limit, problem.minimum)
        floor = max(kept / (max(most, 1) * problem.minimum), 1.0)
    _raise_above(levels, problem.heights, problem.strides, floor, search.low)


@inner
def fill_below(levels: Ints, strides: Ints, status: Status, value: int) -> None:
    """Set the status of a node and of all nodes below."""
    last = len(levels) - 1
    counter = np.zeros(last + 1, dtype=np.int64)
    node = 0
    while node >= 0:
        for x in range(node, node + levels[last] + 1):
            status[x] = value
        node = next_run(node, counter, levels, strides)


@inner
def _raise_below(
    levels: Ints,
    strides: Ints,
    penalty: float,
    lost: float,
    rise: Floats,
    least: Floats,
) -> None:
    """Raise the bound of every node below: rows lost here are lost there."""
    weighed = len(least) > 0
    if penalty <= 0.0 and (lost <= 0.0 or not weighed):
        return
    last = len(levels) - 1
    counter = np.zeros(last + 1, dtype=np.int64)
    node = 0
    while node >= 0:
        for x in range(node, node + levels[last] + 1):
            here = max(penalty, lost * least[x]) if weighed else penalty
            if here > rise[x]:
                rise[x] = here
        node = next_run(node, counter, levels, strides)


@inner
def _raise_above(
    levels: Ints, heights: Ints, strides: Ints, floor: float, low: Floats
) -> None:
    """Raise the bound of every node above to `floor`."""
    last = len(levels) - 1
    counter = np.zeros(last + 1, dtype=np.int64)
    room = np.zeros(last + 1, dtype=np.int64)
    here = 0
    for j in range(last + 1):
        room[j] = heights[j] - 1 - levels[j]
        here += levels[j] * strides[j]
    offset = 0
    while offset >= 0:
        for x in range(here + offset, here + offset + room[last] + 1):
            if floor > low[x]:
                low[x] = floor
        offset = next_run(offset, counter, room, strides)


@inner
def next_run(node: int, counter: Ints, levels: Ints, strides: Ints) -> int:
    """Return the next run of nodes in the box below `levels`, or −1.

    A run varies the last column alone, whose stride is 1: inner loops then touch
    consecutive entries.
    """
    for j in range(len(levels) - 2, -1, -1):
        if counter[j] < levels[j]:
            counter[j] += 1
            return node + strides[j]
        node -= counter[j] * strides[j]
        counter[j] = 0
    return -1
