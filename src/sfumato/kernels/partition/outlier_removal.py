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
from sfumato.kernels.partition.bounded_cuts import STEPS, levels
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
from sfumato.kernels.partition.gain_cut import mark
from sfumato.kernels.partition.population_counts import people_beside


@both
def trim_groups(
    settings: CutSettings,
    records: Records,
    bounds: Ints,
    budget: int,
    step_of: Codes,
    rows: Ints,
    gains: Floats,
    workspace: CutWorkspace,
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
            removed, gain = trim_once(
                settings, records, low, high, left, workspace, judge
            )
            if removed == 0:
                break
            rows[low + step] = removed
            gains[low + step] = gain
            middle = split(records.planes, records.spare, low, high, workspace.flags)
            for i in range(middle, high):
                number = records.planes[len(records.planes) - 1, i] & NUMBER
                if step_of[number] < 0:
                    step_of[number] = step
            high = middle
            left -= removed
            step += 1


@inner
def trim_once(
    settings: CutSettings,
    records: Records,
    low: int,
    high: int,
    budget: int,
    workspace: CutWorkspace,
    judge: CutRules | None,
) -> tuple[int, float]:
    """Find the best removal from a group, its rows and its gain; side 1 is what stays."""
    end = high
    if judge is not None:
        end = samples_end(records.planes, judge.samples, low, high)
    # The population's records lie behind `end`: they are never removed, nor counted.
    n = weight_of(records.planes, low, end)
    loss = n * measure_box(settings, records.planes, low, end, workspace)
    budget = min(budget, n - settings.least)
    best, rows = 0.0, np.int64(0)
    if budget < 1 or loss <= 0.0:
        return rows, best
    if judge is not None:
        label_views(
            settings.fields, settings.axes, records.planes, low, end, workspace, judge
        )
    for j in range(settings.axes):
        if workspace.box[PRESENT, j] > 1:
            best, rows = trim_axis(
                settings,
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
                workspace,
                judge,
            )
    for i in range(end - low):
        workspace.flags[SIDE, i] = workspace.flags[CHOSEN, i]
    if judge is not None and rows > 0:
        people_beside(
            settings, records.planes, low, end, high, 1, workspace.flags, judge
        )
    return rows, best * rows


@inner
def trim_axis(
    settings: CutSettings,
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
    workspace: CutWorkspace,
    judge: CutRules | None,
) -> tuple[float, int]:
    """Try the removals along one axis; return the best gain per row, and its rows."""
    line_up_records(settings, records, j, low, end, workspace)
    before = np.int64(0)
    for level in range(
        EACH_RECORD if settings.relaxed else 0, levels(settings.tables, j)
    ):
        runs = next_runs(
            settings, records.spare, j, level, low, end - low, before, workspace
        )
        if runs < 2:
            break
        singles = level >= 0 and settings.tables.axis[j, SHAPE] != FREE
        cost_runs(settings, records.spare, low, before, runs, singles, workspace)
        before = runs
        for part in (TAIL, HEAD, REST):
            if part != REST or singles:
                best, rows = trim_line(
                    settings,
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
                    workspace,
                    judge,
                )
    return best, rows


@inner
def trim_line(
    settings: CutSettings,
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
    workspace: CutWorkspace,
    judge: CutRules | None,
) -> tuple[float, int]:
    """Try what leaves a TAIL, a HEAD or the REST around a run of a line."""
    price = 0.0
    for j in range(settings.axes):
        price += settings.tables.factor[j, WEIGHT]
    tolerance = loss / n / STEPS
    taken = np.int64(0)
    for place in range(runs):
        run = runs - 1 - place if part == HEAD else place
        here = workspace.wide[RUN_WEIGHT, run]
        taken = here if part == REST else taken + here
        if taken > budget:
            continue
        # Gain per row removed: the budget is in rows, and is spent where it buys most.
        stays = workspace.costs[part, neighbor(part, run)]
        gain = (loss - taken * price - (n - taken) * stays) / taken
        if gain <= best + tolerance:
            continue
        first = np.int64(0) if part == TAIL else workspace.wide[STARTS, run]
        last = end - low if part == HEAD else workspace.wide[STARTS, run + 1]
        if judge is not None and not removal_ok(
            settings, records, low, end, high, first, last, n - taken, workspace, judge
        ):
            continue
        best, rows = gain, taken
        for i in range(end - low):
            workspace.flags[CHOSEN, workspace.runs[ORDER, i]] = i < first or i >= last
    return best, rows


@inner
def neighbor(part: int, run: int) -> int:
    """Return the run at which the cost of what stays is found."""
    if part == TAIL:
        return run + 1
    return run - 1 if part == HEAD else run


@inner
def removal_ok(
    settings: CutSettings,
    records: Records,
    low: int,
    end: int,
    high: int,
    first: int,
    last: int,
    size: int,
    workspace: CutWorkspace,
    judge: CutRules,
) -> bool:
    """Tell whether a group is allowed without places first … last − 1 of the line."""
    clear_left(judge)
    fill_left(judge, workspace.runs[ORDER], workspace.wide[WEIGHTS], first, last)
    mark(workspace.runs, end - low, first, last, workspace.flags, SIDE)
    for i in range(end - low, high - low):
        workspace.flags[SIDE, i] = 0
    return rest_ok(
        settings, records.planes, low, end, high, size, workspace.flags, judge
    )
