"""Precision: how far up their hierarchies the cells are (Sweeney 2002)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sfumato.data.arrays import Floats, Ints
from sfumato.hierarchies.axis import Axis
from sfumato.metrics.base import ComparisonMetric, Measured, Need
from sfumato.metrics.common.compared_tables import ComparedColumn, ComparedTables


class Precision(ComparisonMetric):
    """One minus the mean height of a cell in its hierarchy (Samarati, Sweeney 2002).

    Method: a cell has the level of the node that it shows, or of the smallest node over
    it, divided by the level of the root. A column without a hierarchy has two levels.
    Cells of suppressed rows are at the root.
    """

    name: ClassVar[str] = "precision"
    sentence: ClassVar[str] = (
        "1 minus the mean height of cells in their hierarchies; 1 is exact."
    )
    needs = frozenset({Need.COVERS, Need.PEOPLE})

    def compare(self, compared: ComparedTables) -> Measured:
        parts = {
            name: self._column(compared.columns[name], compared.rows_in)
            for name in compared.quasi
        }
        return Measured.mean(parts, none=1.0)

    @staticmethod
    def _column(column: ComparedColumn, rows_in: int) -> float:
        heights = column.after @ text_heights(column)
        left_out = rows_in - int(column.after.sum())
        return 1.0 - float(heights + left_out) / rows_in


def text_heights(column: ComparedColumn) -> Floats:
    """The height of each text in the hierarchy, 0 for a value to 1 for the root."""
    axis, reading = column.axis, column.reading
    level = _level_of_node(axis)
    first = np.clip(reading.first, 0, axis.size - 1)
    last = np.clip(reading.last, 0, axis.size - 1)
    over = axis.covering(first, last)
    heights = level[np.where(reading.node >= 0, reading.node, over)]
    # An interval that covers one value is still not a value.
    heights = np.where(reading.leaf >= 0, 0, np.maximum(heights, 1))
    heights = np.where(column.blank, axis.height - 1, heights)
    return np.asarray(heights / max(axis.height - 1, 1))


def _level_of_node(axis: Axis) -> Ints:
    """The lowest level at which each node stands."""
    level = np.full(len(axis.node_labels), axis.height - 1)
    for height in range(axis.height - 1, -1, -1):
        level[axis.levels[height]] = height
    return level
