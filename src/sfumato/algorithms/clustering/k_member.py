"""k-member: grow one group at a time by adding the row that costs least."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.algorithms.base import Request, Solution
from sfumato.algorithms.cellwise.cellwise_algorithm import CellwiseAlgorithm
from sfumato.algorithms.clustering.clustering_task import (
    ClusteringPlan,
    ClusteringTask,
    cluster_rules_of,
    facts_of,
    finish,
    make_work,
    nothing,
    prepare,
    require_choice,
)
from sfumato.data.option_examples import OptionExamples
from sfumato.kernels.clustering.add_unit import ROWS
from sfumato.kernels.clustering.block_tree import START
from sfumato.kernels.clustering.first_unit import first_left, furthest, next_drawn
from sfumato.kernels.clustering.group_growth import GrowthState, grow_members

SEEDS = {"first": first_left, "furthest": furthest, "random": next_drawn}
UNTABLED = 8
"""How much longer it takes to find the loss of a cell that is in no table."""
BATCH = 25
"""Groups between two reports of progress."""


@dataclass(frozen=True, kw_only=True)
class KMember(CellwiseAlgorithm):
    """Greedy clustering: a group takes its nearest row until it is allowed.

    Guarantee: every group meets every requirement; no row is suppressed.
    Method: begin a group with the first row left in the order of codes (`first`), with
    the row farthest from the one added last (`furthest`, the paper's rule, whose late
    groups collect what is left all over the table), or with one drawn (`random`); add
    the row with which the group then loses least, until it has k rows and meets every
    requirement. Left-over rows join the group whose loss grows least. Once the places
    left are as many as the sensitive values still missing, only rows that help are
    admitted. A group that cannot be completed is dissolved.
    Exact: the nearest row is found through bounds on blocks of rows, never missed;
    of equal ones, the first in the order of codes is taken.
    Departs from the paper in the loss: NCP in place of the height of taxonomy nodes.
    Cost: at worst quadratic in the distinct tuples; Adult takes 0.2 s.
    Limits: greedy; groups may overlap, and the last ones are wide.
    Reference: Byun, Kamra, Bertino and Li, Efficient k-anonymization using clustering
    techniques, DASFAA 2007.
    """

    name: ClassVar[str] = "k-member"
    sentence: ClassVar[str] = (
        "Grows one group after another by the row with which it loses least."
    )
    counts_population: ClassVar[bool] = False
    examples: ClassVar[OptionExamples] = ({"seed": "furthest"},)

    seed: str = "first"
    """The row that a group begins with: the "first" left in the order of codes, the
    "furthest" from the one added last, or a "random" one."""

    def __post_init__(self) -> None:
        require_choice(self.name, "seed", self.seed, tuple(SEEDS))

    def search(self, request: Request) -> Solution:
        """Find a grouping that meets every requirement."""
        if request.rows == 0:
            return nothing()
        return cluster(prepare(request, ClusteringPlan()), self.seed)


def cluster(task: ClusteringTask, seed: str) -> Solution:
    """Grow groups from seeds of a kind until too few rows are left, then finish."""
    work = first_work(task, seed)
    grow_all(task, work)
    grouping = finish(task, work.clusters, work.middle, by_rows=True)
    return Solution(grouping=grouping, facts=facts_of(task, grouping, seed=seed))


def first_work(task: ClusteringTask, seed: str) -> GrowthState:
    """Allocate what growing all units from seeds of a kind needs."""
    count = len(task.units.weight)
    with task.clock.running():
        return make_work(
            task,
            seed=SEEDS[seed],
            order=task.request.seed.child("seeds").permutation(count),
            parts=np.array([0, count]),
            layout=np.arange(count),
        )


def grow_all(
    task: ClusteringTask, work: GrowthState, *, most: float = math.inf
) -> bool:
    """Grow groups in batches, with progress; whether `most` cells sufficed for all."""
    request, cluster_rules = task.request, cluster_rules_of(task, work.clusters)
    finished = False
    while not finished and cells_looked_at(work) <= most:
        with task.clock.running():
            finished = grow_members(work, cluster_rules, BATCH)
        request.progress("growing groups", 1 - work.state[ROWS] / request.rows)
    return finished


def cells_looked_at(work: GrowthState) -> int:
    """Return how many cells of rows, or of blocks of rows, were compared with a group.

    A cell whose loss is in no table counts several times: it takes so much longer.
    """
    tabled = work.search.columns[:, START] >= 0
    return int(work.search.best[1]) * int(np.where(tabled, 1, UNTABLED).sum())
