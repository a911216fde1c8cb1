"""Cut as the paper does: halve the group on its widest axis, at the median.

Values are lined up (numbers by size, nodes in tree order, flat values by frequency or
likeness), and the group is cut beside the value that holds its middle row.

Paper: Mondrian (LeFevre, DeWitt and Ramakrishnan 2006), section 4: choose the widest
dimension (`widest_axis`), find the median of its frequency set (`find_median`), part
the rows, and recurse. Departs: the median is taken over whole values, so that ties do
not lose a strict cut; on a tree axis the children of the group's node are cut into two
runs; and where missing values and numbers mix, parting them is tried first.
Cost: O(r × m) per cut for r records on m axes, plus O(r × d) to sort codes of d digits
where they are too many to count; about log₂(n / k) levels of cuts for n rows.
Invariant: both sides of a cut are allowed and have at least the least size; strict
cuts never part equal values; a relaxed half has n // 2 of n rows.
"""

from __future__ import annotations

import numpy as np

from sfumato.data.arrays import Bytes, Codes, Floats, Ints
from sfumato.kernels.common.borrowed_arrays import borrow
from sfumato.kernels.common.geometry import (
    FLAT,
    FREE,
    HEIGHT,
    LEVELS,
    POSITIONS,
    SHAPE,
    SIZE,
    TREE,
    AxisTables,
)
from sfumato.kernels.common.packed_records import STACK, TAG, Records, push_parts, split
from sfumato.kernels.common.sorting import LOWER, POSITION, sort_keys
from sfumato.kernels.compilation.decorators import both, inlined, inner
from sfumato.kernels.partition.cut_rules import (
    label_views,
    left_by_side,
    samples_end,
    sides_ok,
)
from sfumato.kernels.partition.cut_workspace import (
    HIGH,
    KEYS,
    LOW,
    MASK,
    ORDER,
    PRESENT,
    RANK,
    RUN_WEIGHT,
    SHIFT,
    SIDE,
    SPARE,
    STARTS,
    WORD,
    CutRules,
    CutSettings,
    CutWorkspace,
    measure_box,
    weight_of,
)

APART, HALF, NEARER, OTHER = 0, 1, 2, 3
"""The cuts tried on an axis: missing values apart, rows halved, beside the median."""


@both
def cut_widest(
    settings: CutSettings,
    records: Records,
    low: int,
    high: int,
    once: bool,
    borders: Bytes,
    workspace: CutWorkspace,
    judge: CutRules | None,
) -> int:
    """Cut a range into groups and mark where each starts; or cut it `once`.

    Returns the border of a single cut, or −1. An explicit stack takes the place of
    recursion, which Numba compiles badly.
    """
    settings = borrow(settings)
    records = borrow(records)
    workspace = borrow(workspace)
    stack = np.empty((2, STACK), dtype=np.int64)
    stack[0, 0] = low
    stack[1, 0] = high
    waiting = 1
    while waiting:
        waiting -= 1
        low = stack[0, waiting]
        high = stack[1, waiting]
        if not find_widest(settings, records.planes, low, high, workspace, judge):
            borders[low] = 1
            continue
        middle = split(records.planes, records.spare, low, high, workspace.flags)
        if once:
            return middle
        waiting = push_parts(stack, waiting, low, middle, high)
    return -1


@inlined
def find_widest(
    settings: CutSettings,
    planes: Ints,
    low: int,
    high: int,
    workspace: CutWorkspace,
    judge: CutRules | None,
) -> bool:
    """Set the sides of the group's cut; return whether there is one."""
    end = high
    if judge is not None:
        end = samples_end(planes, judge.samples, low, high)
    n = weight_of(planes, low, end)
    if n < 2 * settings.least:
        return False
    measure_box(settings, planes, low, end, workspace)
    if judge is not None:
        label_views(settings.fields, settings.axes, planes, low, end, workspace, judge)
    for _ in range(settings.axes):
        j = widest_axis(workspace.box, workspace.axis_costs)
        if j < 0:
            return False
        if cut_axis(settings, planes, j, low, end, high, n, workspace, judge):
            return True
        workspace.box[PRESENT, j] = 1
    return False


@inner
def widest_axis(box: Ints, costs: Floats) -> int:
    """Find the axis with the dearest cell among those with several values."""
    widest = -1
    cost = -1.0
    for j in range(box.shape[1]):
        if box[PRESENT, j] > 1 and costs[j] > cost:
            widest = j
            cost = costs[j]
    return widest


@inlined
def cut_axis(
    settings: CutSettings,
    planes: Ints,
    j: int,
    low: int,
    end: int,
    high: int,
    n: int,
    workspace: CutWorkspace,
    judge: CutRules | None,
) -> bool:
    """Try the cuts of one axis in turn; the first that is allowed stands."""
    plane = planes[settings.fields[WORD, j], low:end]
    tags = planes[len(planes) - 1, low:end]
    shift = settings.fields[SHIFT, j]
    mask = settings.fields[MASK, j]
    base = workspace.box[LOW, j]
    span = workspace.box[HIGH, j] - base
    # Counting costs O(span), sorting O(records): counting wins while codes are dense.
    counted = span < 4 * (end - low) + 256
    if counted:
        runs = count_values(
            plane, tags, shift, mask, base, span, workspace.position, workspace.wide
        )
    else:
        runs = sort_values(
            plane, tags, shift, mask, base, span, workspace.wide, workspace.runs
        )
    runs = line_up(settings, j, runs, base, counted, workspace)
    wide = workspace.wide
    mixed = settings.tables.axis[j, SHAPE] == FREE and np.isnan(
        settings.tables.real[
            settings.tables.axis[j, POSITIONS] + workspace.box[HIGH, j]
        ]
    )
    median, before = find_median(n, wide)
    for attempt in range(4):
        last, left = attempted_cut(
            attempt, runs, median, before, n, mixed, settings.relaxed, wide
        )
        if left < settings.least or n - left < settings.least:
            continue
        quota = left - before if attempt == HALF else 0
        if counted:
            sides_by_code(
                plane,
                shift,
                mask,
                base,
                last,
                quota,
                workspace.position,
                workspace.flags,
            )
        else:
            sides_by_run(
                end - low, last, quota, workspace.wide, workspace.runs, workspace.flags
            )
        if judge is None:
            return True
        left_by_side(judge, planes, low, end, workspace.flags)
        if sides_ok(settings, planes, low, end, high, left, n, workspace.flags, judge):
            return True
    return False


@inner
def attempted_cut(
    attempt: int,
    runs: int,
    median: int,
    before: int,
    n: int,
    mixed: bool,
    relaxed: bool,
    wide: Ints,
) -> tuple[int, int]:
    """Return the last run wholly on the left and the rows there; none if no such cut."""
    after = before + wide[RUN_WEIGHT, median]
    if attempt == APART:
        return runs - 2, n - wide[RUN_WEIGHT, runs - 1] if mixed else 0
    if attempt == HALF:
        return median - 1, n // 2 if relaxed else 0
    before_is_nearer = abs(2 * before - n) < abs(2 * after - n)
    if before_is_nearer == (attempt == NEARER):
        return median - 1, before
    return median, after


@inner
def find_median(n: int, wide: Ints) -> tuple[int, int]:
    """Find the run that holds the middle row, and the rows before that run."""
    before = np.int64(0)
    run = 0
    while 2 * (before + wide[RUN_WEIGHT, run]) < n:
        before += wide[RUN_WEIGHT, run]
        run += 1
    return run, before


@inner
def count_values(
    plane: Ints,
    tags: Ints,
    shift: int,
    mask: int,
    base: int,
    span: int,
    position: Ints,
    wide: Ints,
) -> int:
    """Weigh the values that occur, by counting; leave runs by code."""
    for code in range(span + 1):
        position[code] = 0
    for i in range(len(plane)):
        code = ((plane[i] >> shift) & mask) - base
        position[np.uint64(code)] += tags[i] >> TAG
    runs = 0
    for code in range(span + 1):
        if position[code] > 0:
            wide[RUN_WEIGHT, runs] = position[code]
            wide[STARTS, runs] = code + base
            runs += 1
    return runs


@inner
def sort_values(
    plane: Ints,
    tags: Ints,
    shift: int,
    mask: int,
    base: int,
    span: int,
    wide: Ints,
    record_runs: Codes,
) -> int:
    """Weigh the values that occur, by sorting; keep each record's run."""
    for i in range(len(plane)):
        code = (plane[i] >> shift) & mask
        wide[KEYS, i] = (code - base) << LOWER | i
    sort_keys(wide[KEYS], wide[SPARE], len(plane), span)
    runs = 0
    for i in range(len(plane)):
        code = (wide[KEYS, i] >> LOWER) + base
        if runs == 0 or wide[STARTS, runs - 1] != code:
            wide[STARTS, runs] = code
            wide[RUN_WEIGHT, runs] = 0
            runs += 1
        at = wide[KEYS, i] & POSITION
        wide[RUN_WEIGHT, runs - 1] += tags[at] >> TAG
        record_runs[ORDER, at] = runs - 1
    return runs


@inner
def line_up(
    settings: CutSettings,
    j: int,
    values: int,
    base: int,
    counted: bool,
    workspace: CutWorkspace,
) -> int:
    """Rank the values; join those that belong together; return how many runs are left."""
    wide = workspace.wide
    runs = values
    if settings.tables.axis[j, SHAPE] == FLAT and settings.by_frequency:
        rank_by_weight(values, wide)
    elif settings.tables.axis[j, SHAPE] == TREE:
        at = level_below(
            settings.tables, j, workspace.box[LOW, j], workspace.box[HIGH, j]
        )
        runs = rank_by_child(settings.tables.levels, at, values, wide)
    else:
        for run in range(values):
            wide[RANK, run] = run
    if counted:
        for run in range(values):
            workspace.position[wide[STARTS, run] - base] = wide[RANK, run]
    return runs


@inner
def rank_by_weight(runs: int, wide: Ints) -> None:
    """Rank runs by weight, the heaviest first, equal ones by code."""
    heaviest = np.int64(0)
    for run in range(runs):
        heaviest = max(heaviest, wide[RUN_WEIGHT, run])
    for run in range(runs):
        wide[KEYS, run] = (heaviest - wide[RUN_WEIGHT, run]) << LOWER | run
    sort_keys(wide[KEYS], wide[SPARE], runs, heaviest)
    for place in range(runs):
        wide[RANK, wide[KEYS, place] & POSITION] = place
        wide[RUN_WEIGHT, place] = heaviest - (wide[KEYS, place] >> LOWER)


@inner
def level_below(tables: AxisTables, j: int, low: int, high: int) -> int:
    """Where the highest level of tree axis j starts at which two codes differ."""
    first, size = tables.axis[j, LEVELS], tables.axis[j, SIZE]
    at = first + (tables.axis[j, HEIGHT] - 1) * size
    while at > first and tables.levels[at + low] == tables.levels[at + high]:
        at -= size
    return at


@inner
def rank_by_child(nodes: Codes, at: int, values: int, wide: Ints) -> int:
    """Join values under the same node of a level; return how many nodes there are."""
    children = 0
    for run in range(values):
        node = nodes[at + wide[STARTS, run]]
        if run > 0 and node == nodes[at + wide[STARTS, run - 1]]:
            wide[RUN_WEIGHT, children - 1] += wide[RUN_WEIGHT, run]
        else:
            wide[RUN_WEIGHT, children] = wide[RUN_WEIGHT, run]
            children += 1
        wide[RANK, run] = children - 1
    return children


@inner
def sides_by_code(
    plane: Ints,
    shift: int,
    mask: int,
    base: int,
    last: int,
    quota: int,
    position: Ints,
    flags: Bytes,
) -> None:
    """Set side 1 for runs up to `last`, and for `quota` records of the run after it."""
    for i in range(len(plane)):
        code = ((plane[i] >> shift) & mask) - base
        flags[SIDE, i] = position[np.uint64(code)] <= last
    if quota > 0:
        for i in range(len(plane)):
            code = ((plane[i] >> shift) & mask) - base
            if position[code] == last + 1 and quota > 0:
                flags[SIDE, i] = 1
                quota -= 1


@inner
def sides_by_run(
    n: int, last: int, quota: int, wide: Ints, runs: Codes, flags: Bytes
) -> None:
    """Do the same where each record's run is known."""
    for i in range(n):
        run = wide[RANK, runs[ORDER, i]]
        flags[SIDE, i] = run <= last
        if quota > 0 and run == last + 1:
            flags[SIDE, i] = 1
            quota -= 1
