"""deFinetti's attack: learn from all groups who has which value within each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.algorithms.base import Progress
from sfumato.data.arrays import Codes, Floats, Ints
from sfumato.data.rules import View
from sfumato.risk.attacks.attribute import AttributeAttack
from sfumato.risk.attacks.base import AttackInput, AttackResult

SMOOTHING = 1.0
BALANCE = 8
"""Iterations of scaling rows and groups."""
CELLS = 1 << 22
"""Rows × values that are held at a time."""


@dataclass(frozen=True, kw_only=True)
class DeFinetti(AttributeAttack):
    """Learn which sensitive value goes with which person of a group.

    Knows: the exact quasi-identifiers of everybody, the groups, and how often each
    sensitive value occurs in each group.
    Success: the share of people whose value is guessed right by naive Bayes. Its
    chances are learned from the whole release by expectation maximization: first
    everybody has each value of the group with its share; then the chances of known
    values given a sensitive one are counted, and with them the shares within groups,
    which keep adding up to how often each value occurs there.
    Baseline: guessing the commonest value of the group. θ-diversity bounds that guess,
    but not this attack.
    Reference: Kifer 2009.
    """

    name: ClassVar[str] = "definetti"
    sentence: ClassVar[str] = "Learn across groups whose value is whose within them."
    knows: ClassVar[str] = "everybody's quasi-identifiers, and the values of each group"

    rounds: int = 15
    """How often chances are learned again from what was guessed."""

    def refusal(self, scene: AttackInput) -> str | None:
        if not scene.pair.form.exact:
            return "only swapped and anatomized tables show exact quasi-identifiers"
        if scene.pair.source_row is None:
            return "nothing says which row is whose (private/rows.parquet)"
        return super().refusal(scene)

    def attack(self, scene: AttackInput, view: View) -> AttackResult:
        pair = scene.pair
        column = pair.published[view.column]
        values = np.maximum(column.reading.leaf[column.codes], 0)
        features = [pair.published[name].codes for name in scene.columns]
        learner = Learner(pair.groups, values, features)
        guesses, common = learner.guesses(self.rounds, scene.progress)
        truth = pair.original[view.column].codes
        rows = np.asarray(scene.published_row)[scene.targets]
        there = rows >= 0
        hit = np.zeros(len(rows))
        hit[there] = guesses[rows[there]] == truth[scene.targets[there]]
        return self.result(
            scene,
            hit,
            baseline=float(common[rows[there]].sum()) / max(len(rows), 1),
            column=view.column,
        )


class Learner:
    """Naive Bayes over groups whose values are known, but not whose they are."""

    def __init__(self, groups: Codes, values: Ints, features: Sequence[Codes]) -> None:
        self.used, value = np.unique(values, return_inverse=True)
        order = np.argsort(groups, kind="stable")
        self.back = np.argsort(order, kind="stable")
        self.groups = groups[order].astype(np.int64)
        self.features = [codes[order] for codes in features]
        self.number = len(self.used)
        count = int(groups.max(initial=-1)) + 1
        keys = groups.astype(np.int64) * self.number + value
        table = np.bincount(keys, minlength=count * self.number)
        self.counts: Floats = table.reshape(count, self.number).astype(np.float64)
        self.sizes = np.maximum(self.counts.sum(axis=1), 1.0)

    def guesses(self, rounds: int, progress: Progress) -> tuple[Codes, Floats]:
        """The value guessed for each row, and how often the commonest one is right."""
        chances: list[Floats] = []
        for turn in range(rounds):
            progress("definetti", turn / max(rounds, 1))
            chances = self._counted(chances)
        best = [shares.argmax(axis=1) for _, shares in self._shares(chances)]
        guessed = self.used[np.concatenate(best)] if best else self.used[:0]
        common = (self.counts.max(axis=1) / self.sizes)[self.groups]
        return guessed[self.back].astype(np.int32), common[self.back]

    def _counted(self, chances: list[Floats]) -> list[Floats]:
        """For each feature (values, cells): how likely a cell is beside a value."""
        tables = [
            np.full((self.number, int(codes.max(initial=0)) + 1), SMOOTHING)
            for codes in self.features
        ]
        for some, shares in self._shares(chances):
            for table, codes in zip(tables, self.features, strict=True):
                _add(table, codes[some], shares)
        return [table / table.sum(axis=1, keepdims=True) for table in tables]

    def _shares(self, chances: list[Floats]) -> Iterator[tuple[slice, Floats]]:
        """Some whole groups, and each row's share of each value of its group.

        Rows add up to 1, and the rows of a group to how often each value occurs in it.
        """
        for some in self._blocks():
            groups, first = self.groups[some], self.groups[some.start]
            scores = np.zeros((len(groups), self.number))
            for codes, table in zip(self.features, chances, strict=False):
                scores += np.log(table[:, codes[some]]).T
            shares = np.exp(scores - scores.max(axis=1, keepdims=True))
            yield some, self._balanced(np.maximum(shares, 1e-9), groups - first, first)

    def _balanced(self, shares: Floats, place: Ints, first: int) -> Floats:
        """Scale to the counts of each group, and to 1 for each row (Sinkhorn)."""
        starts = np.flatnonzero(np.diff(place, prepend=-1))
        wanted = self.counts[first + place[starts]]
        inside = np.repeat(np.arange(len(starts)), np.diff([*starts, len(place)]))
        for _ in range(BALANCE):
            summed = np.add.reduceat(shares, starts, axis=0)
            shares = shares * (wanted / np.maximum(summed, 1e-300))[inside]
            shares = shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
        return shares

    def _blocks(self) -> Iterator[slice]:
        """Whole groups, as many rows at a time as memory allows."""
        ends = np.flatnonzero(np.diff(self.groups, append=-1)) + 1
        step, start = max(1, CELLS // max(self.number, 1)), 0
        while start < len(self.groups):
            within = ends[(ends > start) & (ends <= start + step)]
            stop = int(within[-1]) if len(within) else int(ends[ends > start][0])
            yield slice(start, stop)
            start = stop


def _add(table: Floats, codes: Codes, shares: Floats) -> None:
    """Count cells, each with the share of each value."""
    for value in range(len(table)):
        table[value] += np.bincount(
            codes, weights=shares[:, value], minlength=table.shape[1]
        )
