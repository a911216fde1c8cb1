"""A privacy model of a plug-in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from sfumato.data.option_examples import ParameterExamples, twentieths
from sfumato.data.rules import Rule, RuleKind
from sfumato.models.base import (
    AttackBound,
    Feasibility,
    Groups,
    SensitiveModel,
    Verdict,
)
from sfumato.models.common.feasibility import limited
from sfumato.models.common.measures import commonest_share
from sfumato.models.common.table_limits import share_limit
from sfumato.models.common.verdicts import Side, judge


@dataclass(frozen=True, kw_only=True)
class NoMajority(SensitiveModel):
    """No sensitive value has more than half of any group.

    Guarantee: a person's value cannot be guessed with a chance above `share`.
    Limits: a value may be far more frequent in a group than in the table.
    """

    name: ClassVar[str] = "no-majority"
    sentence: ClassVar[str] = "No sensitive value has the majority of any group."
    blind_spot: ClassVar[str] = (
        "A value may be far more frequent in a group than in the table."
    )
    examples: ClassVar[ParameterExamples] = ({"share": twentieths(0.25, 1)},)
    monotone_suppression: ClassVar[bool] = True

    share: float = 0.5

    def __post_init__(self) -> None:
        self._require_common()
        self._require_share("share", self.share)

    def definition(self, group: Any) -> bool:
        """Whether one group meets it, in plain Python."""
        return bool(max(group.counts.values()) <= self.share * group.size + 1e-9)

    def attack_bounds(
        self, quasi: Sequence[str], sensitive: Sequence[str]
    ) -> tuple[AttackBound, ...]:
        return tuple(
            AttackBound(attack="guess", at_most=self.share, view=view)
            for view in self.views(sensitive)
        )

    def verify(self, groups: Groups) -> Verdict:
        found = judge(
            groups,
            self.histograms(groups),
            commonest_share,
            side=Side.AT_MOST,
            limit=self.share,
        )
        return found.verdict()

    def rules(self, sensitive: Sequence[str], *, subjects: bool) -> tuple[Rule, ...]:
        views = self.views(sensitive)
        return tuple(Rule(RuleKind.SHARE, view, (self.share,)) for view in views)

    def feasibility(self, whole: Groups, *, removable: int) -> Feasibility:
        limit = share_limit(self.share, parameter="share")
        return limited(self, whole, lambda _: limit, removable=removable)
