"""Find the cheapest box around a row that holds k rows, by best-first branch and bound.

A box is an interval, a set or a node per axis. A node of the search says of some values
that the box holds them, and of some that it does not. The node with the least bound is
split next: a value that its nearest k rows need is either held or not (`box_bounds` has
the bounds). The box of those rows is a box with k rows, so the cheapest so far is the
answer as soon as no node has a lower bound. If the work ends before, the answer is the
least bound that is left.

Paper: none; branch and bound with the best first, as Hart, Nilsson and Raphael 1968.
Cost: O(t × m) per bound for t tuples on m axes that the cheapest box so far does not
rule out; two bounds per split. A limit on looks at cells ends the search.
Invariant: the answer is never above the cost of a box around the row that holds k rows,
and equals the least of them unless the limit ended the search.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.data.arrays import Floats, Ints
from sfumato.kernels.best.box_bounds import (
    LOOKS,
    NearTuples,
    Partial,
    RowAxes,
    Sums,
    bound_of_rest,
    box_of_nearest,
    hold,
    is_spent,
    rule_out,
    start_over,
)
from sfumato.kernels.common.borrowed_arrays import borrow
from sfumato.kernels.compilation.decorators import both, inner

SPLITS = 4096
"""Splits of a search at most, to limit its memory."""


class Nodes(NamedTuple):
    """The nodes of the search; each differs from its parent by one value."""

    parent: Ints
    value: Ints
    held: Ints
    split: Ints
    """The value on which to split a node, or −1 where nothing is left to split."""
    bounds: Floats
    heap: Ints
    """Nodes that were not split, as a heap with the least bound first."""


@both
def cheapest_box(tuples: NearTuples, axes: RowAxes, least: int, looks: Ints) -> float:
    """The cost of the cheapest box with `least` rows, or a lower bound on it.

    `looks` says how many cells may be looked at, and is lowered by those that were.
    """
    count, values = len(tuples.rows), len(axes.reach)
    width = len(axes.own)
    partial = Partial(
        np.zeros(width, dtype=np.int64),
        np.zeros(width, dtype=np.int64),
        np.zeros(width, dtype=np.int64),
        np.zeros(width, dtype=np.int64),
        np.zeros(width, dtype=np.int64),
        np.zeros(values, dtype=np.int64),
        np.zeros(width),
        np.zeros(values),
    )
    sums = Sums(
        np.arange(count),
        np.zeros(count, dtype=np.int64),
        np.zeros(count),
        np.zeros(values, dtype=np.int64),
        np.zeros(values, dtype=np.int64),
        np.zeros(count),
        np.zeros(count, dtype=np.int64),
        np.array([count, 0, 0, 0, looks[0]], dtype=np.int64),
        np.full(1, np.inf),
    )
    room = 2 * SPLITS + 1
    nodes = Nodes(
        np.full(room, -1, dtype=np.int64),
        np.full(room, -1, dtype=np.int64),
        np.zeros(room, dtype=np.int64),
        np.full(room, -1, dtype=np.int64),
        np.zeros(room),
        np.zeros(room, dtype=np.int64),
    )
    found = search(tuples, axes, least, partial, sums, nodes)
    looks[0] -= sums.numbers[LOOKS]
    # The search borrows these arrays, so they must live until here.
    partial.low[0] = sums.near[0] = nodes.heap[0] = 0
    return found


@inner
def search(
    tuples: NearTuples,
    axes: RowAxes,
    least: int,
    partial: Partial,
    sums: Sums,
    nodes: Nodes,
) -> float:
    """Split the node with the least bound until none is below the cheapest box."""
    tuples, axes, partial = borrow(tuples), borrow(axes), borrow(partial)
    sums, nodes = borrow(sums), borrow(nodes)
    made, waiting, known = 1, 0, np.inf
    add_bound(tuples, axes, least, partial, sums, nodes, 0)
    if is_open(sums, nodes, 0):
        waiting = push(nodes, waiting, 0)
    while waiting > 0:
        node = nodes.heap[0]
        bound = nodes.bounds[node]
        if bound >= sums.cheapest[0]:
            break
        if is_spent(sums) or made + 2 > len(nodes.bounds):
            return max(bound, min(nodes.bounds[0], sums.cheapest[0]))
        if sums.cheapest[0] < known:
            # A cheaper box rules out tuples everywhere.
            known = sums.cheapest[0]
            add_bound(tuples, axes, least, partial, sums, nodes, 0)
            continue
        waiting = pop(nodes, waiting)
        for held in range(1, -1, -1):
            nodes.parent[made] = node
            nodes.value[made] = nodes.split[node]
            nodes.held[made] = held
            add_bound(tuples, axes, least, partial, sums, nodes, made)
            nodes.bounds[made] = max(nodes.bounds[made], bound)
            if is_open(sums, nodes, made):
                waiting = push(nodes, waiting, made)
            made += 1
    return sums.cheapest[0]


@inner
def add_bound(
    tuples: NearTuples,
    axes: RowAxes,
    least: int,
    partial: Partial,
    sums: Sums,
    nodes: Nodes,
    node: int,
) -> None:
    """Find the bound of a node and where to split it; the box found may be cheapest."""
    start_over(axes, partial)
    at = np.int64(node)
    while nodes.parent[at] >= 0:
        if nodes.held[at] == 1:
            hold(axes, partial, nodes.value[at])
        else:
            rule_out(axes, partial, nodes.value[at])
        at = nodes.parent[at]
    nodes.bounds[node] = bound_of_rest(tuples, axes, least, partial, sums, node == 0)
    if nodes.bounds[node] < sums.cheapest[0]:
        nodes.split[node] = box_of_nearest(tuples, axes, partial, sums)


@inner
def is_open(sums: Sums, nodes: Nodes, node: int) -> bool:
    """Return whether a node may have a cheaper box, and can be split."""
    return nodes.bounds[node] < sums.cheapest[0] and nodes.split[node] >= 0


@inner
def push(nodes: Nodes, waiting: int, node: int) -> int:
    """Add a node to those that wait; return how many wait."""
    at = waiting
    while at > 0:
        above = (at - 1) // 2
        if nodes.bounds[nodes.heap[above]] <= nodes.bounds[node]:
            break
        nodes.heap[at] = nodes.heap[above]
        at = above
    nodes.heap[at] = node
    return waiting + 1


@inner
def pop(nodes: Nodes, waiting: int) -> int:
    """Take away the node with the least bound; return how many wait."""
    waiting -= 1
    node, at = nodes.heap[waiting], 0
    while True:
        below = 2 * at + 1
        if below >= waiting:
            break
        if below + 1 < waiting and (
            nodes.bounds[nodes.heap[below + 1]] < nodes.bounds[nodes.heap[below]]
        ):
            below += 1
        if nodes.bounds[nodes.heap[below]] >= nodes.bounds[node]:
            break
        nodes.heap[at] = nodes.heap[below]
        at = below
    nodes.heap[at] = node
    return waiting
