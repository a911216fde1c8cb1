"""TGC: threshold-based greedy clustering that trades utility against protection."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from sfumato.algorithms.base import Request, Solution, silent
from sfumato.algorithms.cellwise.cellwise_algorithm import CellwiseAlgorithm
from sfumato.algorithms.clustering.clustering_task import (
    ClusteringPlan,
    ClusteringTask,
    cluster_rules_of,
    facts_of,
    finish,
    least_persons,
    make_work,
    nothing,
    prepare,
    require_count,
    require_share,
    single_loss,
)
from sfumato.data.grouping import Grouping
from sfumato.data.option_examples import OptionExamples
from sfumato.data.rules import View
from sfumato.errors import PolicyError
from sfumato.kernels.clustering.add_unit import PART
from sfumato.kernels.clustering.first_unit import next_drawn
from sfumato.kernels.clustering.group_growth import grow_to_threshold, pre_partition
from sfumato.kernels.clustering.nearest_unit import column_kinds
from sfumato.models.common.distances import s_diversity
from sfumato.models.common.groups import build_groups
from sfumato.models.k_anonymity import KAnonymity
from sfumato.publish.group_spans import Extent

PRESETS = {"TGCU": 1.0, "TGCB": 0.5, "TGCP": 0.0}
SPACE = 5
"""A subspace has at least this many times k rows, unless `size` says otherwise."""
SAMPLE = 20
"""A sample has at least this many times k rows, or as many as the table."""
BATCH = 200
"""Groups between two reports of progress."""


@dataclass(frozen=True)
class TgcThresholds:
    """The thresholds of one run, and how they were found."""

    delta: float
    split: float
    runs: int = 0


@dataclass(frozen=True)
class TgcClusters:
    """What one clustering made."""

    grouping: Grouping
    subspaces: int
    rejected: int
    """Rows of clusters that were dissolved."""


@dataclass(frozen=True, kw_only=True)
class Tgc(CellwiseAlgorithm):
    """Clusters up to a threshold of quality, in subspaces found by medians.

    Guarantee: every group meets every requirement; no row is suppressed.
    Method: a group begins with a row drawn at random and takes the row with which its
    weighted tuple diversity is least, until that would exceed δ: `utility_weight` ×
    mean Q-diversity + (1 − `utility_weight`) × mean S-diversity. A group that is then
    too small or breaks a requirement is dissolved, and each of its rows joins the
    group whose diversity grows least. Before that, the table is halved at the median
    of the quasi-identifier with most values, while both halves have at least `size`
    rows (5k unless given) and a sum of S-diversities of at most δ′. δ and δ′ are
    those that do best on a sample: lowest utility plus protection over the midpoints
    of 2, 4, … 2^`iterations` intervals; of equals, the largest of those that dissolve
    groups of fewest rows. `preset` TGCU, TGCB, TGCP sets the weight to 1, 0.5, 0.
    Departs from the paper where rows left over are many: beyond 2 × 10⁸ comparisons,
    a row is compared with the 512 or more groups of its neighborhood. Samples have at
    least 20k rows.
    Cost: n log n, and n × `size`; then rows left over × rows in groups, which is most of
    it where δ rejects many groups.
    Limits: groups may overlap. With several rows per person, the first stands for the
    person in the search.
    Reference: Loukides and Shao, Data utility and privacy protection trade-off in
    k-anonymisation, PAIS 2008.
    """

    name: ClassVar[str] = "tgc"
    sentence: ClassVar[str] = (
        "Grows groups up to a threshold that weighs utility against protection."
    )
    counts_population: ClassVar[bool] = False
    examples: ClassVar[OptionExamples] = (
        {"preset": "TGCU", "size": 12},
        {
            "utility_weight": 0.8,
            "reach": 0.5,
            "delta": 0.2,
            "split_limit": 0.5,
            "sample": 0.1,
            "iterations": 2,
        },
    )

    utility_weight: float = 0.5
    """How much utility counts against protection: 1 is utility alone, 0 protection
    alone."""
    preset: Literal["TGCU", "TGCB", "TGCP"] | None = None
    """The weight by its name in the paper: TGCU is 1, TGCB 0.5, TGCP 0; instead of
    `utility_weight`."""
    reach: float = 1.0
    """The estimation range r of S-diversity."""
    size: int | None = None
    """The fewest rows of a subspace; left out: 5k. All rows: there are no subspaces."""
    delta: float | None = None
    """The threshold δ of a group; left out: found on a sample."""
    split_limit: float | None = None
    """The threshold δ′ of a cut; left out: found on a sample."""
    sample: float = 0.025
    """The share of the rows on which the thresholds are found."""
    iterations: int = 4
    """How often the intervals of the thresholds are halved; more is finer and
    slower."""

    def __post_init__(self) -> None:
        require_share(self.name, "utility_weight", self.utility_weight)
        require_share(self.name, "reach", self.reach)
        require_share(self.name, "sample", self.sample)
        require_count(self.name, "iterations", self.iterations)
        if self.size is not None:
            require_count(self.name, "size", self.size)
        for option in ("delta", "split_limit"):
            value = getattr(self, option)
            if value is not None and not value >= 0:
                raise PolicyError(
                    f"tgc: '{option}' is {value}.",
                    hint=f"'{option}' must be at least 0; left out, it is found.",
                )
        if self.preset is not None and self.preset not in PRESETS:
            raise PolicyError(
                f"tgc: 'preset' is {self.preset!r}.",
                hint=f"It must be one of: {', '.join(PRESETS)}.",
            )

    @property
    def weight(self) -> float:
        """The weight of utility, from the preset if there is one."""
        return self.utility_weight if self.preset is None else PRESETS[self.preset]

    def search(self, request: Request) -> Solution:
        """Find a grouping that meets every requirement."""
        if request.rows == 0:
            return nothing()
        limits = self.limits(request)
        task = prepare(request, self.plan(request))
        least = self.size or SPACE * max(task.compiled.table.minimum, 1)
        made = self.cluster(task, limits, least)
        grouping = made.grouping
        utility, protection = quality(request, grouping, reach=self.reach)
        facts = facts_of(
            task,
            grouping,
            delta=limits.delta,
            split_limit=limits.split,
            sample_runs=limits.runs,
            subspaces=made.subspaces,
            subspace_size=least,
            utility_weight=self.weight,
            q_diversity=utility,
            s_diversity=protection,
        )
        return Solution(grouping=grouping, facts=facts)

    def plan(self, request: Request) -> ClusteringPlan:
        """Weighted tuple diversity (definition 3.1): means over the attributes."""
        sensitive_state = len(request.sensitive)
        return ClusteringPlan(
            quasi=self.weight / len(request.quasi),
            sensitive=(1 - self.weight) / sensitive_state if sensitive_state else 0.0,
            reach=self.reach,
            merged=False,
            filtered=False,
            singles=True,
        )

    def limits(self, request: Request) -> TgcThresholds:
        """δ and δ′: those given, or the best on a sample (algorithm 3)."""
        if self.delta is not None and self.split_limit is not None:
            return TgcThresholds(self.delta, self.split_limit)
        task = prepare(self._sample(request), self.plan(request))
        candidates = [self.delta] if self.delta is not None else self._candidates()
        found: list[tuple[float, int, float, float]] = []
        for i, delta in enumerate(candidates):
            request.progress("choosing thresholds", i / len(candidates))
            made = self.cluster(task, TgcThresholds(delta, np.inf), task.request.rows)
            utility, protection = quality(task.request, made.grouping, reach=self.reach)
            # By protection alone, every δ ends with one group of all rows: a large one
            # because S-diversity does not grow with size, a small one because it rejects
            # every cluster. In subspaces it still would, so few rejected rows come next.
            found.append((utility + protection, made.rejected, -delta, protection))
        _, _, negative, protection = min(found)
        split = protection if self.split_limit is None else self.split_limit
        return TgcThresholds(-negative, split, len(candidates))

    def _candidates(self) -> list[float]:
        return [
            (step + 0.5) / 2**i
            for i in range(1, self.iterations + 1)
            for step in range(2**i)
        ]

    def _sample(self, request: Request) -> Request:
        """Rows drawn with replacement; with subjects, each draw is a person of its own."""
        least = SAMPLE * least_persons(request)
        count = max(min(least, request.rows), round(self.sample * request.rows))
        order = np.lexsort(
            [c.codes for c in (*request.sensitive.values(), *request.quasi)]
        )
        draws = request.seed.child("sample").uniform(count)
        rows = order[(draws * request.rows).astype(np.int64)]
        return replace(
            request.only(rows),
            models=(KAnonymity(k=least_persons(request)),),
            subject=None,
            progress=silent,
        )

    def cluster(
        self, task: ClusteringTask, limits: TgcThresholds, least: int
    ) -> TgcClusters:
        """Algorithms 2 and 1, then the rows left over."""
        request, units = task.request, task.units
        _, sizes = column_kinds(units, task.contributions.sizes)
        with task.clock.running():
            layout, parts = pre_partition(
                units, sizes, task.contributions, least, limits.split
            )
            order = request.seed.child("seeds").permutation(len(units.weight))
            where = np.empty(len(layout), dtype=np.int64)
            where[layout] = np.searchsorted(parts, np.arange(len(layout)), side="right")
            order = order[np.argsort(where[order], kind="stable")]
            work = make_work(
                task, seed=next_drawn, order=order, parts=parts, layout=layout
            )
        cluster_rules, finished = cluster_rules_of(task, work.clusters), False
        while not finished:
            with task.clock.running():
                finished = grow_to_threshold(work, cluster_rules, limits.delta, BATCH)
            share = work.state[PART] / (len(parts) - 1)
            request.progress("growing groups", float(share))
        rejected = int(work.clusters.left.sum())
        grouping = finish(task, work.clusters, work.middle, by_rows=False)
        return TgcClusters(grouping, len(parts) - 1, rejected)


def quality(
    request: Request, grouping: Grouping, *, reach: float
) -> tuple[float, float]:
    """Utility and protection (definitions 2.2 and 2.5): lower is better."""
    utility = np.zeros(grouping.count)
    for coded in request.quasi:
        extent = Extent(coded, grouping)
        utility += np.where(extent.single, single_loss(coded.axis), extent.ncp())
    views = [View(name) for name in request.sensitive]
    groups = build_groups(
        grouping.group_of, grouping.count, sensitive=request.sensitive, views=views
    )
    protection = np.zeros(grouping.count)
    for view in views:
        protection += s_diversity(groups.histograms[view], r=reach)
    return float(utility.mean()), float(protection.mean())
