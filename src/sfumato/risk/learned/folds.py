"""Train on a release and on its original, and test both on rows that neither saw."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sfumato.data.arrays import Floats, Ints
from sfumato.data.seeds import Seed
from sfumato.errors import UsageError
from sfumato.metrics.common.compared_tables import ComparedColumn
from sfumato.risk.learned.features import FeatureSpace
from sfumato.risk.learned.models import LEARNERS, Fitted, Task, usual
from sfumato.risk.table_pair import Pair, PublishedForm

FOLDS = 5
IMPORTANCE = "boosting"
"""The learner used for column importance: it needs no scaling and fits any shape."""


class FoldResult(NamedTuple):
    """What one fold showed: trained on the original, and trained on the release."""

    scores: dict[str, tuple[float, float]]
    baseline: float
    losses: tuple[Floats, Floats]
    """Per column, what is lost when its values are shuffled."""


class TrainingRows(NamedTuple):
    """Features, and the answer that goes with each row."""

    features: Floats
    answers: Floats


@dataclass(frozen=True, eq=False, kw_only=True)
class LearningTask:
    """What is to be learned, and the rows that take part."""

    pair: Pair
    target: str
    rows: Ints
    """The original rows that take part."""
    fold_of: Ints
    """The fold of each of them."""
    seed: int

    @classmethod
    def of(
        cls, pair: Pair, *, target: str | None, sample: int, seed: int
    ) -> LearningTask:
        """Draw the rows and cut them into folds."""
        target = _target(pair, target)
        drawn = Seed.guessable(seed)
        known = np.flatnonzero(~np.isnan(_answers(pair, target)))
        order = drawn.child("rows").permutation(len(known))
        rows = np.sort(known[order[:sample]])
        if len(rows) < 2 * FOLDS:
            raise UsageError(
                f"Learning takes {2 * FOLDS} rows with a value of '{target}'; there "
                f"are {len(rows):,}.",
                hint="Learn about another column, or from a larger table.",
            )
        folds = drawn.child("folds").permutation(len(rows)) % FOLDS
        return cls(pair=pair, target=target, rows=rows, fold_of=folds, seed=seed)

    @property
    def task(self) -> Task:
        numeric = self.pair.original[self.target].axis.positions is not None
        return Task.REGRESSION if numeric else Task.CLASSIFICATION

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that are learned from: all that both tables have."""
        gone = (self.target, *self.pair.dropped)
        return tuple(name for name in self.pair.published if name not in gone)

    @property
    def held_out(self) -> bool:
        """Whether a fold's rows can be kept out of the release, too."""
        synthetic = self.pair.form is PublishedForm.SYNTHETIC
        return self.pair.source_row is not None and not synthetic

    def fold(self, fold: int) -> FoldResult:
        """Train without the rows of a fold, and test on them."""
        tested = self._of_original(self.rows[self.fold_of == fold])
        sources = (
            self._of_original(self.rows[self.fold_of != fold]),
            self._of_release(fold),
        )
        scores, losses = {}, (np.zeros(0), np.zeros(0))
        for learner in LEARNERS:
            first, second = (
                Fitted.on(learner, self.task, *source, seed=self.seed)
                for source in sources
            )
            scores[learner] = (first.score(*tested), second.score(*tested))
            if learner == IMPORTANCE:
                losses = (self._losses(first, tested), self._losses(second, tested))
        constant = usual(self.task, sources[0].answers)
        return FoldResult(
            scores, Fitted(self.task, None, constant).score(*tested), losses
        )

    @cached_property
    def _space(self) -> FeatureSpace:
        return FeatureSpace.of(self.pair, self.names)

    @cached_property
    def _truth(self) -> Floats:
        return _answers(self.pair, self.target)

    @cached_property
    def _summary(self) -> Floats:
        """Return the answer that each published row shows, NaN where it shows none."""
        shown = self.pair.published[self.target]
        column = ComparedColumn(
            original=self.pair.original[self.target],
            codes=shown.codes,
            reading=shown.reading,
        )
        if self.task is Task.REGRESSION:
            return np.asarray(column.centers[column.codes])
        leaf = shown.reading.leaf[shown.codes].astype(np.float64)
        return np.where(leaf >= 0, leaf, np.nan)

    def _of_original(self, rows: Ints) -> TrainingRows:
        return TrainingRows(self._space.of_original(rows), self._truth[rows])

    def _of_release(self, fold: int) -> TrainingRows:
        """As many published rows as there are original ones to train on."""
        rows = np.flatnonzero(~np.isnan(self._summary))
        taking = int((self.fold_of != fold).sum())
        source = self.pair.source_row
        if self.held_out and source is not None:
            takes_part = np.zeros(self.pair.rows, dtype=np.bool_)
            takes_part[self.rows[self.fold_of != fold]] = True
            rows = rows[takes_part[source[rows]]]
        else:
            drawn = Seed.guessable(self.seed).child("release", str(fold))
            rows = rows[drawn.permutation(len(rows))[:taking]]
        if not len(rows):
            raise UsageError(
                f"No published row shows a value of '{self.target}'.",
                hint="Learn about another column.",
            )
        return TrainingRows(self._space.of_published(rows), self._summary[rows])

    def _losses(self, fitted: Fitted, tested: TrainingRows) -> Floats:
        """Return what the score loses when a column's values are shuffled."""
        whole, drawn = fitted.score(*tested), Seed.guessable(self.seed)
        losses = np.zeros(len(self.names))
        for column in range(len(self.names)):
            shuffled, own = tested.features.copy(), self._space.owner == column
            order = drawn.child("shuffle", str(column)).permutation(len(shuffled))
            shuffled[:, own] = shuffled[np.ix_(order, own)]
            losses[column] = whole - fitted.score(shuffled, tested.answers)
        return losses


def _answers(pair: Pair, target: str) -> Floats:
    """The number or the value of each original row, NaN where it is missing."""
    coded = pair.original[target]
    if coded.axis.positions is not None:
        return np.asarray(coded.axis.positions[coded.codes])
    missing = coded.codes == coded.axis.missing
    return np.where(missing, np.nan, coded.codes.astype(np.float64))


def _target(pair: Pair, target: str | None) -> str:
    """The column to learn about: the one named, or the first sensitive one."""
    if target is None and not pair.sensitive:
        raise UsageError(
            "Nothing says which column is to be learned: none is sensitive.",
            hint="Name one with --target.",
        )
    target = target or pair.sensitive[0]
    if target not in pair.published or target not in pair.original:
        raise UsageError(
            f"'{target}' is not a column of both tables.",
            hint="Name a column that the original has and the release shows.",
        )
    return target
