"""LKC-privacy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sfumato.data.rules import Rule, RuleKind
from sfumato.models.base import (
    Counts,
    Feasibility,
    Groups,
    Scope,
    SensitiveModel,
    Verdict,
    size_rule,
)
from sfumato.models.feasible import enough_rows, limited, rows_left, together
from sfumato.models.judging import Side, at_worst, breaks
from sfumato.models.limits import share_limit
from sfumato.models.measures import commonest_share
from sfumato.models.unions import known_sets, union_histogram, union_of, union_sizes


@dataclass(frozen=True, kw_only=True)
class Lkc(SensitiveModel):
    """Who knows at most L quasi-identifiers finds K rows and is confident to C.

    Guarantee: for every set of at most L quasi-identifiers, the rows that agree in
    their published cells are K or more, and no sensitive value has more than the
    share C of them.
    Method: sets of exactly L suffice (of all, if there are fewer): the rows that
    agree on a smaller set are a union of such unions, so there are more of them, and
    the share of a value in a union of disjoint parts is a mean of its shares in the
    parts, so at most their largest. For the same reason it suffices that every group
    has K rows and shares of at most C: each union consists of whole groups. Of
    persons who are in several groups, unions are taken to hold as many as their
    largest group.
    Limits: attackers who know more than L quasi-identifiers.
    Reference: Mohammed, Fung, Hung and Lee 2009.
    """

    name: ClassVar[str] = "lkc"
    needs_cells: ClassVar[bool] = True
    sentence: ClassVar[str] = (
        "Who knows at most L facts finds at least K people, and no sensitive value "
        "with a confidence above C."
    )
    blind_spot: ClassVar[str] = "Attackers who know more than L quasi-identifiers."
    scope: ClassVar[Scope] = Scope.TABLE
    monotone_generalization: ClassVar[bool] = False

    l: int
    k: int
    c: float

    def __post_init__(self) -> None:
        self._require_common()
        self._require_count("l", self.l)
        self._require_count("k", self.k)
        self._require_share("c", self.c)
        self._require(
            not self.others_known,
            "others_known has no meaning here.",
            "An LKC attacker knows quasi-identifiers only; remove others_known.",
        )

    def verify(self, groups: Groups) -> Verdict:
        broken = np.zeros(groups.count, dtype=bool)
        smallest, confidence = np.inf, 0.0
        for union in self._unions(groups):
            sizes = union_sizes(groups, union)
            shares = self._shares(groups, union, sizes)
            bad = (sizes < self.k) | breaks(shares, Side.AT_MOST, self.c)
            broken |= bad[union]
            smallest = min(smallest, float(sizes.min(initial=groups.rows.sum())))
            confidence = max(confidence, float(shares.max(initial=0.0)))
        offending = int(broken.sum())
        if not groups.count:
            return Verdict(True, None)
        return Verdict(offending == 0, confidence, offending, {"k": smallest})

    def _unions(self, groups: Groups) -> Iterator[Counts]:
        """The unions for each set of L quasi-identifiers; without cells, the groups."""
        if groups.cells is None or groups.cells.shape[1] <= self.l:
            yield np.arange(groups.count)
            return
        for known in known_sets(groups.cells.shape[1], range(self.l, self.l + 1)):
            yield union_of(groups.cells, known)

    def _shares(
        self, groups: Groups, union: Counts, sizes: Counts
    ) -> npt.NDArray[np.float64]:
        """The largest confidence in each union."""
        shares = np.zeros(len(sizes))
        for histogram in self.histograms(groups):
            joined = union_histogram(histogram, union, sizes)
            worst = at_worst(joined, commonest_share, smallest=False)
            shares = np.maximum(shares, worst)
        return shares

    def rules(self, sensitive: Sequence[str], *, subjects: bool) -> tuple[Rule, ...]:
        views = self.views(sensitive)
        shares = (Rule(RuleKind.SHARE, view, (self.c,)) for view in views)
        return (size_rule(self.k, subjects=subjects), *shares)

    def feasibility(self, whole: Groups, *, removable: int) -> Feasibility:
        shares = limited(
            self,
            whole,
            lambda _: share_limit(self.c, parameter="c"),
            removable=removable,
        )
        left = rows_left(self, whole, shares)
        rows = enough_rows(self.name, needed=self.k, found=left, parameter="k")
        return together([shares, rows])
