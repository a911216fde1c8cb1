"""β-likeness, basic and enhanced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from sfumato.models.common.measures import excess_over_information, largest_excess
from sfumato.models.common.reference_feasibility import always_feasible
from sfumato.models.common.skewness_bounds import skewness_bounds
from sfumato.models.common.verdicts import Side, judge, verdict_on_limits


@dataclass(frozen=True, kw_only=True)
class BetaLikeness(ReferenceModel):
    """No sensitive value is much likelier in a group than in the table.

    Guarantee: with p a value's share of the table and q its share of a group,
    (q − p) / p is at most β; kind "enhanced" also at most −ln p, which guards
    common values better. Values that become rarer are not limited.
    Limits: nobody is protected from being ruled out of a value.
    Reference: Cao and Karras 2012.
    """

    name: ClassVar[str] = "beta-likeness"
    sentence: ClassVar[str] = (
        "No sensitive value becomes more than β times likelier by finding a group."
    )
    blind_spot: ClassVar[str] = (
        "A value may vanish from a group: people can be ruled out of it."
    )
    examples: ClassVar[ParameterExamples] = (
        {"beta": (0.25, 0.5, 1, 2, 4), "kind": ("basic", "enhanced")},
    )
    choices_by_strictness: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "kind": ("basic", "enhanced")
    }

    beta: float
    """The largest gain (q − p) / p of a value with share p of the table and q of a
    group."""
    kind: str = "basic"
    """"basic", or "enhanced", which also limits the gain to −ln p."""

    def __post_init__(self) -> None:
        self._require_common()
        self._require_positive("beta", self.beta)
        self._require_choice("kind", self.kind, ("basic", "enhanced"))

    def attack_bounds(
        self, quasi: Sequence[str], sensitive: Sequence[str]
    ) -> tuple[AttackBound, ...]:
        return skewness_bounds(self, sensitive, at_most=self.beta, measure="gain")

    def verify(self, groups: Groups) -> Verdict:
        histograms = self.histograms(groups)
        found = judge(
            groups, histograms, largest_excess, side=Side.AT_MOST, limit=self.beta
        )
        if self.kind == "basic":
            return found.verdict()
        bound = judge(
            groups, histograms, excess_over_information, side=Side.AT_MOST, limit=0.0
        )
        verdict = verdict_on_limits(
            {"beta": found, "information_gain": bound}, basic=found.worst
        )
        # No β fixes a value that gains more than −ln p.
        return replace(verdict, measured=None) if bound.broken.any() else verdict

    def rules(self, sensitive: Sequence[str], *, subjects: bool) -> tuple[Rule, ...]:
        parameters = (self.beta, float(self.kind == "enhanced"))
        views = self.views(sensitive)
        return tuple(Rule(RuleKind.LIKENESS, view, parameters) for view in views)

    def feasibility(self, whole: Groups, *, removable: int) -> Feasibility:
        verdict = self.verify(whole)
        return always_feasible(
            self, whole, verdict, parameter="beta", limit=self.beta, removable=removable
        )
