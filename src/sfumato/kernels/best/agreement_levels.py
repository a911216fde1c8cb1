"""How far each tuple is from one row: the lowest level at which they look alike."""

from __future__ import annotations

import numpy as np

from sfumato.data.arrays import Codes, Ints
from sfumato.kernels.compilation.decorators import both


@both
def count_company(
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
    for t in range(len(tuples)):
        at = np.int64(0)
        for j in range(len(row)):
            level = 0
            place = starts[j]
            while levels[place + tuples[t, j]] != levels[place + row[j]]:
                level += 1
                place += sizes[j]
            at = at * heights[j] + level
        found[at] += weights[t]
    step = 1
    for j in range(len(row) - 1, -1, -1):
        for node in range(len(found)):
            if (node // step) % heights[j] > 0:
                found[node] += found[node - step]
        step *= heights[j]
