"""The papers' cut: halve the group on its widest axis, at the median.

Values are lined up (numbers by size, nodes in tree order, flat values by frequency or
likeness), and the group is cut beside the value that holds its middle row. Departures
from LeFevre 2006: the median is taken over whole values, so that ties do not lose a
strict cut; on a tree axis the children of the group's node are cut into two runs; and
where missing values and numbers mix, parting them is tried first.
"""

from __future__ import annotations

import numba
import numpy as np

from sfumato.kernels.boxes import FLAT, FREE, TREE, AxisTables
from sfumato.kernels.judging import both_ok, label_views, left_by_side, samples_end
from sfumato.kernels.records import STACK, TAG, Records, push_parts, split
from sfumato.kernels.sorting import LOWER, POSITION, sort_keys
from sfumato.kernels.space import (
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
    Codes,
    Desk,
    Flags,
    Ground,
    Ints,
    Judge,
    axis_cost,
    measure_box,
    weight_of,
)

APART, HALF, NEARER, OTHER = 0, 1, 2, 3
"""The cuts tried on an axis: missing values apart, rows halved, beside the median."""


@numba.njit(cache=True, nogil=True)
def cut_widest(
    ground: Ground,
    records: Records,
    low: int,
    high: int,
    once: bool,
    borders: Flags,
    desk: Desk,
    judge: Judge | None,
) -> int:
    """Cut a range into groups and mark where each starts; or cut it `once`.

    Returns the border of a single cut, or −1.
    """
    stack = np.empty((2, STACK), dtype=np.int64)
    stack[0, 0] = low
    stack[1, 0] = high
    waiting = 1
    while waiting:
        waiting -= 1
        low = stack[0, waiting]
        high = stack[1, waiting]
        if not find_widest(ground, records, low, high, desk, judge):
            borders[low] = 1
            continue
        middle = split(records, low, high, desk.flags[SIDE])
        if once:
            return middle
        waiting = push_parts(stack, waiting, low, middle, high)
    return -1


@numba.njit(cache=True, nogil=True)
def find_widest(
    ground: Ground,
    records: Records,
    low: int,
    high: int,
    desk: Desk,
    judge: Judge | None,
) -> bool:
    """Set the sides of the group's cut; whether there is one."""
    end = high
    if judge is not None:
        end = samples_end(records.tags, judge.samples, low, high)
    n = weight_of(records.tags, low, end)
    if n < 2 * ground.least:
        return False
    measure_box(ground, records.words, low, end, desk.box, desk.flat)
    if judge is not None:
        label_views(ground.fields, ground.axes, records, low, end, desk, judge)
    for _ in range(ground.axes):
        j = widest_axis(ground.tables, desk.box)
        if j < 0:
            return False
        if cut_axis(ground, records, j, low, end, high, n, desk, judge):
            return True
        desk.box[PRESENT, j] = 1
    return False


@numba.njit(cache=True, nogil=True)
def widest_axis(tables: AxisTables, box: Ints) -> int:
    """The axis with the dearest cell among those with several values."""
    widest = -1
    cost = -1.0
    for j in range(box.shape[1]):
        if box[PRESENT, j] > 1:
            here = axis_cost(tables, j, box)
            if here > cost:
                widest = j
                cost = here
    return widest


@numba.njit(cache=True, nogil=True)
def cut_axis(
    ground: Ground,
    records: Records,
    j: int,
    low: int,
    end: int,
    high: int,
    n: int,
    desk: Desk,
    judge: Judge | None,
) -> bool:
    """Try the cuts of one axis in turn; the first that is allowed stands."""
    field = ground.fields[:, j]
    plane = records.words[field[WORD]]
    base = desk.box[LOW, j]
    span = desk.box[HIGH, j] - base
    counted = span < 4 * (end - low) + 256
    tags = records.tags
    if counted:
        runs = count_values(plane, field, tags, low, end, base, span, desk)
    else:
        runs = sort_values(plane, field, tags, low, end, base, span, desk)
    runs = line_up(ground, j, runs, base, counted, desk)
    weights = desk.wide[RUN_WEIGHT]
    mixed = ground.tables.shape[j] == FREE and np.isnan(
        ground.tables.positions[ground.tables.position_start[j] + desk.box[HIGH, j]]
    )
    median, before = find_median(n, weights)
    for attempt in range(4):
        last, left = median - 1, before
        if attempt == APART:
            last, left = runs - 2, n - weights[runs - 1] if mixed else 0
        elif attempt == HALF:
            left = n // 2 if ground.relaxed else 0
        elif before_is_nearer(before, weights[median], n) != (attempt == NEARER):
            last, left = median, before + weights[median]
        if left < ground.least or n - left < ground.least:
            continue
        quota = left - before if attempt == HALF else 0
        set_sides(plane, field, low, end, base, counted, last, quota, desk)
        if judge is None:
            return True
        left_by_side(judge, tags, low, end, desk.flags[SIDE])
        if both_ok(ground, records, low, end, high, left, n, desk.flags[SIDE], judge):
            return True
    return False


@numba.njit(cache=True, nogil=True)
def before_is_nearer(before: int, median: int, n: int) -> bool:
    """Whether cutting before the median's run is more even than after it."""
    return abs(2 * before - n) < abs(2 * (before + median) - n)


@numba.njit(cache=True, nogil=True)
def find_median(n: int, weights: Ints) -> tuple[int, int]:
    """The run that holds the middle row, and the rows before that run."""
    before = np.int64(0)
    run = 0
    while 2 * (before + weights[run]) < n:
        before += weights[run]
        run += 1
    return run, before


@numba.njit(cache=True, nogil=True)
def count_values(
    plane: Ints,
    field: Ints,
    tags: Ints,
    low: int,
    end: int,
    base: int,
    span: int,
    desk: Desk,
) -> int:
    """Weights of the values that occur, by counting; leaves runs by code."""
    shift = field[SHIFT]
    mask = field[MASK]
    position = desk.position
    position[: span + 1] = 0
    for i in range(low, end):
        position[((plane[i] >> shift) & mask) - base] += tags[i] >> TAG
    weights = desk.wide[RUN_WEIGHT]
    starts = desk.wide[STARTS]
    runs = 0
    for code in range(span + 1):
        if position[code] > 0:
            weights[runs] = position[code]
            starts[runs] = code + base
            runs += 1
    return runs


@numba.njit(cache=True, nogil=True)
def sort_values(
    plane: Ints,
    field: Ints,
    tags: Ints,
    low: int,
    end: int,
    base: int,
    span: int,
    desk: Desk,
) -> int:
    """Weights of the values that occur, by sorting; keeps each record's run."""
    keys = desk.wide[KEYS]
    weights = desk.wide[RUN_WEIGHT]
    starts = desk.wide[STARTS]
    for i in range(end - low):
        code = (plane[low + i] >> field[SHIFT]) & field[MASK]
        keys[i] = (code - base) << LOWER | i
    sort_keys(keys, desk.wide[SPARE], end - low, span)
    runs = 0
    for i in range(end - low):
        code = (keys[i] >> LOWER) + base
        if runs == 0 or starts[runs - 1] != code:
            starts[runs] = code
            weights[runs] = 0
            runs += 1
        at = keys[i] & POSITION
        weights[runs - 1] += tags[low + at] >> TAG
        desk.runs[ORDER, at] = runs - 1
    return runs


@numba.njit(cache=True, nogil=True)
def line_up(
    ground: Ground, j: int, values: int, base: int, counted: bool, desk: Desk
) -> int:
    """Rank the values; those that belong together become one run. How many are left."""
    rank = desk.wide[RANK]
    starts = desk.wide[STARTS]
    runs = values
    if ground.tables.shape[j] == FLAT and ground.by_frequency:
        rank_by_weight(values, desk.wide)
    elif ground.tables.shape[j] == TREE:
        levels = level_below(ground.tables, j, desk.box[LOW, j], desk.box[HIGH, j])
        runs = rank_by_child(levels, values, desk.wide)
    else:
        for run in range(values):
            rank[run] = run
    if counted:
        for run in range(values):
            desk.position[starts[run] - base] = rank[run]
    return runs


@numba.njit(cache=True, nogil=True)
def rank_by_weight(runs: int, wide: Ints) -> None:
    """Rank runs by weight, the heaviest first, equal ones by code."""
    keys = wide[KEYS]
    weights = wide[RUN_WEIGHT]
    heaviest = np.int64(0)
    for run in range(runs):
        heaviest = max(heaviest, weights[run])
    for run in range(runs):
        keys[run] = (heaviest - weights[run]) << LOWER | run
    sort_keys(keys, wide[SPARE], runs, heaviest)
    for place in range(runs):
        wide[RANK, keys[place] & POSITION] = place
        weights[place] = heaviest - (keys[place] >> LOWER)


@numba.njit(cache=True, nogil=True)
def level_below(tables: AxisTables, j: int, low: int, high: int) -> Codes:
    """The nodes of the highest level of tree axis j at which two codes differ."""
    size = tables.size[j]
    at = tables.level_start[j] + (tables.height[j] - 1) * size
    while at > tables.level_start[j] and (
        tables.levels[at + low] == tables.levels[at + high]
    ):
        at -= size
    return tables.levels[at : at + size]


@numba.njit(cache=True, nogil=True)
def rank_by_child(nodes: Codes, values: int, wide: Ints) -> int:
    """Join values under the same node; how many nodes there are."""
    weights = wide[RUN_WEIGHT]
    starts = wide[STARTS]
    children = 0
    for run in range(values):
        if run > 0 and nodes[starts[run]] == nodes[starts[run - 1]]:
            weights[children - 1] += weights[run]
        else:
            weights[children] = weights[run]
            children += 1
        wide[RANK, run] = children - 1
    return children


@numba.njit(cache=True, nogil=True)
def set_sides(
    plane: Ints,
    field: Ints,
    low: int,
    end: int,
    base: int,
    counted: bool,
    last: int,
    quota: int,
    desk: Desk,
) -> None:
    """Side 1 for runs up to `last`, and for `quota` records of the run after it."""
    shift = field[SHIFT]
    mask = field[MASK]
    side = desk.flags[SIDE]
    rank = desk.wide[RANK]
    order = desk.runs[ORDER]
    if counted:
        for i in range(end - low):
            run = desk.position[((plane[low + i] >> shift) & mask) - base]
            side[i] = run <= last
            if quota > 0 and run == last + 1:
                side[i] = 1
                quota -= 1
    else:
        for i in range(end - low):
            run = rank[order[i]]
            side[i] = run <= last
            if quota > 0 and run == last + 1:
                side[i] = 1
                quota -= 1
