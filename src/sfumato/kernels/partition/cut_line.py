"""Line a group up along one axis, and find what every cut of the line would cost.

The records of a group, sorted along an axis, fall into runs: one per value, per node
of a hierarchy level, or per record. One pass per other axis gives the cost of the
boxes of every head (runs 0 … r), tail (r …), single run and its rest. On a flat axis
counting the first and last run of each value does it, whatever the number of values.

Paper: none. Mondrian (LeFevre et al. 2006) cuts at the median without weighing cuts;
these sums let the gain of every cut be compared at the cost of one.
Cost: O(r × d) to line up r records whose codes have d digits of 8 bits; O(r × m) for
the costs of all cuts on m axes, not O(r² × m); memory in the desk alone.
Invariant: the costs of head, tail, single run and rest equal those of boxes measured
from scratch; sorting is stable, so that records of a run keep their order; LAST is −1
everywhere between uses.
"""

from __future__ import annotations

import numpy as np

from sfumato.data.arrays import Codes, Floats, Ints
from sfumato.kernels.common.geometry import (
    FLAT,
    LEVELS,
    SHAPE,
    SIZE,
    TREE,
    AxisTables,
    run_loss,
    set_loss,
)
from sfumato.kernels.common.packed_records import TAG, Records
from sfumato.kernels.common.sorting import LOWER, POSITION, sort_keys
from sfumato.kernels.compilation.decorators import inner
from sfumato.kernels.partition.cut_workspace import (
    FIRST,
    FOUND,
    HEAD,
    HIGH,
    KEYS,
    LAST,
    LOW,
    MASK,
    ONE,
    ORDER,
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

NOTHING = np.int64(np.iinfo(np.int32).max)


@inner
def line_up_records(
    ground: CutSettings,
    records: Records,
    j: int,
    low: int,
    end: int,
    desk: CutWorkspace,
) -> None:
    """Sort a group along axis j into the spare planes; ORDER says from where.

    Codes are counted from the box's lowest, so that sorting takes fewer digits.
    """
    n = end - low
    planes, spare = records
    wide = desk.wide
    base = desk.box[LOW, j]
    shift = ground.fields[SHIFT, j]
    mask = ground.fields[MASK, j]
    word = ground.fields[WORD, j]
    for i in range(n):
        code = (planes[word, low + i] >> shift) & mask
        wide[KEYS, i] = (code - base) << LOWER | i
    sort_keys(wide[KEYS], wide[SPARE], n, desk.box[HIGH, j] - base)
    if ground.tables.axis[j, SHAPE] == FLAT and ground.by_frequency:
        most_frequent_first(planes, low, n, wide)
    tag = len(planes) - 1
    for i in range(n):
        at = wide[KEYS, i] & POSITION
        desk.runs[ORDER, i] = at
        wide[WEIGHTS, i] = planes[tag, low + at] >> TAG
        for w in range(tag):
            spare[w, low + i] = planes[w, low + at]


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
def find_runs(
    ground: CutSettings, spare: Ints, j: int, level: int, low: int, n: int, wide: Ints
) -> int:
    """Find where the runs of a line start, and their weights; return how many."""
    if level == EACH_RECORD:
        return one_run_each(n, wide)
    word = ground.fields[WORD, j]
    shift = ground.fields[SHIFT, j]
    mask = ground.fields[MASK, j]
    at = ground.tables.axis[j, LEVELS] + level * ground.tables.axis[j, SIZE]
    tree = ground.tables.axis[j, SHAPE] == TREE
    runs = 0
    before = np.int64(-1)
    for i in range(n):
        here = (spare[word, low + i] >> shift) & mask
        if tree:
            here = np.int64(ground.tables.levels[at + here])
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
    ground: CutSettings,
    spare: Ints,
    low: int,
    runs: int,
    singles: bool,
    desk: CutWorkspace,
) -> None:
    """Sum, over the axes, the costs of heads, tails and, if asked, single runs."""
    for part in range(4):
        for run in range(runs):
            desk.costs[part, run] = 0.0
    for e in range(ground.axes):
        # A single value costs nothing on either side.
        if desk.box[PRESENT, e] < 2:
            continue
        plane = spare[ground.fields[WORD, e], low:]
        shift = ground.fields[SHIFT, e]
        mask = ground.fields[MASK, e]
        if ground.tables.axis[e, SHAPE] == FLAT:
            values = count_sets(
                plane, shift, mask, runs, desk.wide, desk.runs, desk.flat
            )
            cost_sets(ground.tables, e, values, runs, singles, desk.runs, desk.costs)
        else:
            find_extremes(plane, shift, mask, runs, desk.wide, desk.runs)
            cost_lines(ground.tables, e, runs, singles, desk.runs, desk.costs)


@inner
def cost_lines(
    tables: AxisTables, e: int, count: int, singles: bool, runs: Codes, costs: Floats
) -> None:
    """Add the costs on a tree or free axis, from lowest and highest codes."""
    lowest, highest, cost = NOTHING, np.int64(-1), 0.0
    for run in range(count):
        # The cost is looked up only where the box grows, which is seldom.
        if runs[RUN_LOW, run] < lowest or runs[RUN_HIGH, run] > highest:
            lowest = min(lowest, np.int64(runs[RUN_LOW, run]))
            highest = max(highest, np.int64(runs[RUN_HIGH, run]))
            cost = run_loss(tables, e, lowest, highest)
        costs[HEAD, run] += cost
        runs[UNTIL_LOW, run] = lowest
        runs[UNTIL_HIGH, run] = highest
    lowest, highest, cost = NOTHING, np.int64(-1), 0.0
    for run in range(count - 1, -1, -1):
        if singles:
            # The rest around a run is the tail after it joined with the head before it.
            low, high = lowest, highest
            if run > 0:
                low = min(low, np.int64(runs[UNTIL_LOW, run - 1]))
                high = max(high, np.int64(runs[UNTIL_HIGH, run - 1]))
            costs[REST, run] += run_loss(tables, e, low, high)
            low, high = np.int64(runs[RUN_LOW, run]), np.int64(runs[RUN_HIGH, run])
            costs[ONE, run] += run_loss(tables, e, low, high)
        if runs[RUN_LOW, run] < lowest or runs[RUN_HIGH, run] > highest:
            lowest = min(lowest, np.int64(runs[RUN_LOW, run]))
            highest = max(highest, np.int64(runs[RUN_HIGH, run]))
            cost = run_loss(tables, e, lowest, highest)
        costs[TAIL, run] += cost


@inner
def find_extremes(
    plane: Ints,
    shift: int,
    mask: int,
    count: int,
    wide: Ints,
    runs: Codes,
) -> None:
    """Find the lowest and highest code of each run on one axis."""
    for run in range(count):
        lowest = np.int64(mask)
        highest = np.int64(0)
        for i in range(np.uint64(wide[STARTS, run]), np.uint64(wide[STARTS, run + 1])):
            code = (plane[i] >> shift) & mask
            lowest = min(lowest, code)
            highest = max(highest, code)
        runs[RUN_LOW, run] = lowest
        runs[RUN_HIGH, run] = highest


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
