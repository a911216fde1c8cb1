"""Average re-identification risk."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from sfumato.data.option_examples import ParameterExamples, twentieths
from sfumato.data.rules import Rule
from sfumato.models.base import (
    TOLERANCE,
    AttackBound,
    Feasibility,
    Groups,
    OutputModel,
    Scope,
    Verdict,
    size_rule,
)
from sfumato.models.common.feasibility import nearest


@dataclass(frozen=True, kw_only=True)
class AverageRisk(OutputModel):
    """The mean chance of finding a person's row is at most a limit.

    Guarantee: a row in a group of s rows is found with chance 1 / s; the mean over
    all rows, which is groups / rows, stays within the limit.
    Method: groups of at least 1 / at_most rows suffice, as no row then has more;
    `optimal` looks at the mean itself.
    Limits: single rows may have a far higher risk than the mean.
    Reference: El Emam et al. 2011 (prosecutor risk).
    """

    name: ClassVar[str] = "average-risk"
    needs_cells: ClassVar[bool] = True
    sentence: ClassVar[str] = "On average, a person's row is found with a small chance."
    blind_spot: ClassVar[str] = (
        "The mean hides the worst case: a few people may still stand alone."
    )
    examples: ClassVar[ParameterExamples] = ({"at_most": twentieths(0.05, 1)},)
    scope: ClassVar[Scope] = Scope.TABLE

    at_most: float
    """The largest mean, over all rows, of 1 / the size of their group."""

    def __post_init__(self) -> None:
        self._require_share("at_most", self.at_most)

    @property
    def judges_sizes(self) -> bool:
        return True

    def attack_bounds(
        self, quasi: Sequence[str], sensitive: Sequence[str]
    ) -> tuple[AttackBound, ...]:
        return (AttackBound(attack="linkage", at_most=self.at_most, on_average=True),)

    def verify(self, groups: Groups) -> Verdict:
        total = int(groups.people.sum())
        if not total:
            return Verdict(True, None)
        risk = float((groups.people / groups.sizes).sum() / total)
        holds = risk <= self.at_most + TOLERANCE
        above = (1.0 / groups.sizes > self.at_most + TOLERANCE) & (not holds)
        return Verdict(holds, risk, int(above.sum()), broken=above)

    def rules(self, sensitive: Sequence[str], *, subjects: bool) -> tuple[Rule, ...]:
        return (size_rule(self._smallest(), subjects=subjects),)

    def feasibility(self, whole: Groups, *, removable: int) -> Feasibility:
        found = int(whole.sizes.sum())
        best = 1.0 / max(found, 1)
        return Feasibility(
            feasible=found >= self._smallest(),
            best=best,
            message=f"{self.name} needs a mean risk of at most {self.at_most:,g}; "
            f"the table has {found:,} rows, so the best is {best:,.6g}.",
            hint=f"Raise at_most to {nearest(best, at_least=False)}, or add rows.",
        )

    def _smallest(self) -> int:
        return math.ceil(1.0 / self.at_most - TOLERANCE)
