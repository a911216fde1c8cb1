"""k-member-p: k-member with protection in place of utility."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sfumato.algorithms.base import Request, Solution
from sfumato.algorithms.cellwise.cellwise_algorithm import CellwiseAlgorithm
from sfumato.algorithms.clustering.clustering_task import (
    ClusteringPlan,
    nothing,
    prepare,
    require_choice,
    require_share,
)
from sfumato.algorithms.clustering.k_member import cluster
from sfumato.data.option_examples import OptionExamples


@dataclass(frozen=True, kw_only=True)
class KMemberP(CellwiseAlgorithm):
    """k-member that minimizes S-diversity and does not look at quasi-identifiers.

    Guarantee: every group meets every requirement; no row is suppressed.
    Method: as `k-member`, but a group takes the row with which its S-diversity, summed
    over the sensitive columns, is least. Of rows that are equally good, the first in
    the order of codes is taken, which keeps groups from being wider than they must.
    `reach` is the estimation range r: values further apart tell nothing.
    Limits: a reference point for protection; its releases are of little use. With
    several rows per person, the first stands for the person in the search.
    Reference: Loukides and Shao, Data utility and privacy protection trade-off in
    k-anonymisation, PAIS 2008 (K-Members-p).
    """

    name: ClassVar[str] = "k-member-p"
    sentence: ClassVar[str] = (
        "Grows groups whose sensitive values lie as far apart as possible."
    )
    counts_population: ClassVar[bool] = False
    examples: ClassVar[OptionExamples] = ({"seed": "random", "reach": 0.5},)

    seed: str = "first"
    """The row that a group begins with: the "first" left in the order of codes, the
    "furthest" from the one added last, or a "random" one."""
    reach: float = 1.0
    """The estimation range r of S-diversity: values further apart, as a share of
    the range, tell nothing."""

    def __post_init__(self) -> None:
        require_choice(self.name, "seed", self.seed, ("first", "random"))
        require_share(self.name, "reach", self.reach)

    def search(self, request: Request) -> Solution:
        """Find a grouping that meets every requirement."""
        if request.rows == 0:
            return nothing()
        plan = ClusteringPlan(quasi=0.0, sensitive=1.0, reach=self.reach)
        return cluster(prepare(request, plan), self.seed)
