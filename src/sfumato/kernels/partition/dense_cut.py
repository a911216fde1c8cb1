"""Cut groups by gain in dense rows, where a least size is all that is asked.

A large group is scanned once for all axes, code by code, and its records are moved. A
small one is cut to the end in a copy that stays in the cache: its records are sorted on
every axis once, parts inherit the orders, and the records are moved at the end.

Paper: none; the same cuts as `gain_cut`, found with less work.
Cost: O(r × m × t) per cut of r records on m axes of which t are tried, as there, with
all lanes of a word at once; the order of parts takes O(r × m), not a sort.
Invariant: groups, and the order of the records in them, are those of `gain_cut`.
"""

from __future__ import annotations

import numpy as np

from sfumato.data.arrays import Bytes, Codes, Floats, Ints, Words
from sfumato.kernels.common.geometry import FLAT, SHAPE
from sfumato.kernels.common.packed_records import STACK, Records, push_parts
from sfumato.kernels.common.sorting import LOWER, POSITION, sort_keys
from sfumato.kernels.compilation.decorators import inner
from sfumato.kernels.partition.bounded_cuts import best_of_line, on_left
from sfumato.kernels.partition.cut_workspace import (
    KEYS,
    MASK,
    PRESENT,
    SHIFT,
    SIDE,
    SPARE,
    WORD,
    CutSettings,
    CutWorkspace,
    measure_box,
    weight_of,
)
from sfumato.kernels.partition.dense_lines import (
    clear_boxes,
    fill_buckets,
    give_buckets,
    runs_of_buckets,
    runs_of_keys,
    runs_of_order,
    unpack,
)
from sfumato.kernels.partition.dense_rows import (
    ACTIVE,
    BUCKET,
    CHOICE,
    CUT_AXIS,
    LEFT_WEIGHT,
    RECORDS,
    TRIED,
    WHOLE,
    DenseWorkspace,
    cell_cost,
    high_code,
    join,
    low_code,
    values_in,
)

MOST_TRIED = 24
"""With more axes than this, those on which the group loses most are tried first, and
the others only while no allowed cut is found."""
NONE = -2.0


@inner
def costliest_first(costs: Floats, axes: int, order: Ints) -> None:
    """Put the axes in order; if there are very many, those that cost most come first."""
    for j in range(axes):
        order[j] = j
    if axes <= MOST_TRIED:
        return
    for place in range(MOST_TRIED):
        best = place
        for i in range(place + 1, axes):
            more = costs[order[i]] - costs[order[best]]
            if more > 0.0 or (more == 0.0 and order[i] < order[best]):
                best = i
        order[place], order[best] = order[best], order[place]


@inner
def find_large(
    settings: CutSettings,
    records: Records,
    low: int,
    high: int,
    workspace: CutWorkspace,
) -> bool:
    """Set the sides of the best cut of a group of any size; return whether it has one."""
    dense, box, axes = workspace.dense, workspace.box, settings.axes
    n = weight_of(records.planes, low, high)
    if n < 2 * settings.least:
        return False
    loss = n * measure_box(settings, records.planes, low, high, workspace)
    list_active(box, dense.info)
    costliest_first(workspace.axis_costs, axes, dense.info[TRIED])
    give_buckets(box, min(axes, MOST_TRIED), dense)
    fill_buckets(settings, records.planes, low, high, box, dense)
    best = NONE
    for place in range(axes):
        if place >= MOST_TRIED and best > NONE:
            break
        j = dense.info[TRIED, place]
        if box[PRESENT, j] < 2:
            continue
        if dense.info[BUCKET, j] >= 0:
            runs = runs_of_buckets(j, box, dense)
        else:
            runs = runs_of_keys(
                settings, records.planes, j, low, high, box,
                workspace.wide[KEYS], workspace.wide[SPARE], dense,
            )  # fmt: skip
        best = best_of_line(settings, j, runs, n, loss, best, dense)
    if best == NONE:
        return False
    set_sides(settings, records.planes, low, high, workspace.flags, dense)
    return True


@inner
def list_active(box: Ints, info: Ints) -> None:
    """List the axes on which a group has several values."""
    count = np.int64(0)
    for j in range(box.shape[1]):
        if box[PRESENT, j] > 1:
            count += 1
            info[ACTIVE, count] = j
    info[ACTIVE, 0] = count


@inner
def set_sides(
    settings: CutSettings,
    planes: Ints,
    low: int,
    high: int,
    flags: Bytes,
    dense: DenseWorkspace,
) -> None:
    """Flag the records on the left of the best cut."""
    j = dense.info[CHOICE, CUT_AXIS]
    flat = settings.tables.axis[j, SHAPE] == FLAT
    plane = planes[settings.fields[WORD, j], low:high]
    shift = settings.fields[SHIFT, j]
    mask = settings.fields[MASK, j]
    for i in range(high - low):
        code = (plane[i] >> shift) & mask
        flags[SIDE, i] = on_left(flat, code, dense.info, dense.boxes)


@inner
def cut_small(
    settings: CutSettings,
    records: Records,
    low: int,
    high: int,
    borders: Bytes,
    workspace: CutWorkspace,
) -> None:
    """Cut a small range of records to the end, and mark where each group starts."""
    dense = workspace.dense
    order = dense.order[settings.axes]
    stack = np.empty((2, STACK), dtype=np.int64)
    unpack(settings, records.planes, low, high - low, dense)
    sort_all_axes(settings.axes, high - low, workspace)
    stack[0, 0] = 0
    stack[1, 0] = high - low
    waiting = 1
    while waiting:
        waiting -= 1
        begin, end = stack[0, waiting], stack[1, waiting]
        n = weigh(order, begin, end, dense.weights)
        if n < 2 * settings.least or not find_small(
            settings, begin, end, n, workspace.box, workspace.axis_costs, dense
        ):
            borders[low + begin] = 1
            continue
        middle = part(settings, begin, end, n, dense)
        waiting = push_parts(stack, waiting, begin, middle, end)
    move_records(records, low, high, order)


@inner
def sort_all_axes(axes: int, n: int, workspace: CutWorkspace) -> None:
    """Sort the records of a small group on every axis, stably."""
    dense, wide = workspace.dense, workspace.wide
    for j in range(axes):
        highest = np.int64(0)
        for i in range(n):
            code = low_code(dense.info, dense.boxes, RECORDS + i, j)
            highest = max(highest, code)
            wide[KEYS, i] = code << LOWER | i
        sort_keys(wide[KEYS], wide[SPARE], n, highest)
        for i in range(n):
            dense.order[j, i] = wide[KEYS, i] & POSITION
    for i in range(n):
        dense.order[axes, i] = i


@inner
def weigh(order: Codes, begin: int, end: int, weights: Ints) -> int:
    """Count the rows of a part of a small group."""
    total = np.int64(0)
    for place in range(begin, end):
        total += weights[np.uintp(order[place])]
    return total


@inner
def find_small(
    settings: CutSettings,
    begin: int,
    end: int,
    n: int,
    box: Ints,
    costs: Floats,
    dense: DenseWorkspace,
) -> bool:
    """Find the best cut of a part of a small group; return whether it has one."""
    info = dense.info
    cover(dense.order[settings.axes], begin, end, info, dense.boxes)
    loss = n * measure_whole(settings, box, costs, info, dense.boxes)
    list_active(box, info)
    costliest_first(costs, settings.axes, info[TRIED])
    best = NONE
    for place in range(settings.axes):
        if place >= MOST_TRIED and best > NONE:
            break
        j = info[TRIED, place]
        if box[PRESENT, j] > 1:
            runs = runs_of_order(
                dense.order[j], j, begin, end, info, dense.boxes, dense.line,
                dense.weights,
            )  # fmt: skip
            best = best_of_line(settings, j, runs, n, loss, best, dense)
    return best > NONE


@inner
def cover(order: Codes, begin: int, end: int, info: Ints, boxes: Words) -> None:
    """Find the box of a part of a small group."""
    clear_boxes(info, boxes, np.int64(WHOLE), np.int64(WHOLE + 1))
    for place in range(begin, end):
        join(info, boxes, WHOLE, WHOLE, RECORDS + order[place])


@inner
def measure_whole(
    settings: CutSettings,
    box: Ints,
    costs: Floats,
    info: Ints,
    boxes: Words,
) -> float:
    """Return the cost of the box of a small group, summed over the axes."""
    tables, whole = settings.tables, np.int64(WHOLE)
    total = 0.0
    for j in range(settings.axes):
        if tables.axis[j, SHAPE] == FLAT:
            box[PRESENT, j] = values_in(tables, info, boxes, whole, j)
        else:
            low, high = (
                low_code(info, boxes, whole, j),
                high_code(info, boxes, whole, j),
            )
            box[PRESENT, j] = 1 if low == high else 2
        cost = cell_cost(tables, info, boxes, whole, j)
        costs[j] = cost
        total += cost
    return total


@inner
def part(
    settings: CutSettings, begin: int, end: int, n: int, dense: DenseWorkspace
) -> int:
    """Part the order of the records, and, if parts are cut again, those on all axes."""
    axes, info = settings.axes, dense.info
    j = info[CHOICE, CUT_AXIS]
    flat = settings.tables.axis[j, SHAPE] == FLAT
    for place in range(begin, end):
        i = np.int64(dense.order[axes, place])
        code = low_code(info, dense.boxes, RECORDS + i, j)
        dense.sides[np.uintp(i)] = on_left(flat, code, info, dense.boxes)
    left = info[CHOICE, LEFT_WEIGHT]
    room = dense.order[axes + 1]
    if max(left, n - left) >= 2 * settings.least:
        for e in range(axes):
            part_order(dense.order[e], begin, end, dense.sides, room)
    return part_order(dense.order[axes], begin, end, dense.sides, room)


@inner
def part_order(order: Codes, begin: int, end: int, sides: Bytes, room: Codes) -> int:
    """Move the records on the left to the front of an order, stably."""
    left, right = np.uintp(begin), np.uintp(0)
    # Both places are written every time: cheaper than an unpredictable branch.
    for place in range(begin, end):
        i = order[place]
        order[left] = i
        room[right] = i
        here = np.uintp(sides[np.uintp(i)])
        left += here
        right += np.uintp(1) - here
    for place in range(right):
        order[left + np.uintp(place)] = room[place]
    return np.int64(left)


@inner
def move_records(records: Records, low: int, high: int, order: Codes) -> None:
    """Put the records of a range in an order."""
    for w in range(len(records.planes)):
        plane, spare = records.planes[w, low:high], records.spare[w, low:high]
        for i in range(high - low):
            spare[i] = plane[i]
        for i in range(high - low):
            plane[i] = spare[np.uintp(order[i])]
