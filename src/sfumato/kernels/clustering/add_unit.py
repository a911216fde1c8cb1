"""Add a unit to the growing group; update box, index and sensitive values.

Paper: "add the record to the cluster" of k-member (Byun et al. 2007, algorithm 1) and of
TGC (Loukides and Shao 2008, algorithm 1), for all copies of a tuple that fit at once.
Cost: O(m) to stretch the box on m axes, O(c log n) to take a unit out of the index of n
units with c columns; O(v²) more where sensitive values count, for v values.
Invariant: rows in the group, in other groups and in the index add up; the index holds
exactly the units with copies left; LACKING places are never given away.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.data.arrays import Ints
from sfumato.kernels.clustering.block_tree import (
    ACTIVE,
    CODE_COUNT,
    KIND,
    USED,
    BlockTree,
    bucket,
    remove,
)
from sfumato.kernels.clustering.group_state import HEAD, Clusters, add_entry
from sfumato.kernels.clustering.nearest_unit import GROWING, SET, UnitSearch
from sfumato.kernels.clustering.sensitive_state import (
    SensitiveState,
    clear_values,
    count_values_of_unit,
    keep_out,
    lacking,
    update_value_costs,
)
from sfumato.kernels.clustering.units import Units, put
from sfumato.kernels.common.boxes import clear
from sfumato.kernels.common.group_rules import RuleTable
from sfumato.kernels.compilation.decorators import inner, pointer

LACKING, FILTERED, LAST, NEXT, PART, ROWS = range(6)
"""Places of `Work.state`: how many places in the group are kept for values that it
lacks, whether anything is kept out of it, the unit added last, the next seed, the part,
and how many rows are in the index."""


def add_pointer(
    units: Units,
    index: BlockTree,
    search: UnitSearch,
    clusters: Clusters,
    sensitive_state: SensitiveState,
    rules: RuleTable,
    state: Ints,
) -> Any:
    """Put `add_watched` behind a pointer, or `add` where nothing sensitive counts."""
    some = sensitive_state.contributions.columns or len(sensitive_state.filters)
    taken = (units, index, search, clusters, sensitive_state, rules, state, 0, 0)
    return pointer(add_watched if some else add, "int64", *taken)


@inner
def add(
    units: Units,
    index: BlockTree,
    search: UnitSearch,
    clusters: Clusters,
    sensitive_state: SensitiveState,
    rules: RuleTable,
    state: Ints,
    g: int,
    u: int,
) -> int:
    """Add copies of a unit to the growing group, as many as there is room for; how many
    rows these are."""
    if clusters.chain[g, HEAD] < 0:
        _empty(search)
    # Copies cost no more than the first, so as many join as are needed; places for values
    # that are still missing are kept free.
    room = max(1, rules.minimum - clusters.size[g] - state[LACKING])
    count = min(1 if state[FILTERED] else room, clusters.left[u])
    rows = count * units.weight[u]
    put(units, search.box, GROWING, u, search.changed)
    add_entry(clusters, g, u, count)
    clusters.size[g] += rows
    clusters.left[u] -= count
    state[LAST] = u
    state[ROWS] -= rows
    if clusters.left[u] == 0:
        remove(units.low, units.high, index, search.columns, u)
    for j in range(units.axes):
        if search.columns[j, KIND] == SET and len(units.sets) == 0:
            at = bucket(np.int64(units.low[u, j]), search.columns[j, CODE_COUNT])
            search.tier_mask[j, 0] |= np.uint64(1) << np.uint64(at)
    return rows


@inner
def add_watched(
    units: Units,
    index: BlockTree,
    search: UnitSearch,
    clusters: Clusters,
    sensitive_state: SensitiveState,
    rules: RuleTable,
    state: Ints,
    g: int,
    u: int,
) -> int:
    """The same; afterwards the costs of sensitive values fit the group, and where places
    become short only units that help it are admitted."""
    if clusters.chain[g, HEAD] < 0:
        clear_values(clusters, sensitive_state, g)
        _admit(units, search, clusters, sensitive_state, rules, state, g)
    rows = add(units, index, search, clusters, sensitive_state, rules, state, g, u)
    count_values_of_unit(units, clusters, sensitive_state, g, u, rows)
    update_value_costs(units, clusters, search, sensitive_state, g)
    _admit(units, search, clusters, sensitive_state, rules, state, g)
    return rows


@inner
def admit_all(search: UnitSearch) -> None:
    """Keep nothing out."""
    for j in range(len(search.columns)):
        search.columns[j, ACTIVE] = search.columns[j, USED]


@inner
def _admit(
    units: Units,
    search: UnitSearch,
    clusters: Clusters,
    sensitive_state: SensitiveState,
    rules: RuleTable,
    state: Ints,
    g: int,
) -> None:
    """Keep out what does not help group g, once its places are short."""
    admit_all(search)
    state[LACKING] = state[FILTERED] = 0
    places = rules.minimum - clusters.size[g]
    for f in range(len(sensitive_state.filters)):
        missing = lacking(sensitive_state, f, rules)
        state[LACKING] += missing
        if places <= 0 or (missing > 0 and missing >= places):
            j = units.axes + sensitive_state.contributions.columns + f
            if keep_out(
                search, sensitive_state, f, j, missing, clusters.size[g], rules
            ):
                state[FILTERED] = 1


@inner
def _empty(search: UnitSearch) -> None:
    """The group has nobody yet."""
    clear(search.box, GROWING)
    admit_all(search)
    for j in range(len(search.columns)):
        search.tier_mask[j, 0] = 0
        search.changed[j] = 1
