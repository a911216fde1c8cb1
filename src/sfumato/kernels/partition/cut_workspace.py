"""Hold the settings of a cut, its rules, and the arrays that it works on.

Every array that is passed makes a compiled call slower, so arrays of one kind
share one: `workspace.wide[KEYS]` is a row of it. `judge` is None where a least group
size is all that is asked; everything about rules and population is then compiled away.

Cost: memory O(r × (8 + v)) for groups of up to r records and v views, once per thread;
measuring a box takes O(r × m) on m axes.
Invariant: a workspace serves one thread; LAST of `flat` is −1 and `inside` is 0 between
uses, so that neither has to be cleared for its whole width.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.data.arrays import Bytes, Codes, Floats, Ints
from sfumato.kernels.common.geometry import (
    FLAT,
    SHAPE,
    SIZE,
    WORDS,
    AxisTables,
    count_bits,
    run_loss,
    set_loss,
)
from sfumato.kernels.common.group_rules import RuleTable
from sfumato.kernels.common.packed_records import TAG
from sfumato.kernels.compilation.decorators import inner
from sfumato.kernels.partition.dense_rows import DenseWorkspace, make_dense_workspace

WORD, SHIFT, MASK = 0, 1, 2
"""Rows of `fields`: first one column per axis, then one per view."""

LOW, HIGH, PRESENT = 0, 1, 2
"""Rows of `workspace.box`. PRESENT counts values on a flat axis; else 1, or 2 for more."""

SIDE, CHOSEN = 0, 1
"""Rows of `workspace.flags`, one flag per record of the group."""

KEYS, SPARE, WEIGHTS, STARTS, RANK, RUN_WEIGHT, HEAD_WEIGHT = 0, 1, 2, 3, 4, 5, 6
"""Rows of `workspace.wide`."""

HEAD, TAIL, ONE, REST, AFTER, AROUND = 0, 1, 2, 3, 4, 5
"""Rows of `workspace.costs`: costs of parts; scores of cuts after and around each run."""

ORDER, RUN_LOW, RUN_HIGH, UNTIL_LOW, UNTIL_HIGH, FROM_LOW, FROM_HIGH, PARENT = range(8)
"""Rows of `workspace.runs`: the order of the line; extremes of each run, of all runs before
a place and of all from it on, each highest code in the row after the lowest; and the run
of the next level that each run is a part of."""

FIRST, LAST, FOUND = 0, 1, 2
"""Rows of `workspace.flat`, one place per value of a flat axis; LAST is −1 between uses."""

BITS = 63
"""A flat axis with at most this many values is scanned as one bit set."""


class CutSettings(NamedTuple):
    """Axes and options; the same for every group."""

    tables: AxisTables
    fields: Ints
    axes: int
    least: int
    """No group may have fewer rows than this."""
    by_frequency: bool
    """Whether flat values are lined up by frequency rather than by code."""
    relaxed: bool
    dense: bool
    """Whether cuts by gain are found in dense rows, where only a size is asked."""


class CutWorkspace(NamedTuple):
    """Arrays for one thread and groups of up to a given number of records."""

    box: Ints
    axis_costs: Floats
    flags: Bytes
    wide: Ints
    costs: Floats
    runs: Codes
    edges: Codes
    """The extremes of each run on every tree or free axis, lowest and highest in turn."""
    flat: Codes
    position: Ints
    """Weight, then rank, of each code on one axis, counted from its lowest."""
    tried: Ints
    """The axes in the order in which they are tried."""
    dense: DenseWorkspace


class CutRules(NamedTuple):
    """The rules, and arrays to judge a group by them."""

    rules: RuleTable
    views: int
    samples: int
    """Records with this number or a higher one are of the population table."""
    labels: Codes
    """(views, records): each record's value, numbered within the group."""
    codes: Codes
    """(views, values): the code behind each number."""
    lengths: Ints
    total: Ints
    left: Ints
    right: Ints
    inside: Bytes
    """Marks of the values in a box, per flat axis; 0 between uses."""
    box: Ints


def make_cut_workspace(settings: CutSettings, capacity: int) -> CutWorkspace:
    """A workspace for groups of up to `capacity` records; untouched pages cost nothing."""
    axis = settings.tables.axis
    sizes = axis[:, SIZE]
    flat = int(sizes[axis[:, SHAPE] == FLAT].max(initial=1))
    span = int(min(sizes.max(initial=1), 4 * capacity + 256))
    places = capacity + 1
    return CutWorkspace(
        box=np.empty((3, settings.axes), dtype=np.int64),
        axis_costs=np.empty(settings.axes),
        flags=np.empty((2, capacity), dtype=np.uint8),
        wide=np.empty((7, places), dtype=np.int64),
        costs=np.empty((6, places)),
        runs=np.empty((8, places), dtype=np.int32),
        edges=np.empty((2 * settings.axes, places), dtype=np.int32),
        flat=np.full((3, flat), -1, dtype=np.int32),
        position=np.empty(span, dtype=np.int64),
        tried=np.empty(settings.axes, dtype=np.int64),
        dense=make_dense_workspace(settings.tables, capacity, used=settings.dense),
    )


def make_cut_rules(
    settings: CutSettings, rules: RuleTable, *, views: int, samples: int, capacity: int
) -> CutRules:
    """Make a judge for groups of up to `capacity` records."""
    shape = (views, capacity if views else 0)
    return CutRules(
        rules=rules,
        views=views,
        samples=samples,
        labels=np.empty(shape, dtype=np.int32),
        codes=np.empty(shape, dtype=np.int32),
        lengths=np.zeros(views, dtype=np.int64),
        total=np.empty(shape, dtype=np.int64),
        left=np.empty(shape, dtype=np.int64),
        right=np.empty(shape, dtype=np.int64),
        inside=np.zeros(int(settings.tables.axis[:, WORDS].sum()) * 64, dtype=np.uint8),
        box=np.empty((2, settings.axes), dtype=np.int64),
    )


@inner
def weight_of(planes: Ints, low: int, high: int) -> int:
    """Count the rows behind a range of records."""
    tags = planes[len(planes) - 1, low:high]
    total = np.int64(0)
    for i in range(len(tags)):
        total += tags[i] >> TAG
    return total


@inner
def measure_box(
    settings: CutSettings, planes: Ints, low: int, high: int, workspace: CutWorkspace
) -> float:
    """Find the box of a range of records; return its cost, summed over the axes."""
    box = workspace.box
    total = 0.0
    for j in range(settings.axes):
        plane = planes[settings.fields[WORD, j], low:high]
        shift = settings.fields[SHIFT, j]
        mask = settings.fields[MASK, j]
        if settings.tables.axis[j, SHAPE] == FLAT:
            box[LOW, j] = 0
            box[HIGH, j] = settings.tables.axis[j, SIZE] - 1
            if settings.tables.axis[j, SIZE] > BITS:
                box[PRESENT, j] = many_values(plane, shift, mask, workspace.flat)
            else:
                box[PRESENT, j] = few_values(plane, shift, mask)
            cost = set_loss(settings.tables, j, box[PRESENT, j])
        else:
            box[LOW, j], box[HIGH, j] = extremes(plane, shift, mask)
            box[PRESENT, j] = 1 if box[LOW, j] == box[HIGH, j] else 2
            cost = run_loss(settings.tables, j, box[LOW, j], box[HIGH, j])
        workspace.axis_costs[j] = cost
        total += cost
    return total


@inner
def extremes(plane: Ints, shift: int, mask: int) -> tuple[int, int]:
    """Find the lowest and highest code of a range of records on one axis."""
    # Codes are compared where they are in their words: shifting each takes longer.
    field = mask << shift
    lowest = np.int64(field)
    highest = np.int64(0)
    for i in range(len(plane)):
        code = plane[i] & field
        lowest = min(lowest, code)
        highest = max(highest, code)
    return lowest >> shift, highest >> shift


@inner
def few_values(plane: Ints, shift: int, mask: int) -> int:
    """How many values occur on a flat axis with at most `BITS` of them."""
    bits = np.int64(0)
    for i in range(len(plane)):
        bits |= np.int64(1) << ((plane[i] >> shift) & mask)
    return count_bits(np.uint64(bits))


@inner
def many_values(plane: Ints, shift: int, mask: int, flat: Codes) -> int:
    """Count the values that occur on a flat axis with any number of them."""
    count = np.int64(0)
    for i in range(len(plane)):
        code = (plane[i] >> shift) & mask
        if flat[LAST, code] < 0:
            flat[LAST, code] = 0
            flat[FOUND, count] = code
            count += 1
    for i in range(count):
        flat[LAST, flat[FOUND, i]] = -1
    return count
