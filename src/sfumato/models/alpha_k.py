"""(α, k)-anonymity."""

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
    size_rule,
)
from sfumato.models.common.limit_with_size import explained, limit_and_rows
from sfumato.models.common.measures import commonest_share
from sfumato.models.common.table_limits import share_limit
from sfumato.models.common.verdicts import Side, judge, judge_sizes, verdict_on_limits


@dataclass(frozen=True, kw_only=True)
class AlphaK(SensitiveModel):
    """Groups have at least k rows, and no value more than the share α of any.

    Guarantee: k or more candidates, and a guess of the value right with chance α.
    Limits: a share may still be far above the table's (skewness).
    Reference: Wong, Li, Fu and Wang 2006 (α for every sensitive value).
    """

    name: ClassVar[str] = "alpha-k"
    needs_cells: ClassVar[bool] = True
    sentence: ClassVar[str] = (
        "Everybody hides among k, and no sensitive value can be guessed better than α."
    )
    blind_spot: ClassVar[str] = (
        "A value may still be far likelier in a group than in the table (skewness)."
    )
    examples: ClassVar[ParameterExamples] = (
        {"alpha": twentieths(0.2, 1), "k": range(1, 5)},
    )
    monotone_suppression: ClassVar[bool] = True

    alpha: float
    """The largest share of a group that one sensitive value may have."""
    k: int
    """The fewest rows, or persons, that a published group may have."""

    def __post_init__(self) -> None:
        self._require_common()
        self._require_share("alpha", self.alpha)
        self._require_count("k", self.k)

    def attack_bounds(
        self, quasi: Sequence[str], sensitive: Sequence[str]
    ) -> tuple[AttackBound, ...]:
        guesses = (
            AttackBound(attack="guess", at_most=self.alpha, view=view)
            for view in self.views(sensitive)
        )
        return (AttackBound(attack="linkage", at_most=1 / self.k), *guesses)

    def verify(self, groups: Groups) -> Verdict:
        shares = judge(
            groups,
            self.histograms(groups),
            commonest_share,
            side=Side.AT_MOST,
            limit=self.alpha,
        )
        sizes = judge_sizes(groups.sizes, k=self.k)
        return verdict_on_limits({"alpha": shares, "k": sizes}, k=sizes.worst)

    def rules(self, sensitive: Sequence[str], *, subjects: bool) -> tuple[Rule, ...]:
        views = self.views(sensitive)
        shares = (Rule(RuleKind.SHARE, view, (self.alpha,)) for view in views)
        return (size_rule(self.k, subjects=subjects), *shares)

    def feasibility(self, whole: Groups, *, removable: int) -> Feasibility:
        ends = {"alpha": 1.0, "k": 1}
        return explained(self, whole, AlphaK._of_whole, removable=removable, ends=ends)

    def _of_whole(self, whole: Groups, removable: int) -> Feasibility:
        limit = share_limit(self.alpha, parameter="alpha")
        return limit_and_rows(
            self, whole, limit, k=self.k, removable=removable, least=self.k
        )
