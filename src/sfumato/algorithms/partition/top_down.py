"""Top-down greedy: split groups in two as long as that lowers the loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.base import Algorithm, Request, Solution
from sfumato.algorithms.partition.box_space import (
    build_space,
    require_one_group,
    shuffled,
)
from sfumato.data.grouping import Grouping
from sfumato.kernels.common.boxes import new_boxes
from sfumato.kernels.common.histograms import BoxHistograms, histograms_for
from sfumato.kernels.partition.binary_split import split_segments
from sfumato.kernels.partition.greedy_boxes import BoxSpace

BATCH = 200_000
"""Rows visited between two reports of progress."""


@dataclass(frozen=True, kw_only=True)
class TopDown(Algorithm):
    """Recursive binary partition around distant rows, guided by NCP.

    Guarantee: every group meets every requirement; no row is suppressed.
    Method: from any row, go to the farthest from it, and again, to find two distant
    rows; every other row, in random order, joins the one whose group then loses
    less. Corrective step: a half that breaks a requirement borrows its nearest rows
    from the other half, as few as make it meet them, unless the lender would then
    break one or nothing is gained: then the group stays whole. Each half is treated
    in the same way. Attribute weights are those of the columns.
    Departs from the paper, which corrects small groups once, at the end, against all
    groups: against the other half alone the step costs no quadratic search.
    Cost: linear in the rows per level of recursion.
    Limits: a group may overlap another; the result depends on the seed.
    Reference: Xu et al. 2006, section 5.2.
    """

    name: ClassVar[str] = "top-down"
    sentence: ClassVar[str] = (
        "Splits groups around their two most distant rows for as long as it pays."
    )
    counts_population: ClassVar[bool] = False

    def search(self, request: Request) -> Solution:
        space = build_space(request)
        room = histograms_for(space.values)
        require_one_group(request, space, room)
        order = shuffled(request)
        starts = _split_all(request, space, order, room)
        group_of = np.empty(request.rows, dtype=np.int32)
        group_of[order] = np.cumsum(starts, dtype=np.int32) - 1
        return Solution(
            grouping=Grouping(group_of, int(starts.sum())),
            facts={"groups": int(starts.sum()), "rows_suppressed": 0},
        )


def _split_all(
    request: Request, space: BoxSpace, order: npt.NDArray[np.int64], room: BoxHistograms
) -> npt.NDArray[np.uint8]:
    """Reorder rows so that groups are runs; 1 where a run starts."""
    starts = np.zeros(request.rows, dtype=np.uint8)
    starts[0] = 1
    segments = np.zeros((request.rows + 1, 2), dtype=np.int64)
    segments[0] = 0, request.rows
    boxes = new_boxes(space.tables, 3)
    still_open, settled = 1, 0
    while still_open:
        still_open, done = split_segments(
            space, order, segments, still_open, starts, BATCH, boxes, room
        )
        settled += done
        request.progress("splitting groups", settled / request.rows)
    return starts
