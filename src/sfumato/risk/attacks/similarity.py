"""Similarity: all candidates have similar values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.data.arrays import Flags, Floats
from sfumato.data.rules import View
from sfumato.hierarchies.axis import Shape
from sfumato.models.base import Histogram
from sfumato.models.common.distances import unit_positions
from sfumato.models.common.measures import distinct
from sfumato.risk.attacks.attribute import AttributeAttack
from sfumato.risk.attacks.base import AttackInput, AttackResult
from sfumato.risk.attacks.matching_rows import beliefs


@dataclass(frozen=True, kw_only=True)
class Similarity(AttributeAttack):
    """Learn what kind of sensitive value a person has: all candidates' are similar.

    Knows: a person's group.
    Success: the share of people whose candidates all lie under one node of the hierarchy
    at `level`, or within the share `closeness` of the range of a number; without either,
    who all have one value.
    Baseline: knowing it from the published table alone: 1 if all its values are alike,
    else 0.
    Bound: none; ask for diversity at a level of the hierarchy, or for closeness.
    Reference: Li, Li and Venkatasubramanian 2007.
    """

    name: ClassVar[str] = "similarity"
    sentence: ClassVar[str] = "Learn what kind of value all candidates have."
    knows: ClassVar[str] = "the person's group"

    level: int = 1
    """The level of the hierarchy at which values count as of one kind."""
    closeness: float = 0.1
    """Of numbers: the share of the range within which values count as alike."""

    def attack(self, scene: AttackInput, view: View) -> AttackResult:
        found = beliefs(scene, view)
        alike = self._alike(found.histogram).astype(np.float64)
        return self.result(
            scene,
            found.of_entries(alike[found.histogram.owners]),
            baseline=float(self._alike(found.whole).any()),
            worst=found.worst(alike),
            column=view.column,
        )

    def _alike(self, histogram: Histogram) -> Flags:
        """Which sets have values that are all alike."""
        axis = histogram.axis
        if not histogram.count:
            return np.zeros(0, dtype=np.bool_)
        if axis.shape is Shape.TREE and axis.height > 2:
            nodes = axis.levels[min(self.level, axis.height - 2)][histogram.codes]
            together: Flags = _ends(histogram, nodes.astype(np.float64)) == 0
            return together
        if axis.positions is not None and not np.isnan(axis.positions).all():
            spans = _ends(histogram, unit_positions(histogram)[histogram.codes])
            near: Flags = spans <= self.closeness + 1e-12
            return near
        same: Flags = distinct(histogram) == 1
        return same


def _ends(histogram: Histogram, values: Floats) -> Floats:
    """The difference between the largest and the smallest value of each set."""
    low = np.minimum.reduceat(values, histogram.starts[:-1])
    high = np.maximum.reduceat(values, histogram.starts[:-1])
    found: Floats = np.nan_to_num(high - low, nan=np.inf)
    return found
