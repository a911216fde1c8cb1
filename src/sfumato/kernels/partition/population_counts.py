"""Count the people of a population table whom a group's published cells cover.

Records of the population follow the table's own in every range. They never affect a
box or a cut, since only the table is published; they move with the side that covers them.

Paper: the population rows that match a group, as k-map (Sweeney 2002) and δ-presence
(Nergiz, Atzori and Clifton 2007) count them.
Cost: O((r + p) × m) per question for r records of the table and p of the population on
m axes; on a tree each cell outside the box takes O(h) for h levels.
Invariant: a person counts for a side only if every published cell of its box could
stand for the person, and for at most one side; `inside` is 0 between uses.
"""

from __future__ import annotations

import numpy as np

from sfumato.data.arrays import Bytes, Ints
from sfumato.kernels.common.geometry import (
    FIRST_WORD,
    FLAT,
    FREE,
    POSITIONS,
    SHAPE,
    AxisTables,
    covering_node,
)
from sfumato.kernels.common.packed_records import TAG
from sfumato.kernels.compilation.decorators import inner
from sfumato.kernels.partition.cut_workspace import (
    HIGH,
    LOW,
    MASK,
    SHIFT,
    SIDE,
    WORD,
    CutRules,
    CutSettings,
)


@inner
def people_beside(
    settings: CutSettings,
    planes: Ints,
    low: int,
    end: int,
    high: int,
    which: int,
    flags: Bytes,
    judge: CutRules,
) -> int:
    """Count people whom the box of side `which` covers; side 1 comes first.

    A record that both boxes cover (tree nodes and relaxed boxes may overlap) stays
    with side 1, so that side 0 may count too few, never too many.
    """
    tag = len(planes) - 1
    people = np.int64(0)
    if high == end:
        return people
    draw_box(settings, planes, low, end, which, flags, judge)
    for i in range(end, high):
        if which == 1:
            flags[SIDE, i - low] = inside_box(settings, planes, i, judge)
            people += flags[SIDE, i - low] * (planes[tag, i] >> TAG)
        elif flags[SIDE, i - low] == 0 and inside_box(settings, planes, i, judge):
            people += planes[tag, i] >> TAG
    wipe_box(settings, planes, low, end, judge)
    return people


@inner
def draw_box(
    settings: CutSettings,
    planes: Ints,
    low: int,
    end: int,
    which: int,
    flags: Bytes,
    judge: CutRules,
) -> None:
    """Draw the box of the table's records on one side: extremes, and marks for sets."""
    for j in range(settings.axes):
        plane = planes[settings.fields[WORD, j]]
        flat = settings.tables.axis[j, SHAPE] == FLAT
        marks = settings.tables.axis[j, FIRST_WORD] * 64
        lowest = settings.fields[MASK, j]
        highest = np.int64(0)
        for i in range(low, end):
            if flags[SIDE, i - low] == which:
                code = (plane[i] >> settings.fields[SHIFT, j]) & settings.fields[
                    MASK, j
                ]
                lowest = min(lowest, code)
                highest = max(highest, code)
                if flat:
                    judge.inside[marks + code] = 1
        judge.box[LOW, j] = lowest
        judge.box[HIGH, j] = highest


@inner
def wipe_box(
    settings: CutSettings, planes: Ints, low: int, end: int, judge: CutRules
) -> None:
    """Clear the marks that `draw_box` made."""
    for j in range(settings.axes):
        if settings.tables.axis[j, SHAPE] == FLAT:
            plane = planes[settings.fields[WORD, j]]
            marks = settings.tables.axis[j, FIRST_WORD] * 64
            for i in range(low, end):
                code = (plane[i] >> settings.fields[SHIFT, j]) & settings.fields[
                    MASK, j
                ]
                judge.inside[marks + code] = 0


@inner
def inside_box(settings: CutSettings, planes: Ints, i: int, judge: CutRules) -> bool:
    """Tell whether the cells of the box cover record i."""
    for j in range(settings.axes):
        plane = planes[settings.fields[WORD, j]]
        code = (plane[i] >> settings.fields[SHIFT, j]) & settings.fields[MASK, j]
        if settings.tables.axis[j, SHAPE] == FLAT:
            if judge.inside[settings.tables.axis[j, FIRST_WORD] * 64 + code] == 0:
                return False
        elif not covers(
            settings.tables, j, code, judge.box[LOW, j], judge.box[HIGH, j]
        ):
            return False
    return True


@inner
def covers(tables: AxisTables, j: int, code: int, low: int, high: int) -> bool:
    """Tell whether the node or interval over low … high covers a code."""
    if low <= code <= high:
        return True
    if low == high:
        return False
    if tables.axis[j, SHAPE] == FREE:
        # An interval that mixes missing values and numbers is shown as `*`.
        return np.isnan(tables.real[tables.axis[j, POSITIONS] + high])
    node = covering_node(tables, j, low, high)
    return covering_node(tables, j, min(low, code), max(high, code)) == node
