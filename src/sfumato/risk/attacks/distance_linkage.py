"""Record linkage by distance: the published rows nearest to what is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.data.arrays import Codes, Floats, Ints
from sfumato.hierarchies.axis import Axis, Shape
from sfumato.hierarchies.cell_readings import Reading
from sfumato.risk.attacks.base import Attack, AttackInput, AttackResult
from sfumato.risk.attacks.matching_rows import CHUNK, ShownTuples, distinct_people
from sfumato.risk.table_pair import PublishedForm

EQUAL = 1e-12


@dataclass(frozen=True, kw_only=True)
class DistanceLinkage(Attack):
    """Link people to the published rows that are nearest to what is known of them.

    Knows: a person's values in the known columns, which may differ a little from those
    that were published (means, swaps, noise, other sources).
    Success: the chance to pick the person's own row among the nearest ones. The distance
    of a cell is 0 where it may stand for the value; for numbers the way to the nearest
    end of the cell's interval over the range of the column, for trees the height of the
    lowest common node over the height of the tree, otherwise 1. Columns add up. Among
    cells that may stand for the value, narrower ones are nearer, by less than any
    distance.
    Baseline: picking any published row.
    Reference: Domingo-Ferrer and Torra 2001.
    """

    name: ClassVar[str] = "distance-linkage"
    sentence: ClassVar[str] = "Find a person's row as the nearest of all."
    knows: ClassVar[str] = "the person's values in the known columns, roughly"

    def refusal(self, scene: AttackInput) -> str | None:
        if scene.pair.form is PublishedForm.SYNTHETIC:
            return "no row of a synthetic table is a person's"
        if scene.published_row is None:
            return "nothing says which row is whose (private/rows.parquet)"
        return None if scene.columns else "no column is known"

    def run(self, scene: AttackInput) -> tuple[AttackResult, ...]:
        assert scene.published_row is not None
        shown = ShownTuples(scene.pair, scene.columns)
        person, leaves = distinct_people(scene.leaves(scene.targets))
        rows = scene.published_row[scene.targets]
        own = np.where(rows >= 0, shown.owner[rows], -1)
        chances = nearest_chances(shown, leaves, person, own)
        rows_out = max(scene.pair.rows_out, 1)
        worst = float(chances.max(initial=0.0))
        return (self.result(scene, chances, baseline=1.0 / rows_out, worst=worst),)


def nearest_chances(
    shown: ShownTuples, leaves: Codes, person: Ints, own: Ints
) -> Floats:
    """The chance that a person's own row is picked among the nearest ones."""
    order = np.argsort(person, kind="stable")
    starts = np.searchsorted(person[order], np.arange(len(leaves) + 1))
    chances = np.zeros(len(person))
    step = max(1, CHUNK // max(len(shown.cells), 1))
    for start in range(0, len(leaves), step):
        some = leaves[start : start + step]
        away = np.zeros((len(some), len(shown.cells)))
        for place, name in enumerate(shown.columns):
            values, mine = np.unique(some[:, place], return_inverse=True)
            table = cell_distances(shown.pair.published[name].reading, values)
            away += table.T[mine][:, shown.cells[:, place]]
        nearest = away <= away.min(axis=1, keepdims=True) + EQUAL
        number = nearest @ shown.sizes
        for at in range(len(some)):
            these = order[starts[start + at] : starts[start + at + 1]]
            found = nearest[at][own[these]] & (own[these] >= 0)
            chances[these] = found / number[at]
    return chances


def cell_distances(reading: Reading, leaves: Ints | Codes) -> Floats:
    """(texts, leaves): how far each text is from each of some leaves, 0 to 1."""
    axis = reading.axis
    inside = reading.covers(np.arange(reading.count)[:, None], leaves[None, :])
    if axis.positions is not None and not np.isnan(axis.positions).all():
        away = _along_the_line(reading, axis, leaves)
    elif axis.shape is Shape.TREE and axis.height > 2:
        away = _through_the_tree(reading, axis, leaves)
    else:
        away = np.ones(inside.shape)
    # Narrower cells first, by less than any distance between values.
    wide = 1e-6 * reading.sizes[:, None] / max(axis.size, 1)
    return np.where(inside, wide, np.maximum(away, 1e-5))


def _along_the_line(reading: Reading, axis: Axis, leaves: Ints | Codes) -> Floats:
    numbers = np.asarray(axis.positions)
    covered = reading.sizes > 0
    low, high = reading.low.copy(), reading.high.copy()
    plain = np.isnan(low) & covered
    low[plain] = numbers[reading.first[plain]]
    high[plain] = numbers[reading.last[plain]]
    wanted = numbers[leaves]
    short = np.maximum(low[:, None] - wanted, wanted - high[:, None])
    away = np.clip(short, 0.0, None) / (axis.span or 1.0)
    return np.where(np.isnan(away), 1.0, np.minimum(away, 1.0))


def _through_the_tree(reading: Reading, axis: Axis, leaves: Ints | Codes) -> Floats:
    """The level of the lowest node that holds the leaf and a value of the cell."""
    inside = reading.cover(np.arange(reading.count))
    away = np.ones((reading.count, len(leaves)))
    rows, values = np.nonzero(inside)
    for level in range(axis.height - 2, 0, -1):
        _, dense = np.unique(axis.levels[level], return_inverse=True)
        held = np.zeros((reading.count, int(dense.max(initial=-1)) + 1), dtype=np.bool_)
        held[rows, dense[values]] = True
        away[held[:, dense[leaves]]] = level / (axis.height - 1)
    return away
