"""What learned attacks share: a training sample, two kinds of models, and labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sfumato.data.arrays import Codes, Floats, Ints
from sfumato.data.rules import View
from sfumato.errors import UsageError
from sfumato.risk.attacks.attribute import AttributeAttack
from sfumato.risk.attacks.base import AttackInput, sampled
from sfumato.risk.learned.features import FeatureSpace
from sfumato.risk.learned.scikit import one_thread, scikit
from sfumato.risk.table_pair import Pair

MOST_LABELS = 40
"""A column of numbers with more values than this is learned in tenths."""
PARTS = 10
MODELS = ("boosting", "bayes")


@dataclass(frozen=True, kw_only=True)
class LearnedAttack(AttributeAttack):
    """An attack that trains models on the published table."""

    learns: ClassVar[bool] = True

    model: str = ""
    """"boosting" or "bayes"; left out: both, where the attack has a result for each."""
    train: int = 10_000
    """The most published rows that are learned from."""

    def refusal(self, scene: AttackInput) -> str | None:
        try:
            scikit("naive_bayes")
        except UsageError as missing:
            return f"it needs scikit-learn ({missing.hint})"
        return super().refusal(scene)


@dataclass(frozen=True, eq=False)
class LearnedLabels:
    """A sensitive column as labels that can be learned: its values, or tenths."""

    label_of: Ints
    """The label of each leaf."""

    @classmethod
    def of(cls, pair: Pair, name: str) -> LearnedLabels:
        """The labels of a sensitive column of a pair."""
        axis, codes = pair.original[name].axis, pair.original[name].codes
        if axis.positions is None or axis.size <= MOST_LABELS:
            return cls(np.arange(axis.size))
        counts = np.bincount(codes, minlength=axis.size)
        order = np.argsort(np.nan_to_num(axis.positions, nan=np.inf), kind="stable")
        before = np.cumsum(counts[order]) - counts[order]
        labels = np.empty(axis.size, dtype=np.int64)
        labels[order] = np.minimum(before * PARTS // max(len(codes), 1), PARTS - 1)
        return cls(labels)

    def original(self, pair: Pair, name: str, rows: Ints) -> Ints:
        """The labels of rows of the original."""
        labels: Ints = self.label_of[pair.original[name].codes[rows]]
        return labels

    def published(self, pair: Pair, name: str) -> Ints:
        """The label that each published row shows, −1 where it shows none."""
        column = pair.published[name]
        leaf = column.reading.leaf[column.codes]
        return np.where(leaf >= 0, self.label_of[leaf], -1)


@dataclass(frozen=True, eq=False)
class Trained:
    """A model that learned a sensitive column from a published table."""

    space: FeatureSpace
    labels: LearnedLabels
    model: Any

    def guesses(self, rows: Ints) -> Ints:
        """The label it gives to rows of the original."""
        with one_thread():
            return np.asarray(self.model.predict(self.space.of_original(rows)))

    def chances(self, rows: Ints) -> Floats:
        """(rows, labels): how likely it finds each label."""
        number = int(self.labels.label_of.max(initial=0)) + 1
        found = np.zeros((len(rows), number))
        with one_thread():
            known = self.model.predict_proba(self.space.of_original(rows))
        found[:, self.model.classes_] = known
        return found


def trained(
    pair: Pair, scene: AttackInput, view: View, attack: LearnedAttack
) -> Trained | None:
    """Train a model on published rows; None where all have one label."""
    space, labels = (
        FeatureSpace.of(pair, scene.columns),
        LearnedLabels.of(pair, view.column),
    )
    label = labels.published(pair, view.column)
    shown = np.flatnonzero(label >= 0)
    rows = shown[sampled(len(shown), attack.train, scene.seed.child("train"))]
    if len(np.unique(label[rows])) < 2:
        return None
    model = _model(attack.model or MODELS[0], scene)
    with one_thread():
        model.fit(space.of_published(rows), label[rows])
    return Trained(space, labels, model)


def _model(name: str, scene: AttackInput) -> Any:
    if name == "bayes":
        return scikit("naive_bayes").GaussianNB(var_smoothing=1e-3)
    state = int(scene.seed.child("model").words(1)[0] % np.uint64(2**31))
    return scikit("ensemble").HistGradientBoostingClassifier(
        max_iter=20, max_leaf_nodes=15, early_stopping=False, random_state=state
    )


def commonest(codes: Codes | Ints) -> int:
    """The commonest of some labels."""
    return int(np.bincount(codes).argmax()) if len(codes) else 0
