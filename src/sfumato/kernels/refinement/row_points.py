"""Rows as points, and what cells over them lose, in a few flat arrays.

Every array that a compiled function takes makes all its calls longer and slower to
compile; so what is known of the axes lies in `levels` and `real`, and a column of
`axes` per axis says where.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sfumato.data.arrays import Codes, Floats, Ints
from sfumato.hierarchies.axis import Axis, Shape
from sfumato.kernels.common.geometry import FLAT, TREE, axis_tables
from sfumato.kernels.compilation.decorators import inner

PAIR_LIMIT = 256
"""Axes with at most so many codes have the loss of every run of codes in a table."""

SHAPE, SIZE, PAIRS, PLACES, HEIGHT, LEVELS, NODES, POSITIONS = 0, 1, 2, 3, 4, 5, 6, 7
"""Rows of `Terrain.axes`: the shape and size of an axis; where its losses of runs start
in `real`, or −1; where its values start in a row of counts, on a flat axis; its height;
and where its levels, losses of nodes and positions start."""


class Terrain(NamedTuple):
    """Points and axes; the first entries of `real` are units, then weights, per axis."""

    points: Codes
    """(rows, axes)"""
    axes: Ints
    levels: Codes
    real: Floats

    @property
    def weight(self) -> float:
        """The weights of all axes together."""
        count = self.axes.shape[1]
        return float(self.real[count : 2 * count].sum())

    @property
    def places(self) -> int:
        """How many values all flat axes have."""
        return int(self.axes[SIZE][self.axes[SHAPE] == FLAT].sum())


def make_terrain(axes: Sequence[Axis], codes: Sequence[Codes]) -> Terrain:
    """Lay out rows with these codes on these axes."""
    tables = axis_tables(axes)
    lines = np.full((8, len(axes)), -1, dtype=np.int64)
    lines[SHAPE], lines[SIZE], lines[HEIGHT] = tables.shape, tables.size, tables.height
    lines[LEVELS] = tables.level_start
    flat = np.where(tables.shape == FLAT, tables.size, 0)
    lines[PLACES] = np.cumsum(flat) - flat
    parts = [tables.unit, tables.weight, tables.node_cost, tables.positions]
    lines[NODES] = 2 * len(axes) + tables.node_start
    lines[POSITIONS] = 2 * len(axes) + len(tables.node_cost) + tables.position_start
    for j, axis in enumerate(axes):
        if axis.shape is not Shape.FLAT and axis.size <= PAIR_LIMIT:
            lines[PAIRS, j] = sum(map(len, parts))
            parts.append(run_losses(axis))
    return Terrain(
        points=np.ascontiguousarray(np.column_stack(codes), dtype=np.int32),
        axes=lines,
        levels=tables.levels,
        real=np.concatenate(parts).astype(np.float64),
    )


def run_losses(axis: Axis) -> Floats:
    """The weighted loss of every run of codes low … high, as a flattened square."""
    low, high = np.divmod(np.arange(axis.size * axis.size), max(axis.size, 1))
    low, high = np.minimum(low, high), np.maximum(low, high)
    if axis.shape is Shape.TREE:
        losses = np.where(low == high, 0.0, axis.node_ncp[axis.covering(low, high)])
    else:
        losses = axis.interval_ncp(low, high)
    return axis.weight * losses


@inner
def run_loss(terrain: Terrain, j: int, low: int, high: int) -> float:
    """The loss of a cell over the codes low … high of a tree or free axis."""
    start = terrain.axes[PAIRS, j]
    if start >= 0:
        return terrain.real[np.uintp(start + low * terrain.axes[SIZE, j] + high)]
    return long_run_loss(terrain, j, low, high)


@inner
def long_run_loss(terrain: Terrain, j: int, low: int, high: int) -> float:
    """The same on an axis without a table of runs."""
    if low == high:
        return 0.0
    axes = terrain.axes
    if axes[SHAPE, j] == TREE:
        step = axes[SIZE, j]
        at = axes[LEVELS, j]
        for _ in range(axes[HEIGHT, j] - 1):
            if terrain.levels[at + low] == terrain.levels[at + high]:
                break
            at += step
        return terrain.real[axes[NODES, j] + terrain.levels[at + low]]
    at = axes[POSITIONS, j]
    length = terrain.real[at + high] - terrain.real[at + low]
    if np.isnan(length):
        return terrain.real[axes.shape[1] + j]
    return length * terrain.real[j]


@inner
def set_loss(terrain: Terrain, j: int, values: int) -> float:
    """The loss of a cell that shows a set of so many values of a flat axis."""
    return values * terrain.real[j] if values > 1 else 0.0
