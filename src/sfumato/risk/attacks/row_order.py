"""Unsorted matching: does the order of published rows show whose they are?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.data.arrays import Floats, Ints
from sfumato.risk.attacks.base import Attack, AttackInput, AttackResult
from sfumato.risk.attacks.matching_rows import ShownTuples


@dataclass(frozen=True, kw_only=True)
class RowOrder(Attack):
    """Find a person's row by the order of the published rows.

    Knows: a person's group, and the order of the original's rows (by name, by date).
    Success: the share of people who are found by matching the first row of a group with
    the first of its people in the original, the second with the second, and so on.
    Baseline: picking any row of the group.
    Bound: none; a release that draws its order at random stays near the baseline.
    Reference: Sweeney 2002 (unsorted matching).
    """

    name: ClassVar[str] = "row-order"
    sentence: ClassVar[str] = "Find a person's row by its place among the group's rows."
    knows: ClassVar[str] = "the person's group, and the order of the original"

    def refusal(self, scene: AttackInput) -> str | None:
        if scene.pair.source_row is None:
            return "nothing says which row is whose (private/rows.parquet)"
        return None

    def run(self, scene: AttackInput) -> tuple[AttackResult, ...]:
        pair = scene.pair
        assert pair.source_row is not None
        group = pair.groups.astype(np.int64)
        if not pair.form.exact:
            group = ShownTuples(pair, scene.columns).owner
        hit = _right(group, pair.source_row)
        found = np.zeros(pair.rows)
        found[pair.source_row] = hit
        sizes = np.bincount(group)
        groups = int((sizes > 0).sum())
        return (
            self.result(
                scene,
                found[scene.targets],
                baseline=groups / max(pair.rows, 1),
            ),
        )


def _right(group: Ints, source_row: Ints) -> Floats:
    """For each published row whether its rank in its group is that of its source row."""
    rows = np.arange(len(group))
    shown = np.lexsort((rows, group))
    true = np.lexsort((source_row, group))
    right: Floats = (shown == true)[np.argsort(shown)].astype(np.float64)
    return right
