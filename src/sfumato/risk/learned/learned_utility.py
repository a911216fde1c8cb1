"""Learned utility: what a model that saw only the release knows about the original.

Method: the original is cut into folds. A model learns from the release without the
rows of a fold and answers for the original rows of that fold; a second one learns from
the original rows themselves. Where it is not known which row is which, the first one
learns from the whole release, and the result says so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sfumato.risk.learned.folds import FOLDS, FoldResult, LearningTask
from sfumato.risk.learned.models import LEARNERS, Task
from sfumato.risk.learned.scikit import one_thread, scikit
from sfumato.risk.table_pair import Pair

SAMPLE = 20_000
"""Rows that models learn from and are tested on, unless told otherwise."""
T_QUANTILE = 2.776
"""Student's t at 97.5%, for the mean of five folds."""

Progress = Callable[[str, float], None]


class FoldMean(NamedTuple):
    """A mean over folds, with its interval at 95%."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, scores: list[float]) -> FoldMean:
        mean = float(np.mean(scores))
        error = float(np.std(scores, ddof=1)) / np.sqrt(len(scores))
        reach = T_QUANTILE * float(error)
        return cls(mean, mean - reach, mean + reach)


@dataclass(frozen=True)
class LearnedUtility:
    """How well models learn from a release, and which columns they learn from."""

    target: str
    task: Task
    rows: int
    """Original rows that models were tested on."""
    held_out: bool
    """Whether the release's rows of the people tested were kept from the model."""
    scores: dict[str, dict[str, FoldMean]]
    """Per learner: trained on the original, on the release, and the difference."""
    baseline: FoldMean
    """The score of the usual answer, without any features."""
    importance: dict[str, dict[str, float]]
    """Per column: what boosting loses when its values are shuffled among the rows that
    are tested, trained on the original and on the release."""

    def record(self) -> dict[str, Any]:
        """All figures, for JSON."""
        return {
            "target": self.target,
            "task": self.task.value,
            "measure": self.task.measure,
            "rows": self.rows,
            "held_out": self.held_out,
            "models": {
                name: {trained: each._asdict() for trained, each in scores.items()}
                for name, scores in self.scores.items()
            },
            "baseline": self.baseline._asdict(),
            "importance": self.importance,
        }


def learned_utility(
    pair: Pair,
    *,
    target: str | None = None,
    sample: int = SAMPLE,
    seed: int = 0,
    progress: Progress = lambda step, share: None,
) -> LearnedUtility:
    """Train models on the release and on the original, and test both on originals."""
    # Imported before any work, because it may not be installed.
    scikit("ensemble")
    learning_task = LearningTask.of(pair, target=target, sample=sample, seed=seed)
    results = []
    with one_thread():
        for fold in range(FOLDS):
            progress("learn", fold / FOLDS)
            results.append(learning_task.fold(fold))
    return LearnedUtility(
        target=learning_task.target,
        task=learning_task.task,
        rows=len(learning_task.rows),
        held_out=learning_task.held_out,
        scores={name: _both(results, name) for name in LEARNERS},
        baseline=FoldMean.of([each.baseline for each in results]),
        importance=_importance(results, learning_task.names),
    )


def _both(results: list[FoldResult], learner: str) -> dict[str, FoldMean]:
    original = [each.scores[learner][0] for each in results]
    release = [each.scores[learner][1] for each in results]
    apart = [after - before for before, after in zip(original, release, strict=True)]
    return {
        "original": FoldMean.of(original),
        "release": FoldMean.of(release),
        "difference": FoldMean.of(apart),
    }


def _importance(
    results: list[FoldResult], names: tuple[str, ...]
) -> dict[str, dict[str, float]]:
    before = np.mean([each.losses[0] for each in results], axis=0)
    after = np.mean([each.losses[1] for each in results], axis=0)
    return {
        name: {"original": float(before[i]), "release": float(after[i])}
        for i, name in enumerate(names)
    }
