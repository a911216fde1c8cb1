"""The models that learn: scikit-learn's, behind one interface."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from sfumato.data.arrays import Floats
from sfumato.risk.learned.scikit import scikit

MOST_STEPS = 1000
"""Steps in which a linear model has to converge."""


class Task(StrEnum):
    """What is learned: one of several values, or a number."""

    CLASSIFICATION = "classification"
    REGRESSION = "regression"

    @property
    def measure(self) -> str:
        """What a model is scored by."""
        return "accuracy" if self is Task.CLASSIFICATION else "r2"


LEARNERS = ("linear", "boosting")
"""A linear model (logistic or ridge regression), and gradient boosting."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """A model that has learned; without anything to learn, it says the same always."""

    task: Task
    model: Any
    constant: float

    @classmethod
    def on(
        cls, learner: str, task: Task, features: Floats, answers: Floats, *, seed: int
    ) -> Fitted:
        """Let a model learn answers from features."""
        constant = usual(task, answers)
        if len(np.unique(answers)) < 2:
            return cls(task, None, constant)
        model = _new(learner, task, seed)
        model.fit(features, answers)
        return cls(task, model, constant)

    def answers(self, features: Floats) -> Floats:
        """What the model says."""
        if self.model is None:
            return np.full(len(features), self.constant)
        return np.asarray(self.model.predict(features), dtype=np.float64)

    def score(self, features: Floats, truth: Floats) -> float:
        """Accuracy, or the share of the variance that the model explains (R²)."""
        return score(self.task, self.answers(features), truth)


def score(task: Task, answers: Floats, truth: Floats) -> float:
    """How good answers are: accuracy, or R²; 0 where numbers do not vary."""
    if task is Task.CLASSIFICATION:
        return float(np.mean(answers == truth))
    total = float(((truth - truth.mean()) ** 2).sum())
    return 1.0 - float(((answers - truth) ** 2).sum()) / total if total else 0.0


def usual(task: Task, answers: Floats) -> float:
    """Return the answer without any features: the commonest value, or the mean."""
    if task is Task.REGRESSION:
        return float(answers.mean())
    values, counts = np.unique(answers, return_counts=True)
    return float(values[np.argmax(counts)])


def _new(learner: str, task: Task, seed: int) -> Any:
    if learner == "boosting":
        ensemble = scikit("ensemble")
        if task is Task.CLASSIFICATION:
            return ensemble.HistGradientBoostingClassifier(random_state=seed)
        return ensemble.HistGradientBoostingRegressor(random_state=seed)
    linear = scikit("linear_model")
    if task is Task.CLASSIFICATION:
        return linear.LogisticRegression(max_iter=MOST_STEPS)
    return linear.Ridge()
