"""Harvest: release boxes along the lattice, cheapest generalization first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from heapq import heapify, heappop, heappush, heapreplace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.base import Request, Solution, silent
from sfumato.algorithms.cellwise.cellwise_algorithm import CellwiseAlgorithm
from sfumato.algorithms.common.compiled_rules import Compiled, compile_rules
from sfumato.algorithms.common.parallel_ranges import Clock, work_through
from sfumato.algorithms.common.refusals import one_group_fails
from sfumato.algorithms.partition.mondrian import Mondrian
from sfumato.algorithms.refinement.growth_targets import make_growth_targets
from sfumato.algorithms.refinement.refine import (
    looks_at_table,
    loss_of,
    meets,
    split_groups,
)
from sfumato.algorithms.refinement.refinement_task import sorted_items
from sfumato.data.arrays import Codes, Floats, Ints
from sfumato.data.grouping import Grouping
from sfumato.data.option_examples import OptionExamples
from sfumato.data.rules import Rule
from sfumato.data.shared_tuples import SharedTuples
from sfumato.errors import InfeasibleError, PolicyError, SearchError
from sfumato.hierarchies.axis import Axis, CodedAxis, Shape
from sfumato.kernels.best.harvest_boxes import (
    GROUPS,
    NEXT,
    VISITS,
    HarvestTables,
    harvest_nodes,
    make_harvest,
)
from sfumato.kernels.best.harvest_boxes import HarvestState as State
from sfumato.kernels.best.leftover_rows import (
    absorb,
    add_parts,
    make_released,
    place_leftovers,
    released_parts,
)
from sfumato.kernels.common.tuple_chunks import build_chunks, tuples_of_rows
from sfumato.kernels.refinement.point_space import PointSpace, make_point_space
from sfumato.kernels.refinement.pools import make_pool_rules

NODES = 1 << 16
"""A larger lattice is thinned out, level by level; then columns share a level."""
VISITS_AT_MOST = 300_000_000
"""Tuples looked at, over all nodes; nodes are skipped to stay below."""
ENOUGH = 120_000_000
FEW_ORDERS = 8
"""Tuples looked at after which no other order of the nodes is tried; where more orders
than this are asked for, more in proportion."""
TOGETHER = 2
"""Later orders that are tried at the same time, from the best before them."""
JUDGED = 5
"""How much longer a look takes where boxes must be judged by sensitive values."""
PAUSE = 20_000_000
"""Tuples looked at between two reports of progress."""
MOST_COUNTED = 10**18
"""The largest number of nodes that is reported."""
STRIPS = 6
"""How often a line of numbers without a hierarchy is halved."""
BLUR, STRIDE = 0.1, 0.2
"""How much a column's losses are changed to find another order: of the first orders from
their mean, of the others from the best so far."""
CELLS_PER_ROW = 40_000
"""Cells of groups that rows left over are compared with, per row of the table."""
ROOM = 0.8
"""Boxes are released at this share of t, so that groups have room for what is left."""


@dataclass(frozen=True, kw_only=True)
class Harvest(CellwiseAlgorithm):
    """Takes boxes out of the table as soon as they are full, cheap ones first.

    Guarantee: every group meets every requirement; no row is suppressed.
    Method: visit the nodes of the lattice in the order of their mean loss. At each,
        the rows that are left fall into boxes; every box that meets all requirements
        becomes a group. Where requirements look at sensitive values, rows of values
        that occur too often are left behind until the rest of the box meets them,
        t-closeness with some room. Rows that fit in no box join the group whose loss
        rises least; very many of them are cut into groups of their own. Large groups are
        split again. Groups show the lowest node that covers them, not the node at which
        they were found. Numbers without a hierarchy are halved repeatedly; categories
        without one are shown or hidden.
    Cost: nodes × distinct tuples that are left; seconds for tens of thousands of
        rows. Of a very large lattice only some nodes are visited.
    Limits: greedy; a box is never undone. If every group meets the rules but the table
    does not, all rows become one group. Rows of one person may lie in
        several groups, each of which meets the requirements.
    Reference: ours.
    """

    name: ClassVar[str] = "harvest"
    sentence: ClassVar[str] = (
        "Releases boxes along the hierarchies as soon as they are full, cheap ones first."
    )
    counts_population: ClassVar[bool] = False
    examples: ClassVar[OptionExamples] = ({"orders": 1},)

    orders: int = 3
    """How many orders of the nodes are tried: the mean loss, and that with the columns'
    weights changed a little at random; beyond eight, from those that lost least so far.
    The result that loses least is kept."""

    def __post_init__(self) -> None:
        if not (self.orders >= 1 and self.orders == int(self.orders)):
            raise PolicyError(
                f"harvest: 'orders' is {self.orders}.",
                hint="'orders' must be a whole number of at least 1.",
            )

    def search(self, request: Request) -> Solution:
        if request.rows == 0:
            return Solution(grouping=Grouping(np.empty(0, dtype=np.int32), 0))
        clock = Clock()
        request.progress("collapsing rows", 0.0)
        with clock.running():
            task = prepare_harvest(request)
        grouping, facts = self._best_order(request, task, clock)
        grouping = split_groups(request, grouping, clock)
        if looks_at_table(request) and not meets(request, grouping):
            grouping = Grouping(np.zeros(request.rows, dtype=np.int32), 1)
        return Solution(
            grouping=grouping,
            facts={
                **facts,
                "groups": grouping.count,
                "rows_suppressed": 0,
                "kernel_seconds": clock.seconds,
            },
        )

    def _best_order(
        self, request: Request, task: HarvestTask, clock: Clock
    ) -> tuple[Grouping, dict[str, int]]:
        """The groups of the order that loses least, and what is told of it."""
        factors, best, work, tried = np.ones(len(request.quasi)), np.inf, 0, 0
        most = ENOUGH * max(1.0, self.orders / FEW_ORDERS)
        while tried < self.orders and work <= most:
            # All orders take about as long as the first.
            affordable = 1 + int((most - work) * tried / work) if work else 1
            last = min(self.orders, tried + affordable, next_stop(tried))
            chosen = [changed_factors(request, factors, n) for n in range(tried, last)]
            for number, (parts, told) in enumerate(
                gather_each(request, task, chosen, clock)
            ):
                found = task.group(parts)
                loss = loss_of(request, found)
                if loss < best:
                    best, grouping, facts = loss, found, told
                    factors = chosen[number]
                work += told["tuples_visited"] * (JUDGED if task.judged else 1)
            tried = last
        return grouping, facts


def next_stop(tried: int) -> int:
    """Up to which order the next ones do not depend on each other's results."""
    if tried == 0:
        return 1
    return FEW_ORDERS if tried < FEW_ORDERS else tried + TOGETHER


def gather_each(
    request: Request, task: HarvestTask, orders: Sequence[Floats], clock: Clock
) -> list[tuple[Ints, dict[str, int]]]:
    """Release boxes in each of several orders, on all threads."""
    if len(orders) == 1:
        return [gather(request, task, task.sorted_nodes(orders[0]), clock)]
    found: dict[int, tuple[Ints, dict[str, int]]] = {}

    def step(number: int, _: int) -> tuple[()]:
        # Threads share neither a report of progress nor what is laid out.
        quiet = request.progress if request.threads < 2 else silent
        alone = replace(request, progress=quiet, tuples=SharedTuples(), threads=1)
        parts, told = gather(alone, task, task.sorted_nodes(orders[number]), clock)
        found[number] = parts.copy(), told
        return ()

    def done(_: int) -> None:
        request.progress("releasing boxes", len(found) / len(orders))

    numbers = [(number, number + 1) for number in range(len(orders))]
    work_through(numbers, step, threads=request.threads, done=done)
    return [found[number] for number in range(len(orders))]


@dataclass(frozen=True, eq=False, kw_only=True)
class HarvestTask:
    """A request as tuples, items and nodes."""

    compiled: Compiled
    order: Ints
    """Rows sorted by item."""
    space: PointSpace
    """One point per item."""
    tables: HarvestTables
    amounts: Ints
    levels: list[Floats]
    """The mean loss of a cell at each level, per column."""
    steps: Ints
    lattice: int
    """How many nodes the whole lattice has."""

    @property
    def judged(self) -> bool:
        """Return whether boxes are judged by more than their size."""
        return len(self.compiled.table.kinds) > 0

    def sorted_nodes(self, factors: Floats) -> HarvestTables:
        """The nodes in order, with these factors on the columns' losses."""
        costs = [f * level for f, level in zip(factors, self.levels, strict=True)]
        return self.tables._replace(nodes=node_order(costs, self.steps))

    def group(self, parts: Ints) -> Grouping:
        """The group of each row, from parts: group, item, rows."""
        by_item = parts[np.lexsort([parts[:, 0], parts[:, 1]])]
        group_of = np.empty(len(self.order), dtype=np.int64)
        group_of[self.order] = np.repeat(by_item[:, 0], by_item[:, 2])
        return Grouping.renumbered(group_of)


def prepare_harvest(request: Request) -> HarvestTask:
    """Lay a request out for the kernels."""
    compiled = compile_rules(request)
    order, item_of = sorted_items(request, compiled)
    starts = np.flatnonzero(np.diff(item_of, prepend=-1))
    first = order[starts]
    axes = [coded.axis for coded in request.quasi]
    codes = [coded.codes[first] for coded in request.quasi]
    levels = thinned([levels_of(coded) for coded in request.quasi])
    new = np.zeros(len(first), dtype=np.bool_)
    new[:1] = True
    for column in codes:
        new[1:] |= column[1:] != column[:-1]
    tuples = np.flatnonzero(new)
    tuple_codes = [column[tuples] for column in codes]
    chunks, layout = build_chunks(tuple_codes, levels)
    place = tuples_of_rows(layout, len(tuples))
    return HarvestTask(
        compiled=compiled,
        order=order,
        space=make_point_space(axes, codes),
        tables=HarvestTables(
            groups=chunks.groups,
            ids=np.ascontiguousarray(chunks.ids[:, place]),
            width=chunks.width,
            start=chunks.start,
            nodes=np.zeros((0, 0), dtype=np.int32),
            item_starts=np.append(tuples, len(first)).astype(np.int64),
            values=np.ascontiguousarray(compiled.codes[:, first]),
        ),
        amounts=np.diff(np.append(starts, len(order))),
        levels=[level_costs(q, l) for q, l in zip(request.quasi, levels, strict=True)],
        steps=chunks.step,
        lattice=math.prod(coded.axis.height for coded in request.quasi),
    )


def changed_factors(request: Request, best: Floats, number: int) -> Floats:
    """Factors on the columns' losses: none for the first order, then random ones.

    The first few are near 1, later ones near the best so far: first look around, then
    climb.
    """
    if number == 0:
        return np.ones(len(best))
    draws = 2 * request.seed.child("order", number).uniform(len(best)) - 1
    if number < FEW_ORDERS:
        return np.asarray(1 + BLUR * draws)
    return np.asarray(best * (1 + STRIDE * draws))


def levels_of(coded: CodedAxis) -> Codes:
    """The levels of an axis; a line of numbers without any is halved repeatedly."""
    axis = coded.axis
    if axis.shape is not Shape.FREE or axis.size < 3:
        return axis.levels
    counts = coded.counts
    middle = (np.cumsum(counts) - counts / 2) / max(counts.sum(), 1)
    parts = [np.floor(middle * 2**b) for b in range(STRIPS, -1, -1)]
    stacked = np.stack([np.arange(axis.size), *parts]).astype(np.int32)
    distinct = [len(np.unique(level)) for level in stacked]
    keep = [0, *(i for i in range(1, len(distinct)) if distinct[i] < distinct[i - 1])]
    return np.asarray(stacked[keep])


def thinned(levels: Sequence[Codes]) -> list[Codes]:
    """Levels with some left out, so that the lattice is not too large."""
    levels = list(levels)
    nodes = math.prod(len(level) for level in levels)
    tallest = [(-len(level), j) for j, level in enumerate(levels)]
    heapify(tallest)
    while nodes > NODES and tallest[0][0] <= -3:
        height, j = -tallest[0][0], tallest[0][1]
        levels[j] = np.delete(levels[j], height // 2, axis=0)
        nodes = nodes // height * (height - 1)
        heapreplace(tallest, (1 - height, j))
    return levels


def node_order(costs: Sequence[Floats], steps: Ints) -> npt.NDArray[np.int32]:
    """All nodes, cheapest first, as a combination of levels for each chunk."""
    wheels = coupled([len(cost) for cost in costs])
    sums = [_summed([costs[j] for j in wheel]) for wheel in wheels]
    order = np.argsort(reduce(np.add.outer, sums).ravel(), kind="stable")
    nodes = np.zeros((len(order), len(steps)), dtype=np.int32)
    turns = np.unravel_index(order, [len(each) for each in sums])
    for wheel, turn in zip(wheels, turns, strict=True):
        for j in wheel:
            level = np.minimum(turn, len(costs[j]) - 1)
            # A column is in one chunk; visiting the others would be useless.
            for chunk in np.flatnonzero(steps[:, j]):
                nodes[:, chunk] += (level * steps[chunk, j]).astype(np.int32)
    return nodes


def coupled(heights: Sequence[int]) -> list[list[int]]:
    """Let columns change levels together, so that there are not too many nodes."""
    wheels = {j: [j] for j in range(len(heights))}
    nodes = math.prod(heights)
    lowest = [(height, j) for j, height in enumerate(heights)]
    heapify(lowest)
    while nodes > NODES and len(wheels) > 1:
        (less, one), (more, other) = heappop(lowest), heappop(lowest)
        first, second = sorted((one, other))
        wheels[first] += wheels.pop(second)
        nodes //= less
        heappush(lowest, (more, first))
    return list(wheels.values())


def _summed(costs: Sequence[Floats]) -> Floats:
    """The losses of levels, over columns that change their levels together."""
    height = max(len(cost) for cost in costs)
    return np.asarray(np.sum([_stretched(cost, height) for cost in costs], axis=0))


def _stretched(cost: Floats, height: int) -> Floats:
    """The losses of levels, the last one repeated up to a height."""
    return np.append(cost, np.repeat(cost[-1:], height - len(cost)))


def level_costs(coded: CodedAxis, levels: Codes) -> Floats:
    """The mean loss of a cell at each level, over the rows."""
    axis = coded.axis
    return np.array(
        [coded.counts @ _cell_costs(axis, nodes) for nodes in levels]
    ) / max(len(coded.codes), 1)


def _cell_costs(axis: Axis, nodes: Codes) -> Floats:
    """The loss of each leaf shown as its node."""
    if axis.shape is not Shape.FREE:
        return axis.weight * axis.node_ncp[nodes]
    low = np.searchsorted(nodes, nodes, side="left")
    high = np.searchsorted(nodes, nodes, side="right") - 1
    return axis.weight * axis.interval_ncp(low, high)


def gather(
    request: Request, task: HarvestTask, tables: HarvestTables, clock: Clock
) -> tuple[Ints, dict[str, int]]:
    """Release boxes node by node, then place the other rows; return group parts."""
    compiled = task.compiled
    strict = make_pool_rules(compiled.only(with_room(compiled.rules)))
    targets = make_growth_targets(compiled)
    targets = targets._replace(excess=targets.excess * ROOM)
    state = make_harvest(task.tables, task.amounts)
    release = np.zeros(1 + 3 * request.rows, dtype=np.int64)
    nodes = len(tables.nodes)
    finished = False
    while not finished:
        request.progress("releasing boxes", float(state.numbers[NEXT]) / nodes)
        with clock.running():
            finished = harvest_nodes(
                tables, strict, targets, state, VISITS_AT_MOST, PAUSE, release
            )
    count = int(state.numbers[GROUPS])
    parts = release[1 : 1 + 3 * int(release[0])].reshape(-1, 3)
    left = int(state.left.sum())
    if left:
        cut = _cut_apart(request, task, state, parts, count)
        if cut is None:
            cut = _placed(request, task, state, parts, count, clock)
        parts = cut
    return parts, {
        "tuples": len(task.tables.item_starts) - 1,
        # A number with thousands of digits cannot be printed.
        "nodes": min(task.lattice, MOST_COUNTED),
        "tuples_visited": int(state.numbers[VISITS]),
        "rows_left_over": left,
    }


def with_room(rules: Sequence[Rule]) -> list[Rule]:
    """The rules, with limits on distances made stricter."""
    return [
        replace(rule, parameters=(ROOM * rule.parameters[0], *rule.parameters[1:]))
        if rule.traits.limits_distance
        else rule
        for rule in rules
    ]


def _cut_apart(
    request: Request, task: HarvestTask, state: State, parts: Ints, count: int
) -> Ints | None:
    """Cut the rows that are left into groups of their own, if they are very many.

    None where they can be compared with every group, or are no groups by themselves.
    """
    cells = np.count_nonzero(state.left) * count * len(request.quasi)
    if cells * (JUDGED if task.judged else 1) <= CELLS_PER_ROW * request.rows:
        return None
    items = np.repeat(np.arange(len(state.left)), state.left)
    first = np.cumsum(state.left) - state.left
    begins = np.cumsum(task.amounts) - task.amounts
    rest = task.order[(begins - first)[items] + np.arange(len(items))]
    part = replace(request.only(rest), table=request.table or request, removable=0)
    try:
        group_of = Mondrian().search(part).grouping.group_of + count
    except (InfeasibleError, SearchError):
        return None
    pairs, rows = np.unique(
        np.column_stack([group_of, items]), axis=0, return_counts=True
    )
    more = np.column_stack([pairs, rows])
    return np.asarray(np.concatenate([parts, more]), dtype=np.int64)


def _placed(
    request: Request,
    task: HarvestTask,
    state: State,
    parts: Ints,
    count: int,
    clock: Clock,
) -> Ints:
    """Parts of groups, with every row that was left placed somewhere."""
    pool_rules = make_pool_rules(task.compiled.table)
    # Every row may be a part of its own, and be added once more when groups merge.
    room = 2 * request.rows + 1
    released = make_released(parts, count, task.space.points.shape[1], room)
    with clock.running():
        add_parts(task.space, released, parts)
    items = np.flatnonzero(state.left)
    for done, batch in enumerate(np.array_split(items, max(1, len(items) // 64))):
        if count and len(batch):
            request.progress("placing rows left over", done * 64 / len(items))
            with clock.running():
                place_leftovers(
                    task.space, task.tables, pool_rules, state, released, batch
                )
    with clock.running():
        fine = not state.left.any() or absorb(
            task.space, task.tables, pool_rules, state, released
        )
    if not fine:
        raise one_group_fails(request)
    return np.asarray(released_parts(released))
