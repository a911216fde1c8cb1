"""The distribution that a release shows: each cell spread evenly over its values.

Method: a cell is a few runs of leaves. Every run adds its weight at its start and
subtracts it after its end; running sums give the distribution, at a cost that does not
depend on how wide the cells are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.data.arrays import Counts, Flags, Floats, Ints
from sfumato.hierarchies.cell_readings import nearest
from sfumato.metrics.common.compared_tables import ComparedColumn

MOST_COUNTED = 2**22
"""Pairs of texts that are counted in place; more are sorted."""
NOISE = 1e-12
"""Chances below this come from rounding."""


@dataclass(frozen=True, eq=False)
class Pieces:
    """Runs of leaves, text by text."""

    start: Ints
    """Per text, its first run; one more at the end."""
    first: Ints
    last: Ints
    share: Floats
    """Per run, the chance of each leaf in it."""

    @classmethod
    def of(cls, column: ComparedColumn) -> Pieces:
        """The runs of each text; a text that tells nothing is one run of all leaves."""
        reading, size = column.reading, column.axis.size
        first = np.where(column.blank, 0, reading.first).astype(np.int64)
        last = np.where(column.blank, size - 1, reading.last).astype(np.int64)
        points = np.flatnonzero(reading.points)
        first[points] = last[points] = _nearest(column, reading.low[points])
        scattered = {t: _runs(m) for t, m in reading.scattered.items()}
        scattered = {t: r for t, r in scattered.items() if not column.blank[t]}
        lengths = np.ones(reading.count, dtype=np.int64)
        for text, (begins, _) in scattered.items():
            lengths[text] = len(begins)
        owner = np.repeat(np.arange(reading.count), lengths)
        first, last = first[owner], last[owner]
        start = np.concatenate([[0], np.cumsum(lengths)])
        for text, (begins, ends) in scattered.items():
            first[start[text] : start[text + 1]] = begins
            last[start[text] : start[text + 1]] = ends
        total = np.bincount(owner, weights=last - first + 1, minlength=reading.count)
        return cls(start, first, last, 1.0 / total[owner])

    def expanded(self, texts: Ints) -> tuple[Ints, Ints]:
        """Every run of every text: its place among the texts, and the run."""
        lengths = self.start[texts + 1] - self.start[texts]
        place = np.repeat(np.arange(len(texts)), lengths)
        before = np.repeat(np.cumsum(lengths) - lengths, lengths)
        run = np.repeat(self.start[texts], lengths) + np.arange(len(place)) - before
        return place, run


def marginal(column: ComparedColumn, blank_rows: float) -> Floats:
    """The chance of each value by the release; rows left out may have any value."""
    pieces, size = Pieces.of(column), column.axis.size
    weight = np.repeat(column.after, np.diff(pieces.start)) * pieces.share
    steps = np.bincount(pieces.first, weight, minlength=size + 1)
    steps -= np.bincount(pieces.last + 1, weight, minlength=size + 1)
    chances = np.cumsum(steps)[:size] + blank_rows / size
    return _normal(chances)


def joint(left: ComparedColumn, right: ComparedColumn, blank_rows: float) -> Floats:
    """(values, values): the chance of each pair of values by the release."""
    first, second, count = _pairs_of_texts(left, right)
    one, two = Pieces.of(left), Pieces.of(right)
    at, run = one.expanded(first)
    across, other = two.expanded(second[at])
    run = run[across]
    weight = count[at[across]] * one.share[run] * two.share[other]
    shape = (left.axis.size + 1, right.axis.size + 1)
    steps = np.zeros(shape)
    for rows, sign in ((one.first[run], 1.0), (one.last[run] + 1, -1.0)):
        for columns, turn in ((two.first[other], 1.0), (two.last[other] + 1, -1.0)):
            places = rows * shape[1] + columns
            added = np.bincount(places, sign * turn * weight, shape[0] * shape[1])
            steps += added.reshape(shape)
    chances = np.cumsum(np.cumsum(steps, axis=0), axis=1)[:-1, :-1]
    return _normal(chances + blank_rows / chances.size)


def _pairs_of_texts(
    left: ComparedColumn, right: ComparedColumn
) -> tuple[Ints, Ints, Floats]:
    """The pairs of texts that rows show, and how many rows show each."""
    width = right.reading.count
    keys = left.codes.astype(np.int64) * width + right.codes
    if left.reading.count * width <= MOST_COUNTED:
        counts = np.bincount(keys)
        found = np.flatnonzero(counts)
        counts = counts[found]
    else:
        found, counts = np.unique(keys, return_counts=True)
    first, second = np.divmod(found, max(width, 1))
    return first, second, counts.astype(np.float64)


def divergence(before: Counts, after: Floats, rows: int) -> float:
    """KL divergence in bits: of the original's counts from the release's chances.

    If a value that occurs has probability 0 according to the `rows` of the release, it
    would be infinite. In that case, one more row that may have any value is added.
    """
    there = before > 0
    if (after[there] <= 0).any():
        after = (rows * after + 1.0 / after.size) / (rows + 1)
    shares = before[there] / before.sum()
    return max(float((shares * np.log2(shares / after[there])).sum()), 0.0)


def _normal(chances: Floats) -> Floats:
    chances = chances / chances.sum()
    return np.where(chances < NOISE, 0.0, chances)


def _runs(mask: Flags) -> tuple[Ints, Ints]:
    """The runs of true in a line of flags: where they begin and end."""
    edges = np.diff(np.concatenate([[0], mask.astype(np.int8), [0]]))
    return np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1


def _nearest(column: ComparedColumn, numbers: Floats) -> Ints:
    """The leaf nearest to each number."""
    if not len(numbers):
        return np.zeros(0, dtype=np.int64)
    positions = np.asarray(column.axis.positions)
    order = np.argsort(positions, kind="stable")
    order = order[~np.isnan(positions[order])]
    return np.asarray(order[nearest(positions[order], numbers)])
