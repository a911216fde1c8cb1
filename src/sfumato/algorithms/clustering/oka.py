"""OKA: one pass of k-means, then an adjustment that makes every group large enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.algorithms.base import Request, Solution
from sfumato.algorithms.cellwise.cellwise_algorithm import CellwiseAlgorithm
from sfumato.algorithms.clustering.clustering_task import (
    ClusteringPlan,
    ClusteringTask,
    facts_of,
    from_assignment,
    least_persons,
    nothing,
    prepare,
    unit_means,
)
from sfumato.data.arrays import Ints
from sfumato.hierarchies.axis import Shape
from sfumato.kernels.clustering.centers import (
    Centers,
    add_to_center,
    join_nearest,
    release_farthest,
)
from sfumato.kernels.common.boxes import new_boxes
from sfumato.kernels.common.geometry import UNIT

BATCH = 2000
"""Rows between two reports of progress."""


@dataclass(frozen=True, kw_only=True)
class Oka(CellwiseAlgorithm):
    """One-pass k-means, then an adjustment stage.

    Guarantee: every group meets every requirement; no row is suppressed.
    Method: rows sorted by their codes; n / k of them, drawn at random, are the first
    centers. Every other row, in order, joins the nearest center, which moves: it has
    the mean of numbers, and the smallest cell over the group of everything else; the
    distance is the difference of numbers over their range, and the loss of the
    cell. Adjustment: groups above k shed the rows farthest from their center; these
    rows, in random order, join the nearest group that is still below k, or the
    nearest of all once there is none. A group that then breaks a further requirement
    merges with the neighbor with which it loses least.
    Departs from the paper in the loss: NCP in place of the height of taxonomy nodes.
    Cost: n² / k distances.
    Limits: the result depends on the seed; groups may overlap.
    Reference: Lin and Wei, An efficient clustering method for k-anonymization,
    PAIS 2008.
    """

    name: ClassVar[str] = "oka"
    sentence: ClassVar[str] = (
        "Gives each row to the nearest of n / k moving centers, then evens groups out."
    )
    counts_population: ClassVar[bool] = False

    def search(self, request: Request) -> Solution:
        """Find a grouping that meets every requirement."""
        if request.rows == 0:
            return nothing()
        task = prepare(request, ClusteringPlan(merged=False, filtered=False))
        group_of, groups = _assign(task, least_persons(request))
        grouping = from_assignment(task, group_of, groups)
        return Solution(
            grouping=grouping, facts=facts_of(task, grouping, centers=groups)
        )


def _assign(task: ClusteringTask, k: int) -> tuple[Ints, int]:
    """A group for every unit."""
    units, seed = task.units, task.request.seed
    count = len(units.weight)
    groups = max(1, count // k)
    centers = _centers(task, groups)
    group_of = np.full(count, -1, dtype=np.int64)
    drawn = seed.child("centers").permutation(count)[:groups]
    changed = np.zeros(units.low.shape[1], dtype=np.int64)
    with task.clock.running():
        for g, u in enumerate(drawn.tolist()):
            add_to_center(units, centers, g, u, changed)
            group_of[u] = g
    _join(task, centers, np.flatnonzero(group_of < 0), group_of, 0, "joining centers")
    with task.clock.running():
        release_farthest(units, centers, k, group_of)
    rest = np.flatnonzero(group_of < 0)
    order = rest[seed.child("rest").permutation(len(rest))]
    _join(task, centers, order, group_of, k, "evening groups out")
    return group_of, groups


def _join(
    task: ClusteringTask,
    centers: Centers,
    order: Ints,
    group_of: Ints,
    below: int,
    step: str,
) -> None:
    for begin in range(0, len(order), BATCH):
        part = order[begin : begin + BATCH]
        with task.clock.running():
            join_nearest(task.units, centers, part, group_of, below)
        task.request.progress(step, (begin + len(part)) / len(order))


def _centers(task: ClusteringTask, groups: int) -> Centers:
    """Empty centers."""
    axes = [coded.axis for coded in task.request.quasi]
    numeric = np.array([axis.shape is Shape.FREE for axis in axes])
    numbers = unit_means(task, numeric) * task.units.tables.factor[:, UNIT]
    return Centers(
        numbers=np.ascontiguousarray(numbers),
        numeric=numeric,
        sums=np.zeros((groups, len(axes))),
        known=np.zeros((groups, len(axes)), dtype=np.int64),
        size=np.zeros(groups, dtype=np.int64),
        box=new_boxes(task.units.tables, groups),
    )
