"""Skewness: how far a group moves an attacker's belief from the table's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.data.arrays import Floats
from sfumato.data.rules import Distance, View
from sfumato.models.base import Histogram
from sfumato.models.common.distances import earth_mover
from sfumato.models.common.measures import largest_excess, largest_log_ratio
from sfumato.models.t_closeness import DISTANCES
from sfumato.risk.attacks.attribute import AttributeAttack
from sfumato.risk.attacks.base import AttackInput, AttackResult
from sfumato.risk.attacks.matching_rows import beliefs


@dataclass(frozen=True, kw_only=True)
class Skewness(AttributeAttack):
    """Learn that a sensitive value is likelier in a person's group than in the table.

    Knows: a person's group, and the values of the whole table.
    Success: the mean over people of how far their group's distribution is from the
    table's: the earth mover's distance (`measure` "shift", with the `distance` that
    t-closeness has), the largest (q − p) / p of a value ("gain"), or the largest
    |ln(q / p)| of those that occur ("log-ratio"). Only the first lies between 0 and 1.
    Baseline: 0, the table's own distribution.
    Bound: t-closeness promises a shift, β-likeness a gain, δ-disclosure a log-ratio.
    Reference: Li, Li and Venkatasubramanian 2007.
    """

    name: ClassVar[str] = "skewness"
    sentence: ClassVar[str] = "Learn that a value is likelier than in the table."
    knows: ClassVar[str] = "the person's group, and the values of the whole table"

    rate: ClassVar[bool] = False

    measure: str = "shift"
    """How far distributions are apart: "shift" (earth mover's distance), "gain" or
    "log-ratio"."""
    distance: str | None = None
    """Of a shift, how far apart two values are: "equal", "ordered" or
    "hierarchical"; left out, the kind of the column decides."""

    def attack(self, scene: AttackInput, view: View) -> AttackResult:
        found = beliefs(scene, view)
        figures = self._figures(found.histogram)
        return self.result(
            scene,
            found.of_targets(figures),
            baseline=0.0,
            worst=found.worst(figures),
            column=view.column,
        )

    def _figures(self, histogram: Histogram) -> Floats:
        if not histogram.count:
            return np.zeros(0)
        if self.measure == "gain":
            return np.maximum(largest_excess(histogram), 0.0)
        if self.measure == "log-ratio":
            return largest_log_ratio(histogram)
        chosen = Distance.DEFAULT if self.distance is None else DISTANCES[self.distance]
        return earth_mover(histogram, distance=chosen)
