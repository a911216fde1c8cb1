"""Guess a sensitive value by the commonest one among a person's candidates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.data.arrays import Floats
from sfumato.data.rules import View
from sfumato.models.base import Histogram
from sfumato.models.common.measures import commonest_share
from sfumato.risk.attacks.attribute import AttributeAttack
from sfumato.risk.attacks.base import AttackInput, AttackResult
from sfumato.risk.attacks.matching_rows import beliefs


@dataclass(frozen=True, kw_only=True)
class GroupGuess(AttributeAttack):
    """Guess a person's sensitive value: the commonest one among the candidates.

    Knows: a person's values in the known columns, and so the person's group.
    Success: the share of people whose value is guessed right; ties count in part. The
    worst figure is the commonest value's share of somebody's candidates.
    Baseline: guessing the commonest value of the published table for everybody.
    Bound: θ-diversity, (α, k), LKC and recursive l-diversity promise a largest share.
    Reference: Boger 2020; Wong, Li, Fu and Wang 2006.
    """

    name: ClassVar[str] = "guess"
    sentence: ClassVar[str] = "Guess a value as the commonest among the candidates."
    knows: ClassVar[str] = "the person's group"

    def attack(self, scene: AttackInput, view: View) -> AttackResult:
        found = beliefs(scene, view)
        right = found.of_entries(_right(found.histogram))
        by_chance = _right(found.whole)
        often = np.zeros(found.whole.axis.size)
        often[found.whole.codes] = by_chance
        return self.result(
            scene,
            right,
            baseline=float(often[found.truth].mean()) if len(right) else 0.0,
            worst=found.worst(commonest_share(found.histogram)),
            column=view.column,
        )


def _right(histogram: Histogram) -> Floats:
    """For each entry the chance that its value is the guess: its part among ties."""
    top = histogram.largest(histogram.counts)
    owners = histogram.owners
    first = histogram.counts == top[owners]
    ties = histogram.add_up(first.astype(np.int64))
    return np.where(first, 1.0 / ties[owners], 0.0)
