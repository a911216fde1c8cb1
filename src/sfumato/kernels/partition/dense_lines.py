"""Line up a group along an axis as runs with boxes, from dense rows, buckets or keys.

Small groups have the order of their records on every axis, and hand it down to their
parts. Of large groups each code has a bucket with the box of its records, or, where
codes are too many, the records are sorted.

Paper: none; the lines are those of `cut_line`, found with less work.
Cost: O(r × m) per axis for r records on m axes, in one pass; O(s × m) more for s runs.
Invariant: runs are in the order of the line, each with the rows, the codes and the box
of its records; `info[BUCKET]` is −1 for axes without buckets.
"""

from __future__ import annotations

import numpy as np

from sfumato.data.arrays import Codes, Ints, Words
from sfumato.kernels.common.geometry import (
    FIRST_WORD,
    FLAT,
    LEVELS,
    SHAPE,
    SIZE,
    AxisTables,
)
from sfumato.kernels.common.packed_records import TAG
from sfumato.kernels.common.sorting import LOWER, POSITION, sort_keys
from sfumato.kernels.compilation.decorators import inlined, inner
from sfumato.kernels.partition.cut_workspace import (
    HIGH,
    LOW,
    MASK,
    SHIFT,
    WORD,
    CutSettings,
)
from sfumato.kernels.partition.dense_rows import (
    ACTIVE,
    BUCKET,
    FIRST,
    FIRST_BUCKET,
    FIRST_SET,
    HEADS,
    KEYS,
    LANE_SHIFT,
    LANE_WORD,
    LAST,
    LIMIT,
    MASKS,
    MOST_BUCKETS,
    PLACES,
    RECORDS,
    RUNS,
    SPARE,
    TOP_BIT,
    TOPS,
    TRIED,
    WEIGHT,
    DenseWorkspace,
    join,
    low_code,
)

BIT = np.uint64(63)
BITS = np.uint64(6)


@inner
def unpack(
    settings: CutSettings, planes: Ints, low: int, n: int, dense: DenseWorkspace
) -> None:
    """Make rows of the n records from a place on."""
    boxes, info = dense.boxes[RECORDS:], dense.info
    limit = dense.boxes[MASKS, LIMIT]
    bits = dense.boxes[MASKS, TOP_BIT] + np.uint64(1)
    for i in range(n):
        for word in range(boxes.shape[1]):
            boxes[i, word] = 0
    for e in range(settings.axes):
        plane = planes[settings.fields[WORD, e], low : low + n]
        shift = settings.fields[SHIFT, e]
        mask = settings.fields[MASK, e]
        word, at = np.uintp(info[LANE_WORD, e]), np.uint64(info[LANE_SHIFT, e])
        if settings.tables.axis[e, SHAPE] == FLAT:
            first = np.uint64(
                info[PLACES, FIRST_SET] + settings.tables.axis[e, FIRST_WORD]
            )
            for i in range(n):
                code = np.uint64((plane[i] >> shift) & mask)
                boxes[i, word] |= code << at
                boxes[i, first + (code >> BITS)] = np.uint64(1) << (code & BIT)
        else:
            for i in range(n):
                code = np.uint64((plane[i] >> shift) & mask)
                boxes[i, word] |= (code | ((limit - code) << bits)) << at
    tags = planes[len(planes) - 1, low : low + n]
    for i in range(n):
        dense.weights[i] = tags[i] >> TAG


@inner
def clear_boxes(info: Ints, boxes: Words, first: int, end: int) -> None:
    """Make boxes cover nothing."""
    lines = info[PLACES, FIRST_SET]
    for at in range(first, end):
        for word in range(boxes.shape[1]):
            boxes[at, word] = ~boxes[MASKS, TOPS] if word < lines else np.uint64(0)


@inner
def give_buckets(box: Ints, tried: int, dense: DenseWorkspace) -> None:
    """Give each axis that is tried a bucket per code, while there are any left."""
    info = dense.info
    most, used = info[PLACES, MOST_BUCKETS], np.int64(0)
    for j in range(box.shape[1]):
        info[BUCKET, j] = -1
    for place in range(tried):
        j = info[TRIED, place]
        codes = box[HIGH, j] - box[LOW, j] + 1
        if used + codes <= most:
            info[BUCKET, j] = used
            used += codes
    weights = dense.weights[dense.order.shape[1] :]
    for at in range(used):
        weights[at] = 0
    first = info[PLACES, FIRST_BUCKET]
    clear_boxes(info, dense.boxes, first, first + used)


@inner
def fill_buckets(
    settings: CutSettings,
    planes: Ints,
    low: int,
    high: int,
    box: Ints,
    dense: DenseWorkspace,
) -> None:
    """Widen the bucket of each record's code, on all axes that have buckets."""
    info = dense.info
    most = dense.order.shape[1]
    for start in range(low, high, most):
        n = min(most, high - start)
        unpack(settings, planes, start, n, dense)
        for place in range(1, info[ACTIVE, 0] + 1):
            j = info[ACTIVE, place]
            if info[BUCKET, j] >= 0:
                offset = info[BUCKET, j] - box[LOW, j]
                first = info[PLACES, FIRST_BUCKET] + offset
                fill_axis(j, n, first, most + offset, info, dense.boxes, dense.weights)


@inner
def fill_axis(
    j: int,
    n: int,
    first: int,
    first_weight: int,
    info: Ints,
    boxes: Words,
    weights: Ints,
) -> None:
    """Widen the buckets of one axis by n records."""
    for i in range(n):
        code = low_code(info, boxes, RECORDS + i, j)
        weights[np.uintp(first_weight + code)] += weights[i]
        join(info, boxes, first + code, first + code, RECORDS + i)


@inner
def runs_of_buckets(j: int, box: Ints, dense: DenseWorkspace) -> int:
    """Make a run of each code that occurs on an axis with buckets."""
    info = dense.info
    runs = np.int64(0)
    base = box[LOW, j]
    first = info[PLACES, FIRST_BUCKET] + info[BUCKET, j]
    weights = dense.weights[dense.order.shape[1] + info[BUCKET, j] :]
    for code in range(base, box[HIGH, j] + 1):
        weight = weights[code - base]
        if weight > 0:
            at = first + code - base
            join(info, dense.boxes, info[PLACES, RUNS] + runs, at, at)
            start_run(dense.line, runs, code, weight)
            runs += 1
    return runs


@inlined
def start_run(line: Ints, run: int, code: int, weight: int) -> None:
    """Make a run of one code."""
    line[FIRST, run] = code
    line[LAST, run] = code
    line[WEIGHT, run] = weight


@inner
def runs_of_keys(
    settings: CutSettings,
    planes: Ints,
    j: int,
    low: int,
    high: int,
    box: Ints,
    keys: Ints,
    spare: Ints,
    dense: DenseWorkspace,
) -> int:
    """Make a run of each code of an axis with very many, by sorting the records."""
    n = high - low
    word = settings.fields[WORD, j]
    shift = settings.fields[SHIFT, j]
    mask = settings.fields[MASK, j]
    base = box[LOW, j]
    for i in range(n):
        keys[i] = (((planes[word, low + i] >> shift) & mask) - base) << LOWER | i
    sort_keys(keys, spare, n, box[HIGH, j] - base)
    runs = np.int64(0)
    before = np.int64(-1)
    for i in range(n):
        code = (keys[i] >> LOWER) + base
        unpack(settings, planes, low + (keys[i] & POSITION), 1, dense)
        runs = add_to_line(
            dense.info, dense.boxes, dense.line, runs,
            code, before, dense.weights[0], 0,
        )  # fmt: skip
        before = code
    return runs


@inlined
def add_to_line(
    info: Ints,
    boxes: Words,
    line: Ints,
    runs: int,
    code: int,
    before: int,
    weight: int,
    i: int,
) -> int:
    """Add a record to the last run, or start one with it; return how many there are."""
    first = info[PLACES, RUNS]
    if code != before:
        start_run(line, runs, code, weight)
        join(info, boxes, first + runs, RECORDS + i, RECORDS + i)
        return runs + 1
    line[WEIGHT, runs - 1] += weight
    join(info, boxes, first + runs - 1, first + runs - 1, RECORDS + i)
    return runs


@inner
def runs_of_order(
    order: Codes,
    j: int,
    begin: int,
    end: int,
    info: Ints,
    boxes: Words,
    line: Ints,
    weights: Ints,
) -> int:
    """Make a run of each code from the order of records on an axis."""
    runs = np.int64(0)
    before = np.int64(-1)
    for place in range(begin, end):
        i = np.int64(order[place])
        code = low_code(info, boxes, RECORDS + i, j)
        weight = weights[np.uintp(i)]
        runs = add_to_line(info, boxes, line, runs, code, before, weight, i)
        before = code
    return runs


@inner
def most_frequent_runs_first(runs: int, info: Ints, boxes: Words, line: Ints) -> None:
    """Reorder the runs of a flat axis by weight; equal ones stay by code."""
    first, room = info[PLACES, RUNS], info[PLACES, HEADS]
    heaviest = np.int64(0)
    for run in range(runs):
        heaviest = max(heaviest, line[WEIGHT, run])
    for run in range(runs):
        line[KEYS, run] = (heaviest - line[WEIGHT, run]) << LOWER | run
        join(info, boxes, room + run, first + run, first + run)
    sort_keys(line[KEYS], line[SPARE], runs, heaviest)
    for run in range(runs):
        line[SPARE, run] = line[FIRST, run]
    for run in range(runs):
        at = line[KEYS, run] & POSITION
        join(info, boxes, first + run, room + at, room + at)
        start_run(line, run, line[SPARE, at], heaviest - (line[KEYS, run] >> LOWER))


@inner
def join_siblings(
    tables: AxisTables,
    j: int,
    level: int,
    before: int,
    info: Ints,
    boxes: Words,
    line: Ints,
) -> int:
    """Join neighboring runs under the same node of a level; return how many are left."""
    at = tables.axis[j, LEVELS] + level * tables.axis[j, SIZE]
    first = info[PLACES, RUNS]
    runs = np.int64(0)
    last = np.int64(-1)
    for run in range(before):
        node = np.int64(tables.levels[at + line[FIRST, run]])
        if node != last:
            line[FIRST, runs] = line[FIRST, run]
            line[WEIGHT, runs] = line[WEIGHT, run]
            join(info, boxes, first + runs, first + run, first + run)
            runs += 1
            last = node
        else:
            line[WEIGHT, runs - 1] += line[WEIGHT, run]
            join(info, boxes, first + runs - 1, first + runs - 1, first + run)
        line[LAST, runs - 1] = line[LAST, run]
    return runs
