"""Count how many rows look like one row at every node of a lattice.

Two rows look alike at a node if they have the same node on every axis; the lowest
level at which they do, per axis, is where one joins the other.

Paper: none; our own bound. No release can show a row more exactly than the
cheapest box that holds k rows (`algorithms/best/loss_bound.py`).
Cost: O(c × h) for c codes on axes of h levels to find the joins, O(t × m) to count t tuples
on m axes, then O(N × m) for the N nodes of the lattice; memory O(N + c × h).
Invariant: the count of a node is that of the rows in the row's box there; counts never
fall on the way up, and the top counts every row.
"""

from __future__ import annotations

import numpy as np

from sfumato.data.arrays import Codes, Ints
from sfumato.kernels.compilation.decorators import both, inner


@both
def count_matching_rows(
    tuples: Codes,
    weights: Ints,
    row: Codes,
    levels: Codes,
    starts: Ints,
    heights: Ints,
    sizes: Ints,
    found: Ints,
) -> None:
    """Count, at every node of the lattice, the rows that share the row's box there.

    `levels[starts[j] + v * sizes[j] + code]` is the node of a code at level v. Rows are
    counted at the lowest node at which they join, then summed upward along each axis.
    """
    found[:] = 0
    joins = find_joins(row, levels, starts, heights, sizes)
    for t in range(len(tuples)):
        at = np.int64(0)
        for j in range(len(row)):
            at += joins[np.uintp(starts[j] + tuples[t, j])]
        found[np.uintp(at)] += weights[t]
    # Prefix sums along one axis after the other turn "joins at exactly this node" into
    # "joins at this node or below": one addition per node and axis.
    step = 1
    for j in range(len(row) - 1, -1, -1):
        block = step * heights[j]
        for start in range(0, len(found), block):
            for node in range(start, start + block - step):
                found[np.uintp(node + step)] += found[np.uintp(node)]
        step = block


@inner
def find_joins(
    row: Codes, levels: Codes, starts: Ints, heights: Ints, sizes: Ints
) -> Ints:
    """Find the level at which each code joins the row, times the axis's step in nodes.

    The sum over the axes is then the node at which a tuple joins.
    """
    joins = np.empty(len(levels), dtype=np.int64)
    step = 1
    for j in range(len(row) - 1, -1, -1):
        for code in range(sizes[j]):
            level = 0
            place = starts[j]
            while levels[place + code] != levels[place + row[j]]:
                level += 1
                place += sizes[j]
            joins[starts[j] + code] = level * step
        step *= heights[j]
    return joins
