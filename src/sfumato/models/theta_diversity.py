"""θ-diversity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from sfumato.data.option_examples import ParameterExamples, twentieths
from sfumato.data.rules import Rule, RuleKind
from sfumato.models.base import (
    AttackBound,
    Feasibility,
    Groups,
    SensitiveModel,
    Verdict,
)
from sfumato.models.common.feasibility import judged_alone, limited
from sfumato.models.common.measures import commonest_share
from sfumato.models.common.parameter_changes import Loosening
from sfumato.models.common.table_limits import share_limit
from sfumato.models.common.verdicts import Side, judge


@dataclass(frozen=True, kw_only=True)
class ThetaDiversity(SensitiveModel):
    """No sensitive value has more than the share θ of any group.

    Guarantee: an attacker who finds a person's group guesses that person's value with a
    chance of at most θ.
    Limits: a share may still be far above the table's (skewness).
    Reference: Boger 2020, section 2.1 (the count of the commonest value over the
    size of the group).
    """

    name: ClassVar[str] = "theta-diversity"
    sentence: ClassVar[str] = "Nobody's sensitive value can be guessed better than θ."
    blind_spot: ClassVar[str] = (
        "A value may still be far likelier in a group than in the table (skewness), "
        "and values may be alike (similarity)."
    )
    examples: ClassVar[ParameterExamples] = ({"theta": twentieths(0.2, 1)},)
    monotone_suppression: ClassVar[bool] = True

    theta: float
    """The largest share of a group that one sensitive value may have."""

    def __post_init__(self) -> None:
        self._require_common()
        self._require_share("theta", self.theta)

    def attack_bounds(
        self, quasi: Sequence[str], sensitive: Sequence[str]
    ) -> tuple[AttackBound, ...]:
        return tuple(
            AttackBound(attack="guess", at_most=self.theta, view=view)
            for view in self.views(sensitive)
        )

    def verify(self, groups: Groups) -> Verdict:
        found = judge(
            groups,
            self.histograms(groups),
            commonest_share,
            side=Side.AT_MOST,
            limit=self.theta,
        )
        return found.verdict()

    def rules(self, sensitive: Sequence[str], *, subjects: bool) -> tuple[Rule, ...]:
        views = self.views(sensitive)
        return tuple(Rule(RuleKind.SHARE, view, (self.theta,)) for view in views)

    def feasibility(self, whole: Groups, *, removable: int) -> Feasibility:
        found = limited(
            self,
            whole,
            lambda _: share_limit(self.theta, parameter="theta"),
            removable=removable,
        )
        if judged_alone(self, whole):
            return found
        # Hints name what the whole table has: that is within reach, a bound may not be.
        return Loosening(
            self, lambda model: model.verify(whole).holds, {"theta": 1.0}
        ).explain(found)
