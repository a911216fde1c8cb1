"""Find boxes of the lattice that would be worth opening as new groups.

A box is a node per tree axis. Rows that lose more where they are than they would in the
box gain by moving there; rows of larger groups than needed can be spared to fill it up.
The search fixes one axis after the other, each to every node of every level. A cell of
rows is given up as soon as too few of them are left, or they cannot gain enough any more:
what the fixed axes cost only grows. So is one whose rows are all in one cell a level below,
where they lose less.

Paper: the recursion of Beyer and Ramakrishnan 1999 (iceberg cubes), with gain as support.
Cost: O(rows looked at); the rows of a cell that are still of use, over all cells that are
not given up. A limit on it ends the search.
Invariant: a box that is returned has enough rows, and gains at least what was asked for if
all rows that gain by it may move. Every such box of the lattice is found, unless a cheaper
box has the same rows, or the limit or the room for boxes ends the search.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.data.arrays import Codes, Floats, Ints
from sfumato.kernels.common.borrowed_arrays import borrow
from sfumato.kernels.common.geometry import HEIGHT, LEVELS, NODES, SIZE, AxisTables
from sfumato.kernels.compilation.decorators import inner

FOUND, LOOKS, MOST_LOOKS = 0, 1, 2
"""Places of `CandidateBoxes.numbers`: boxes found, rows looked at, and at most."""


class Parts(NamedTuple):
    """Rows that are alike and lie in the same group: what the search counts."""

    nodes: Codes
    """(lines, parts): the node of each part, on a line for each level of each axis."""
    lines: Ints
    """The first line of each axis."""
    rows: Ints
    loses: Floats
    """What a row of the part loses where it is."""
    spare: Ints
    """How many of its rows the group can do without."""


class CandidateBoxes(NamedTuple):
    """Boxes found, each with the parts that were of use to it."""

    nodes: Codes
    """(boxes, axes); nothing where boxes were known."""
    costs: Floats
    """What a row loses in each box."""
    gains: Floats
    starts: Ints
    parts: Codes
    numbers: Ints


class Levels(NamedTuple):
    """Where the search is: the axis of each depth, and what is fixed there."""

    axes: Ints
    """Axes in the order in which they are fixed."""
    level: Ints
    top: Ints
    """The last level to be looked at."""
    inside: Codes
    """(depths + 1, parts): the parts of the cell that is looked into."""
    count: Ints
    sorted: Codes
    """(depths, parts): the same parts by their node at the current level."""
    length: Ints
    at: Ints
    cost: Floats
    node: Ints
    counts: Ints
    """Room for counting parts by node."""


@inner
def room_for_boxes(boxes: int, parts: int, axes: int, looks: int) -> CandidateBoxes:
    """Room for so many boxes with so many parts, after so many looks at most."""
    numbers = np.zeros(3, dtype=np.int64)
    numbers[MOST_LOOKS] = looks
    return CandidateBoxes(
        np.empty((boxes, axes), dtype=np.int32),
        np.empty(boxes, dtype=np.float64),
        np.empty(boxes, dtype=np.float64),
        np.zeros(boxes + 1, dtype=np.int64),
        np.empty(parts, dtype=np.int32),
        numbers,
    )


@inner
def begin_search(tables: AxisTables, parts: Parts, axes: Ints) -> Levels:
    """Begin with all parts in one cell, and nothing fixed."""
    depths, count = len(axes), len(parts.rows)
    widest = np.int64(0)
    for j in range(depths):
        for i in range(tables.axis[j, SIZE] * tables.axis[j, HEIGHT]):
            node = tables.levels[tables.axis[j, LEVELS] + i]
            widest = max(widest, np.int64(node))
    inside = np.empty((depths + 1, count), dtype=np.int32)
    for p in range(count):
        inside[0, p] = p
    levels = Levels(
        axes,
        np.full(depths + 1, -1, dtype=np.int64),
        np.zeros(depths + 1, dtype=np.int64),
        inside,
        np.zeros(depths + 1, dtype=np.int64),
        np.empty((depths, count), dtype=np.int32),
        np.zeros(depths + 1, dtype=np.int64),
        np.zeros(depths + 1, dtype=np.int64),
        np.zeros(depths + 1, dtype=np.float64),
        np.zeros(depths, dtype=np.int64),
        np.zeros(widest + 2, dtype=np.int64),
    )
    levels.count[0] = count
    levels.top[0] = tables.axis[axes[0], HEIGHT] - 1
    return levels


@inner
def find_boxes(
    tables: AxisTables,
    parts: Parts,
    axes: Ints,
    minimum: int,
    least: float,
    boxes: CandidateBoxes,
) -> None:
    """Fill `boxes` with all that hold `minimum` rows and gain `least` or more."""
    levels = begin_search(tables, parts, axes)
    search_levels(tables, parts, levels, minimum, least, boxes)
    # The search borrows the levels, so they must live until here.
    levels.count[0] = 0


@inner
def search_levels(
    tables: AxisTables,
    parts: Parts,
    levels: Levels,
    minimum: int,
    least: float,
    boxes: CandidateBoxes,
) -> None:
    """Fix axis after axis, and go back where a cell cannot hold a box."""
    tables, parts = borrow(tables), borrow(parts)
    levels, boxes = borrow(levels), borrow(boxes)
    axes = levels.axes
    depth = 0
    while depth >= 0:
        if levels.at[depth] < levels.length[depth]:
            if not next_cell(tables, parts, levels, depth, minimum, least, boxes):
                continue
            if depth + 1 < len(axes):
                depth += 1
                levels.level[depth] = -1
                levels.top[depth] = tables.axis[axes[depth], HEIGHT] - 1
                levels.length[depth] = 0
                levels.at[depth] = 0
            elif not keep_box(tables, parts, levels, minimum, least, boxes):
                return
            continue
        if levels.level[depth] == levels.top[depth]:
            depth -= 1
            continue
        levels.level[depth] += 1
        boxes.numbers[LOOKS] += levels.count[depth]
        if boxes.numbers[LOOKS] > boxes.numbers[MOST_LOOKS]:
            return
        sort_by_node(parts, levels, depth)


@inner
def sort_by_node(parts: Parts, levels: Levels, depth: int) -> None:
    """Sort the parts of a cell by their node on the axis that is fixed next.

    Where all have the same node, levels above hold the same parts and lose more.
    """
    node_of = parts.nodes[parts.lines[levels.axes[depth]] + levels.level[depth]]
    inside, counts = levels.inside[depth], levels.counts
    ordered, count = levels.sorted[depth], levels.count[depth]
    low, high = np.int64(len(counts)), np.int64(0)
    for i in range(count):
        node = np.int64(node_of[inside[i]])
        counts[node + 1] += 1
        low = min(low, node)
        high = max(high, node)
    for node in range(low, high + 1):
        counts[node + 1] += counts[node]
    for i in range(count):
        part = inside[i]
        node = np.int64(node_of[part])
        ordered[counts[node]] = part
        counts[node] += 1
    for node in range(low, high + 2):
        counts[node] = 0
    levels.length[depth] = count
    levels.at[depth] = 0
    if low == high:
        levels.top[depth] = levels.level[depth]


@inner
def next_cell(
    tables: AxisTables,
    parts: Parts,
    levels: Levels,
    depth: int,
    minimum: int,
    least: float,
    boxes: CandidateBoxes,
) -> bool:
    """Look at the next cell of a depth; return whether it may hold a box."""
    j = levels.axes[depth]
    line = parts.lines[j] + levels.level[depth]
    node_of, ordered = parts.nodes[line], levels.sorted[depth]
    start, end = levels.at[depth], levels.at[depth] + 1
    node = np.int64(node_of[ordered[start]])
    while end < levels.length[depth] and node_of[ordered[end]] == node:
        end += 1
    levels.at[depth] = end
    if levels.level[depth] > 0 and all_alike(
        parts.nodes[line - 1], ordered, start, end
    ):
        return False
    boxes.numbers[LOOKS] += end - start
    cost = levels.cost[depth] + tables.real[tables.axis[j, NODES] + node]
    inside = levels.inside[depth + 1]
    kept, gaining, rows = 0, 0, 0
    gain, nearest = 0.0, -np.inf
    for i in range(start, end):
        p = ordered[i]
        over = parts.loses[p] - cost
        if over > 0.0:
            gain += parts.rows[p] * over
            gaining += parts.rows[p]
        elif parts.spare[p] > 0:
            rows += parts.spare[p]
            nearest = max(nearest, over)
        else:
            continue
        inside[kept] = p
        kept += 1
    if rows + gaining < minimum or gain < least:
        return False
    if gaining < minimum and gain + (minimum - gaining) * nearest < least:
        return False
    levels.node[j] = node
    levels.cost[depth + 1] = cost
    levels.count[depth + 1] = kept
    return True


@inner
def all_alike(node_of: Codes, ordered: Codes, start: int, end: int) -> bool:
    """Whether the parts start … end have the same node."""
    for i in range(start + 1, end):
        if node_of[ordered[i]] != node_of[ordered[start]]:
            return False
    return True


@inner
def keep_box(
    tables: AxisTables,
    parts: Parts,
    levels: Levels,
    minimum: int,
    least: float,
    boxes: CandidateBoxes,
) -> bool:
    """Keep the box that is fixed on all axes, if it gains enough; False without room."""
    depth = len(levels.axes)
    count, cost = levels.count[depth], levels.cost[depth]
    gain = gain_of_box(parts, levels.inside[depth, :count], cost, minimum)
    if gain < least:
        return True
    box = boxes.numbers[FOUND]
    start = boxes.starts[box]
    if box == len(boxes.gains) or start + count > len(boxes.parts):
        return False
    for j in range(depth):
        boxes.nodes[box, j] = levels.node[j]
    boxes.costs[box] = cost
    boxes.gains[box] = gain
    for i in range(count):
        boxes.parts[start + i] = levels.inside[depth, i]
    boxes.starts[box + 1] = start + count
    boxes.numbers[FOUND] += 1
    return True


@inner
def gain_of_box(parts: Parts, inside: Codes, cost: float, minimum: int) -> float:
    """Gain of the rows that lose more elsewhere, less what it costs to fill the box up."""
    gain, needed = 0.0, np.int64(minimum)
    others = np.empty(len(inside), dtype=np.int64)
    over = np.empty(len(inside), dtype=np.float64)
    count = 0
    for p in inside:
        if parts.loses[p] > cost:
            gain += parts.rows[p] * (parts.loses[p] - cost)
            needed -= parts.rows[p]
        else:
            others[count] = p
            over[count] = cost - parts.loses[p]
            count += 1
    if needed <= 0:
        return gain
    for i in np.argsort(over[:count], kind="mergesort"):
        taken = min(needed, parts.spare[others[i]])
        gain -= taken * over[i]
        needed -= taken
        if needed == 0:
            break
    return gain
