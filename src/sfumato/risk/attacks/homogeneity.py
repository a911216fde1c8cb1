"""Homogeneity: all candidates share one sensitive value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.data.rules import View
from sfumato.models.common.measures import distinct
from sfumato.risk.attacks.attribute import AttributeAttack
from sfumato.risk.attacks.base import AttackInput, AttackResult
from sfumato.risk.attacks.matching_rows import beliefs


@dataclass(frozen=True, kw_only=True)
class Homogeneity(AttributeAttack):
    """Learn a person's sensitive value for sure: all candidates share it.

    Knows: a person's values in the known columns, and so the person's group.
    Success: the share of people whose value is given away with certainty.
    Baseline: knowing it from the published table alone: 1 if it has one value, else 0.
    Bound: l-diversity and p-sensitivity promise that it happens to nobody.
    Reference: Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam 2007.
    """

    name: ClassVar[str] = "homogeneity"
    sentence: ClassVar[str] = "Learn a value that all candidates share."
    knows: ClassVar[str] = "the person's group"

    def attack(self, scene: AttackInput, view: View) -> AttackResult:
        found = beliefs(scene, view)
        same = (distinct(found.histogram) == 1).astype(np.float64)
        hit = found.of_entries(same[found.histogram.owners])
        alone = bool(len(found.whole.codes) == 1)
        return self.result(
            scene,
            hit,
            baseline=float(alone),
            worst=found.worst(same),
            column=view.column,
        )
