"""(n, t)-closeness."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sfumato.data.rules import Distance, Rule, RuleKind
from sfumato.models.base import (
    Feasibility,
    Floats,
    Groups,
    Histogram,
    ReferenceModel,
    Scope,
    Verdict,
)
from sfumato.models.distances import earth_mover, earth_mover_to
from sfumato.models.feasible import enough_rows, together
from sfumato.models.judging import Side, judge
from sfumato.models.reference import always_feasible
from sfumato.models.t_closeness import DISTANCES
from sfumato.models.unions import known_sets, union_histogram, union_of, union_sizes

SUPERSETS = 4096
"""How many sets of quasi-identifiers are tried; fewer only make the verdict stricter."""


@dataclass(frozen=True, kw_only=True)
class NTCloseness(ReferenceModel):
    """Every group is distributed nearly as some larger, natural set of n rows.

    Guarantee: each group has n rows or more itself, or lies within t (earth mover's
    distance) of a set of at least n rows that contains it. Sets are natural: all
    rows that agree with the group in the published cells of some of the
    quasi-identifiers, down to none (the whole table).
    Method: it suffices that a group has n rows or is within t of the whole table.
    Limits: what a large group gives away is not limited.
    Reference: Li, Li and Venkatasubramanian 2010.
    """

    name: ClassVar[str] = "n-t-closeness"
    sentence: ClassVar[str] = (
        "Every group's sensitive values are distributed nearly as in a natural larger "
        "set of at least n rows."
    )
    blind_spot: ClassVar[str] = (
        "What can be learned about a set of n or more rows is not limited."
    )
    scope: ClassVar[Scope] = Scope.TABLE
    monotone_generalization: ClassVar[bool] = False

    n: int
    t: float
    distance: str | None = None

    def __post_init__(self) -> None:
        self._require_common()
        self._require_count("n", self.n)
        self._require_share("t", self.t, zero=True)
        if self.distance is not None:
            self._require_choice("distance", self.distance, tuple(DISTANCES))

    @property
    def ground(self) -> Distance:
        """The distance asked for."""
        return Distance.DEFAULT if self.distance is None else DISTANCES[self.distance]

    def verify(self, groups: Groups) -> Verdict:
        verdicts = [
            judge(
                groups,
                [histogram],
                partial(self._nearest, groups=groups, whole=histogram),
                side=Side.AT_MOST,
                limit=self.t,
            )
            for histogram in self.histograms(groups)
        ]
        broken = np.logical_or.reduce([v.broken for v in verdicts])
        offending = int(broken.sum())
        found = [v.worst for v in verdicts]
        known = [worst for worst in found if worst is not None]
        measured = max(known) if known and len(known) == len(found) else None
        return Verdict(offending == 0, measured, offending)

    def _nearest(
        self, histogram: Histogram, *, groups: Groups, whole: Histogram
    ) -> Floats:
        """Each group's distance to the nearest of its natural supersets."""
        owner = histogram.groups
        owner = np.arange(histogram.count) if owner is None else owner
        best = np.where(histogram.sizes >= self.n, 0.0, np.inf)
        if groups.everybody < self.n:
            return best
        best = np.minimum(best, earth_mover(histogram, distance=self.ground))
        for union in self._unions(groups):
            sizes = union_sizes(groups, union)
            large = sizes[union[owner]] >= self.n
            if large.any():
                joined = union_histogram(whole, union, sizes)
                apart = earth_mover_to(
                    histogram, joined, union[owner], distance=self.ground
                )
                best = np.where(large, np.minimum(best, apart), best)
        return best

    def _unions(self, groups: Groups) -> Iterator[npt.NDArray[np.int64]]:
        if groups.cells is not None:
            width = groups.cells.shape[1]
            for known in islice(known_sets(width, range(1, width + 1)), SUPERSETS):
                yield union_of(groups.cells, known)

    def rules(self, sensitive: Sequence[str], *, subjects: bool) -> tuple[Rule, ...]:
        parameters = (self.t, float(self.ground), float(self.n))
        views = self.views(sensitive)
        return tuple(Rule(RuleKind.CLOSENESS, view, parameters) for view in views)

    def feasibility(self, whole: Groups, *, removable: int) -> Feasibility:
        found = whole.everybody
        rows = enough_rows(self.name, needed=self.n, found=found, parameter="n")
        if not rows.feasible:
            return rows
        close = always_feasible(
            self, whole, self.verify(whole), "t", self.t, removable=removable
        )
        return together([close, rows])
