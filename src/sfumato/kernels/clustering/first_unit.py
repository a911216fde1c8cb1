"""Choose the first unit of a group.

Paper: the first record of a cluster: k-member takes the one furthest from the last
(Byun et al. 2007, algorithm 1), TGC a random one (Loukides and Shao 2008, algorithm 1).
Cost: O(1) for the first left; O(n) in all for the drawn order; one search of the tree
for the furthest.
Invariant: the unit is left in the index below the root; of equally far ones the lowest
number wins; `UnitSearch` is put back to look for the nearest.
"""

from __future__ import annotations

from typing import Any

from sfumato.data.arrays import Ints
from sfumato.kernels.clustering.add_unit import LAST, NEXT
from sfumato.kernels.clustering.block_tree import (
    ACTIVE,
    LEAST,
    USED,
    BlockTree,
    is_left,
)
from sfumato.kernels.clustering.nearest_unit import GROWING, UnitSearch, nearest
from sfumato.kernels.clustering.units import Units, put
from sfumato.kernels.common.boxes import clear
from sfumato.kernels.compilation.decorators import inner, pointer


def seed_pointer(
    seed: Any,
    units: Units,
    index: BlockTree,
    search: UnitSearch,
    order: Ints,
    state: Ints,
) -> Any:
    """One of the functions below, behind a pointer: the others are not compiled."""
    return pointer(seed, "int64", units, index, search, order, state, 0)


@inner
def first_left(
    units: Units,
    index: BlockTree,
    search: UnitSearch,
    order: Ints,
    state: Ints,
    root: int,
) -> int:
    """The first unit left, in the order of codes."""
    return index.blocks[root, LEAST]


@inner
def next_drawn(
    units: Units,
    index: BlockTree,
    search: UnitSearch,
    order: Ints,
    state: Ints,
    root: int,
) -> int:
    """The next unit left, in the drawn order."""
    while not is_left(index, order[state[NEXT]]):
        state[NEXT] += 1
    return order[state[NEXT]]


@inner
def furthest(
    units: Units,
    index: BlockTree,
    search: UnitSearch,
    order: Ints,
    state: Ints,
    root: int,
) -> int:
    """The unit farthest from the one that was added last."""
    clear(search.box, GROWING)
    put(units, search.box, GROWING, state[LAST], search.changed)
    for j in range(len(search.columns)):
        search.columns[j, ACTIVE] = search.columns[j, USED] if j < units.axes else 0
        search.changed[j] = 1
    search.sign[0] = -1
    found = nearest(units, index, search, root)
    search.sign[0] = 1
    return found
