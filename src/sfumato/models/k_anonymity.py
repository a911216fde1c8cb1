"""k-anonymity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from sfumato.data.option_examples import ParameterExamples
from sfumato.data.rules import Rule
from sfumato.models.base import (
    AttackBound,
    Feasibility,
    Groups,
    OutputModel,
    Verdict,
    size_rule,
)
from sfumato.models.common.feasibility import enough_rows
from sfumato.models.common.verdicts import judge_sizes


@dataclass(frozen=True, kw_only=True)
class KAnonymity(OutputModel):
    """Every published group has at least k rows, or k persons.

    Guarantee: linking on the quasi-identifiers alone leaves k or more candidates.
    Limits: says nothing about sensitive values; a group may share a single one.
    Reference: Samarati and Sweeney 1998.
    """

    name: ClassVar[str] = "k-anonymity"
    needs_cells: ClassVar[bool] = True
    sentence: ClassVar[str] = "Nobody can be told apart from at least k − 1 others."
    blind_spot: ClassVar[str] = (
        "A group whose members share one sensitive value gives that value away."
    )
    examples: ClassVar[ParameterExamples] = ({"k": range(1, 6)},)
    monotone_suppression: ClassVar[bool] = True

    k: int
    """The fewest rows, or persons, that a published group may have."""

    def __post_init__(self) -> None:
        self._require_count("k", self.k)

    @property
    def more_is_safer(self) -> bool:
        return True

    def attack_bounds(
        self, quasi: Sequence[str], sensitive: Sequence[str]
    ) -> tuple[AttackBound, ...]:
        return (AttackBound(attack="linkage", at_most=1 / self.k),)

    def verify(self, groups: Groups) -> Verdict:
        return judge_sizes(groups.sizes, k=self.k).verdict()

    def rules(self, sensitive: Sequence[str], *, subjects: bool) -> tuple[Rule, ...]:
        return (size_rule(self.k, subjects=subjects),)

    def feasibility(self, whole: Groups, *, removable: int) -> Feasibility:
        found = int(whole.sizes.sum())
        return enough_rows(self.name, needed=self.k, found=found, parameter="k")
