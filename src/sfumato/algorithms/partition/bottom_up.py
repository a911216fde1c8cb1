"""Bottom-up greedy: merge groups that are too small with their nearest neighbor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.base import Algorithm, Request, Solution
from sfumato.algorithms.partition.box_space import (
    build_space,
    require_one_group,
)
from sfumato.data.grouping import Grouping
from sfumato.kernels.common.boxes import new_boxes
from sfumato.kernels.common.histograms import BoxHistograms, histograms_for
from sfumato.kernels.partition.greedy_boxes import BoxSpace
from sfumato.kernels.partition.nearest_merge import (
    ALIVE,
    MergingGroups,
    groups_of,
    merge_some,
    new_merging_groups,
)

BATCH = 50
"""Merges between two reports of progress."""


@dataclass(frozen=True, kw_only=True)
class BottomUp(Algorithm):
    """Repeated merging of neighbors, guided by NCP.

    Guarantee: every group meets every requirement; no row is suppressed.
    Method: rows with equal quasi-identifiers start as one group. Round after round,
    each group that breaks a requirement merges with the group with which it loses
    least (of equals, the first in the order of values). A group of
    twice the minimum size or more is split around its two most distant rows, with
    the corrective step of `top-down`. Attribute weights are those of the columns.
    Departs from the paper only in that equal rows need not be merged one by one, and in
    how it splits, which the paper leaves open.
    Cost: quadratic in the distinct tuples: tens of thousands take seconds, a million
    takes hours; `top-down` is the paper's faster alternative.
    Limits: groups may overlap.
    Reference: Xu et al. 2006, section 5.1.
    """

    name: ClassVar[str] = "bottom-up"
    sentence: ClassVar[str] = (
        "Merges groups that are too small with the neighbor that costs least."
    )
    counts_population: ClassVar[bool] = False

    def search(self, request: Request) -> Solution:
        space = build_space(request)
        room = histograms_for(space.values)
        require_one_group(request, space, room)
        groups = new_merging_groups(space, *_alike(request))
        merges = _merge_all(request, space, groups, room)
        grouping = Grouping.renumbered(groups_of(groups))
        return Solution(
            grouping=grouping,
            facts={"groups": grouping.count, "merges": merges, "rows_suppressed": 0},
        )


def _alike(
    request: Request,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Rows sorted by all their codes, and where each distinct tuple starts."""
    quasi = [coded.codes for coded in request.quasi]
    rest = [coded.codes for coded in request.sensitive.values()]
    if request.subject is not None:
        rest.append(request.subject)
    rows = np.lexsort([*rest[::-1], *quasi[::-1]])
    ordered = np.column_stack(quasi)[rows]
    new = np.flatnonzero((ordered[1:] != ordered[:-1]).any(axis=1)) + 1
    return rows, np.concatenate([[0], new, [len(rows)]]).astype(np.int64)


def _merge_all(
    request: Request, space: BoxSpace, groups: MergingGroups, room: BoxHistograms
) -> int:
    """Merge until every group meets the requirements; how many merges it took."""
    waiting = int((groups.status == ALIVE).sum())
    boxes = new_boxes(space.tables, 3)
    finished = False
    while not finished:
        finished = merge_some(space, groups, BATCH, boxes, room)
        left = int((groups.status == ALIVE).sum())
        request.progress("merging groups", 1 - left / max(waiting, 1))
    return int(groups.counters[2])
