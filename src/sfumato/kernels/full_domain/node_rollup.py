"""Roll distinct tuples up to a lattice node: which of them are shown alike.

A chunk's table gives the group of each of its ids at any combination of levels
(`tuple_chunks`). The group of a tuple is one look-up per chunk, combined into one
number, its *cell*.

Paper: the rollup property of Incognito (LeFevre, DeWitt and Ramakrishnan 2005): the
frequency set of a node is a sum over that of the node of all leaves.
Cost: O(t × c) time for t distinct tuples in c chunks; no memory beyond the workspace.
Invariant: two tuples have the same cell exactly if their nodes are equal on every
column; cells are below the length of `NodeWorkspace.label`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.data.arrays import Codes, Floats, Hashes, Ints
from sfumato.kernels.common.tuple_chunks import CHUNKS, KEY_LIMIT, Chunks, hash_slot
from sfumato.kernels.compilation.decorators import inner

DENSE = 24
"""Use a table of cells up to this many cells per tuple; beyond it, a hash."""


class NodeWorkspace(NamedTuple):
    """Room to judge one node at a time, and the findings."""

    cell: Ints
    label: Codes
    slots: Ints
    owner: Codes
    counts: Ints
    sums: Floats


def workspace(tuples: int) -> NodeWorkspace:
    """Make room for a table with so many distinct tuples."""
    slots = 1024
    while slots < 2 * tuples:
        slots *= 2
    return NodeWorkspace(
        cell=np.zeros(tuples, dtype=np.int64),
        label=np.zeros(DENSE * tuples + 4096, dtype=np.int32),
        slots=np.zeros(slots, dtype=np.int64),
        owner=np.zeros(slots, dtype=np.int32),
        counts=np.zeros(8, dtype=np.int64),
        sums=np.zeros(2),
    )


@inner
def place(chunks: Chunks, levels: Ints, work: NodeWorkspace) -> int:
    """Put every tuple into the cell of its group; return how many cells there are.

    Cells are numbered in mixed radix over the chunks. Not every cell need be in use,
    unless there are too many to count and they are renumbered densely.
    """
    if len(chunks.width) == CHUNKS:
        cells = _place_at_once(chunks, levels, work.cell)
        if cells > 0:
            if cells > len(work.label):
                cells = _compress(work.cell, work.slots, work.owner)
            return cells
    cells = 1
    for c in range(len(chunks.width)):
        table, groups = generalized(chunks, c, levels)
        # The next product would overflow 62 bits: renumber what occurs first.
        if cells > KEY_LIMIT // groups:
            cells = _compress(work.cell, work.slots, work.owner)
        _look_up(chunks.ids[c], table, groups, c == 0, work.cell)
        cells *= groups
    if cells > len(work.label):
        cells = _compress(work.cell, work.slots, work.owner)
    return cells


@inner
def _place_at_once(chunks: Chunks, levels: Ints, cell: Ints) -> int:
    """Place tuples of three chunks, the common case, in one pass; 0 if that overflows."""
    high, high_groups = generalized(chunks, 0, levels)
    middle, middle_groups = generalized(chunks, 1, levels)
    low, low_groups = generalized(chunks, 2, levels)
    if high_groups * middle_groups > KEY_LIMIT // low_groups:
        return 0
    step = middle_groups * low_groups
    for i in range(len(cell)):
        cell[i] = (
            step * high[chunks.ids[0, i]]
            + low_groups * middle[chunks.ids[1, i]]
            + low[chunks.ids[2, i]]
        )
    return high_groups * step


@inner
def generalized(chunks: Chunks, c: int, levels: Ints) -> tuple[Codes, int]:
    """Return the group of each id of chunk c at `levels`, and how many there are."""
    number = combination(chunks, c, levels)
    at = chunks.start[c] + number * chunks.width[c]
    groups = chunks.ranges[chunks.range_start[c] + number]
    return chunks.groups[at : at + chunks.width[c]], groups


@inner
def combination(chunks: Chunks, c: int, levels: Ints) -> int:
    """The number of a combination of levels within chunk c."""
    number = 0
    for j in range(len(levels)):
        number += chunks.step[c, j] * levels[j]
    return number


@inner
def _look_up(ids: Hashes, table: Codes, groups: int, first: bool, cell: Ints) -> None:
    if first:
        for i in range(len(ids)):
            cell[i] = table[ids[i]]
    else:
        for i in range(len(ids)):
            cell[i] = cell[i] * groups + table[ids[i]]


@inner
def _compress(cell: Ints, slots: Ints, owner: Codes) -> int:
    """Renumber cells from 0 in the order of the tuples; return how many there are.

    Open addressing in a table at most half full, so that probes stay short.
    """
    mask = 1024
    while mask < 2 * len(cell):
        mask *= 2
    mask -= 1
    owner[: mask + 1] = -1
    found = 0
    for i in range(len(cell)):
        key = cell[i]
        slot = hash_slot(key, mask)
        while owner[slot] >= 0 and slots[slot] != key:
            slot = (slot + 1) & mask
        if owner[slot] < 0:
            owner[slot] = found
            slots[slot] = key
            found += 1
        cell[i] = owner[slot]
    return found


@inner
def offsets(chunks: Chunks, levels: Ints) -> Ints:
    """Where the tables of each chunk start at `levels`."""
    found = np.empty(len(chunks.width), dtype=np.int64)
    for c in range(len(found)):
        number = combination(chunks, c, levels)
        found[c] = chunks.start[c] + number * chunks.width[c]
    return found
