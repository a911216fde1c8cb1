"""Attribute inference by learned models."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sfumato.data.arrays import Floats, Ints
from sfumato.data.rules import View
from sfumato.risk.attacks.base import AttackInput, AttackResult
from sfumato.risk.attacks.learned import (
    MODELS,
    LearnedAttack,
    LearnedLabels,
    Trained,
    commonest,
    trained,
)
from sfumato.risk.table_pair import Pair


@dataclass(frozen=True, kw_only=True)
class LearnedInference(LearnedAttack):
    """Predict a sensitive value from known ones, with a model trained on the release.

    Knows: a person's values in the known columns.
    Success: the share of people whose value is predicted right, by gradient boosting and
    by naive Bayes, a result each. A column of many numbers is predicted in tenths.
    Baseline: predicting the commonest published value for everybody.
    Control: the success on people who are not in the table. Only what is above it is
    due to the release of a person's own row; the rest is what the table teaches about
    anybody.
    Cost: at most `train` published rows are learned from.
    Bound: none.
    Reference: Giomi et al. 2023 (Anonymeter); Kifer 2009.
    """

    name: ClassVar[str] = "inference"
    sentence: ClassVar[str] = "Predict a value with a model trained on the release."
    knows: ClassVar[str] = "the person's exact values in the known columns"

    def run(self, scene: AttackInput) -> tuple[AttackResult, ...]:
        chosen = (self.model,) if self.model else MODELS
        return tuple(
            replace(self, model=model).attack(scene, view)
            for view in scene.secrets
            for model in chosen
        )

    def attack(self, scene: AttackInput, view: View) -> AttackResult:
        scene.progress(f"learning ({self.model})", 0.5)
        # People who are not in the table share its axes and features, where there are any.
        pair = scene.pair if scene.both is None else scene.both
        found = trained(pair, scene, view, self)
        if found is None:
            right = only_value(pair, view.column, scene.targets)
            share = float(right.mean()) if len(right) else 0.0
            return self.result(scene, right, baseline=share, column=view.column)
        shown = found.labels.published(pair, view.column)
        usual = commonest(shown[shown >= 0])
        truth = found.labels.original(pair, view.column, scene.targets)
        control = None
        if len(scene.strangers):
            control = float(_right(found, pair, view, scene.strangers).mean())
        return self.result(
            scene,
            _right(found, pair, view, scene.targets),
            baseline=float((truth == usual).mean()),
            control=control,
            column=view.column,
        )


def _right(found: Trained, pair: Pair, view: View, rows: Ints) -> Floats:
    """Whether the model is right about rows of an original."""
    truth = found.labels.original(pair, view.column, rows)
    right: Floats = (found.guesses(rows) == truth).astype(np.float64)
    return right


def only_value(pair: Pair, name: str, rows: Ints) -> Floats:
    """Whether rows of an original have the only label that is shown; none may be."""
    labels = LearnedLabels.of(pair, name)
    shown = labels.published(pair, name)
    if not (shown >= 0).any():
        return np.zeros(len(rows))
    usual = commonest(shown[shown >= 0])
    right: Floats = (labels.original(pair, name, rows) == usual).astype(np.float64)
    return right
