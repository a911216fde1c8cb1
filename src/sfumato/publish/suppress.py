"""Suppress: show a value where a group agrees, `*` where it does not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.publish.base import CellOperator, Material, Shown
from sfumato.publish.generalize import exact_leaves, extent_of, starred


@dataclass(frozen=True, kw_only=True)
class Suppress(CellOperator):
    """A cell is published as it is, or not at all.

    Guarantee: every cell that is not `*` is the source value.
    Limits: loses more than `generalize` on the same grouping.
    Reference: the Suppress step of DIVA (Milani et al. 2021).
    """

    name: ClassVar[str] = "suppress"
    sentence: ClassVar[str] = "A cell shows its value where the whole group shares it."
    limits_loss: ClassVar[bool] = True

    @property
    def shows_shared(self) -> bool:
        return True

    @property
    def shows_covers(self) -> bool:
        return True

    def show(self, material: Material, index: int) -> Shown:
        extent = extent_of(material, index)
        loss = (~extent.single).astype(np.float64)
        labels = starred(extent)
        columns = {extent.coded.name: labels.array()}
        return Shown(columns, loss, loss, exact_leaves(extent))
