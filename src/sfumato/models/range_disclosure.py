"""Range disclosure: S-diversity with an estimation power."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np

from sfumato.data.arrays import Counts
from sfumato.data.option_examples import ParameterExamples, twentieths
from sfumato.data.rules import Rule, RuleKind
from sfumato.hierarchies.sensitive_axis import is_line
from sfumato.models.base import (
    TOLERANCE,
    AttackBound,
    Feasibility,
    Groups,
    SensitiveModel,
    Verdict,
)
from sfumato.models.common.distances import s_diversity
from sfumato.models.common.feasibility import Limit, limited
from sfumato.models.common.parameter_changes import Loosening
from sfumato.models.common.verdicts import Side, judge


@dataclass(frozen=True, kw_only=True)
class RangeDisclosure(SensitiveModel):
    """No group lets an attacker name a sensitive value to within a range r.

    Guarantee: the S-diversity of every group is at most a limit. It is the mean
    contribution of all ordered pairs of the group's values, each with itself
    included: 1 − distance / range of numbers, or 1 − (leaves under the common
    ancestor − 1) / leaves of categories; pairs further apart than r count nothing.
    Without a hierarchy two different categories are 1 / values apart, as in the
    paper, so that any r above that takes all values for alike: give a hierarchy.
    Numbers and leaves are those that occur.
    Limits: not a bound on the chance of a correct guess; merging two groups of
    numbers may raise it (pairs at the edge of the range), so nothing is pruned.
    Reference: Loukides and Shao 2008, definitions 2.3 and 2.4.
    """

    name: ClassVar[str] = "range-disclosure"
    sentence: ClassVar[str] = (
        "No group's sensitive values lie so close that a range of them is given away."
    )
    blind_spot: ClassVar[str] = (
        "A value may still be far likelier in a group than in the table (skewness)."
    )
    examples: ClassVar[ParameterExamples] = (
        {"r": twentieths(0.05, 1), "at_most": twentieths(0.05, 1)},
    )
    monotone_generalization: ClassVar[bool] = False
    holds_for_unions: ClassVar[bool] = False
    measures_lengths: ClassVar[bool] = True

    r: float
    """How close two values must be to count as alike, as a share of the range."""
    at_most: float
    """The largest S-diversity that a group may have."""

    def __post_init__(self) -> None:
        self._require_common()
        self._require_share("r", self.r, zero=True)
        self._require_share("at_most", self.at_most, zero=True)

    def attack_bounds(
        self, quasi: Sequence[str], sensitive: Sequence[str]
    ) -> tuple[AttackBound, ...]:
        return tuple(
            AttackBound(
                attack="range", at_most=self.at_most, view=view, options={"r": self.r}
            )
            for view in self.views(sensitive)
        )

    def verify(self, groups: Groups) -> Verdict:
        found = judge(
            groups,
            self.histograms(groups),
            partial(s_diversity, r=self.r),
            side=Side.AT_MOST,
            limit=self.at_most,
        )
        return found.verdict()

    def rules(self, sensitive: Sequence[str], *, subjects: bool) -> tuple[Rule, ...]:
        parameters = (self.r, self.at_most)
        views = self.views(sensitive)
        return tuple(Rule(RuleKind.RANGE, view, parameters) for view in views)

    def feasibility(self, whole: Groups, *, removable: int) -> Feasibility:
        """Judge by the whole table, or by its pairs of equal values alone.

        Of categories, some group has at least the S-diversity of all rows. Of
        numbers, or with rows left out, what remains true is that equal values
        contribute 1, so that S-diversity is at least the sum of squared shares.
        """
        bound = limited(self, whole, lambda _: self._limit(), removable=removable)
        lines = any(is_line(h.axis) for h in self.histograms(whole))
        by_bound = removable or lines or not bound.feasible
        found = replace(bound, other_ways=()) if by_bound else self._of_whole(whole)
        # Hints name what the whole table has: that is within reach, a bound may not be.
        return Loosening(
            self,
            lambda model: model.verify(whole).holds,
            {"at_most": 1.0, "r": 0.0},
        ).explain(found)

    def _of_whole(self, whole: Groups) -> Feasibility:
        verdict = self.verify(whole)
        best = 1.0 if verdict.measured is None else verdict.measured
        return Feasibility(
            feasible=verdict.holds,
            best=best,
            message=f"{self.name} needs an S-diversity of at most {self.at_most:,g}; "
            f"the best is {best:,.6g}.",
        )

    def _limit(self) -> Limit:
        return Limit(
            test=lambda counts, _: _squares(counts) <= self.at_most + TOLERANCE,
            score=lambda counts, _: _squares(counts),
            demand=f"an S-diversity of at most {self.at_most:,g}",
            parameter="at_most",
            at_least=False,
            partial=True,
        )


def _squares(counts: Counts) -> float:
    """The sum of squared shares."""
    shares = counts / counts.sum()
    return float(np.dot(shares, shares))
