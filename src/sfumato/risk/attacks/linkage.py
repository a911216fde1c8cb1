"""Record linkage on exact values: whose cells may stand for what is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.data.arrays import Codes, Flags, Floats, Ints
from sfumato.risk.attacks.base import Attack, AttackInput, AttackResult
from sfumato.risk.attacks.matching_rows import ShownTuples, distinct_people
from sfumato.risk.table_pair import PublishedForm


@dataclass(frozen=True, kw_only=True)
class Linkage(Attack):
    """Link people to published rows by the values that are known of them.

    Knows: a person's exact values in the known columns, and that the person is in the
    original.
    Success: the chance to pick the person's row among all rows whose cells may stand for
    these values. A person whose row was left out is never found. Where it is not known
    which row is whose, a person is assumed to be among the candidates. Baseline:
    picking any published row. Bound: k-anonymity, (α, k), p-sensitivity and LKC promise
    at most 1 / k for everybody, average risk promises its mean.
    Reference: Sweeney 2002; El Emam 2013 (prosecutor risk).
    """

    name: ClassVar[str] = "linkage"
    sentence: ClassVar[str] = "Find a person's row by values that its cells may show."
    knows: ClassVar[str] = "the person's exact values in the known columns"

    def refusal(self, scene: AttackInput) -> str | None:
        if scene.pair.form is PublishedForm.SYNTHETIC:
            return "no row of a synthetic table is a person's"
        return None if scene.columns else "no column is known"

    def run(self, scene: AttackInput) -> tuple[AttackResult, ...]:
        shown = ShownTuples(scene.pair, scene.columns)
        chances = linkage_chances(scene, shown)
        rows = max(scene.pair.rows_out, 1)
        worst = float(chances.max(initial=0.0))
        return (self.result(scene, chances, baseline=1.0 / rows, worst=worst),)


def linkage_chances(scene: AttackInput, shown: ShownTuples) -> Floats:
    """The chance of each target that a candidate picked at random is its own row."""
    person, leaves = distinct_people(scene.leaves(scene.targets))
    order = np.argsort(person, kind="stable")
    starts = np.searchsorted(person[order], np.arange(len(leaves) + 1))
    own = _own_tuples(scene, shown)
    subjects = _published_subjects(scene)
    chances = np.zeros(len(person))
    for some, fits in shown.matches(leaves):
        candidates = _number(fits, shown, subjects)
        for at in range(some.start, some.stop):
            these = order[starts[at] : starts[at + 1]]
            row = fits[at - some.start]
            found = (
                row[own[these]] & (own[these] >= 0) if own is not None else row.any()
            )
            number = candidates[at - some.start]
            chances[these] = np.where(found, 1.0 / max(number, 1.0), 0.0)
    return chances


def _own_tuples(scene: AttackInput, shown: ShownTuples) -> Ints | None:
    """The tuple that each target's own row shows; −1 where it was left out."""
    if scene.published_row is None:
        return None
    rows = scene.published_row[scene.targets]
    return np.where(rows >= 0, shown.owner[rows], -1)


def _published_subjects(scene: AttackInput) -> Codes | None:
    pair = scene.pair
    if pair.subject is None or pair.source_row is None:
        return None
    return pair.subject[pair.source_row]


def _number(fits: Flags, shown: ShownTuples, subjects: Codes | None) -> Floats:
    """Count each person's candidates, as rows or people."""
    if subjects is None:
        # NumPy multiplies matrices of integers slowly; doubles count exactly to 2**53.
        return fits.astype(np.float64) @ shown.sizes.astype(np.float64)
    found = np.empty(len(fits))
    for at, row in enumerate(fits):
        found[at] = len(np.unique(subjects[row[shown.owner]]))
    return found
