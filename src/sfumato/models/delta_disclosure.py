"""δ-disclosure privacy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from sfumato.data.option_examples import ParameterExamples
from sfumato.data.rules import Rule, RuleKind
from sfumato.models.base import (
    AttackBound,
    Feasibility,
    Groups,
    ReferenceModel,
    Verdict,
)
from sfumato.models.common.measures import absent, largest_log_ratio
from sfumato.models.common.reference_feasibility import always_feasible
from sfumato.models.common.skewness_bounds import skewness_bounds
from sfumato.models.common.verdicts import Side, judge, verdict_on_limits


@dataclass(frozen=True, kw_only=True)
class DeltaDisclosure(ReferenceModel):
    """No sensitive value becomes much more or much less likely in a group.

    Guarantee: with p a value's share of the table and q its share of a group,
    |ln(q / p)| is below δ for every value of the table; so every value occurs in
    every group. `over_occurring` in the details is the measure over the values that
    do occur, which other tools report.
    Limits: so strict that little is left to learn (as its authors show).
    Reference: Brickell and Shmatikov 2008.
    """

    name: ClassVar[str] = "delta-disclosure"
    sentence: ClassVar[str] = (
        "No sensitive value becomes much more or much less likely in any group."
    )
    blind_spot: ClassVar[str] = (
        "Identities are not protected: groups may be small where values are few."
    )
    examples: ClassVar[ParameterExamples] = ({"delta": (0.25, 0.5, 1, 2, 4)},)

    delta: float
    """What |ln(q / p)| must stay below, for every value with share p of the table
    and q of a group; every value then occurs in every group."""

    def __post_init__(self) -> None:
        self._require_common()
        self._require_positive("delta", self.delta)

    def attack_bounds(
        self, quasi: Sequence[str], sensitive: Sequence[str]
    ) -> tuple[AttackBound, ...]:
        return skewness_bounds(self, sensitive, at_most=self.delta, measure="log-ratio")

    def verify(self, groups: Groups) -> Verdict:
        histograms = self.histograms(groups)
        found = judge(
            groups, histograms, largest_log_ratio, side=Side.BELOW, limit=self.delta
        )
        gone = judge(groups, histograms, absent, side=Side.AT_MOST, limit=0.0)
        verdict = verdict_on_limits(
            {"delta": found, "values_absent": gone}, over_occurring=found.worst
        )
        return replace(verdict, measured=None) if gone.broken.any() else verdict

    def rules(self, sensitive: Sequence[str], *, subjects: bool) -> tuple[Rule, ...]:
        views = self.views(sensitive)
        return tuple(Rule(RuleKind.DISCLOSURE, view, (self.delta,)) for view in views)

    def feasibility(self, whole: Groups, *, removable: int) -> Feasibility:
        verdict = self.verify(whole)
        return always_feasible(
            self,
            whole,
            verdict,
            parameter="delta",
            limit=self.delta,
            removable=removable,
        )
