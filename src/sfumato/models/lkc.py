"""LKC-privacy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Counts
from sfumato.data.option_examples import ParameterExamples, twentieths
from sfumato.data.rules import Rule, RuleKind
from sfumato.models.base import (
    AttackBound,
    Feasibility,
    Groups,
    Scope,
    SensitiveModel,
    Verdict,
    size_rule,
)
from sfumato.models.common.limit_with_size import explained, limit_and_rows
from sfumato.models.common.measures import commonest_share
from sfumato.models.common.table_limits import share_limit
from sfumato.models.common.unions import (
    Unions,
    candidate_unions,
    known_sets,
    partition,
    union_of,
)
from sfumato.models.common.verdicts import Side, at_worst, breaks


@dataclass(frozen=True, kw_only=True)
class Lkc(SensitiveModel):
    """Knowing at most L quasi-identifiers leaves K rows and confidence of at most C.

    Guarantee: for every set of at most L quasi-identifiers, the rows that agree in
    their published cells are K or more, and no sensitive value has more than the
    share C of them.
    Method: sets of exactly L suffice (of all, if there are fewer): the rows that
    agree on a smaller set are a union of such unions, so there are more of them, and
    the share of a value in a union of disjoint parts is a mean of its shares in the
    parts, so at most their largest. Where a missing cell may be any value, or a person
    is in several groups, unions overlap, and all sets are looked at. Without overlaps
    it suffices that every group has K rows and shares of at most C: each union
    consists of whole groups.
    Limits: attackers who know more than L quasi-identifiers.
    Reference: Mohammed, Fung, Hung and Lee 2009.
    """

    name: ClassVar[str] = "lkc"
    needs_cells: ClassVar[bool] = True
    sentence: ClassVar[str] = (
        "Somebody who knows at most L facts finds at least K people, and no value "
        "with a confidence above C."
    )
    blind_spot: ClassVar[str] = "Attackers who know more than L quasi-identifiers."
    examples: ClassVar[ParameterExamples] = (
        {"l": range(1, 4), "k": range(1, 5), "c": twentieths(0.2, 1)},
    )
    scope: ClassVar[Scope] = Scope.TABLE
    monotone_generalization: ClassVar[bool] = False
    needs_whole_persons: ClassVar[bool] = True

    l: int
    """How many quasi-identifiers an attacker knows, at most."""
    k: int
    """The fewest rows that must agree with what the attacker knows."""
    c: float
    """The largest share of those rows that one sensitive value may have."""

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

    @property
    def holds_for_whole(self) -> bool:
        """Return True: an attacker who knows nothing finds the whole table."""
        return True

    def attack_bounds(
        self, quasi: Sequence[str], sensitive: Sequence[str]
    ) -> tuple[AttackBound, ...]:
        found = []
        for known in combinations(quasi, min(self.l, len(quasi))):
            found.append(AttackBound(attack="linkage", at_most=1 / self.k, known=known))
            found += [
                AttackBound(attack="guess", at_most=self.c, known=known, view=view)
                for view in self.views(sensitive)
            ]
        return tuple(found)

    def verify(self, groups: Groups) -> Verdict:
        shown = groups.published
        if not shown.count:
            return Verdict(True, None)
        width = 0 if shown.cells is None else shown.cells.shape[1]
        largest = min(self.l, width)
        found = [self._found(groups, s) for s in known_sets(width, _sizes(largest))]
        overlaps = groups.candidates is not None or not shown.apart
        if overlaps or any(f.broken.any() for f in found):
            # A smaller set is broken only if a larger one is, but offends more
            # groups; where unions overlap, it may be broken on its own.
            smaller = known_sets(width, range(largest))
            found += [self._found(groups, known) for known in smaller]
        broken = np.logical_or.reduce([f.broken for f in found])
        return Verdict(
            not broken.any(),
            max(f.confidence for f in found),
            int(broken.sum()),
            {"k": min(f.smallest for f in found)},
            broken=broken,
            broken_limits=self._broken_limits(found),
        )

    def _broken_limits(self, found: Sequence[_Found]) -> dict[str, float | None]:
        smallest = min(each.smallest for each in found)
        confidence = max(each.confidence for each in found)
        limits: dict[str, float | None] = {}
        if breaks(np.array([confidence]), Side.AT_MOST, self.c).any():
            limits["c"] = confidence
        if smallest < self.k:
            limits["k"] = smallest
        return limits

    def _found(self, groups: Groups, known: tuple[int, ...]) -> _Found:
        """Measure what an attacker who knows these quasi-identifiers finds."""
        shown = groups.published
        unions, sets, about = _known_to(groups, known)
        sizes = unions.sizes(shown)
        shares = self._shares(shown, unions, sizes)
        bad = (sizes < self.k) | breaks(shares, Side.AT_MOST, self.c)
        broken = np.bincount(about[bad[sets]], minlength=shown.count) > 0
        return _Found(broken, float(sizes.min()), float(shares.max(initial=0.0)))

    def _shares(
        self, groups: Groups, unions: Unions, sizes: Counts
    ) -> npt.NDArray[np.float64]:
        """The largest confidence in each union."""
        shares = np.zeros(len(sizes))
        for histogram in self.histograms(groups):
            joined = unions.histogram(histogram, sizes)
            worst = at_worst(joined, commonest_share, smallest=False)
            shares = np.maximum(shares, worst)
        return shares

    def rules(self, sensitive: Sequence[str], *, subjects: bool) -> tuple[Rule, ...]:
        views = self.views(sensitive)
        shares = (Rule(RuleKind.SHARE, view, (self.c,)) for view in views)
        return (size_rule(self.k, subjects=subjects), *shares)

    def feasibility(self, whole: Groups, *, removable: int) -> Feasibility:
        ends = {"c": 1.0, "k": 1}
        return explained(self, whole, Lkc._of_whole, removable=removable, ends=ends)

    def _of_whole(self, whole: Groups, removable: int) -> Feasibility:
        limit = share_limit(self.c, parameter="c")
        return limit_and_rows(
            self, whole, limit, k=self.k, removable=removable, least=self.k
        )


@dataclass(frozen=True, eq=False)
class _Found:
    """What is found with one set of known quasi-identifiers."""

    broken: npt.NDArray[np.bool_]
    smallest: float
    confidence: float


def _sizes(largest: int) -> range:
    return range(largest, largest + 1)


def _known_to(groups: Groups, known: tuple[int, ...]) -> tuple[Unions, Counts, Counts]:
    """The unions of groups that agree, and pairs: a union, a group it is about."""
    shown = groups.published
    if shown.cells is None:
        found = partition(np.arange(shown.count))
    elif groups.candidates is not None:
        return candidate_unions(shown.cells, groups.candidates.blank, known)
    else:
        found = partition(union_of(shown.cells, known))
    return found, found.sets, found.members
