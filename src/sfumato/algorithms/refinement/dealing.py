"""Deal rows out among the boxes of groups that are there, at the least loss.

Pools and reopening change boxes. Between them, rows can often go to boxes that lose less
without any box changing: not one by one, because each group needs its rows, but along
chains of groups (`kernels/refinement/dealt_rows.py`). In a block of groups that are alike,
no other way to deal the rows out among the same boxes loses less; boxes then shrink.
Groups that others can take rows from are used up by this, so it is for the end.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

import numpy as np

from sfumato.algorithms.common.parallel_ranges import Clock, Range
from sfumato.algorithms.refinement.refinement_task import (
    RefinementTask,
    StopConditions,
    blocks_of_groups,
    rows_of_blocks,
    through_blocks,
)
from sfumato.algorithms.request import Request
from sfumato.data.arrays import Floats
from sfumato.data.seeds import Seed
from sfumato.hierarchies.axis import Axis, Shape
from sfumato.kernels.refinement.close_and_open import LOOKS_PER_WEIGHED
from sfumato.kernels.refinement.dealt_rows import GroupBoxes, deal_blocks
from sfumato.kernels.refinement.refinement_round import (
    GAIN,
    WEIGHED,
    RefinedGroups,
    lay_out,
    number_groups,
    total_loss,
)

MOST_LOOKS = 50_000_000
"""Looks at tuples in one block, at most."""


def can_deal(request: Request, task: RefinementTask) -> bool:
    """Whether rows may move between boxes: only the sizes of groups count."""
    trees = all(coded.axis.shape is Shape.TREE for coded in request.quasi)
    return bool(request.quasi) and trees and bool(task.pool_rules.plain)


def deal_rows(
    request: Request,
    task: RefinementTask,
    *,
    seed: Seed,
    limits: StopConditions,
    clock: Clock,
) -> Floats:
    """Deal the rows of all blocks out once; the figures of each block."""
    blocks, bounds = blocks_of_groups(task, seed.child("blocks"))
    figures = np.zeros((len(bounds) - 1, 4))
    groups = lay_out(task.space, task.item_of, task.rows, task.starts)
    boxes = boxes_of([coded.axis for coded in request.quasi], groups)
    minimum = max(int(task.pool_rules.minimum), 1)

    def step(first: int, last: int) -> Iterable[Range]:
        if time.monotonic() > limits.deadline:
            return []
        with clock.running():
            deal_blocks(
                task.space.points,
                boxes,
                minimum,
                groups,
                blocks,
                bounds,
                first,
                last,
                MOST_LOOKS,
                task.label,
                figures,
            )
        return []

    through_blocks(request, limits, rows_of_blocks(task, blocks, bounds), step)
    rows, starts = number_groups(task.label)
    dealt = lay_out(task.space, task.item_of, rows, starts)
    gain = total_loss(task.space, groups) - total_loss(task.space, dealt)
    figures[0, GAIN] = gain
    figures[:, WEIGHED] /= LOOKS_PER_WEIGHED
    return figures


def boxes_of(axes: list[Axis], groups: RefinedGroups) -> GroupBoxes:
    """The leaves under the nodes that groups show, and what a row loses there."""
    low, high = np.empty_like(groups.low), np.empty_like(groups.high)
    costs = np.zeros(len(groups.low))
    for j, axis in enumerate(axes):
        nodes = axis.covering(groups.low[:, j], groups.high[:, j])
        first = np.full(len(axis.node_ncp), axis.size, dtype=np.int32)
        last = np.zeros(len(axis.node_ncp), dtype=np.int32)
        leaves = np.broadcast_to(np.arange(axis.size), axis.levels.shape)
        np.minimum.at(first, axis.levels, leaves)
        np.maximum.at(last, axis.levels, leaves)
        low[:, j], high[:, j] = first[nodes], last[nodes]
        costs += axis.weight * axis.node_ncp[nodes]
    return GroupBoxes(low, high, costs)
