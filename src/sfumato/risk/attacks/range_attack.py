"""Range disclosure: name a sensitive value to within a range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sfumato.data.rules import View
from sfumato.models.common.distances import s_diversity
from sfumato.risk.attacks.attribute import AttributeAttack
from sfumato.risk.attacks.base import AttackInput, AttackResult
from sfumato.risk.attacks.matching_rows import beliefs


@dataclass(frozen=True, kw_only=True)
class Range(AttributeAttack):
    """Name a person's sensitive value to within a range, by another candidate's.

    Knows: a person's group.
    Success: the S-diversity of the groups of people at estimation power `r`: the mean
    nearness of two candidates' values, where those further apart than r count nothing.
    Baseline: the same of two rows of the published table.
    Bound: range disclosure promises a largest S-diversity.
    Reference: Loukides and Shao 2008.
    """

    name: ClassVar[str] = "range"
    sentence: ClassVar[str] = "Name a value to within a range, by other candidates'."
    knows: ClassVar[str] = "the person's group"

    rate: ClassVar[bool] = False

    r: float = 0.1
    """How close two values must be to count as alike, as a share of the range."""

    def attack(self, scene: AttackInput, view: View) -> AttackResult:
        found = beliefs(scene, view)
        figures = s_diversity(found.histogram, r=self.r)
        return self.result(
            scene,
            found.of_targets(figures),
            baseline=float(s_diversity(found.whole, r=self.r).max(initial=0.0)),
            worst=found.worst(figures),
            column=view.column,
        )
