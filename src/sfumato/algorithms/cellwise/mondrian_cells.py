"""Cut a table into cells of a bounded size, inside which groups are searched.

Reference: LeFevre, DeWitt and Ramakrishnan, Mondrian multidimensional k-anonymity,
ICDE 2006. Departs from it where it stops: at a number of rows, not at the last allowed
cut.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from sfumato.algorithms.base import Request
from sfumato.algorithms.common.parallel_ranges import Range, work_through
from sfumato.algorithms.partition.mondrian import (
    CutTask,
    Mondrian,
    group_rows,
    prepare,
    refuse_infeasible,
    without_room,
)
from sfumato.data.arrays import Ints
from sfumato.kernels.common.packed_records import TAG
from sfumato.kernels.partition.widest_cut import cut_widest


def mondrian_cells(request: Request, most: int) -> list[Ints]:
    """The rows of each cell, in the order of the cuts.

    A cell of more than `most` rows is cut at the median of its widest axis, while both
    parts, as one group each, meet every rule. A cell that cannot be cut stays larger.
    """
    task = prepare(Mondrian(cut="widest"), request)
    refuse_infeasible(request, task)
    bounds = _cut_to_size(request, task, most)
    nothing = np.empty(0, dtype=np.int64)
    grouping = group_rows(request, without_room(task), bounds, nothing)
    order = np.argsort(grouping.group_of, kind="stable")
    return np.split(order, np.cumsum(grouping.sizes())[:-1])


def _cut_to_size(request: Request, task: CutTask, most: int) -> Ints:
    """Where each cell starts among the records, and the end."""
    settings, records = task.settings, task.records
    total = records.planes.shape[1]
    borders = np.zeros(total, dtype=np.uint8)

    def step(low: int, high: int) -> Iterable[Range]:
        if int((records.planes[-1, low:high] >> TAG).sum()) <= most:
            borders[low] = 1
            return []
        with task.workspace(high - low) as (workspace, judge):
            middle = int(
                cut_widest(
                    settings, records, low, high, True, borders, workspace, judge
                )
            )
        return [(low, middle), (middle, high)] if middle >= 0 else []

    def done(length: int) -> None:
        request.progress("cutting into cells", 0.0)

    work_through([(0, total)], step, threads=task.threads, done=done)
    return np.append(np.flatnonzero(borders), total)
