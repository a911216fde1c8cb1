"""Release boxes along a lattice: cheap nodes first, each box as soon as it is full.

Rows come sorted by their quasi-identifiers and then by their sensitive values: a
*tuple* has one or more *items*, an item one or more rows. At each node the tuples that
are left fall into boxes; a box that meets every rule becomes a group. Where the rules
look at sensitive values, rows of values that occur too often are left behind first.

A box holds no more rows than any of its projections on a chunk of columns. So for each
chunk and combination of its levels, the ids whose projection still has enough rows are
marked, and counted again only once many tuples are gone: one look-up then rules out
most tuples.

Paper: none; our own method. It is local recoding on the lattice of full-domain
generalization: each group has a node of its own.
Cost: O(a × c) per node for a tuples left in c chunks, most of them one look-up; at most
`budget` tuples are looked at in all; judging a box adds O(i log v) for its i items and
v values, per round of trimming.
Invariant: a released group lies in one box of its node and meets every rule; rows left
and rows released add up to the table; an item is never released beyond its rows; slots
are empty between nodes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Codes, Ints, Words
from sfumato.kernels.common.sorting import find_code
from sfumato.kernels.compilation.decorators import both, inner
from sfumato.kernels.refinement.pools import PoolRules
from sfumato.kernels.refinement.regroup import GrowthTargets

MIX = np.uint64(0x9E3779B97F4A7C15)
TIE = 1e-9

GROUPS, ALIVE, VISITS, NEXT, PLACED = 0, 1, 2, 3, 4
"""Places of `Harvest.numbers`: groups released, tuples alive, tuples looked at so far,
the next node in the order, and tuples placed in a box of the present one."""
GLANCES = 4
"""So many tuples are ruled out in the time in which one is placed."""


class HarvestTables(NamedTuple):
    """Tuples, items and the tables that place tuples in boxes."""

    groups: Codes
    """The group of each id at each combination of levels, chunk by chunk."""
    ids: npt.NDArray[np.uint32]
    """(chunks, tuples)"""
    width: Ints
    start: Ints
    nodes: Codes
    """(nodes, chunks): the combination of levels of each chunk, cheapest node first."""
    item_starts: Ints
    """Where the items of each tuple start."""
    values: Codes
    """(views, items)"""


class HarvestState(NamedTuple):
    """What is left, and room to work."""

    numbers: Ints
    left: Ints
    """Rows of each item that have no group yet."""
    rows: Ints
    """The same of each tuple."""
    alive: Ints
    promising: npt.NDArray[np.uint8]
    """Laid out as `groups`: whether the projection of an id has enough rows."""
    counted: Ints
    """(chunks, combinations): tuples alive when `promising` was last computed."""
    projected: Ints
    placed: Ints
    """Tuples that are in boxes of the present node."""
    slot: Ints
    """Where each of those is in the hash table."""
    keys: Words
    size: Ints
    """Rows per slot of the hash table; 0 between nodes."""
    chain: Ints
    """The first tuple in a slot, or −1."""
    follower: Ints
    box: Ints
    """The items of the group being made; one may come several times."""
    taken: Ints
    """Rows of each entry of `box` that go into it."""
    codes: Codes
    labels: Codes
    """(views, entries of `box`)"""
    counts: Ints
    lengths: Ints


def make_harvest(tables: HarvestTables, amounts: Ints) -> HarvestState:
    """Make the first state: everything left, nothing released."""
    tuples = len(tables.item_starts) - 1
    entries = int(amounts.sum()) + 1
    views = len(tables.values)
    slots = 1024
    while slots < 2 * tuples:
        slots *= 2
    shape = (views, entries if views else 0)
    ends = np.append(tables.start[1:], len(tables.groups))
    combinations = int(((ends - tables.start) // tables.width).max())
    return HarvestState(
        numbers=np.array([0, tuples, 0, 0, 0], dtype=np.int64),
        left=amounts.copy(),
        rows=np.add.reduceat(amounts, tables.item_starts[:-1]),
        alive=np.arange(tuples, dtype=np.int64),
        promising=np.zeros(len(tables.groups), dtype=np.uint8),
        counted=np.zeros((len(tables.width), combinations), dtype=np.int64),
        projected=np.zeros(int(tables.width.max()), dtype=np.int64),
        placed=np.zeros(tuples, dtype=np.int64),
        slot=np.zeros(tuples, dtype=np.int64),
        keys=np.zeros(slots, dtype=np.uint64),
        size=np.zeros(slots, dtype=np.int64),
        chain=np.full(slots, -1, dtype=np.int64),
        follower=np.zeros(tuples, dtype=np.int64),
        taken=np.zeros(entries, dtype=np.int64),
        box=np.zeros(entries, dtype=np.int64),
        codes=np.zeros(shape, dtype=np.int32),
        labels=np.zeros(shape, dtype=np.int32),
        counts=np.zeros(shape, dtype=np.int64),
        lengths=np.zeros(views, dtype=np.int64),
    )


@both
def harvest_nodes(
    tables: HarvestTables,
    pool_rules: PoolRules,
    targets: GrowthTargets,
    harvest: HarvestState,
    budget: int,
    pause: int,
    release: Ints,
) -> bool:
    """Visit nodes in order for a while; return whether the end is reached.

    `release` gets three numbers for each part of a group: group, item, rows. Where the
    tuples that are left, times the nodes to come, exceed the budget, nodes are skipped
    at even distances; the last one, the top, never is.
    """
    numbers = harvest.numbers
    last = len(tables.nodes) - 1
    stop = numbers[VISITS] + pause
    while numbers[NEXT] <= last and numbers[ALIVE] > 0:
        if numbers[VISITS] >= stop:
            return False
        node = numbers[NEXT]
        ahead = (last - node) * numbers[ALIVE] // GLANCES
        step = 1 + ahead // max(budget - numbers[VISITS], 1)
        numbers[NEXT] = node + 1 if node == last else min(node + step, last)
        for c in range(len(tables.width)):
            number = tables.nodes[node, c]
            # Old marks are still an upper bound, because rows only leave; counting
            # again pays once a third of the tuples is gone.
            if 3 * numbers[ALIVE] < 2 * harvest.counted[c, number] or (
                harvest.counted[c, number] == 0
            ):
                find_promising(tables, pool_rules.minimum, c, number, harvest)
        place(tables, node, harvest)
        numbers[VISITS] += numbers[PLACED] + numbers[ALIVE] // GLANCES
        if pool_rules.plain:
            release_boxes(tables, pool_rules.minimum, harvest, release)
        else:
            judge_boxes(tables, pool_rules, targets, harvest, release)
        clear_table(harvest)
    return True


@inner
def find_promising(
    tables: HarvestTables, minimum: int, c: int, number: int, harvest: HarvestState
) -> None:
    """Note the ids of a chunk whose projection at some levels has rows enough."""
    at = tables.start[c] + number * tables.width[c]
    table = tables.groups[at : at + tables.width[c]]
    rows = harvest.projected
    rows[: tables.width[c]] = 0
    for i in range(harvest.numbers[ALIVE]):
        t = harvest.alive[i]
        rows[table[tables.ids[c, t]]] += harvest.rows[t]
    for id_ in range(tables.width[c]):
        harvest.promising[at + id_] = rows[table[id_]] >= minimum
    harvest.counted[c, number] = harvest.numbers[ALIVE]
    harvest.numbers[VISITS] += harvest.numbers[ALIVE] // GLANCES


@inner
def place(tables: HarvestTables, node: int, harvest: HarvestState) -> None:
    """Put every tuple that may be in a full box into the slot of its box.

    Only the part of the hash table that these tuples need is used: it stays in cache.
    """
    groups, ids, slot, alive = tables.groups, tables.ids, harvest.slot, harvest.alive
    keys, size, promising = harvest.keys, harvest.size, harvest.promising
    chunks = len(tables.width)
    at = np.empty(chunks, dtype=np.int64)
    for c in range(chunks):
        at[c] = tables.start[c] + tables.nodes[node, c] * tables.width[c]
    placed = 0
    for i in range(harvest.numbers[ALIVE]):
        t = alive[i]
        may_fill = True
        for c in range(chunks):
            if not promising[np.uintp(at[c] + ids[c, t])]:
                may_fill = False
                break
        if may_fill:
            harvest.placed[placed] = t
            placed += 1
    slots = 1024
    while slots < 2 * placed:
        slots *= 2
    mask = np.uint64(slots - 1)
    for i in range(placed):
        t = harvest.placed[i]
        key = np.uint64(1)
        for c in range(chunks):
            group = groups[np.uintp(at[c] + ids[c, t])]
            key = (key + np.uint64(group)) * MIX
            key ^= key >> np.uint64(29)
        h = (key >> np.uint64(20)) & mask
        while size[h] > 0 and keys[h] != key:
            h = (h + np.uint64(1)) & mask
        keys[h] = key
        size[h] += harvest.rows[t]
        slot[i] = h
    harvest.numbers[PLACED] = placed


@inner
def clear_table(harvest: HarvestState) -> None:
    """Empty the table, and keep only the tuples that have rows left."""
    gone = False
    for i in range(harvest.numbers[PLACED]):
        h = harvest.slot[i]
        harvest.size[h] = 0
        harvest.chain[h] = -1
        gone |= harvest.rows[harvest.placed[i]] == 0
    if not gone:
        return
    kept = 0
    for i in range(harvest.numbers[ALIVE]):
        if harvest.rows[harvest.alive[i]] > 0:
            harvest.alive[kept] = harvest.alive[i]
            kept += 1
    harvest.numbers[ALIVE] = kept


@inner
def release_boxes(
    tables: HarvestTables, minimum: int, harvest: HarvestState, release: Ints
) -> None:
    """Make a group of every box with enough rows."""
    for i in range(harvest.numbers[PLACED]):
        h, t = harvest.slot[i], harvest.placed[i]
        if harvest.size[h] < minimum:
            continue
        if harvest.chain[h] < 0:
            harvest.chain[h] = harvest.numbers[GROUPS]
            harvest.numbers[GROUPS] += 1
        for item in range(tables.item_starts[t], tables.item_starts[t + 1]):
            if harvest.left[item] > 0:
                add_release_entry(release, harvest.chain[h], item, harvest.left[item])
                harvest.left[item] = 0
        harvest.rows[t] = 0


@inner
def add_release_entry(release: Ints, group: int, item: int, rows: int) -> None:
    """Write down a part of a group; the first entry counts them."""
    at = 1 + 3 * release[0]
    release[at] = group
    release[at + 1] = item
    release[at + 2] = rows
    release[0] += 1


@inner
def judge_boxes(
    tables: HarvestTables,
    pool_rules: PoolRules,
    targets: GrowthTargets,
    harvest: HarvestState,
    release: Ints,
) -> None:
    """Make a group of whatever can be kept of each box with enough rows."""
    count = harvest.numbers[PLACED]
    for i in range(count - 1, -1, -1):
        h, t = harvest.slot[i], harvest.placed[i]
        if harvest.size[h] >= pool_rules.minimum:
            harvest.follower[t] = harvest.chain[h]
            harvest.chain[h] = t
    for i in range(count):
        h = harvest.slot[i]
        if (
            harvest.size[h] >= pool_rules.minimum
            and harvest.chain[h] == harvest.placed[i]
        ):
            items = collect(tables, harvest, harvest.chain[h])
            if trim(pool_rules, targets, harvest, items, harvest.size[h]):
                take_box(tables, harvest, items, release)


@inner
def collect(tables: HarvestTables, harvest: HarvestState, t: int) -> int:
    """List the items of a box and count their values; return how many items there are."""
    items = 0
    while t >= 0:
        for item in range(tables.item_starts[t], tables.item_starts[t + 1]):
            if harvest.left[item] > 0:
                harvest.box[items] = item
                harvest.taken[items] = harvest.left[item]
                items += 1
        t = harvest.follower[t]
    count_values(tables, harvest, items)
    return items


@inner
def count_values(tables: HarvestTables, harvest: HarvestState, items: int) -> None:
    """Count the histogram of each view over the rows taken of the box's items."""
    for v in range(len(harvest.lengths)):
        codes = harvest.codes[v]
        length = 0
        for i in range(items):
            code = tables.values[v, harvest.box[i]]
            at = find_code(codes, length, code)
            if at == length or codes[at] != code:
                for e in range(length, at, -1):
                    codes[e] = codes[e - 1]
                codes[at] = code
                length += 1
        harvest.counts[v, :length] = 0
        for i in range(items):
            at = find_code(codes, length, tables.values[v, harvest.box[i]])
            harvest.labels[v, i] = at
            harvest.counts[v, at] += harvest.taken[i]
        harvest.lengths[v] = length


@inner
def trim(
    pool_rules: PoolRules,
    targets: GrowthTargets,
    harvest: HarvestState,
    items: int,
    size: int,
) -> bool:
    """Leave rows of the commonest values behind until the rules are met.

    Rows of small items go first: they are likely to be those that stick out.
    """
    while size >= pool_rules.minimum:
        view, label, over, broken = most_common(targets, harvest, size)
        if not broken and pool_rules.judge(
            size, 0, harvest.codes, harvest.counts, harvest.lengths, pool_rules.table
        ):
            return True
        if view < 0:
            return False
        # A sixteenth of the excess at a time: few rounds, and little overshoot.
        wanted = max(int(over * size / 16), 1)
        while wanted > 0:
            found = -1
            for i in range(items):
                if harvest.labels[view, i] == label and harvest.taken[i] > 0:
                    if found < 0 or harvest.taken[i] < harvest.taken[found]:
                        found = i
            rows = min(wanted, harvest.taken[found])
            harvest.taken[found] -= rows
            for v in range(len(harvest.lengths)):
                harvest.counts[v, harvest.labels[v, found]] -= rows
            size -= rows
            wanted -= rows
    return False


@inner
def most_common(
    targets: GrowthTargets, harvest: HarvestState, size: int
) -> tuple[int, int, float, bool]:
    """Find the value that exceeds its reference most: view, label and by how much.

    The view is −1 if leaving rows behind cannot help: where values are equally far
    apart, a group is no nearer than the share of the values that it lacks. The last
    entry says that the excess alone already breaks a rule.
    """
    view, label, worst = -1, -1, TIE
    broken = False
    for v in range(len(harvest.lengths)):
        if not targets.trimmed[v]:
            continue
        total, covered = 0.0, 0.0
        for at in range(harvest.lengths[v]):
            if harvest.counts[v, at] == 0:
                continue
            reference = targets.reference[v, harvest.codes[v, at]]
            covered += reference
            over = harvest.counts[v, at] / size - reference
            if over > 0.0:
                total += over
            if over > worst:
                view, label, worst = v, at, over
        broken |= total > targets.excess[v] + TIE
        if 1.0 - covered > targets.excess[v] + TIE:
            return -1, -1, worst, True
    return view, label, worst, broken


@inner
def take_box(
    tables: HarvestTables, harvest: HarvestState, items: int, release: Ints
) -> None:
    """Make a group of the rows taken of each item of a box."""
    group = harvest.numbers[GROUPS]
    harvest.numbers[GROUPS] += 1
    t = np.int64(0)
    for i in range(items):
        item, rows = harvest.box[i], harvest.taken[i]
        if rows > 0:
            add_release_entry(release, group, item, rows)
            harvest.left[item] -= rows
            t = find_tuple(tables.item_starts, item)
            harvest.rows[t] -= rows


@inner
def find_tuple(item_starts: Ints, item: int) -> int:
    """Find the tuple of an item."""
    low, high = 0, len(item_starts) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if item_starts[middle] <= item:
            low = middle
        else:
            high = middle
    return low
