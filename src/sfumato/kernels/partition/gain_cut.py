"""Find the cut that lowers the loss most, over all axes and cut points.

Candidates: on a free axis every cut point; on a tree axis, at every level below the
group's node, each node against the rest and each border between nodes; on a flat axis
each value against the rest and each border in the line of values. Relaxed, also each
border between records. Gains are compared in steps of a billionth of the group's
loss, and the first candidate wins a tie: axis, level, cuts after a run before cuts
around one, place in the line. Without any gain the most even cut is taken, since it
costs nothing.

Paper: the recursion of Mondrian (LeFevre et al. 2006, section 4), with another choice
of dimension and cut point: theirs takes the widest dimension and its median
(`widest_cut`), this the candidate with the greatest gain.
Of more than `MOST_TRIED` axes only those are tried on which the group loses most; the
others too, where those have no allowed cut.
Cost: O(r × m × t) per cut for r records on m axes of which t are tried, times the levels
of trees, and about log₂(n / k) levels of cuts for n rows; with rules O(r) more per line
that is swept.
Invariant: both sides of a cut are allowed and have at least the least size; no allowed
candidate that is tried beats the cut taken by more than a step; a group that is not cut
has none.
"""

from __future__ import annotations

import numpy as np

from sfumato.data.arrays import Bytes, Codes, Floats, Ints
from sfumato.kernels.common.borrowed_arrays import borrow
from sfumato.kernels.common.geometry import FREE, SHAPE
from sfumato.kernels.common.packed_records import STACK, Records, push_parts, split
from sfumato.kernels.compilation.decorators import both, inlined, inner
from sfumato.kernels.partition.bounded_cuts import levels, score
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
    samples_end,
    sides_ok,
)
from sfumato.kernels.partition.cut_workspace import (
    AFTER,
    AROUND,
    CHOSEN,
    HEAD,
    HEAD_WEIGHT,
    ONE,
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
from sfumato.kernels.partition.dense_cut import (
    MOST_TRIED,
    NONE,
    costliest_first,
    cut_small,
    find_large,
)
from sfumato.kernels.partition.dense_rows import SMALL
from sfumato.kernels.partition.population_counts import people_beside

REFUSED = -3.0


@both
def cut_gain(
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
        if judge is None and settings.dense and not once and high - low <= SMALL:
            cut_small(settings, records, low, high, borders, workspace)
            continue
        if not find_cut(settings, records, low, high, workspace, judge):
            borders[low] = 1
            continue
        middle = split(records.planes, records.spare, low, high, workspace.flags)
        if once:
            return middle
        waiting = push_parts(stack, waiting, low, middle, high)
    return -1


@inlined
def find_cut(
    settings: CutSettings,
    records: Records,
    low: int,
    high: int,
    workspace: CutWorkspace,
    judge: CutRules | None,
) -> bool:
    """Set the sides of the group's best cut, in whichever way is faster."""
    if judge is None and settings.dense:
        return find_large(settings, records, low, high, workspace)
    return find_gain(settings, records, low, high, workspace, judge)


@inlined
def find_gain(
    settings: CutSettings,
    records: Records,
    low: int,
    high: int,
    workspace: CutWorkspace,
    judge: CutRules | None,
) -> bool:
    """Set the sides of the group's best cut; return whether there is one."""
    end = high
    if judge is not None:
        end = samples_end(records.planes, judge.samples, low, high)
    n = weight_of(records.planes, low, end)
    if n < 2 * settings.least:
        return False
    loss = n * measure_box(settings, records.planes, low, end, workspace)
    if judge is not None:
        label_views(
            settings.fields, settings.axes, records.planes, low, end, workspace, judge
        )
    best = NONE
    costliest_first(workspace.axis_costs, settings.axes, workspace.tried)
    for place in range(settings.axes):
        if place >= MOST_TRIED and best > NONE:
            break
        j = workspace.tried[place]
        if workspace.box[PRESENT, j] > 1:
            best = best_of_axis(
                settings, records, j, low, end, high, n, loss, best, workspace, judge
            )
    if best == NONE:
        return False
    for i in range(end - low):
        workspace.flags[SIDE, i] = workspace.flags[CHOSEN, i]
    if judge is not None:
        people_beside(
            settings, records.planes, low, end, high, 1, workspace.flags, judge
        )
    return True


@inlined
def best_of_axis(
    settings: CutSettings,
    records: Records,
    j: int,
    low: int,
    end: int,
    high: int,
    n: int,
    loss: float,
    best: float,
    workspace: CutWorkspace,
    judge: CutRules | None,
) -> float:
    """Take the best allowed cut of an axis if it beats `best`; return the new best."""
    line_up_records(settings, records, j, low, end, workspace)
    fewest = end - low + 1
    before = np.int64(0)
    for level in range(
        EACH_RECORD if settings.relaxed else 0, levels(settings.tables, j)
    ):
        runs = next_runs(
            settings, records.spare, j, level, low, end - low, before, workspace
        )
        if runs < 2:
            break
        # A level that joins no nodes of the one below offers the same cuts again.
        if runs == fewest:
            continue
        singles = level >= 0 and runs > 2 and settings.tables.axis[j, SHAPE] != FREE
        cost_runs(settings, records.spare, low, before, runs, singles, workspace)
        before = runs
        score_cuts(
            settings.least, runs, singles, n, loss, workspace.wide, workspace.costs
        )
        best = choose(
            settings,
            records.planes,
            low,
            end,
            high,
            runs,
            singles,
            n,
            best,
            workspace,
            judge,
        )
        fewest = runs if level >= 0 else fewest
    return best


@inner
def score_cuts(
    least: int,
    runs: int,
    singles: bool,
    n: int,
    loss: float,
    wide: Ints,
    costs: Floats,
) -> None:
    """Score the cut after each run and, if asked, around each run."""
    left = np.int64(0)
    for run in range(runs):
        here = wide[RUN_WEIGHT, run]
        left += here
        wide[HEAD_WEIGHT, run] = left
        costs[AFTER, run] = REFUSED
        costs[AROUND, run] = REFUSED
        if run + 1 < runs and left >= least and n - left >= least:
            after = left * costs[HEAD, run] + (n - left) * costs[TAIL, run + 1]
            costs[AFTER, run] = score(left, n, loss, after)
        if singles and here >= least and n - here >= least:
            after = here * costs[ONE, run] + (n - here) * costs[REST, run]
            costs[AROUND, run] = score(here, n, loss, after)


@inner
def choose(
    settings: CutSettings,
    planes: Ints,
    low: int,
    end: int,
    high: int,
    runs: int,
    singles: bool,
    n: int,
    best: float,
    workspace: CutWorkspace,
    judge: CutRules | None,
) -> float:
    """Take the best allowed cut of this line if it beats `best`; return the new best.

    The highest score is judged first, since it is mostly allowed. Where it is not,
    the line is swept once, with histograms that move along.
    """
    run, kind = highest(runs, singles, workspace.costs)
    top = workspace.costs[kind, run]
    if top <= best:
        return best
    if judge is None:
        take(end - low, run, kind, workspace)
        return top
    if cut_ok(settings, planes, low, end, high, run, kind, n, workspace, judge):
        take(end - low, run, kind, workspace)
        return top
    workspace.costs[kind, run] = REFUSED
    best = sweep_after(
        settings, planes, low, end, high, runs, n, best, workspace, judge
    )
    if singles:
        best = sweep_around(
            settings, planes, low, end, high, runs, n, best, workspace, judge
        )
    return best


@inner
def highest(runs: int, singles: bool, costs: Floats) -> tuple[int, int]:
    """Find the run with the highest score, and whether to cut after or around it."""
    found, kind = 0, AFTER
    top = costs[AFTER, 0]
    for run in range(1, runs):
        if costs[AFTER, run] > top:
            found, top = run, costs[AFTER, run]
    if singles:
        for run in range(runs):
            if costs[AROUND, run] > top:
                found, kind, top = run, AROUND, costs[AROUND, run]
    return found, kind


@inner
def sweep_after(
    settings: CutSettings,
    planes: Ints,
    low: int,
    end: int,
    high: int,
    runs: int,
    n: int,
    best: float,
    workspace: CutWorkspace,
    judge: CutRules,
) -> float:
    """Judge the cuts after each run in order, moving records to the left."""
    clear_left(judge)
    filled = np.int64(0)
    for run in range(runs - 1):
        if workspace.costs[AFTER, run] > best:
            until = workspace.wide[STARTS, run + 1]
            fill_left(
                judge, workspace.runs[ORDER], workspace.wide[WEIGHTS], filled, until
            )
            filled = until
            if trial_ok(
                settings, planes, low, end, high, run, AFTER, n, workspace, judge
            ):
                best = workspace.costs[AFTER, run]
                take(end - low, run, AFTER, workspace)
    return best


@inner
def sweep_around(
    settings: CutSettings,
    planes: Ints,
    low: int,
    end: int,
    high: int,
    runs: int,
    n: int,
    best: float,
    workspace: CutWorkspace,
    judge: CutRules,
) -> float:
    """Judge the cuts around each run in order."""
    for run in range(runs):
        if workspace.costs[AROUND, run] > best and cut_ok(
            settings, planes, low, end, high, run, AROUND, n, workspace, judge
        ):
            best = workspace.costs[AROUND, run]
            take(end - low, run, AROUND, workspace)
    return best


@inner
def cut_ok(
    settings: CutSettings,
    planes: Ints,
    low: int,
    end: int,
    high: int,
    run: int,
    kind: int,
    n: int,
    workspace: CutWorkspace,
    judge: CutRules,
) -> bool:
    """Judge one cut from scratch."""
    first = workspace.wide[STARTS, run] if kind == AROUND else np.int64(0)
    last = workspace.wide[STARTS, run + 1]
    clear_left(judge)
    fill_left(judge, workspace.runs[ORDER], workspace.wide[WEIGHTS], first, last)
    return trial_ok(settings, planes, low, end, high, run, kind, n, workspace, judge)


@inner
def trial_ok(
    settings: CutSettings,
    planes: Ints,
    low: int,
    end: int,
    high: int,
    run: int,
    kind: int,
    n: int,
    workspace: CutWorkspace,
    judge: CutRules,
) -> bool:
    """Judge a cut whose left histograms are filled."""
    # Sides are needed only to count the population that each box covers.
    if high > end:
        first = workspace.wide[STARTS, run] if kind == AROUND else np.int64(0)
        last = workspace.wide[STARTS, run + 1]
        mark(workspace.runs, end - low, first, last, workspace.flags, SIDE)
    left = workspace.wide[RUN_WEIGHT if kind == AROUND else HEAD_WEIGHT, run]
    return sides_ok(settings, planes, low, end, high, left, n, workspace.flags, judge)


@inner
def take(n: int, run: int, kind: int, workspace: CutWorkspace) -> None:
    """Remember a cut as the best so far."""
    first = workspace.wide[STARTS, run] if kind == AROUND else np.int64(0)
    last = workspace.wide[STARTS, run + 1]
    mark(workspace.runs, n, first, last, workspace.flags, CHOSEN)


@inner
def mark(runs: Codes, n: int, first: int, last: int, flags: Bytes, row: int) -> None:
    """Flag the records at places first … last − 1 of the line, and no others."""
    for i in range(n):
        flags[row, runs[ORDER, i]] = first <= i < last
