"""Singling out: predicates from published cells that describe exactly one person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.data.arrays import Codes, Counts, Flags, Ints
from sfumato.risk.attacks.base import Attack, AttackInput, AttackResult, sampled
from sfumato.risk.attacks.matching_rows import CHUNK, ShownTuples, distinct_people
from sfumato.risk.table_pair import Pair


@dataclass(frozen=True, kw_only=True)
class SinglingOut(Attack):
    """Describe exactly one person of the original by published cells.

    Knows: nobody; the attacker reads a published row, and claims that one person alone
    has what it shows in the known columns.
    Success: the share of published rows of which that is true.
    Baseline: the same claim with cells drawn from the published marginals, each column
    on its own.
    Control: the same claims about people who are not in the table.
    Bound: uniqueness of the sample promises its share.
    Reference: Article 29 Working Party 2014; Giomi et al. 2023 (Anonymeter).
    """

    name: ClassVar[str] = "singling-out"
    sentence: ClassVar[str] = "Describe exactly one person by cells of a published row."
    knows: ClassVar[str] = "the published table alone"

    def refusal(self, scene: AttackInput) -> str | None:
        return None if scene.columns else "no column is known"

    def run(self, scene: AttackInput) -> tuple[AttackResult, ...]:
        pair = scene.pair
        shown = ShownTuples(pair, scene.columns)
        rows = sampled(pair.rows_out, scene.sample, scene.seed.child("predicates"))
        everybody = _People.of(pair, scene.columns, np.arange(pair.rows))
        asked, place = np.unique(shown.owner[rows], return_inverse=True)
        alone, who = everybody.isolated(shown, asked)
        drawn = _from_marginals(scene, shown, len(rows))
        found = self.result(
            scene,
            alone[place].astype(np.float64),
            baseline=float(everybody.singled_out(pair, scene.columns, drawn).mean()),
            control=_control(scene, rows),
            rows=np.maximum(who[place], 0),
        )
        return (found,)


def _control(scene: AttackInput, rows: Ints) -> float | None:
    """How often the same claims are true of people who are not in the table."""
    if scene.both is None:
        return None
    shown = ShownTuples(scene.both, scene.columns)
    others = np.arange(scene.pair.rows, scene.both.rows)
    asked, place = np.unique(shown.owner[rows], return_inverse=True)
    alone, _ = _People.of(scene.both, scene.columns, others).isolated(shown, asked)
    return float(alone[place].mean())


@dataclass(frozen=True, eq=False)
class _People:
    """People by their distinct values in some columns."""

    leaves: Codes
    often: Counts
    """How many people have each."""
    row: Ints
    """A row of the original with each."""

    @classmethod
    def of(cls, pair: Pair, columns: tuple[str, ...], rows: Ints) -> _People:
        codes = [pair.original[name].codes[rows] for name in columns]
        person, leaves = distinct_people(np.column_stack(codes))
        row = np.empty(len(leaves), dtype=np.int64)
        row[person] = rows
        counted = person
        if pair.subject is not None:
            who = pair.subject[rows]
            span = int(who.max(initial=0)) + 1
            counted = np.unique(person * span + who) // span
        return cls(leaves, np.bincount(counted, minlength=len(leaves)), row)

    def isolated(self, shown: ShownTuples, asked: Ints) -> tuple[Flags, Ints]:
        """Which of some tuples describe exactly one person, and a row of that person."""
        number = np.zeros(len(asked))
        last = np.full(len(asked), -1, dtype=np.int64)
        for some, fits in shown.matches(self.leaves, asked):
            number += self.often[some].astype(np.float64) @ fits
            at, tuples = np.nonzero(fits)
            last[tuples] = self.row[some.start + at]
        return number == 1, last

    def singled_out(self, pair: Pair, columns: tuple[str, ...], cells: Codes) -> Flags:
        """Which tuples of cells, of any rows, describe exactly one person."""
        readings = [pair.published[name].reading for name in columns]
        number = np.zeros(len(cells))
        step = max(1, CHUNK // max(len(self.leaves), 1))
        for start in range(0, len(cells), step):
            some = cells[start : start + step]
            fits = np.ones((len(some), len(self.leaves)), dtype=np.bool_)
            for place, reading in enumerate(readings):
                mine, theirs = some[:, place], self.leaves[:, place]
                fits &= reading.covers(mine[:, None], theirs[None, :])
            number[start : start + step] = fits @ self.often
        single: Flags = number == 1
        return single


def _from_marginals(scene: AttackInput, shown: ShownTuples, count: int) -> Codes:
    """Cells drawn column by column from published rows."""
    drawn = []
    for name in shown.columns:
        rows = scene.seed.child("marginal", name).words(count) % np.uint64(
            max(scene.pair.rows_out, 1)
        )
        drawn.append(scene.pair.published[name].codes[rows.astype(np.int64)])
    return np.column_stack(drawn)
