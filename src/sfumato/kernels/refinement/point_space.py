"""Lay rows out as points, with the losses of cells over them.

Cost: O(n × m) memory for n rows on m axes, and what `geometry` says of the axes.
Invariant: a row of `points` has its codes in the order of the axes of `tables`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sfumato.data.arrays import Codes
from sfumato.hierarchies.axis import Axis
from sfumato.kernels.common.geometry import WEIGHT, AxisTables, axis_tables


class PointSpace(NamedTuple):
    """Points, and the axes they lie on."""

    points: Codes
    """(rows, axes)"""
    tables: AxisTables

    @property
    def weight(self) -> float:
        """The weights of all axes together."""
        return float(self.tables.factor[:, WEIGHT].sum())


def make_point_space(axes: Sequence[Axis], codes: Sequence[Codes]) -> PointSpace:
    """Lay out rows with these codes on these axes."""
    points = np.ascontiguousarray(np.column_stack(codes), dtype=np.int32)
    return PointSpace(points, axis_tables(axes))
