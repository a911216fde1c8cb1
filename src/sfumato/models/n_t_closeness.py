"""(n, t)-closeness."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Counts, Flags, Floats
from sfumato.data.option_examples import ParameterExamples, twentieths
from sfumato.data.rules import Distance, Rule, RuleKind
from sfumato.models.base import (
    AttackBound,
    Candidates,
    Feasibility,
    Groups,
    Histogram,
    ReferenceModel,
    Scope,
    Verdict,
)
from sfumato.models.common.candidates import agreeing
from sfumato.models.common.distances import earth_mover, earth_mover_to
from sfumato.models.common.feasibility import enough_rows, together
from sfumato.models.common.parameter_changes import Loosening
from sfumato.models.common.reference_feasibility import always_feasible
from sfumato.models.common.unions import Unions, known_sets, partition, union_of
from sfumato.models.common.verdicts import Side, judge
from sfumato.models.t_closeness import DISTANCES

SUPERSETS = 4096
"""How many sets of quasi-identifiers are tried; fewer only make the verdict stricter."""


@dataclass(frozen=True, kw_only=True)
class NTCloseness(ReferenceModel):
    """Every group is distributed nearly as a larger, natural set of n rows.

    Guarantee: each group has n rows or more itself, or lies within t (earth mover's
    distance) of a set of at least n rows that contains it. A natural set
    has all rows that agree with the group in the published cells of some
    quasi-identifiers (of none: the whole table). Where a missing cell may be any value,
    only cells that the group shows are compared.
    Method: it is enough if a group has n rows or is within t of the whole table.
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
    examples: ClassVar[ParameterExamples] = (
        {"n": range(1, 7), "t": twentieths(0.05, 1)},
    )
    scope: ClassVar[Scope] = Scope.TABLE
    monotone_generalization: ClassVar[bool] = False

    n: int
    """The fewest rows of the natural set that a group is compared with."""
    t: float
    """How far, at most, a group may be from that set; 0 is equal, 1 as far as can
    be."""
    distance: str | None = None
    """How far apart two values are: "equal", "ordered" or "hierarchical"; left out,
    the kind of the column decides."""

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

    def attack_bounds(
        self, quasi: Sequence[str], sensitive: Sequence[str]
    ) -> tuple[AttackBound, ...]:
        # None: a group of n rows may be arbitrarily far from the table.
        return ()

    def verify(self, groups: Groups) -> Verdict:
        verdicts = [
            judge(
                groups,
                [histogram],
                partial(self._nearest, groups=groups, whole=shown),
                side=Side.AT_MOST,
                limit=self.t,
            )
            for histogram, shown in zip(
                self.histograms(groups), self.histograms(groups.published), strict=True
            )
        ]
        broken = np.logical_or.reduce([v.broken for v in verdicts])
        offending = int(broken.sum())
        found = [v.worst for v in verdicts]
        known = [worst for worst in found if worst is not None]
        measured = max(known) if known and len(known) == len(found) else None
        return Verdict(offending == 0, measured, offending, broken=broken)

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
        for place, unions, natural in self._unions(groups):
            sizes = unions.sizes(groups.published)
            large = (sizes[place[owner]] >= self.n) & natural[owner]
            if large.any():
                joined = unions.histogram(whole, sizes)
                apart = earth_mover_to(
                    histogram, joined, place[owner], distance=self.ground
                )
                best = np.where(large, np.minimum(best, apart), best)
        return best

    def _unions(self, groups: Groups) -> Iterator[tuple[Counts, Unions, Flags]]:
        """Natural supersets: the one of each group, the groups in each, and which
        groups they are natural for: cells that are missing are no part of one."""
        cells = groups.published.cells
        if cells is None:
            return
        width = cells.shape[1]
        for known in islice(known_sets(width, range(1, width + 1)), SUPERSETS):
            if groups.candidates is None:
                union = union_of(cells, known)
                yield union, partition(union), np.ones(groups.count, dtype=np.bool_)
            else:
                yield _matching(groups.candidates, cells, known)

    def rules(self, sensitive: Sequence[str], *, subjects: bool) -> tuple[Rule, ...]:
        parameters = (self.t, float(self.ground), float(self.n))
        views = self.views(sensitive)
        return tuple(Rule(RuleKind.CLOSENESS, view, parameters) for view in views)

    def feasibility(self, whole: Groups, *, removable: int) -> Feasibility:
        found = self._of_whole(whole, removable)
        return Loosening(
            self,
            lambda model: model._of_whole(whole, removable).feasible,
            {"t": 1.0, "n": 1},
        ).explain(found)

    def _of_whole(self, whole: Groups, removable: int) -> Feasibility:
        found = whole.everybody
        rows = enough_rows(self.name, needed=self.n, found=found, parameter="n")
        if not rows.feasible:
            return rows
        close = always_feasible(
            self,
            whole,
            self.verify(whole),
            parameter="t",
            limit=self.t,
            removable=removable,
        )
        return together([close, rows])


def _matching(
    candidates: Candidates, cells: npt.NDArray[np.int32], known: tuple[int, ...]
) -> tuple[Counts, Unions, Flags]:
    """The rows that agree with people in the cells that are known, where all are."""
    columns = list(known)
    blank = candidates.blank[:, columns]
    people = candidates.filled[:, columns]
    place = union_of(people, tuple(range(len(columns))))
    _, first = np.unique(place, return_index=True)
    sets, members = agreeing(people[first], cells[:, columns], blank)
    natural = ~blank[candidates.owner].any(axis=1)
    return place, Unions(sets, members, len(first)), natural
