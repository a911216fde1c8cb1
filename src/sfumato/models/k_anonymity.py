"""k-anonymity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from sfumato.data.rules import SUBJECT, Rule, RuleKind
from sfumato.models.base import Feasibility, Groups, OutputModel, Verdict


@dataclass(frozen=True, kw_only=True)
class KAnonymity(OutputModel):
    """Every published group has at least k rows, or k persons.

    Guarantee: linking on the quasi-identifiers alone leaves k or more candidates.
    Limits: says nothing about sensitive values; a group may share a single one.
    Reference: Samarati and Sweeney 1998.
    """

    name: ClassVar[str] = "k-anonymity"
    sentence: ClassVar[str] = "Nobody can be told apart from at least k − 1 others."
    blind_spot: ClassVar[str] = (
        "A group whose members share one sensitive value gives that value away."
    )
    monotone_suppression: ClassVar[bool] = True

    k: int

    def __post_init__(self) -> None:
        self._require(self.k >= 1, f"k is {self.k}.", "k must be a whole number ≥ 1.")

    def verify(self, groups: Groups) -> Verdict:
        smallest = int(groups.sizes.min()) if groups.count else None
        offending = int((groups.sizes < self.k).sum())
        return Verdict(offending == 0, smallest, offending)

    def rules(self, sensitive: Sequence[str], *, subjects: bool) -> tuple[Rule, ...]:
        if subjects:
            return (Rule(RuleKind.DISTINCT, SUBJECT, (self.k,)),)
        return (Rule(RuleKind.SIZE, None, (self.k,)),)

    def feasibility(self, whole: Groups, *, removable: int) -> Feasibility:
        available = int(whole.sizes.sum())
        return Feasibility(
            feasible=available >= self.k,
            best=available,
            message=f"k-anonymity needs groups of {self.k}; the table has {available}.",
            hint=f"Lower k to {available}, or add rows.",
        )
