"""What attacks on sensitive columns share: one result per column."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from sfumato.data.rules import View
from sfumato.risk.attacks.base import Attack, AttackInput, AttackResult


@dataclass(frozen=True, kw_only=True)
class AttributeAttack(Attack):
    """An attack that learns a sensitive value of people whose group it finds."""

    def refusal(self, scene: AttackInput) -> str | None:
        if not scene.secrets:
            return "the published table has no sensitive column"
        return None if scene.columns else "no column is known"

    def run(self, scene: AttackInput) -> tuple[AttackResult, ...]:
        return tuple(self.attack(scene, view) for view in scene.secrets)

    @abstractmethod
    def attack(self, scene: AttackInput, view: View) -> AttackResult:
        """Attack one column."""
