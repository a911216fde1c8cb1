"""What a lattice node does to a table: its groups, and which of them may stay.

`judge` finds the groups of a node, counts the rows of those that break a rule, and
says how many rows *every* node below must lose as well. Three kinds of rule:

- *inherited*: a group that fails has only parts that fail (size, distinct values), so
  that all its rows are lost below;
- *convex*: groups that meet the rule still do when merged. If parts of a failing group
  are kept below, their union meets the rule; so the group loses at least the fewest
  rows whose removal makes it meet the rule (`sfumato.kernels.full_domain.fewest_removals`);
- *other*: nothing is known about the nodes below.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Codes, Floats, Hashes, Ints
from sfumato.kernels.common.group_rules import RuleTable, group_ok
from sfumato.kernels.common.tuple_chunks import CHUNKS, KEY_LIMIT, Chunks, hash_slot
from sfumato.kernels.compilation.decorators import both, inlined, inner
from sfumato.kernels.full_domain.fewest_removals import fewest_removals

DENSE = 24
"""A table of cells is used up to this many cells per tuple; beyond it, a hash."""

SUPPRESSED, LOST, GROUPS, SQUARES, FLOOR, WASTE, LARGE, SMALL_ROWS = range(8)
"""What `Work.counts` holds after `judge`: see there."""
PENALTY, LOST_PENALTY = range(2)
"""What `Work.sums` holds after `judge`."""


class Runs(NamedTuple):
    """How often each value of each view occurs in each tuple."""

    starts: Ints
    """(views, tuples + 1): where a tuple's values begin in `codes`."""
    codes: Codes
    counts: Codes
    sizes: Ints
    """How many values each view has."""


class NodeHistograms(NamedTuple):
    """Room for the histogram of each view of one group."""

    tally: Ints
    """(views, most values): counts under construction, all zero in between."""
    codes: Codes
    values: Ints
    lengths: Ints


class NodeWorkspace(NamedTuple):
    """Room to judge one node at a time, and the findings."""

    cell: Ints
    label: Codes
    slots: Ints
    owner: Codes
    counts: Ints
    sums: Floats


class Room(NamedTuple):
    """The sensitive values of the tuples, and room to count them by group."""

    runs: Runs
    sizes: Codes
    population: Ints
    starts: Codes
    members: Codes
    verdict: npt.NDArray[np.uint8]
    """Per group, after `judge`: 1 if it is kept."""
    tables: NodeHistograms


class Judging(NamedTuple):
    """Rules beyond a least size, sorted by what a failure means below, and room."""

    room: Room
    inherited: RuleTable
    convex: RuleTable
    other: RuleTable


def workspace(tuples: int) -> NodeWorkspace:
    """Room for a table with so many distinct tuples."""
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


def judging_for(
    tuples: int, runs: Runs, inherited: RuleTable, convex: RuleTable, other: RuleTable
) -> Judging:
    """Rules and room for a table with so many distinct tuples."""
    views, most = len(runs.sizes), int(runs.sizes.max(initial=1))
    room = Room(
        runs=runs,
        sizes=np.zeros(tuples, dtype=np.int32),
        population=np.zeros(tuples, dtype=np.int64),
        starts=np.zeros(tuples + 1, dtype=np.int32),
        members=np.zeros(tuples, dtype=np.int32),
        verdict=np.zeros(tuples, dtype=np.uint8),
        tables=NodeHistograms(
            tally=np.zeros((views, most), dtype=np.int64),
            codes=np.zeros((views, most), dtype=np.int32),
            values=np.zeros((views, most), dtype=np.int64),
            lengths=np.zeros(views, dtype=np.int64),
        ),
    )
    return Judging(room=room, inherited=inherited, convex=convex, other=other)


@both
def judge(
    chunks: Chunks,
    weights: Floats,
    levels: Ints,
    minimum: int,
    limit: int,
    work: NodeWorkspace,
    judging: Judging | None,
) -> None:
    """Judge the groups at `levels`; without `judging` by their size alone.

    Counts: rows suppressed, rows lost here and in every node below (at least),
    groups kept, their squared sizes, the floor of the discernibility of every node
    above, what lost rows add to it, and for the average size the groups of at least
    the minimum and the rows in smaller ones. Sums: what suppression adds to the
    loss, here and in every node below. If more than `limit` rows are lost, counts
    other than those two are not filled.
    """
    cells = place(chunks, levels, work)
    if judging is None:
        _judge_sizes(chunks, minimum, weights, levels, cells, limit, work)
    else:
        _judge_groups(chunks, weights, levels, minimum, cells, limit, work, judging)


@inner
def place(chunks: Chunks, levels: Ints, work: NodeWorkspace) -> int:
    """Put every tuple into the cell of its group; returns how many cells there are."""
    if len(chunks.width) == CHUNKS:
        cells = _place_at_once(chunks, levels, work.cell)
        if cells > 0:
            if cells > len(work.label):
                cells = _compress(work.cell, work.slots, work.owner)
            return cells
    cells = 1
    for c in range(len(chunks.width)):
        table, groups = generalized(chunks, c, levels)
        if cells > KEY_LIMIT // groups:
            cells = _compress(work.cell, work.slots, work.owner)
        _look_up(chunks.ids[c], table, groups, c == 0, work.cell)
        cells *= groups
    if cells > len(work.label):
        cells = _compress(work.cell, work.slots, work.owner)
    return cells


@inner
def _place_at_once(chunks: Chunks, levels: Ints, cell: Ints) -> int:
    """The common case of three chunks in one pass; 0 if the numbers grow too large."""
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
    """The group of each id of chunk c at `levels`, and how many groups there are."""
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
    """Renumber cells from 0 in the order of the tuples; returns how many there are."""
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
def _judge_sizes(
    chunks: Chunks,
    minimum: int,
    weights: Floats,
    levels: Ints,
    cells: int,
    limit: int,
    work: NodeWorkspace,
) -> None:
    sizes = work.label
    sizes[:cells] = 0
    for i in range(len(work.cell)):
        sizes[np.uintp(work.cell[i])] += chunks.counts[i]
    _count_sizes(sizes, cells, minimum, work.counts, _total(chunks.counts))
    penalty = 0.0
    if 0 < work.counts[SUPPRESSED] <= limit and len(weights) > 0:
        penalty = _penalty_of_small(chunks, minimum, weights, levels, work)
    work.sums[PENALTY] = penalty
    work.sums[LOST_PENALTY] = penalty


@inner
def _count_sizes(
    sizes: Codes, cells: int, minimum: int, counts: Ints, rows: int
) -> None:
    counts[:] = 0
    small = 0
    groups = 0
    squares = 0
    for i in range(cells):
        size = int(sizes[i])
        if size >= minimum:
            groups += 1
            squares += size * size
        else:
            small += size
    counts[SUPPRESSED] = small
    counts[LOST] = small
    counts[GROUPS] = groups
    counts[SQUARES] = squares
    counts[FLOOR] = squares + small * minimum
    counts[WASTE] = small * max(rows - minimum, 0)
    counts[LARGE] = groups
    counts[SMALL_ROWS] = small


@inner
def _penalty_of_small(
    chunks: Chunks, minimum: int, weights: Floats, levels: Ints, work: NodeWorkspace
) -> float:
    """Sum of the weights of rows in groups below the minimum, chunk by chunk."""
    total = 0.0
    for c in range(len(chunks.width)):
        number = combination(chunks, c, levels)
        at = chunks.start[c] + number * chunks.width[c]
        weight = weights[at : at + chunks.width[c]]
        ids = chunks.ids[c]
        for i in range(len(work.cell)):
            if work.label[np.uintp(work.cell[i])] < minimum:
                total += chunks.counts[i] * weight[ids[i]]
    return total


@inner
def _judge_groups(
    chunks: Chunks,
    weights: Floats,
    levels: Ints,
    minimum: int,
    cells: int,
    limit: int,
    work: NodeWorkspace,
    judging: Judging,
) -> None:
    room = judging.room
    groups = _relabel(cells, work.cell, work.label)
    small = _gather(chunks, work.cell, groups, minimum, room)
    counts, sums, ids = work.counts, work.sums, chunks.ids
    counts[:] = 0
    sums[:] = 0.0
    if small > limit:
        counts[SUPPRESSED] = small
        counts[LOST] = small
        return
    rows = _total(chunks.counts)
    runs, tables = room.runs, room.tables
    sizes, verdict, population = room.sizes, room.verdict, room.population
    members, starts = room.members, room.starts
    inherited, convex, other = judging.inherited, judging.convex, judging.other
    parts = offsets(chunks, levels)
    for g in range(groups):
        size = int(sizes[g])
        lost = size
        if size >= minimum:
            collect(runs, members[starts[g] : starts[g + 1]], tables)
            lost = _lost_rows(size, population[g], tables, inherited, convex, other)
        verdict[g] = lost < 0
        _add_group(size, lost, minimum, rows, counts)
        if lost >= 0 and len(weights) > 0:
            first = members[starts[g]]
            weight = 0.0
            for c in range(len(parts)):
                weight += weights[parts[c] + ids[c, first]]
            sums[PENALTY] += size * weight
            sums[LOST_PENALTY] += lost * weight


@inner
def offsets(chunks: Chunks, levels: Ints) -> Ints:
    """Where the tables of each chunk start at `levels`."""
    found = np.empty(len(chunks.width), dtype=np.int64)
    for c in range(len(found)):
        number = combination(chunks, c, levels)
        found[c] = chunks.start[c] + number * chunks.width[c]
    return found


@inner
def _total(counts: Codes) -> int:
    total = 0
    for i in range(len(counts)):
        total += counts[i]
    return total


@inner
def _relabel(cells: int, cell: Ints, label: Codes) -> int:
    """Turn cells into groups 0 … in the order of their first tuples."""
    label[:cells] = -1
    groups = 0
    for i in range(len(cell)):
        at = np.uintp(cell[i])
        if label[at] < 0:
            label[at] = groups
            groups += 1
        cell[i] = label[at]
    return groups


@inner
def _gather(chunks: Chunks, cell: Ints, groups: int, minimum: int, room: Room) -> int:
    """Sort tuples by group, sum sizes; returns the rows in groups below the minimum."""
    sizes, population = room.sizes, room.population
    starts, members = room.starts, room.members
    counts, people = chunks.counts, chunks.population
    sizes[:groups] = 0
    population[:groups] = 0
    starts[: groups + 1] = 0
    for i in range(len(cell)):
        g = np.uintp(cell[i])
        sizes[g] += counts[i]
        population[g] += people[i]
        starts[g + np.uintp(1)] += 1
    small = 0
    for g in range(groups):
        starts[g + 1] += starts[g]
        if sizes[g] < minimum:
            small += sizes[g]
    for i in range(len(cell) - 1, -1, -1):
        g = np.uintp(cell[i]) + np.uintp(1)
        starts[g] -= 1
        members[np.uintp(starts[g])] = i
    _shift_starts(starts, groups, len(cell))
    return small


@inner
def _shift_starts(starts: Codes, groups: int, tuples: int) -> None:
    """After filling from the back, entry g + 1 holds the start of group g."""
    for g in range(groups):
        starts[g] = starts[g + 1]
    starts[groups] = tuples


@inlined
def _lost_rows(
    size: int,
    population: int,
    tables: NodeHistograms,
    inherited: RuleTable,
    convex: RuleTable,
    other: RuleTable,
) -> int:
    """Rows of a group lost in this node and all below, at least; −1 if it is kept.

    Inlined: a call would copy three tables of rules for every group.
    """
    codes, values, lengths = tables.codes, tables.values, tables.lengths
    lost = -1
    if len(inherited.kinds) > 0 and not group_ok(
        size, population, codes, values, lengths, inherited
    ):
        lost = size
    elif len(convex.kinds) > 0 and not group_ok(
        size, population, codes, values, lengths, convex
    ):
        lost = fewest_removals(size, codes, values, lengths, convex)
    elif len(other.kinds) > 0 and not group_ok(
        size, population, codes, values, lengths, other
    ):
        lost = 0
    return lost


@inner
def collect(runs: Runs, members: Codes, tables: NodeHistograms) -> None:
    """The histogram of each view over some tuples, values ascending."""
    for v in range(len(runs.sizes)):
        starts, tally = runs.starts[v], tables.tally[v]
        codes, values = tables.codes[v], tables.values[v]
        run_codes, run_counts = runs.codes, runs.counts
        touched = 0
        for m in range(len(members)):
            i = np.uintp(members[m])
            for at in range(starts[i], starts[i + np.uintp(1)]):
                code = np.uintp(run_codes[np.uintp(at)])
                if tally[code] == 0:
                    codes[touched] = code
                    touched += 1
                tally[code] += run_counts[np.uintp(at)]
        _in_order(runs.sizes[v], touched, codes, tally)
        for e in range(touched):
            values[e] = tally[codes[e]]
            tally[codes[e]] = 0
        tables.lengths[v] = touched


@inner
def _in_order(size: int, touched: int, codes: Codes, tally: Ints) -> None:
    """Sort the touched codes: by scanning all values if they are few."""
    if size <= 8 * touched:
        at = 0
        for code in range(size):
            if tally[code] > 0:
                codes[at] = code
                at += 1
    else:
        sort_codes(codes, touched)


@inner
def sort_codes(codes: Codes, count: int) -> None:
    """Sort the first codes, by ever smaller gaps (the library's own compiles long)."""
    gap = 1
    while gap < count // 9:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, count):
            code = codes[i]
            at = i
            while at >= gap and codes[at - gap] > code:
                codes[at] = codes[at - gap]
                at -= gap
            codes[at] = code
        gap //= 3


@inner
def _add_group(size: int, lost: int, minimum: int, rows: int, counts: Ints) -> None:
    floor = max(size, minimum)
    counts[FLOOR] += size * floor
    if size >= minimum:
        counts[LARGE] += 1
    else:
        counts[SMALL_ROWS] += size
    if lost >= 0:
        counts[SUPPRESSED] += size
        counts[LOST] += lost
        counts[WASTE] += lost * max(rows - floor, 0)
    else:
        counts[GROUPS] += 1
        counts[SQUARES] += size * size


def groups_kept(work: NodeWorkspace, minimum: int, judging: Judging | None) -> Ints:
    """The cell of each tuple after `judge`, −1 where its group is not kept."""
    if judging is None:
        kept = work.label[work.cell] >= minimum
    else:
        kept = judging.room.verdict[work.cell] == 1
    return np.where(kept, work.cell, -1)


@both
def drop_groups(
    chunks: Chunks,
    table: RuleTable,
    group_of: Ints,
    levels: Ints,
    work: NodeWorkspace,
    room: Room,
) -> int:
    """Set `group_of` to −1 for tuples whose group breaks a rule; how many groups do.

    Groups that are dropped already are not judged again.
    """
    groups = _relabel(place(chunks, levels, work), work.cell, work.label)
    _gather(chunks, work.cell, groups, table.minimum, room)
    runs, tables, starts = room.runs, room.tables, room.starts
    dropped = 0
    for g in range(groups):
        members = room.members[starts[g] : starts[g + 1]]
        if group_of[members[0]] < 0:
            continue
        collect(runs, members, tables)
        if not group_ok(
            int(room.sizes[g]),
            room.population[g],
            tables.codes,
            tables.values,
            tables.lengths,
            table,
        ):
            dropped += 1
            for i in members:
                group_of[i] = -1
    return dropped


@both
def penalty_of_dropped(
    chunks: Chunks, weights: Floats, group_of: Ints, levels: Ints
) -> float:
    """What the rows of dropped tuples add to the loss."""
    parts = offsets(chunks, levels)
    total = 0.0
    for c in range(len(parts)):
        ids = chunks.ids[c]
        for i in range(len(group_of)):
            if group_of[i] < 0:
                total += chunks.counts[i] * weights[parts[c] + ids[i]]
    return total
