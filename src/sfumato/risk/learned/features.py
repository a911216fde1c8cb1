"""Turn original and published rows into numbers that models learn from.

Both tables share one space of features, so that a model that learned from a release can
be asked about original rows. A column of numbers is its number, or the middle of its
cell; any other column is one feature per value: 1 for the value, and an even share for
each value that a cell could stand for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.data.arrays import Floats, Ints
from sfumato.metrics.common.compared_tables import ComparedColumn
from sfumato.risk.table_pair import Pair

MOST_VALUES = 40
"""The commonest values of a column get a feature each; the others share one."""


@dataclass(frozen=True, eq=False)
class ColumnFeatures:
    """The features of one column, for each original value and each published text."""

    name: str
    of_leaf: Floats
    """(leaves, features)"""
    of_text: Floats
    """(texts, features)"""

    @classmethod
    def of(cls, pair: Pair, name: str) -> ColumnFeatures:
        """The features of a column of a pair."""
        shown = pair.published[name]
        column = ComparedColumn(
            original=pair.original[name], codes=shown.codes, reading=shown.reading
        )
        if column.numeric:
            return cls(name, *_numbers(column))
        return cls(name, *_shares(column))


@dataclass(frozen=True, eq=False)
class FeatureSpace:
    """The features of some columns of a pair."""

    pair: Pair
    columns: tuple[ColumnFeatures, ...]

    @classmethod
    def of(cls, pair: Pair, names: Sequence[str]) -> FeatureSpace:
        """The features of columns that are in both tables."""
        return cls(pair, tuple(ColumnFeatures.of(pair, name) for name in names))

    @property
    def owner(self) -> Ints:
        """The column of each feature."""
        widths = [each.of_leaf.shape[1] for each in self.columns]
        return np.repeat(np.arange(len(widths)), widths)

    def of_original(self, rows: Ints) -> Floats:
        """(rows, features) of rows of the original."""
        original = self.pair.original
        parts = [e.of_leaf[original[e.name].codes[rows]] for e in self.columns]
        return np.hstack(parts) if parts else np.zeros((len(rows), 0))

    def of_published(self, rows: Ints) -> Floats:
        """(rows, features) of published rows."""
        published = self.pair.published
        parts = [e.of_text[published[e.name].codes[rows]] for e in self.columns]
        return np.hstack(parts) if parts else np.zeros((len(rows), 0))


def _numbers(column: ComparedColumn) -> tuple[Floats, Floats]:
    """The number of each leaf and text, in standard deviations; a missing one is 0."""
    positions = np.asarray(column.axis.positions)
    known = ~np.isnan(positions)
    counts = column.before[known]
    total = max(int(counts.sum()), 1)
    mean = float(counts @ positions[known]) / total
    spread = float(np.sqrt(counts @ (positions[known] - mean) ** 2 / total)) or 1.0

    def scaled(numbers: Floats) -> Floats:
        return np.nan_to_num((numbers - mean) / spread, nan=0.0)[:, None]

    return scaled(positions), scaled(column.centers)


def _shares(column: ComparedColumn) -> tuple[Floats, Floats]:
    """The share of each common value in each leaf and text."""
    size, reading = column.axis.size, column.reading
    common = np.argsort(-column.before, kind="stable")[:MOST_VALUES]
    feature = np.full(size, len(common))
    feature[common] = np.arange(len(common))
    width = len(common) + (size > len(common))
    of_leaf = np.zeros((size, width))
    of_leaf[np.arange(size), feature] = 1.0
    of_text = np.empty((reading.count, width))
    everything = of_leaf.mean(axis=0)
    sums = np.vstack([np.zeros(width), np.cumsum(of_leaf, axis=0)])
    of_text[:] = sums[reading.last + 1] - sums[reading.first]
    for text, mask in reading.scattered.items():
        of_text[text] = of_leaf[mask].sum(axis=0)
    of_text /= np.maximum(reading.sizes, 1)[:, None]
    of_text[column.blank] = everything
    return of_leaf, of_text
