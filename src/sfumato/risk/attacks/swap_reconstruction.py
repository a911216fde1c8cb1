"""Reconstruction of the swap: try seeds, and undo what they would have drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.data.arrays import Codes, Floats, Ints
from sfumato.data.rules import View
from sfumato.data.seeds import Seed
from sfumato.publish.swap import givers
from sfumato.risk.attacks.attribute import AttributeAttack
from sfumato.risk.attacks.base import AttackInput, AttackResult
from sfumato.risk.table_pair import PublishedForm


@dataclass(frozen=True, kw_only=True)
class SwapReconstruction(AttributeAttack):
    """Undo a swap: find the seed that drew it, and put the values back.

    Knows: the groups, the program, and that its seed may be a small number.
    Success: the share of people whose value is right after undoing the swap of the
    likeliest seed: the one whose table ties sensitive values closest to the known columns
    (mutual information, added up). Leaving the table as it is counts as one more seed.
    Baseline: a swap that is undone at random within the groups.
    Bound: none. A secret seed of 128 bits is not found.
    """

    name: ClassVar[str] = "swap-reconstruction"
    sentence: ClassVar[str] = "Undo a swap whose seed can be guessed."
    knows: ClassVar[str] = (
        "the groups, the program, and that the seed is a small number"
    )

    seeds: int = 32
    """The seeds 0 … seeds − 1 are tried."""

    def refusal(self, scene: AttackInput) -> str | None:
        if scene.pair.form is not PublishedForm.SWAPPED:
            return "the table is not swapped"
        if scene.pair.source_row is None:
            return "nothing says which row is whose (private/rows.parquet)"
        return super().refusal(scene)

    def attack(self, scene: AttackInput, view: View) -> AttackResult:
        pair = scene.pair
        column = pair.published[view.column]
        values = np.maximum(column.reading.leaf[column.codes], 0).astype(np.int32)
        features = [pair.published[name].codes for name in scene.columns]
        restored = self._restored(scene, view.column, values, features)
        truth = pair.original[view.column].codes[np.asarray(pair.source_row)]
        hit = np.zeros(pair.rows)
        hit[pair.source_row] = restored == truth
        by_chance = np.zeros(pair.rows)
        by_chance[pair.source_row] = _at_random(pair.groups, values, truth)
        return self.result(
            scene,
            hit[scene.targets],
            baseline=float(by_chance[scene.targets].mean()),
            column=view.column,
        )

    def _restored(
        self,
        scene: AttackInput,
        name: str,
        values: Codes,
        features: Sequence[Codes],
    ) -> Codes:
        """The values as the likeliest seed says that they were."""
        best, most = values, _dependence(values, features)
        tried = list(self._swaps(scene.pair.groups, name))
        for at, shown in enumerate(tried):
            scene.progress("swap", at / len(tried))
            back = np.empty_like(values)
            back[shown] = values
            found = _dependence(back, features)
            if found > most:
                best, most = back, found
        return best

    def _swaps(self, groups: Codes, name: str) -> Iterator[Ints]:
        """For each seed the swap of all columns together, and of this one alone."""
        for number in range(self.seeds):
            seed = Seed.guessable(number).child("publish").child("swap")
            yield givers(groups, seed)
            yield givers(groups, seed.child(name))


def _at_random(groups: Codes, values: Codes, truth: Codes) -> Floats:
    """For each row the share of its own value in its group."""
    size = int(max(values.max(initial=0), truth.max(initial=0))) + 1
    keys = groups.astype(np.int64) * size
    counts = np.bincount(
        keys + values, minlength=(int(groups.max(initial=-1)) + 1) * size
    )
    shares: Floats = counts[keys + truth] / np.bincount(groups)[groups]
    return shares


def _dependence(values: Codes, features: Sequence[Codes]) -> float:
    """The mutual information of values with each feature, added up."""
    return sum(_information(values, codes) for codes in features)


def _information(one: Codes, other: Codes) -> float:
    width = int(other.max(initial=0)) + 1
    _, often = np.unique(one.astype(np.int64) * width + other, return_counts=True)
    sides = _entropy(np.bincount(one)) + _entropy(np.bincount(other))
    return sides - _entropy(often)


def _entropy(counts: Ints) -> float:
    shares = counts[counts > 0] / counts.sum()
    return float(-(shares * np.log(shares)).sum())
