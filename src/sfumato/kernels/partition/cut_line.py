"""Sort a group along one axis, and find the cost of every cut of the line.

The records of a group, sorted along an axis, fall into runs: one per value, per node
of a hierarchy level, or per record. One pass per other axis gives the cost of the
boxes of every head (runs 0 … r), tail (r …), single run and its rest. On a flat axis
counting the first and last run of each value does it, whatever the number of values.

Paper: none. Mondrian (LeFevre et al. 2006) cuts at the median without weighing cuts;
these sums let the gain of every cut be compared at the cost of one.
Cost: O(r × d) to line up r records whose codes have d digits of 8 bits; O(r × m) for
the costs of all cuts on m axes, not O(r² × m); memory in the workspace alone.
Invariant: the costs of head, tail, single run and rest equal those of boxes measured
from scratch; sorting is stable, so that records of a run keep their order; LAST is −1
everywhere between uses.
"""

from __future__ import annotations

import numpy as np

from sfumato.data.arrays import Codes, Floats, Ints
from sfumato.kernels.common.geometry import (
    ABOVE,
    FLAT,
    LEVELS,
    PAIRS,
    SHAPE,
    SIZE,
    TREE,
    AxisTables,
    long_run_loss,
    set_loss,
)
from sfumato.kernels.common.packed_records import TAG, Records
from sfumato.kernels.common.sorting import LOWER, POSITION, sort_keys
from sfumato.kernels.compilation.decorators import inner
from sfumato.kernels.partition.cut_workspace import (
    FIRST,
    FOUND,
    FROM_HIGH,
    FROM_LOW,
    HEAD,
    HIGH,
    KEYS,
    LAST,
    LOW,
    MASK,
    ONE,
    ORDER,
    PARENT,
    PRESENT,
    REST,
    RUN_HIGH,
    RUN_LOW,
    RUN_WEIGHT,
    SHIFT,
    SPARE,
    STARTS,
    TAIL,
    UNTIL_HIGH,
    UNTIL_LOW,
    WEIGHTS,
    WORD,
    CutSettings,
    CutWorkspace,
)

EACH_RECORD = -1
"""In place of a level: every record is a run of its own."""


@inner
def line_up_records(
    settings: CutSettings,
    records: Records,
    j: int,
    low: int,
    end: int,
    workspace: CutWorkspace,
) -> None:
    """Sort a group along axis j into the spare planes; ORDER says from where.

    Codes are counted from the box's lowest, so that sorting takes fewer digits.
    """
    n = end - low
    planes, spare = records
    wide = workspace.wide
    base = workspace.box[LOW, j]
    shift = settings.fields[SHIFT, j]
    mask = settings.fields[MASK, j]
    word = settings.fields[WORD, j]
    for i in range(n):
        code = (planes[word, low + i] >> shift) & mask
        wide[KEYS, i] = (code - base) << LOWER | i
    sort_keys(wide[KEYS], wide[SPARE], n, workspace.box[HIGH, j] - base)
    if settings.tables.axis[j, SHAPE] == FLAT and settings.by_frequency:
        most_frequent_first(planes, low, n, wide)
    tag = len(planes) - 1
    for i in range(n):
        at = wide[KEYS, i] & POSITION
        workspace.runs[ORDER, i] = at
        wide[WEIGHTS, i] = planes[tag, low + at] >> TAG
    for w in range(tag):
        plane, sorted_plane = planes[w, low:end], spare[w, low:end]
        for i in range(n):
            sorted_plane[i] = plane[np.uintp(workspace.runs[ORDER, i])]


@inner
def most_frequent_first(planes: Ints, low: int, n: int, wide: Ints) -> None:
    """Reorder sorted keys by the weight of their value; equal ones by code."""
    tag = len(planes) - 1
    run = -1
    before = np.int64(-1)
    heaviest = np.int64(0)
    for i in range(n):
        if wide[KEYS, i] >> LOWER != before:
            before = wide[KEYS, i] >> LOWER
            run += 1
            wide[RUN_WEIGHT, run] = 0
        wide[RUN_WEIGHT, run] += planes[tag, low + (wide[KEYS, i] & POSITION)] >> TAG
        heaviest = max(heaviest, wide[RUN_WEIGHT, run])
    run = -1
    before = np.int64(-1)
    for i in range(n):
        if wide[KEYS, i] >> LOWER != before:
            before = wide[KEYS, i] >> LOWER
            run += 1
        wide[KEYS, i] = (heaviest - wide[RUN_WEIGHT, run]) << LOWER | (
            wide[KEYS, i] & POSITION
        )
    sort_keys(wide[KEYS], wide[SPARE], n, heaviest)


@inner
def next_runs(
    settings: CutSettings,
    spare: Ints,
    j: int,
    level: int,
    low: int,
    n: int,
    before: int,
    workspace: CutWorkspace,
) -> int:
    """Find the runs of a line at a level from those of the level below, if there are any.

    There were `before` runs there, 0 at first. Returns how many there are now.
    """
    if before == 0:
        return find_runs(settings, spare, j, level, low, n, workspace.wide)
    return merge_runs(
        settings, spare, j, level, low, before, workspace.wide, workspace.runs
    )


@inner
def merge_runs(
    settings: CutSettings,
    spare: Ints,
    j: int,
    level: int,
    low: int,
    before: int,
    wide: Ints,
    runs: Codes,
) -> int:
    """Join neighboring runs with the same node; leave the new run of each in PARENT."""
    plane = spare[settings.fields[WORD, j]]
    shift = settings.fields[SHIFT, j]
    mask = settings.fields[MASK, j]
    at = settings.tables.axis[j, LEVELS] + level * settings.tables.axis[j, SIZE]
    tree = settings.tables.axis[j, SHAPE] == TREE
    end = wide[STARTS, before]
    count = 0
    last = np.int64(-1)
    for run in range(before):
        here = (plane[low + wide[STARTS, run]] >> shift) & mask
        if tree:
            here = np.int64(settings.tables.levels[at + here])
        if here != last:
            wide[STARTS, count] = wide[STARTS, run]
            wide[RUN_WEIGHT, count] = wide[RUN_WEIGHT, run]
            count += 1
            last = here
        else:
            wide[RUN_WEIGHT, count - 1] += wide[RUN_WEIGHT, run]
        runs[PARENT, run] = count - 1
    wide[STARTS, count] = end
    return count


@inner
def find_runs(
    settings: CutSettings, spare: Ints, j: int, level: int, low: int, n: int, wide: Ints
) -> int:
    """Find where the runs of a line start, and their weights; return how many."""
    if level == EACH_RECORD:
        return one_run_each(n, wide)
    word = settings.fields[WORD, j]
    shift = settings.fields[SHIFT, j]
    mask = settings.fields[MASK, j]
    at = settings.tables.axis[j, LEVELS] + level * settings.tables.axis[j, SIZE]
    tree = settings.tables.axis[j, SHAPE] == TREE
    runs = 0
    before = np.int64(-1)
    for i in range(n):
        here = (spare[word, low + i] >> shift) & mask
        if tree:
            here = np.int64(settings.tables.levels[at + here])
        if here != before:
            wide[STARTS, runs] = i
            wide[RUN_WEIGHT, runs] = 0
            runs += 1
            before = here
        wide[RUN_WEIGHT, runs - 1] += wide[WEIGHTS, i]
    wide[STARTS, runs] = n
    return runs


@inner
def one_run_each(n: int, wide: Ints) -> int:
    """Make every record of a line its own run."""
    for i in range(n):
        wide[STARTS, i] = i
        wide[RUN_WEIGHT, i] = wide[WEIGHTS, i]
    wide[STARTS, n] = n
    return n


@inner
def cost_runs(
    settings: CutSettings,
    spare: Ints,
    low: int,
    before: int,
    runs: int,
    singles: bool,
    workspace: CutWorkspace,
) -> None:
    """Sum, over the axes, the costs of heads, tails and, if asked, single runs.

    Extremes are found from the records only at the first level, where `before` is 0:
    there are far fewer runs than records.
    """
    for part in range(4):
        for run in range(runs):
            workspace.costs[part, run] = 0.0
    for e in range(settings.axes):
        # A single value costs nothing on either side.
        if workspace.box[PRESENT, e] < 2:
            continue
        plane = spare[settings.fields[WORD, e], low:]
        shift = settings.fields[SHIFT, e]
        mask = settings.fields[MASK, e]
        if settings.tables.axis[e, SHAPE] == FLAT:
            values = count_sets(
                plane, shift, mask, runs, workspace.wide, workspace.runs, workspace.flat
            )
            cost_sets(
                settings.tables,
                e,
                values,
                runs,
                singles,
                workspace.runs,
                workspace.costs,
            )
        else:
            if before == 0:
                find_extremes(
                    plane, shift, mask, runs, workspace.wide, workspace.edges, 2 * e
                )
            else:
                merge_extremes(workspace.runs, before, workspace.edges, 2 * e)
            cost_lines(
                settings.tables,
                e,
                runs,
                singles,
                workspace.edges,
                workspace.runs,
                workspace.costs,
            )


@inner
def cost_lines(
    tables: AxisTables,
    e: int,
    count: int,
    singles: bool,
    edges: Codes,
    runs: Codes,
    costs: Floats,
) -> None:
    """Add the costs on a tree or free axis, from lowest and highest codes."""
    own = 2 * e
    spread_extremes(count, edges, own, runs)
    add_losses(tables, e, count, UNTIL_LOW, 1, HEAD, runs, costs)
    add_losses(tables, e, count, FROM_LOW, 0, TAIL, runs, costs)
    if singles:
        add_losses(tables, e, count, own, 0, ONE, edges, costs)
        for run in range(count):
            low = min(runs[UNTIL_LOW, run], runs[FROM_LOW, run + 1])
            high = max(runs[UNTIL_HIGH, run], runs[FROM_HIGH, run + 1])
            runs[RUN_LOW, run] = low
            runs[RUN_HIGH, run] = high
        add_losses(tables, e, count, RUN_LOW, 0, REST, runs, costs)


@inner
def spread_extremes(count: int, edges: Codes, own: int, runs: Codes) -> None:
    """Find the extremes of the runs before each place and of those from it on."""
    low, high = ABOVE, np.int32(-1)
    runs[UNTIL_LOW, 0] = low
    runs[UNTIL_HIGH, 0] = high
    for run in range(count):
        low = min(low, edges[own, run])
        high = max(high, edges[own + 1, run])
        runs[UNTIL_LOW, run + 1] = low
        runs[UNTIL_HIGH, run + 1] = high
    low, high = ABOVE, np.int32(-1)
    runs[FROM_LOW, count] = low
    runs[FROM_HIGH, count] = high
    for run in range(count - 1, -1, -1):
        low = min(low, edges[own, run])
        high = max(high, edges[own + 1, run])
        runs[FROM_LOW, run] = low
        runs[FROM_HIGH, run] = high


@inner
def add_losses(
    tables: AxisTables,
    e: int,
    count: int,
    row: int,
    shift: int,
    part: int,
    runs: Codes,
    costs: Floats,
) -> None:
    """Add what cells over some extremes lose to the costs of a part.

    Their lowest codes are in `row`, the highest in the next, `shift` places on.
    """
    # Short loops without branches over a table are several times faster than looking
    # a loss up only where a box grew, which no processor can foresee.
    start, size = tables.axis[e, PAIRS], tables.axis[e, SIZE]
    if start >= 0:
        for run in range(count):
            at = start + runs[row, run + shift] * size + runs[row + 1, run + shift]
            costs[part, run] += tables.real[np.uintp(at)]
        return
    low, high, loss = np.int64(-1), np.int64(-1), 0.0
    for run in range(count):
        lowest = np.int64(runs[row, run + shift])
        highest = np.int64(runs[row + 1, run + shift])
        if lowest != low or highest != high:
            low, high = lowest, highest
            loss = long_run_loss(tables, e, low, high)
        costs[part, run] += loss


@inner
def find_extremes(
    plane: Ints,
    shift: int,
    mask: int,
    count: int,
    wide: Ints,
    edges: Codes,
    own: int,
) -> None:
    """Find the lowest and highest code of each run on one axis."""
    # Codes are compared where they are in their words: shifting each takes longer.
    field = mask << shift
    for run in range(count):
        lowest = np.int64(field)
        highest = np.int64(0)
        for i in range(np.uint64(wide[STARTS, run]), np.uint64(wide[STARTS, run + 1])):
            code = plane[i] & field
            lowest = min(lowest, code)
            highest = max(highest, code)
        edges[own, run] = lowest >> shift
        edges[own + 1, run] = highest >> shift


@inner
def merge_extremes(runs: Codes, before: int, edges: Codes, own: int) -> None:
    """Make the extremes of the runs of a level from those of the level below."""
    last = np.int64(-1)
    for run in range(before):
        parent = np.int64(runs[PARENT, run])
        low, high = edges[own, run], edges[own + 1, run]
        if parent == last:
            low = min(low, edges[own, parent])
            high = max(high, edges[own + 1, parent])
        edges[own, parent] = low
        edges[own + 1, parent] = high
        last = parent


@inner
def cost_sets(
    tables: AxisTables,
    e: int,
    values: int,
    count: int,
    singles: bool,
    runs: Codes,
    costs: Floats,
) -> None:
    """Add the costs on a flat axis, from the number of values each part shows."""
    seen = np.int64(0)
    for run in range(count):
        seen += runs[RUN_LOW, run]
        costs[HEAD, run] += set_loss(tables, e, seen)
        if singles:
            costs[ONE, run] += set_loss(tables, e, np.int64(runs[RUN_HIGH, run]))
            costs[REST, run] += set_loss(tables, e, values - runs[UNTIL_HIGH, run])
    seen = np.int64(0)
    for run in range(count - 1, -1, -1):
        seen += runs[UNTIL_LOW, run]
        costs[TAIL, run] += set_loss(tables, e, seen)


@inner
def count_sets(
    plane: Ints,
    shift: int,
    mask: int,
    count: int,
    wide: Ints,
    runs: Codes,
    flat: Codes,
) -> int:
    """Count the values new in each run, in it, last in it, and only in it.

    The four are left in RUN_LOW, RUN_HIGH, UNTIL_LOW and UNTIL_HIGH. Summed from the
    left, new values are those of a head; summed from the right, last ones those of a
    tail; all but those only in a run are the rest around it. Returns how many there are.
    """
    values = np.int64(0)
    for run in range(count):
        known = values
        here = 0
        for i in range(np.uint64(wide[STARTS, run]), np.uint64(wide[STARTS, run + 1])):
            code = np.uint64((plane[i] >> shift) & mask)
            if flat[LAST, code] != run:
                here += 1
                if flat[LAST, code] < 0:
                    flat[FIRST, code] = run
                    flat[FOUND, values] = np.int32(code)
                    values += 1
                flat[LAST, code] = run
        runs[RUN_LOW, run] = values - known
        runs[RUN_HIGH, run] = here
        runs[UNTIL_LOW, run] = 0
        runs[UNTIL_HIGH, run] = 0
    for i in range(values):
        code = np.int64(flat[FOUND, i])
        run = np.int64(flat[LAST, code])
        runs[UNTIL_LOW, run] += 1
        if flat[FIRST, code] == run:
            runs[UNTIL_HIGH, run] += 1
        flat[LAST, code] = -1
    return values
