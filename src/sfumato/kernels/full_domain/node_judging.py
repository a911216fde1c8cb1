"""Judge a lattice node: its groups, and which of them may stay.

`judge` finds the groups of a node, counts the rows of those that break a rule, and
says how many rows *every* node below must lose as well. Three kinds of rule:

- *inherited*: a group that fails has only parts that fail (size, distinct values), so
  that all its rows are lost below;
- *convex*: groups that meet the rule still do when merged. If parts of a failing group
  are kept below, their union meets the rule; so the group loses at least the fewest
  rows whose removal makes it meet the rule (`sfumato.kernels.full_domain.fewest_removals`);
- *other*: nothing is known about the nodes below.

Paper: the test of a node by its frequency set (Incognito, LeFevre, DeWitt and
Ramakrishnan 2005). Suppressing the outliers of a node is the last step of Datafly
(Sweeney 1997).
Cost: O(t × c) per node for t distinct tuples in c chunks; with rules also O(e) for e
(tuple, sensitive value) pairs, and O(v log v) to order v values of a group; memory
O(t + values), none of it per node.
Invariant: the groups are exactly the sets of tuples with the same nodes; LOST ≤
SUPPRESSED, and no node below suppresses fewer rows than LOST, or adds less to the loss
than LOST_PENALTY; tallies are all zero between calls.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Codes, Floats, Ints
from sfumato.kernels.common.group_rules import RuleTable, group_ok
from sfumato.kernels.common.tuple_chunks import Chunks
from sfumato.kernels.compilation.decorators import both, inlined, inner
from sfumato.kernels.full_domain.fewest_removals import fewest_removals
from sfumato.kernels.full_domain.node_rollup import (
    NodeWorkspace,
    combination,
    offsets,
    place,
)

SUPPRESSED, LOST, GROUPS, SQUARES, FLOOR, WASTE, LARGE, SMALL_ROWS = range(8)
"""Places of `NodeWorkspace.counts` after `judge`: see there."""
PENALTY, LOST_PENALTY = range(2)
"""Places of `NodeWorkspace.sums` after `judge`."""


class TupleHistograms(NamedTuple):
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


class GroupWorkspace(NamedTuple):
    """The sensitive values of the tuples, and room to count them by group."""

    runs: TupleHistograms
    sizes: Codes
    population: Ints
    starts: Codes
    members: Codes
    verdict: npt.NDArray[np.uint8]
    """Per group, after `judge`: 1 if it is kept."""
    tables: NodeHistograms


class NodeRules(NamedTuple):
    """Rules beyond a least size, sorted by what a failure means below, and room."""

    room: GroupWorkspace
    inherited: RuleTable
    convex: RuleTable
    other: RuleTable


def judging_for(
    tuples: int,
    runs: TupleHistograms,
    inherited: RuleTable,
    convex: RuleTable,
    other: RuleTable,
) -> NodeRules:
    """Make rules and room for a table with so many distinct tuples."""
    views, most = len(runs.sizes), int(runs.sizes.max(initial=1))
    room = GroupWorkspace(
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
    return NodeRules(room=room, inherited=inherited, convex=convex, other=other)


@both
def judge(
    chunks: Chunks,
    weights: Floats,
    levels: Ints,
    minimum: int,
    limit: int,
    work: NodeWorkspace,
    judging: NodeRules | None,
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
    # Unsigned indexes spare compiled code the test for negative ones.
    for i in range(len(work.cell)):
        sizes[np.uintp(work.cell[i])] += chunks.counts[i]
    _count_sizes(sizes, cells, minimum, work.counts, _total(chunks.counts))
    penalty = 0.0
    # Above the limit nobody asks for the loss. Sizes are inherited: what is suppressed
    # here is lost below, so that both sums are the same.
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
    """Sum the weights of rows in groups below the minimum, chunk by chunk."""
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
    judging: NodeRules,
) -> None:
    room = judging.room
    groups = _relabel(cells, work.cell, work.label)
    small = _gather(chunks, work.cell, groups, minimum, room)
    counts, sums, ids = work.counts, work.sums, chunks.ids
    counts[:] = 0
    sums[:] = 0.0
    # Small groups alone exceed the limit: histograms need not be counted.
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
            # All tuples of a group are shown alike, so that they weigh the same.
            first = members[starts[g]]
            weight = 0.0
            for c in range(len(parts)):
                weight += weights[parts[c] + ids[c, first]]
            sums[PENALTY] += size * weight
            sums[LOST_PENALTY] += lost * weight


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
def _gather(
    chunks: Chunks, cell: Ints, groups: int, minimum: int, room: GroupWorkspace
) -> int:
    """Sort tuples by group and sum sizes; return the rows in groups below the minimum.

    A counting sort: tuples stay in order within their group.
    """
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
    """Shift starts: after filling from the back, entry g + 1 holds that of group g."""
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
    """Return the fewest rows of a group lost here and below; −1 if it is kept.

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
def collect(runs: TupleHistograms, members: Codes, tables: NodeHistograms) -> None:
    """Count the histogram of each view over some tuples, values ascending."""
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
        # Clear only what was touched: the tally is as wide as the whole domain.
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
    """Sort the first `count` codes by Shell's method (NumPy's sort compiles for long)."""
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


def groups_kept(work: NodeWorkspace, minimum: int, judging: NodeRules | None) -> Ints:
    """Return the cell of each tuple after `judge`, −1 where its group is not kept."""
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
    room: GroupWorkspace,
) -> int:
    """Set `group_of` to −1 for tuples whose group breaks a rule; return how many do.

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
    """Return what the rows of dropped tuples add to the loss."""
    parts = offsets(chunks, levels)
    total = 0.0
    for c in range(len(parts)):
        ids = chunks.ids[c]
        for i in range(len(group_of)):
            if group_of[i] < 0:
                total += chunks.counts[i] * weights[parts[c] + ids[i]]
    return total
