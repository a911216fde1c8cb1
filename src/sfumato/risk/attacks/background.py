"""Background knowledge: values excluded, and members of the group known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.data.arrays import Floats
from sfumato.data.rules import View
from sfumato.models.base import Histogram
from sfumato.risk.attacks.attribute import AttributeAttack
from sfumato.risk.attacks.base import AttackInput, AttackResult
from sfumato.risk.attacks.matching_rows import Beliefs, beliefs


@dataclass(frozen=True, kw_only=True)
class BackgroundKnowledge(AttributeAttack):
    """Learn a sensitive value with some values ruled out and some members known.

    Knows: a person's group, up to `excluded` values that the person does not have, and
    the values of up to `members` other people of the group; those that help most.
    Success: the person's own value's share of what remains.
    Baseline: the same knowledge, applied to the published table as a whole.
    Bound: none. Distinct l-diversity leaves two values or more while fewer than l − 1 are
    excluded.
    Reference: Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam 2007; Martin, Kifer,
    Machanavajjhala, Gehrke and Halpern 2007.
    """

    name: ClassVar[str] = "background-knowledge"
    sentence: ClassVar[str] = (
        "Learn a value with other values ruled out and other members known."
    )
    knows: ClassVar[str] = (
        "the person's group, values the person does not have, and values of others"
    )

    excluded: int = 1
    """How many values the attacker knows that the person does not have."""
    members: int = 1
    """Of how many other people of the group the attacker knows the value."""

    def attack(self, scene: AttackInput, view: View) -> AttackResult:
        found = beliefs(scene, view)
        left = self._left(found.histogram)
        chances = found.of_entries(left)
        return self.result(
            scene,
            chances,
            baseline=self._baseline(found),
            worst=float(chances.max(initial=0.0)),
            column=view.column,
        )

    def _baseline(self, found: Beliefs) -> float:
        shares = np.zeros(found.whole.axis.size)
        shares[found.whole.codes] = self._left(found.whole)
        return float(shares[found.truth].mean()) if len(found.truth) else 0.0

    def _left(self, histogram: Histogram) -> Floats:
        """For each entry its value's share once the attacker has used what is known."""
        owners, counts = histogram.owners, histogram.counts
        order = np.lexsort((-counts, owners))
        place = np.empty(len(counts), dtype=np.int64)
        place[order] = np.arange(len(counts)) - histogram.starts[owners[order]]
        top = histogram.add_up(np.where(place < self.excluded, counts, 0))
        more = histogram.add_up(np.where(place == self.excluded, counts, 0))
        inside = place < self.excluded
        # The commonest *other* values: one more where the own value is among them.
        ruled_out = np.where(inside, top[owners] + more[owners] - counts, top[owners])
        others = histogram.totals[owners] - counts - ruled_out
        others = np.maximum(others - self.members, 0)
        shares: Floats = counts / (counts + others)
        return shares
