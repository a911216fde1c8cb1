"""MDAV: microaggregation around the rows farthest from the center."""

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
from sfumato.data.arrays import Floats, Ints
from sfumato.data.grouping import Grouping
from sfumato.kernels.clustering.centers import MdavRecords, mdav_some

BATCH = 20
"""Pairs of groups between two reports of progress."""

SMALLEST, LARGEST = 1e-100, 1e100
"""Magnitudes whose squares, summed over many rows, are ordinary floats."""


@dataclass(frozen=True, kw_only=True)
class Mdav(CellwiseAlgorithm):
    """Maximum distance to average vector: groups of k around extreme rows.

    Guarantee: every group meets every requirement; no row is suppressed.
    Method: while 3k rows are left, take the row farthest from their center and the
    row farthest from that one, and make a group of each with its k − 1 nearest; then
    one more such group if 2k are left, and one of the rest. Numbers alone: Euclidean
    distances of standardized numbers. With categories or missing numbers: Gower's,
    which is the difference over the range, or 0 and 1; the center then has means and
    most frequent values. A group that breaks a further requirement merges with the
    neighbor with which it loses least.
    Cost: n² / k distances.
    Limits: of hierarchies only numbers are used. Made for `microaggregate`, which
    publishes the means.
    Reference: Domingo-Ferrer and Mateo-Sanz 2002; Domingo-Ferrer and Torra 2005.
    """

    name: ClassVar[str] = "mdav"
    sentence: ClassVar[str] = (
        "Groups the k nearest rows around those farthest from the center."
    )
    counts_population: ClassVar[bool] = False

    def search(self, request: Request) -> Solution:
        """Find a grouping that meets every requirement."""
        if request.rows == 0:
            return nothing()
        task = prepare(request, ClusteringPlan(merged=False, filtered=False))
        records = make_records(task)
        group_of, groups = _assign(task, records, least_persons(request))
        grouping = from_assignment(task, group_of, groups)
        within, total = squares(request, grouping)
        facts = facts_of(
            task,
            grouping,
            distance="euclidean" if records.squared else "gower",
            sse=within,
            sst=total,
        )
        return Solution(grouping=grouping, facts=facts)


def _assign(task: ClusteringTask, records: MdavRecords, k: int) -> tuple[Ints, int]:
    """A group for every unit."""
    count = len(task.units.weight)
    group_of = np.full(count, -1, dtype=np.int64)
    groups = 0
    while (group_of < 0).any():
        with task.clock.running():
            groups = int(mdav_some(records, k, group_of, groups, BATCH))
        task.request.progress("forming groups", 1 - (group_of < 0).sum() / count)
    return group_of, groups


def make_records(task: ClusteringTask) -> MdavRecords:
    """Units as numbers and categories, scaled."""
    axes = [coded.axis for coded in task.request.quasi]
    numeric = np.array([axis.kind.numeric for axis in axes])
    weights = np.array([axis.weight for axis in axes])
    numbers = unit_means(task, numeric)[:, numeric]
    squared = bool(numeric.all()) and not np.isnan(numbers).any()
    spread = _deviations(numbers) if squared else _ranges(numbers)
    spread = np.where(spread > 0, spread, 1.0)
    factor = np.sqrt(weights[numeric]) if squared else weights[numeric]
    return MdavRecords(
        numbers=np.ascontiguousarray(numbers / spread * factor),
        weights=weights[numeric],
        codes=np.ascontiguousarray(task.units.low[:, : len(axes)][:, ~numeric]),
        mismatch=weights[~numeric],
        squared=squared,
    )


def _deviations(numbers: Floats) -> Floats:
    """Standard deviation of each column, also where squares would overflow or vanish."""
    largest = np.abs(numbers).max(axis=0, initial=0.0)
    ordinary = (largest == 0) | ((largest > SMALLEST) & (largest < LARGEST))
    scale = np.where(ordinary, 1.0, largest)
    return np.asarray((numbers / scale).std(axis=0) * scale)


def _ranges(numbers: Floats) -> Floats:
    """Highest less lowest known number of each column."""
    known = ~np.isnan(numbers)
    highest = np.where(known, numbers, -np.inf).max(axis=0, initial=-np.inf)
    lowest = np.where(known, numbers, np.inf).min(axis=0, initial=np.inf)
    return np.where(np.isfinite(highest), highest - lowest, 0.0)


def squares(request: Request, grouping: Grouping) -> tuple[float, float]:
    """Squared errors within groups and in all (SSE, SST), of standardized numbers.

    Where a column has one number only, or none is known, it adds nothing.
    """
    within = total = 0.0
    for coded in request.quasi:
        if coded.axis.positions is None:
            continue
        numbers = coded.axis.positions[coded.codes]
        known = ~np.isnan(numbers) & grouping.kept
        deviation = float(_deviations(numbers[known])) if known.any() else 0.0
        if deviation == 0:
            continue
        scaled = (numbers[known] - numbers[known].mean()) / deviation
        owner = grouping.group_of[known]
        sums = np.bincount(owner, weights=scaled, minlength=grouping.count)
        counts = np.maximum(np.bincount(owner, minlength=grouping.count), 1)
        within += float(((scaled - (sums / counts)[owner]) ** 2).sum())
        total += float((scaled**2).sum())
    return within, total
