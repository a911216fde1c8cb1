"""What attacks on sensitive columns share: one result per column."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from sfumato.data.rules import View
from sfumato.risk.attacks.base import Attack, AttackInput, AttackResult
from sfumato.risk.table_pair import Pair


@dataclass(frozen=True, kw_only=True)
class AttributeAttack(Attack):
    """An attack that learns a sensitive value of people whose group it finds."""

    def refusal(self, scene: AttackInput) -> str | None:
        if not scene.secrets:
            return "the published table has no sensitive column"
        for view in scene.secrets:
            if _is_generalized(scene.pair, view.column):
                return f"'{view.column}' shows labels, intervals or sets, not values"
        return None if scene.columns else "no column is known"

    def run(self, scene: AttackInput) -> tuple[AttackResult, ...]:
        return tuple(self.attack(scene, view) for view in scene.secrets)

    @abstractmethod
    def attack(self, scene: AttackInput, view: View) -> AttackResult:
        """Attack one column."""


def _is_generalized(pair: Pair, name: str) -> bool:
    """Whether cells of a column stand for several values; a suppressed cell does not.

    Beliefs are about single values: rows that show none would be left out of them, and
    the attack would seem to learn nothing.
    """
    column = pair.published[name]
    reading, shown = column.reading, column.counts > 0
    every = reading.axis.size - (reading.axis.missing >= 0)
    several = shown & (reading.leaf < 0) & (reading.sizes > 1)
    exact = shown & (reading.leaf >= 0)
    return bool((several & (reading.sizes < every)).any() or not exact.any())
