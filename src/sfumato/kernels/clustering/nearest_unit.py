"""Find the exact nearest or farthest unit in a tree of blocks with exact bounds.

Costs of units are sums over columns. A column's cost either follows from the box of
the group (a run or a set that the unit stretches) or stands in a table with one entry
per code, where the codes of a block are known as a set of bits or, on a line, by their
extremes. A block's bound is the sum of the bounds of its columns; since rounding keeps
order, no unit of the block can lie below it. Of equal costs the unit with the lowest
number wins.

Paper: "find the best record" of k-member (Byun et al. 2007) and the nearest tuple of TGC
(Loukides and Shao 2008), which scan all rows; branch and bound finds the same one.
Cost: O(log n × c) for n units with c columns where bounds are tight, O(n × c) at worst;
O(codes) to renew the table of a column on which the group grew.
Invariant: the unit found has the lowest cost of all left below the root and, of those,
the lowest number; the bound of a block never exceeds the cost of a unit in it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Codes, Floats, Ints, Words
from sfumato.kernels.clustering.block_tree import (
    ACTIVE,
    ALIVE,
    BEGIN,
    BUCKETS,
    CODE_COUNT,
    HALVES,
    HIGH_FROM,
    HIGH_TO,
    KIND,
    LEAST,
    LOW_FROM,
    LOW_TO,
    NONE,
    START,
    TIERS,
    USED,
    BlockTree,
    bucket,
)
from sfumato.kernels.clustering.units import Units, cell_with
from sfumato.kernels.common.boxes import COUNT, HIGH, LOW, Boxes, lacks
from sfumato.kernels.common.geometry import (
    FLAT,
    FREE,
    SHAPE,
    SIZE,
    AxisTables,
    run_loss,
    set_loss,
)
from sfumato.kernels.compilation.decorators import inner, pointer

GROWING = np.int64(0)
"""The line of a box that stands for the growing group."""
CODES = 256
"""A quasi-identifier with more codes has no table: it would have to be filled anew
whenever the group grows."""

RUN, SET, TABLE, LINE = range(4)
"""How the cost of a column is found: from a run, from a set, from a table, or from one
in which costs never fall on the way from the group to either side."""


class UnitSearch(NamedTuple):
    """What is searched for: the costs of one moment."""

    sign: Ints
    """1 for the nearest, −1 for the farthest, in a single place."""
    columns: Ints
    changed: Ints
    """Columns whose tables are not up to date."""
    box: Boxes
    """Its first line is the group."""
    costs: Floats
    """Cost of code c of column j: costs[columns[j, START] + c]."""
    tier_cost: Floats
    tier_mask: Words
    """(columns, tiers): buckets with that cost, costs ascending; of a set, first the
    buckets that the group has."""
    stack: Ints
    bounds: Floats
    """Room for a search; in between, for anything."""
    best: Floats
    """The cost of the unit found last, and how many units and blocks were looked at."""


@inner
def _renew(axes: int, tables: AxisTables, search: UnitSearch) -> None:
    """Bring the tables of costs up to date with the group."""
    for j in range(len(search.columns)):
        if search.changed[j] and search.columns[j, START] >= 0:
            if j < axes:
                _fill(tables, search, j)
            if search.columns[j, KIND] == TABLE:
                _sort_tiers(search, j)
        search.changed[j] = 0


@inner
def _fill(tables: AxisTables, search: UnitSearch, j: int) -> None:
    """The cost of the cell on axis j once it holds each code."""
    start, cells = search.columns[j, START], search.box.cells
    low, high = np.int64(cells[0, j, LOW]), np.int64(cells[0, j, HIGH])
    flat = tables.axis[j, SHAPE] == FLAT
    for code in range(search.columns[j, CODE_COUNT]):
        if flat:
            more = lacks(tables, search.box.words, GROWING, j, code)
            cost = set_loss(tables, j, np.int64(cells[0, j, COUNT]) + more)
        else:
            cost = run_loss(tables, j, min(low, code), max(high, code))
        search.costs[start + code] = cost if search.sign[0] > 0 else -cost


@inner
def _sort_tiers(search: UnitSearch, j: int) -> None:
    """Line the buckets of a table up by their lowest cost."""
    start, size = search.columns[j, START], search.columns[j, CODE_COUNT]
    number = min(size, BUCKETS)
    least = search.bounds
    for at in range(number):
        least[at] = np.inf
    for code in range(size):
        at = bucket(code, size)
        least[at] = min(least[at], search.costs[start + code])
    count = 0
    for at in range(number):
        place = count
        while place > 0 and search.tier_cost[j, place - 1] > least[at]:
            place -= 1
        bit = np.uint64(1) << np.uint64(at)
        if place > 0 and search.tier_cost[j, place - 1] == least[at]:
            search.tier_mask[j, place - 1] |= bit
            continue
        for q in range(count, place, -1):
            search.tier_cost[j, q] = search.tier_cost[j, q - 1]
            search.tier_mask[j, q] = search.tier_mask[j, q - 1]
        search.tier_cost[j, place] = least[at]
        search.tier_mask[j, place] = bit
        count += 1
    search.columns[j, TIERS] = count


@inner
def _stretch_bound(
    units: Units, masks: Words, ends: Codes, search: UnitSearch, node: int, j: int
) -> float:
    """The bound of one column without a table."""
    cells, sign = search.box.cells, search.sign[0]
    if search.columns[j, KIND] == RUN:
        one, two = (LOW_TO, HIGH_FROM) if sign > 0 else (LOW_FROM, HIGH_TO)
        low = np.int64(min(cells[0, j, LOW], ends[node, j, one]))
        high = np.int64(max(cells[0, j, HIGH], ends[node, j, two]))
        return sign * run_loss(units.tables, j, low, high)
    count = np.int64(cells[0, j, COUNT])
    if len(units.sets) > 0:
        # The buckets of a unit's lowest code say nothing of its other values.
        count = count if sign > 0 else units.tables.axis[j, SIZE]
    elif sign < 0 or masks[node, j] & search.tier_mask[j, 0] == NONE:
        count += 1
    return sign * set_loss(units.tables, j, count)


@inner
def nearest(units: Units, index: BlockTree, search: UnitSearch, root: int) -> int:
    """The unit with the lowest cost below a block; −1 if there is none.

    Its cost is left in `search.best`. Arrays are taken out of their tuples once, and blocks
    are bounded right here: a call with so many arrays costs more than a bound.
    """
    blocks, masks, extremes = index.blocks, index.masks, index.extremes
    columns, costs, cells = search.columns, search.costs, search.box.cells
    tier_cost, tier_mask = search.tier_cost, search.tier_mask
    stack, bounds, forward = search.stack, search.bounds, search.sign[0] > 0
    _renew(units.axes, units.tables, search)
    best, found, looks = np.inf, np.int64(-1), np.int64(0)
    stack[0], bounds[0] = root, -np.inf
    waiting = 1 if blocks[root, ALIVE] > 0 else 0
    while waiting > 0:
        waiting -= 1
        node, bound = stack[waiting], bounds[waiting]
        if bound > best or (bound == best and blocks[node, LEAST] >= found):
            continue
        half, before = blocks[node, HALVES], waiting
        if half < 0:
            best, found = _look(units, index, search, node, best, found)
            looks += blocks[node, ALIVE]
            continue
        looks += 2
        for node in range(half, half + 2):
            if blocks[node, ALIVE] == 0:
                continue
            bound = 0.0
            for j in range(len(columns)):
                if not columns[j, ACTIVE]:
                    continue
                if columns[j, KIND] == TABLE:
                    q, last = 0, columns[j, TIERS] - 1
                    while q < last and tier_mask[j, q] & masks[node, j] == NONE:
                        q += 1
                    bound += tier_cost[j, q]
                elif columns[j, KIND] == LINE:
                    start, first = columns[j, START], extremes[node, j, LOW_FROM]
                    last = extremes[node, j, LOW_TO]
                    if forward:
                        code = min(max(first, cells[0, j, LOW]), last)
                        bound += costs[start + code]
                    else:
                        bound += min(costs[start + first], costs[start + last])
                else:
                    bound += _stretch_bound(units, masks, extremes, search, node, j)
            if bound < np.inf:
                stack[waiting], bounds[waiting] = node, bound
                waiting += 1
        if waiting == before + 2:
            _nearer_last(blocks, stack, bounds, before)
    search.best[0] = best
    search.best[1] += looks
    return found


@inner
def _look(
    units: Units,
    index: BlockTree,
    search: UnitSearch,
    node: int,
    best: float,
    found: int,
) -> tuple[float, int]:
    """The nearest of a leaf's units and of the one found before, and its cost."""
    place, low, columns, costs = index.place, units.low, search.columns, search.costs
    begin = index.blocks[node, BEGIN]
    for i in range(begin, begin + index.blocks[node, ALIVE]):
        u, cost = place[i], 0.0
        for j in range(len(columns)):
            if not columns[j, ACTIVE]:
                continue
            if columns[j, START] >= 0:
                cost += costs[np.uintp(columns[j, START] + low[u, j])]
            else:
                cost += search.sign[0] * cell_with(units, search.box, GROWING, j, u)
        if cost < best or (cost == best and u < found):
            best, found = cost, u
    return best, found


@inner
def _nearer_last(blocks: Ints, stack: Ints, bounds: Floats, at: int) -> None:
    """Swap two halves that wait if the one to be looked at first is not the last."""
    one, two, first, second = stack[at], stack[at + 1], bounds[at], bounds[at + 1]
    if first < second or (first == second and blocks[one, LEAST] < blocks[two, LEAST]):
        stack[at], stack[at + 1], bounds[at], bounds[at + 1] = two, one, second, first


def make_unit_search(
    kind: Ints, sizes: Ints, used: npt.NDArray[np.bool_], box: Boxes
) -> UnitSearch:
    """Room for the costs of one group after the other."""
    tabled = (kind == TABLE) | (kind == LINE)
    ends = np.cumsum(np.where(tabled, sizes, 0))
    columns = np.zeros((len(kind), 6), dtype=np.int64)
    columns[:, KIND], columns[:, CODE_COUNT] = kind, sizes
    columns[:, USED] = used
    columns[:, TIERS] = 1
    columns[:, START] = np.where(tabled, ends - sizes, -1)
    return UnitSearch(
        sign=np.ones(1, dtype=np.int64),
        columns=columns,
        changed=np.ones(len(kind), dtype=np.int64),
        box=box,
        costs=np.zeros(max(int(ends[-1]), 1)),
        tier_cost=np.zeros((len(kind), BUCKETS + 1)),
        tier_mask=np.zeros((len(kind), BUCKETS + 1), dtype=np.uint64),
        stack=np.zeros(256, dtype=np.int64),
        bounds=np.zeros(256),
        best=np.zeros(2),
    )


def column_kinds(units: Units, contributions: Ints) -> tuple[Ints, Ints]:
    """How the cost of each column is found, and how many codes it has.

    `contributions` has the domains of the sensitive columns; not every value occurs.
    """
    columns = units.low.shape[1]
    sizes = np.ones(columns, dtype=np.int64)
    kind = np.full(columns, TABLE, dtype=np.int64)
    for j in range(columns):
        if j >= units.axes:
            sizes[j] = int(units.low[:, j].max(initial=0)) + 1
            if j - units.axes < len(contributions):
                sizes[j] = contributions[j - units.axes]
            continue
        sizes[j] = units.tables.axis[j, SIZE]
        if len(units.sets) or sizes[j] > CODES:
            kind[j] = SET if units.tables.axis[j, SHAPE] == FLAT else RUN
        elif units.tables.axis[j, SHAPE] == FREE:
            kind[j] = LINE
    return kind, sizes


def nearest_pointer(units: Units, index: BlockTree, search: UnitSearch) -> Any:
    """`nearest` behind a pointer, so that callers compile without it."""
    return pointer(nearest, "int64", units, index, search, 0)
