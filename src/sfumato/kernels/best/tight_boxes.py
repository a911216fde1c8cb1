"""Find the boxes of the lattice that hold the prices of rows down.

A box is a node per tree axis, and costs each of its rows the same. Its *spare* is that
cost less the mean of the k highest prices in it; the spare of a tuple is the least of all
boxes around it. The search fixes one axis after the other, each to every node of every
level. A cell is given up if it has fewer than k rows; if its rows share a lower node on
a fixed axis, because a cheaper box has the same rows; or if no box in it has less to spare
than the boxes that are known: costs only grow, and the mean of k prices only falls.

Paper: the recursion of Beyer and Ramakrishnan 1999 (iceberg cubes), with spare as support.
Cost: O(tuples looked at): those of every cell that is not given up, at every level of the
next axis. A limit on it ends the search. Memory O(axes × tuples).
Invariant: unless the limit ended a search, the least spare of a tuple over all parts is
that of the one given and of all boxes with k rows or more. Tuples come with the highest
price first and stay in that order in every cell. What is kept of a box is for the next
prices (`price_ascent`); without room, boxes are not kept, and spares are the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.data.arrays import Codes, Floats, Ints
from sfumato.kernels.common.borrowed_arrays import borrow
from sfumato.kernels.compilation.decorators import both, inner

FOUND, LOOKS, MOST_LOOKS = 0, 1, 2
"""Places of `TightBoxes.numbers`: boxes kept, tuples looked at, and at most."""
DIVISION = 16
"""Dividing a small cell takes as long as looking at so many tuples."""


class PricedTuples(NamedTuple):
    """Distinct tuples, the one with the highest price first."""

    nodes: Codes
    """(lines, tuples): the node of each tuple at each level, axis by axis."""
    rows: Ints
    prices: Floats


class LatticeCosts(NamedTuple):
    """What nodes cost, axis by axis in the order in which axes are fixed."""

    lines: Ints
    """Where the levels of each axis start in `PricedTuples.nodes`, and where they end."""
    starts: Ints
    """Where the nodes of each axis start in `costs`."""
    costs: Floats
    open: Floats
    """The least that each axis and all after it cost together; 0 after the last."""


class TightBoxes(NamedTuple):
    """Boxes that had less to spare than was known, each with tuples in it."""

    costs: Floats
    starts: Ints
    tuples: Codes
    """Those with the highest prices, and those whose spare the box lowered."""
    numbers: Ints


class OpenCells(NamedTuple):
    """Where the search is: the cells of each depth that are still to be looked into."""

    level: Ints
    sorted: Codes
    """(depths, tuples): the tuples of those cells, cell by cell."""
    count: Ints
    at: Ints
    start: Ints
    """(depths, cells): where the tuples of a cell start in `sorted`"""
    end: Ints
    cost: Floats


class NodeSums(NamedTuple):
    """What is known of the tuples of each node while a cell is divided."""

    found: Codes
    """The nodes that occur, in the order of their first tuples."""
    tuples: Ints
    """0 between cells."""
    rows: Ints
    place: Ints
    """Where the next tuple goes, or −1 if the node has too few rows."""


def room_for_boxes(boxes: int, tuples: int, looks: int) -> TightBoxes:
    """Room for so many boxes with so many tuples, after so many looks at most."""
    return TightBoxes(
        np.empty(boxes),
        np.zeros(boxes + 1, dtype=np.int64),
        np.empty(tuples, dtype=np.int32),
        np.array([0, 0, looks], dtype=np.int64),
    )


@both
def find_tight_boxes(
    tuples: PricedTuples,
    lattice: LatticeCosts,
    least: int,
    part: int,
    parts: int,
    spare: Floats,
    boxes: TightBoxes,
) -> None:
    """Lower `spare` to the least of all boxes whose first node is of the part."""
    depths, count = len(lattice.lines) - 1, len(tuples.rows)
    widest = np.int64(1)
    for depth in range(depths):
        end = len(lattice.costs)
        if depth + 1 < depths:
            end = lattice.starts[depth + 1]
        widest = max(widest, end - lattice.starts[depth])
    most = min(widest, count)
    cells = OpenCells(
        np.full(depths, -1, dtype=np.int64),
        np.empty((depths, count), dtype=np.int32),
        np.zeros(depths, dtype=np.int64),
        np.zeros(depths, dtype=np.int64),
        np.zeros((depths, most), dtype=np.int64),
        np.zeros((depths, most), dtype=np.int64),
        np.zeros((depths, most), dtype=np.float64),
    )
    sums = NodeSums(
        np.empty(most, dtype=np.int32),
        np.zeros(widest, dtype=np.int64),
        np.zeros(widest, dtype=np.int64),
        np.zeros(widest, dtype=np.int64),
    )
    whole = np.arange(count).astype(np.int32)
    search_cells(tuples, lattice, cells, sums, whole, least, part, parts, spare, boxes)
    # The search borrows these arrays, so they must live until here.
    cells.at[0] = sums.tuples[0] = whole[0] = 0


@inner
def search_cells(
    tuples: PricedTuples,
    lattice: LatticeCosts,
    cells: OpenCells,
    sums: NodeSums,
    whole: Codes,
    least: int,
    part: int,
    parts: int,
    spare: Floats,
    boxes: TightBoxes,
) -> None:
    """Fix axis after axis, and go back where no cell of a depth is left."""
    tuples, lattice, boxes = borrow(tuples), borrow(lattice), borrow(boxes)
    cells, sums, whole, spare = (
        borrow(cells),
        borrow(sums),
        borrow(whole),
        borrow(spare),
    )
    numbers, last = boxes.numbers, len(lattice.lines) - 2
    depth = 0
    while depth >= 0 and numbers[LOOKS] <= numbers[MOST_LOOKS]:
        cell = cells.at[depth]
        if cell < cells.count[depth]:
            cells.at[depth] = cell + 1
            if depth < last:
                depth += 1
                cells.level[depth] = -1
                cells.count[depth] = cells.at[depth] = 0
                continue
            inside = tuples_of(cells, depth, cell)
            take_box(tuples, inside, cells.cost[depth, cell], least, spare, boxes)
            continue
        cells.level[depth] += 1
        if lattice.lines[depth] + cells.level[depth] >= lattice.lines[depth + 1]:
            depth -= 1
            continue
        if depth == 0:
            divide(tuples, lattice, cells, sums, 0, whole, 0.0, least, spare, numbers)
            keep_part(tuples, lattice, cells, part, parts)
            continue
        cell = cells.at[depth - 1] - 1
        inside, cost = tuples_of(cells, depth - 1, cell), cells.cost[depth - 1, cell]
        divide(tuples, lattice, cells, sums, depth, inside, cost, least, spare, numbers)


@inner
def divide(
    tuples: PricedTuples,
    lattice: LatticeCosts,
    cells: OpenCells,
    sums: NodeSums,
    depth: int,
    inside: Codes,
    cost: float,
    least: int,
    spare: Floats,
    numbers: Ints,
) -> None:
    """Divide a cell by the nodes of a level into the cells that are worth a look."""
    nodes = tuples.nodes[lattice.lines[depth] + cells.level[depth]]
    count = sort_by_node(tuples.rows, nodes, cells, sums, depth, inside, least)
    numbers[LOOKS] += len(inside) + DIVISION
    kept = 0
    for cell in range(count):
        found = tuples_of(cells, depth, cell)
        numbers[LOOKS] += len(found)
        price = cost + lattice.costs[lattice.starts[depth] + nodes[found[0]]]
        left = price + lattice.open[depth + 1] - highest_mean(tuples, found, least)
        if not any_above(spare, found, left):
            continue
        if is_copy(tuples, lattice, cells, depth, found):
            continue
        cells.start[depth, kept] = cells.start[depth, cell]
        cells.end[depth, kept] = cells.end[depth, cell]
        cells.cost[depth, kept] = price
        kept += 1
    cells.count[depth] = kept
    cells.at[depth] = 0


@inner
def sort_by_node(
    rows: Ints,
    nodes: Codes,
    cells: OpenCells,
    sums: NodeSums,
    depth: int,
    inside: Codes,
    least: int,
) -> int:
    """Sort the tuples of all nodes with enough rows; return how many nodes have them."""
    found = 0
    for t in inside:
        node = np.uintp(nodes[np.uintp(t)])
        if sums.tuples[node] == 0:
            sums.found[found] = node
            found += 1
            sums.rows[node] = 0
        sums.tuples[node] += 1
        sums.rows[node] += rows[np.uintp(t)]
    count, placed = 0, np.int64(0)
    for node in sums.found[:found]:
        sums.place[node] = -1
        if sums.rows[node] >= least:
            sums.place[node] = cells.start[depth, count] = placed
            placed += sums.tuples[node]
            cells.end[depth, count] = placed
            count += 1
        sums.tuples[node] = 0
    ordered = cells.sorted[depth]
    if placed > 0:
        for t in inside:
            node = np.uintp(nodes[np.uintp(t)])
            place = sums.place[node]
            if place >= 0:
                ordered[np.uintp(place)] = t
                sums.place[node] = place + 1
    return count


@inner
def highest_mean(tuples: PricedTuples, inside: Codes, least: int) -> float:
    """The mean of the highest prices of `least` rows."""
    highest, missing = 0.0, np.int64(least)
    for t in inside:
        if tuples.rows[t] >= missing:
            highest += missing * tuples.prices[t]
            break
        highest += tuples.rows[t] * tuples.prices[t]
        missing -= tuples.rows[t]
    return highest / least


@inner
def any_above(spare: Floats, inside: Codes, left: float) -> bool:
    """Return whether any of some tuples has more to spare."""
    for t in inside:
        if spare[np.uintp(t)] > left:
            return True
    return False


@inner
def is_copy(
    tuples: PricedTuples,
    lattice: LatticeCosts,
    cells: OpenCells,
    depth: int,
    inside: Codes,
) -> bool:
    """Return whether tuples share a lower node on an axis that is fixed."""
    for axis in range(depth + 1):
        line = lattice.lines[axis] + cells.level[axis]
        if cells.level[axis] > 0 and all_alike(tuples.nodes[line - 1], inside):
            return True
    return False


@inner
def tuples_of(cells: OpenCells, depth: int, cell: int) -> Codes:
    """The tuples of a cell, the one with the highest price first."""
    return cells.sorted[depth, cells.start[depth, cell] : cells.end[depth, cell]]


@inner
def keep_part(
    tuples: PricedTuples, lattice: LatticeCosts, cells: OpenCells, part: int, parts: int
) -> None:
    """Keep the cells of the first axis that are of the part: every so many nodes."""
    nodes, kept = tuples.nodes[lattice.lines[0] + cells.level[0]], 0
    for cell in range(cells.count[0]):
        start, end = cells.start[0, cell], cells.end[0, cell]
        if nodes[cells.sorted[0, start]] % parts == part:
            cells.start[0, kept] = start
            cells.end[0, kept] = end
            cells.cost[0, kept] = cells.cost[0, cell]
            kept += 1
    cells.count[0] = kept


@inner
def all_alike(nodes: Codes, inside: Codes) -> bool:
    """Return whether tuples have the same node."""
    first = nodes[inside[0]]
    for t in inside:
        if nodes[t] != first:
            return False
    return True


@inner
def take_box(
    tuples: PricedTuples,
    inside: Codes,
    cost: float,
    least: int,
    spare: Floats,
    boxes: TightBoxes,
) -> None:
    """Lower the spares of a box's tuples, and keep it if it lowers any."""
    left = cost - highest_mean(tuples, inside, least)
    box = boxes.numbers[FOUND]
    at = boxes.starts[box]
    room = box < len(boxes.costs) and at + len(inside) <= len(boxes.tuples)
    # Half as many rows more than count now may count at the next prices.
    enough, rows, lowers = least + least // 2, np.int64(0), False
    for t in inside:
        lower = left < spare[t]
        if lower:
            spare[t] = left
            lowers = True
        if room and (lower or rows < enough):
            boxes.tuples[at] = t
            at += 1
        rows += tuples.rows[t]
    if room and lowers:
        boxes.costs[box] = cost
        boxes.starts[box + 1] = at
        boxes.numbers[FOUND] = box + 1
