"""Membership: is a person in the table at all?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.data.arrays import Codes, Floats
from sfumato.risk.attacks.base import Attack, AttackInput, AttackResult
from sfumato.risk.attacks.matching_rows import ShownTuples, distinct_people
from sfumato.risk.table_pair import Pair


@dataclass(frozen=True, kw_only=True)
class Membership(Attack):
    """Tell that a person is in the table: some published row may be the person's.

    Knows: a person's values in the known columns.
    Success: the share of people in the original who may have a published row.
    Baseline: the same share of made-up people, whose values were drawn column by column
    from the original.
    Control: the same share of people who are not in the table. An attack is worth the
    difference between its success and this share.
    Bound: none. δ-presence bounds it for the people of a population table.
    Reference: Nergiz, Atzori and Clifton 2007; Shokri, Stronati, Song and Shmatikov 2017.
    """

    name: ClassVar[str] = "membership"
    sentence: ClassVar[str] = "Tell whether a person is in the table."
    knows: ClassVar[str] = "the person's exact values in the known columns"

    def refusal(self, scene: AttackInput) -> str | None:
        return None if scene.columns else "no column is known"

    def gain(self, share: float, baseline: float) -> float:
        """The advantage: people who are told rightly, less those who are told falsely."""
        return share - baseline

    def run(self, scene: AttackInput) -> tuple[AttackResult, ...]:
        shown = ShownTuples(scene.pair, scene.columns)
        found = matched(shown, scene.leaves(scene.targets))
        drawn = matched(shown, _made_up(scene))
        control = None
        if scene.both is not None:
            control = float(_strangers(scene, scene.both).mean())
        return (
            self.result(
                scene,
                found,
                baseline=float(drawn.mean()) if len(drawn) else 0.0,
                control=control,
            ),
        )


def matched(shown: ShownTuples, leaves: Codes) -> Floats:
    """Whether some published row may be each person's."""
    person, distinct = distinct_people(leaves)
    some = [fits.any(axis=1) for _, fits in shown.matches(distinct)]
    each = np.concatenate(some) if some else np.zeros(0, dtype=np.bool_)
    return each[person].astype(np.float64)


def _made_up(scene: AttackInput) -> Codes:
    """People whose values were drawn from each column on its own."""
    columns = []
    for name in scene.columns:
        codes = scene.pair.original[name].codes
        words = scene.seed.child("made up", name).words(len(scene.targets))
        columns.append(codes[(words % np.uint64(max(len(codes), 1))).astype(np.int64)])
    return np.column_stack(columns)


def _strangers(scene: AttackInput, both: Pair) -> Floats:
    """Whether some published row may be each stranger's."""
    shown = ShownTuples(both, scene.columns)
    codes = [both.original[name].codes[scene.strangers] for name in scene.columns]
    return matched(shown, np.column_stack(codes))
