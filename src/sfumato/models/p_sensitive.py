"""p-sensitive k-anonymity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from sfumato.data.option_examples import ParameterExamples
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
from sfumato.models.common.measures import distinct
from sfumato.models.common.table_limits import distinct_limit
from sfumato.models.common.verdicts import Side, judge, judge_sizes, verdict_on_limits


@dataclass(frozen=True, kw_only=True)
class PSensitive(SensitiveModel):
    """Groups have at least k rows and p distinct values of each sensitive column.

    Guarantee: k or more candidates, who have p or more values between them.
    Limits: nothing about how common each value is, nor how alike they are.
    Reference: Truta and Vinay 2006.
    """

    name: ClassVar[str] = "p-sensitive"
    needs_cells: ClassVar[bool] = True
    sentence: ClassVar[str] = (
        "Everybody hides among k people who have at least p different sensitive values."
    )
    blind_spot: ClassVar[str] = (
        "One of the p values may be nearly everybody's, and the values may be alike."
    )
    examples: ClassVar[ParameterExamples] = ({"p": range(1, 4), "k": range(3, 6)},)
    monotone_suppression: ClassVar[bool] = True

    p: int
    """How many different values of each sensitive column every group must have."""
    k: int
    """The fewest rows, or persons, that a published group may have."""

    def __post_init__(self) -> None:
        self._require_common()
        self._require_count("p", self.p)
        self._require_count("k", self.k)
        self._require(
            self.p <= self.k,
            f"p is {self.p}, k is {self.k}.",
            "p values need at least p rows: raise k to p or more.",
        )

    @property
    def more_is_safer(self) -> bool:
        return True

    def attack_bounds(
        self, quasi: Sequence[str], sensitive: Sequence[str]
    ) -> tuple[AttackBound, ...]:
        certain = (
            AttackBound(attack="homogeneity", at_most=0.0, view=view)
            for view in self.views(sensitive)
            if self.p >= 2
        )
        return (AttackBound(attack="linkage", at_most=1 / self.k), *certain)

    def verify(self, groups: Groups) -> Verdict:
        values = judge(
            groups,
            self.histograms(groups),
            distinct,
            side=Side.AT_LEAST,
            limit=self.p,
        )
        sizes = judge_sizes(groups.sizes, k=self.k)
        return verdict_on_limits({"p": values, "k": sizes}, k=sizes.worst)

    def rules(self, sensitive: Sequence[str], *, subjects: bool) -> tuple[Rule, ...]:
        views = self.views(sensitive)
        values = (Rule(RuleKind.DISTINCT, view, (self.p,)) for view in views)
        return (size_rule(self.k, subjects=subjects), *values)

    def feasibility(self, whole: Groups, *, removable: int) -> Feasibility:
        # Below p no k is allowed, unless p goes down with it.
        ends = {"k": self.p if whole.everybody >= self.p else 1, "p": 1}
        return explained(
            self, whole, PSensitive._of_whole, removable=removable, ends=ends
        )

    def _of_whole(self, whole: Groups, removable: int) -> Feasibility:
        limit = distinct_limit(self.p, parameter="p")
        return limit_and_rows(self, whole, limit, k=self.k, removable=removable)
