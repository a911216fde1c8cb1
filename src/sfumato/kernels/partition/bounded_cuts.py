"""Find the best cut of a line of runs with boxes, without weighing every cut.

Boxes only grow along a line, so that between two cuts none can lose less than the
smaller head and the smaller tail do. Where this bound cannot beat the best cut known,
nothing between is weighed; else the cut in the middle is, and both halves are looked at.

Paper: none; the bound is ours, and the cuts are those of `gain_cut`.
Cost: O(s × m) to join the boxes of s runs on m axes; O(m) per cut that is weighed, few
where the best is far above the others, all s at worst.
Invariant: the cut found is the one that weighing all of them finds, ties included: the
first of those with the highest score, a cut after a run before one around a run.
"""

from __future__ import annotations

import numpy as np

from sfumato.data.arrays import Floats, Ints, Words
from sfumato.kernels.common.geometry import (
    FLAT,
    FREE,
    HEIGHT,
    SHAPE,
    TREE,
    AxisTables,
)
from sfumato.kernels.compilation.decorators import inlined, inner
from sfumato.kernels.partition.cut_workspace import CutSettings
from sfumato.kernels.partition.dense_lines import (
    BIT,
    BITS,
    join_siblings,
    most_frequent_runs_first,
)
from sfumato.kernels.partition.dense_rows import (
    BEFORE,
    CHOICE,
    CHOSEN,
    CUT_AXIS,
    FIRST,
    HEAD_COST,
    HEADS,
    HIGH_CODE,
    LAST,
    LEFT_WEIGHT,
    LOW_CODE,
    PLACES,
    RUNS,
    STACK_HIGH,
    STACK_LOW,
    TAIL_COST,
    TAILS,
    WEIGHT,
    WHOLE,
    DenseWorkspace,
    box_cost,
    join,
)

STEPS = 1e9
EVEN = -0.5
"""No cut without a gain has a higher score than this."""
ROUNDING = 1.0 - 1e-12
"""Bounds are lowered by what rounding can add up to."""


@inner
def levels(tables: AxisTables, j: int) -> int:
    """How many levels of an axis can part a group."""
    return tables.axis[j, HEIGHT] - 1 if tables.axis[j, SHAPE] == TREE else np.int64(1)


@inner
def score(left: int, n: int, loss: float, after: float) -> float:
    """Return the gain of a cut in steps; without any, below 0, higher if more even.

    Steps make ties of gains that differ by rounding alone, so that the order in which
    sums were taken cannot decide.
    """
    gain = np.floor((loss - after) / loss * STEPS + 0.5) if loss > 0 else 0.0
    return gain if gain > 0 else min(left, n - left) / n - 1.0


@inner
def best_of_line(
    settings: CutSettings,
    j: int,
    runs: int,
    n: int,
    loss: float,
    best: float,
    dense: DenseWorkspace,
) -> float:
    """Take the best cut of the runs of an axis if it beats `best`; return the new best."""
    boxes, line, info = dense.boxes, dense.line, dense.info
    tables = settings.tables
    shape = tables.axis[j, SHAPE]
    if shape == FLAT and settings.by_frequency:
        most_frequent_runs_first(runs, info, boxes, line)
    fewest = runs + 1
    for level in range(levels(tables, j)):
        if level > 0:
            runs = join_siblings(tables, j, level, runs, info, boxes, line)
        if runs < 2:
            break
        # A level that joins no nodes of the one below offers the same cuts again.
        if runs == fewest:
            continue
        fewest = runs
        first, last = allowed_cuts(settings.least, runs, n, line)
        singles = runs > 2 and shape != FREE
        singles = singles and any_single(settings.least, runs, n, line)
        if singles:
            spread_boxes(runs, np.int64(0), runs - 1, info, boxes)
        elif first <= last:
            spread_boxes(runs, first, last, info, boxes)
        if first <= last:
            top, run = best_after(
                tables, first, last, n, loss, best, info, boxes, line, dense.costs
            )
            if run >= 0:
                best = top
                take_runs(tables, j, np.int64(0), run, info, boxes, line)
        if singles:
            top, run = best_around(
                tables, settings.least, runs, n, loss, best, info, boxes, line
            )
            if run >= 0:
                best = top
                take_runs(tables, j, run, run, info, boxes, line)
    return best


@inner
def allowed_cuts(least: int, runs: int, n: int, line: Ints) -> tuple[int, int]:
    """Find the first and last run after which both sides have enough rows."""
    first, last = np.int64(0), np.int64(-1)
    before = np.int64(0)
    for run in range(runs):
        before += line[WEIGHT, run]
        line[BEFORE, run] = before
        if before < least:
            first = np.int64(run + 1)
        if n - before >= least:
            last = np.int64(run)
    return first, min(last, np.int64(runs - 2))


@inner
def any_single(least: int, runs: int, n: int, line: Ints) -> bool:
    """Whether some run and the rest around it have enough rows."""
    for run in range(runs):
        here = line[WEIGHT, run]
        if here >= least and n - here >= least:
            return True
    return False


@inner
def spread_boxes(runs: int, first: int, last: int, info: Ints, boxes: Words) -> None:
    """Join the boxes of all runs up to each, and from each on, as far as cuts go."""
    start = info[PLACES, RUNS]
    heads, tails = info[PLACES, HEADS], info[PLACES, TAILS]
    join(info, boxes, heads, start, start)
    for run in range(1, last + 1):
        join(info, boxes, heads + run, heads + run - 1, start + run)
    end = runs - 1
    join(info, boxes, tails + end, start + end, start + end)
    for run in range(end - 1, first, -1):
        join(info, boxes, tails + run, tails + run + 1, start + run)


@inner
def best_after(
    tables: AxisTables,
    first: int,
    last: int,
    n: int,
    loss: float,
    best: float,
    info: Ints,
    boxes: Words,
    line: Ints,
    costs: Floats,
) -> tuple[float, int]:
    """Find the first cut after a run with the highest score above `best`, or −1."""
    top, found = best, np.int64(-1)
    # The two ends are weighed first: each bound needs one on either side.
    for run in (last, first):
        here = weigh_cut(tables, run, n, loss, info, boxes, line, costs)
        if here > top or (here == top and run < found):
            top, found = here, run
    info[STACK_LOW, 0], info[STACK_HIGH, 0] = first, last
    waiting = 1
    while waiting:
        waiting -= 1
        a, b = info[STACK_LOW, waiting], info[STACK_HIGH, waiting]
        if b - a < 2:
            continue
        highest = bound_between(a, b, n, loss, line, costs)
        if highest < top or (highest == top and not a < found):
            continue
        middle = (a + b) // 2
        here = weigh_cut(tables, middle, n, loss, info, boxes, line, costs)
        if here > top or (here == top and middle < found):
            top, found = here, middle
        info[STACK_LOW, waiting], info[STACK_HIGH, waiting] = middle, b
        info[STACK_LOW, waiting + 1], info[STACK_HIGH, waiting + 1] = a, middle
        waiting += 2
    return top, found


@inlined
def weigh_cut(
    tables: AxisTables,
    run: int,
    n: int,
    loss: float,
    info: Ints,
    boxes: Words,
    line: Ints,
    costs: Floats,
) -> float:
    """Score the cut after a run, and keep the costs of its sides."""
    head = box_cost(tables, info, boxes, info[PLACES, HEADS] + run)
    tail = box_cost(tables, info, boxes, info[PLACES, TAILS] + run + 1)
    costs[HEAD_COST, run] = head
    costs[TAIL_COST, run] = tail
    left = line[BEFORE, run]
    return score(left, n, loss, left * head + (n - left) * tail)


@inner
def bound_between(
    a: int, b: int, n: int, loss: float, line: Ints, costs: Floats
) -> float:
    """The highest score that a cut between those after runs a and b can have."""
    head, tail = costs[HEAD_COST, a], costs[TAIL_COST, b]
    near, far = line[BEFORE, a + 1], line[BEFORE, b - 1]
    after = min(near * head + (n - near) * tail, far * head + (n - far) * tail)
    gain = score(n, n, loss, after * ROUNDING)
    return gain if gain > 0 else EVEN


@inner
def best_around(
    tables: AxisTables,
    least: int,
    runs: int,
    n: int,
    loss: float,
    best: float,
    info: Ints,
    boxes: Words,
    line: Ints,
) -> tuple[float, int]:
    """Find the first cut around a run with the highest score above `best`, or −1."""
    found = np.int64(-1)
    heads, tails = info[PLACES, HEADS], info[PLACES, TAILS]
    for run in range(runs):
        here = line[WEIGHT, run]
        if here < least or n - here < least:
            continue
        before = heads + run - 1 if run > 0 else tails + 1
        behind = tails + run + 1 if run + 1 < runs else before
        join(info, boxes, WHOLE, before, behind)
        after = here * box_cost(tables, info, boxes, info[PLACES, RUNS] + run)
        after += (n - here) * box_cost(tables, info, boxes, np.int64(WHOLE))
        top = score(here, n, loss, after)
        if top > best:
            best, found = top, run
    return best, found


@inner
def take_runs(
    tables: AxisTables,
    j: int,
    first: int,
    last: int,
    info: Ints,
    boxes: Words,
    line: Ints,
) -> None:
    """Remember the codes of some runs as the left side of the best cut so far."""
    info[CHOICE, CUT_AXIS] = j
    info[CHOICE, LEFT_WEIGHT] = 0
    for run in range(first, last + 1):
        info[CHOICE, LEFT_WEIGHT] += line[WEIGHT, run]
    if tables.axis[j, SHAPE] != FLAT:
        info[CHOICE, LOW_CODE] = line[FIRST, first]
        info[CHOICE, HIGH_CODE] = line[LAST, last]
        return
    for word in range(boxes.shape[1]):
        boxes[CHOSEN, word] = 0
    for run in range(first, last + 1):
        code = np.uint64(line[FIRST, run])
        boxes[CHOSEN, code >> BITS] |= np.uint64(1) << (code & BIT)


@inlined
def on_left(flat: bool, code: int, info: Ints, boxes: Words) -> int:
    """Whether a code is on the left of the best cut: 1 or 0."""
    if flat:
        value = np.uint64(code)
        word = boxes[CHOSEN, value >> BITS]
        return np.int64((word >> (value & BIT)) & np.uint64(1))
    return np.int64(info[CHOICE, LOW_CODE] <= code <= info[CHOICE, HIGH_CODE])
