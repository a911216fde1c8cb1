"""Find outlying rows whose removal lowers the loss of a finished group.

A row that is left out costs the weight of every axis, so removing pays only where the
others' box shrinks enough. Each group gets a chain of removals, the greatest gain per
row first; which of them are carried out, within the budget, is decided over all groups.

Paper: none; suppressing outliers goes back to Samarati and Sweeney 1998, who remove
whole small groups.
Cost: per step of a chain O(r × m²) for r records on m axes, times the levels of trees;
with rules also O(r) per candidate that is judged.
Invariant: what stays of a group is allowed and has at least the least size; gains are
positive, and equal the loss saved minus the weight of the rows left out; removed rows
are ends of a line, or one run of it.
"""

from __future__ import annotations

import numpy as np

from sfumato.data.arrays import Codes, Floats, Ints
from sfumato.kernels.common.geometry import FREE, SHAPE, WEIGHT
from sfumato.kernels.common.packed_records import NUMBER, Records, split
from sfumato.kernels.compilation.decorators import both, inner
from sfumato.kernels.partition.cut_line import (
    EACH_RECORD,
    cost_runs,
    line_up_records,
    next_runs,
)
from sfumato.kernels.partition.cut_rules import (
    clear_left,
    fill_left,
    label_views,
    rest_ok,
    samples_end,
)
from sfumato.kernels.partition.cut_workspace import (
    CHOSEN,
    HEAD,
    ORDER,
    PRESENT,
    REST,
    RUN_WEIGHT,
    SIDE,
    STARTS,
    TAIL,
    WEIGHTS,
    CutRules,
    CutSettings,
    CutWorkspace,
    measure_box,
    weight_of,
)
from sfumato.kernels.partition.gain_cut import STEPS, levels, mark
from sfumato.kernels.partition.population_counts import people_beside


@both
def trim_groups(
    ground: CutSettings,
    records: Records,
    bounds: Ints,
    budget: int,
    step_of: Codes,
    rows: Ints,
    gains: Floats,
    desk: CutWorkspace,
    judge: CutRules | None,
) -> None:
    """Find the chain of each group; group g starts at bounds[g].

    Step t of the group at `low` leaves out rows[low + t] rows and gains
    gains[low + t]; step_of[record] is its step, or −1. A chain ends at zero rows.
    """
    for group in range(len(bounds) - 1):
        low = bounds[group]
        high = bounds[group + 1]
        left = budget
        step = 0
        while True:
            removed, gain = trim_once(ground, records, low, high, left, desk, judge)
            if removed == 0:
                break
            rows[low + step] = removed
            gains[low + step] = gain
            middle = split(records.planes, records.spare, low, high, desk.flags)
            for i in range(middle, high):
                number = records.planes[len(records.planes) - 1, i] & NUMBER
                if step_of[number] < 0:
                    step_of[number] = step
            high = middle
            left -= removed
            step += 1


@inner
def trim_once(
    ground: CutSettings,
    records: Records,
    low: int,
    high: int,
    budget: int,
    desk: CutWorkspace,
    judge: CutRules | None,
) -> tuple[int, float]:
    """Find the best removal from a group, its rows and its gain; side 1 is what stays."""
    end = high
    if judge is not None:
        end = samples_end(records.planes, judge.samples, low, high)
    # The population's records lie behind `end`: they are never removed, nor counted.
    n = weight_of(records.planes, low, end)
    loss = n * measure_box(ground, records.planes, low, end, desk)
    budget = min(budget, n - ground.least)
    best, rows = 0.0, np.int64(0)
    if budget < 1 or loss <= 0.0:
        return rows, best
    if judge is not None:
        label_views(ground.fields, ground.axes, records.planes, low, end, desk, judge)
    for j in range(ground.axes):
        if desk.box[PRESENT, j] > 1:
            best, rows = trim_axis(
                ground,
                records,
                j,
                low,
                end,
                high,
                n,
                loss,
                budget,
                best,
                rows,
                desk,
                judge,
            )
    for i in range(end - low):
        desk.flags[SIDE, i] = desk.flags[CHOSEN, i]
    if judge is not None and rows > 0:
        people_beside(ground, records.planes, low, end, high, 1, desk.flags, judge)
    return rows, best * rows


@inner
def trim_axis(
    ground: CutSettings,
    records: Records,
    j: int,
    low: int,
    end: int,
    high: int,
    n: int,
    loss: float,
    budget: int,
    best: float,
    rows: int,
    desk: CutWorkspace,
    judge: CutRules | None,
) -> tuple[float, int]:
    """Try the removals along one axis; return the best gain per row, and its rows."""
    line_up_records(ground, records, j, low, end, desk)
    before = np.int64(0)
    for level in range(EACH_RECORD if ground.relaxed else 0, levels(ground.tables, j)):
        runs = next_runs(ground, records.spare, j, level, low, end - low, before, desk)
        if runs < 2:
            break
        singles = level >= 0 and ground.tables.axis[j, SHAPE] != FREE
        cost_runs(ground, records.spare, low, before, runs, singles, desk)
        before = runs
        for part in (TAIL, HEAD, REST):
            if part != REST or singles:
                best, rows = trim_line(
                    ground,
                    records,
                    low,
                    end,
                    high,
                    runs,
                    part,
                    n,
                    loss,
                    budget,
                    best,
                    rows,
                    desk,
                    judge,
                )
    return best, rows


@inner
def trim_line(
    ground: CutSettings,
    records: Records,
    low: int,
    end: int,
    high: int,
    runs: int,
    part: int,
    n: int,
    loss: float,
    budget: int,
    best: float,
    rows: int,
    desk: CutWorkspace,
    judge: CutRules | None,
) -> tuple[float, int]:
    """Try what leaves a TAIL, a HEAD or the REST around a run of a line."""
    price = 0.0
    for j in range(ground.axes):
        price += ground.tables.factor[j, WEIGHT]
    tolerance = loss / n / STEPS
    taken = np.int64(0)
    for place in range(runs):
        run = runs - 1 - place if part == HEAD else place
        here = desk.wide[RUN_WEIGHT, run]
        taken = here if part == REST else taken + here
        if taken > budget:
            continue
        # Gain per row removed: the budget is in rows, and is spent where it buys most.
        stays = desk.costs[part, neighbor(part, run)]
        gain = (loss - taken * price - (n - taken) * stays) / taken
        if gain <= best + tolerance:
            continue
        first = np.int64(0) if part == TAIL else desk.wide[STARTS, run]
        last = end - low if part == HEAD else desk.wide[STARTS, run + 1]
        if judge is not None and not removal_ok(
            ground, records, low, end, high, first, last, n - taken, desk, judge
        ):
            continue
        best, rows = gain, taken
        for i in range(end - low):
            desk.flags[CHOSEN, desk.runs[ORDER, i]] = i < first or i >= last
    return best, rows


@inner
def neighbor(part: int, run: int) -> int:
    """Return the run at which the cost of what stays is found."""
    if part == TAIL:
        return run + 1
    return run - 1 if part == HEAD else run


@inner
def removal_ok(
    ground: CutSettings,
    records: Records,
    low: int,
    end: int,
    high: int,
    first: int,
    last: int,
    size: int,
    desk: CutWorkspace,
    judge: CutRules,
) -> bool:
    """Tell whether a group is allowed without places first … last − 1 of the line."""
    clear_left(judge)
    fill_left(judge, desk.runs[ORDER], desk.wide[WEIGHTS], first, last)
    mark(desk.runs, end - low, first, last, desk.flags, SIDE)
    for i in range(end - low, high - low):
        desk.flags[SIDE, i] = 0
    return rest_ok(ground, records.planes, low, end, high, size, desk.flags, judge)
