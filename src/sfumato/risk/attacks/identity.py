"""Identity disclosure by learned models: which of a group's rows is the person's?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.data.arrays import Floats, Ints
from sfumato.data.published_cells import distinct_tuples
from sfumato.risk.attacks.base import AttackInput, AttackResult
from sfumato.risk.attacks.learned import LearnedAttack, trained
from sfumato.risk.attacks.matching_rows import ShownTuples
from sfumato.risk.table_pair import PublishedForm


@dataclass(frozen=True, kw_only=True)
class Identity(LearnedAttack):
    """Pick a person's row out of its group by the sensitive values that fit the person.

    Knows: a person's exact values in the known columns, and so the person's group.
    Success: the chance to pick the person's row as the one whose sensitive values are
    likeliest for these exact values, by a model trained on the release.
    Baseline: picking any row of the group.
    Cost: at most `train` published rows are learned from.
    Bound: none; k-anonymity bounds what can be linked by quasi-identifiers alone.
    """

    name: ClassVar[str] = "identity"
    sentence: ClassVar[str] = "Pick a person's row by the values that fit the person."
    knows: ClassVar[str] = "the person's exact values in the known columns"

    model: str = "boosting"

    def refusal(self, scene: AttackInput) -> str | None:
        if scene.pair.form is not PublishedForm.GENERALIZED:
            return "the rows of the table are not those of people, cell by cell"
        if scene.pair.source_row is None:
            return "nothing says which row is whose (private/rows.parquet)"
        return super().refusal(scene)

    def run(self, scene: AttackInput) -> tuple[AttackResult, ...]:
        pair = scene.pair
        rows = np.asarray(scene.published_row)[scene.targets]
        there = np.flatnonzero(rows >= 0)
        group = ShownTuples(pair, scene.columns).owner
        score, kind = self._scores(scene, scene.targets[there])
        chances = np.zeros(len(rows))
        chances[there] = _picked(group, kind, rows[there], score)
        sizes = np.bincount(group)
        by_chance = float((1.0 / sizes[group[rows[there]]]).sum()) / max(len(rows), 1)
        return (self.result(scene, chances, baseline=by_chance),)

    def attack(self, scene: AttackInput, view: object) -> AttackResult:
        """All sensitive columns are used together."""
        return self.run(scene)[0]

    def _scores(self, scene: AttackInput, rows: Ints) -> tuple[Floats, Ints]:
        """How likely each combination of labels is for each person, and each row's."""
        scores, labels = [], []
        for view in scene.secrets:
            scene.progress("learning (identity)", 0.5)
            found = trained(scene.pair, scene, view, self)
            if found is not None:
                scores.append(np.log(found.chances(rows) + 1e-9))
                shown = found.labels.published(scene.pair, view.column)
                labels.append(np.maximum(shown, 0).astype(np.int32))
        kind, combined = distinct_tuples(labels, scene.pair.rows_out)
        total = np.zeros((len(rows), len(combined)))
        for place, score in enumerate(scores):
            total += score[:, combined[:, place]]
        return total, kind


def _picked(group: Ints, kind: Ints, own: Ints, score: Floats) -> Floats:
    """The chance that each person's own row is picked from its group."""
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], np.arange(int(group.max(initial=-1)) + 2))
    chances = np.zeros(len(own))
    for at, row in enumerate(own):
        members = order[starts[group[row]] : starts[group[row] + 1]]
        fits = score[at, kind[members]]
        best = fits >= fits.max() - 1e-12
        mine = score[at, kind[row]] >= fits.max() - 1e-12
        chances[at] = mine / best.sum()
    return chances
