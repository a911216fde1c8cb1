"""Axes as flat arrays for compiled code, and what a box on them costs.

A group is a box. On a tree or free axis its state is two codes, lowest and highest;
on a flat axis it is a bit set, one bit per code, in `words[j]` 64-bit words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies.axis import Axis, Shape
from sfumato.kernels.compilation.decorators import inner

TREE = int(Shape.TREE)
FREE = int(Shape.FREE)
FLAT = int(Shape.FLAT)


class AxisTables(NamedTuple):
    """All axes side by side; axis j's part of a flat array starts at `…_start[j]`."""

    shape: npt.NDArray[np.int64]
    size: npt.NDArray[np.int64]
    height: npt.NDArray[np.int64]
    level_start: npt.NDArray[np.int64]
    levels: npt.NDArray[np.int32]
    """Node of code c at level v of axis j: levels[level_start[j] + v * size[j] + c]."""
    node_start: npt.NDArray[np.int64]
    node_cost: npt.NDArray[np.float64]
    """Cost of node x of axis j, weight included: node_cost[node_start[j] + x]."""
    position_start: npt.NDArray[np.int64]
    positions: npt.NDArray[np.float64]
    """Number behind code c of a free axis; the missing leaf has NaN."""
    unit: npt.NDArray[np.float64]
    """Weight / span of a free axis, weight / size of a flat one."""
    weight: npt.NDArray[np.float64]
    words: npt.NDArray[np.int64]
    word_start: npt.NDArray[np.int64]


def axis_tables(
    axes: Sequence[Axis],
    cost: Callable[[Axis], npt.NDArray[np.float64]] = lambda axis: axis.node_ncp,
) -> AxisTables:
    """Lay axes out for kernels; `cost` picks the loss of each axis's nodes."""
    size = _ints(axis.size for axis in axes)
    height = _ints(axis.height for axis in axes)
    words = _ints((a.size + 63) // 64 if a.shape is Shape.FLAT else 0 for a in axes)
    nodes = _ints(len(axis.node_labels) for axis in axes)
    return AxisTables(
        shape=_ints(axis.shape for axis in axes),
        size=size,
        height=height,
        level_start=_starts(size * height),
        levels=np.concatenate([a.levels.ravel() for a in axes]).astype(np.int32),
        node_start=_starts(nodes),
        node_cost=np.concatenate([a.weight * cost(a) for a in axes]),
        position_start=_starts(size),
        positions=np.concatenate([_positions(axis) for axis in axes]),
        unit=np.array([_unit(axis) for axis in axes]),
        weight=np.array([axis.weight for axis in axes]),
        words=words,
        word_start=_starts(words),
    )


def _ints(values: Any) -> npt.NDArray[np.int64]:
    return np.array([int(value) for value in values], dtype=np.int64)


def _starts(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)[:-1]])


def _positions(axis: Axis) -> npt.NDArray[np.float64]:
    return np.zeros(axis.size) if axis.positions is None else axis.positions


def _unit(axis: Axis) -> float:
    if axis.shape is Shape.FLAT:
        return axis.weight / max(axis.size, 1)
    if axis.shape is Shape.FREE and axis.span > 0:
        return axis.weight / axis.span
    return 0.0


@inner
def covering_node(tables: AxisTables, j: int, low: int, high: int) -> int:
    """The smallest node of tree axis j over the codes low … high."""
    at = tables.level_start[j]
    step = tables.size[j]
    for level in range(tables.height[j]):
        node = tables.levels[at + level * step + low]
        if node == tables.levels[at + level * step + high]:
            return node
    return tables.levels[at + (tables.height[j] - 1) * step]


@inner
def run_cost(tables: AxisTables, j: int, low: int, high: int) -> float:
    """Cost of a cell that covers the codes low … high of a tree or free axis j."""
    if low == high:
        return 0.0
    if tables.shape[j] == TREE:
        node = covering_node(tables, j, low, high)
        return tables.node_cost[tables.node_start[j] + node]
    at = tables.position_start[j]
    length = tables.positions[at + high] - tables.positions[at + low]
    if np.isnan(length):
        return tables.weight[j]
    return length * tables.unit[j]


@inner
def set_cost(tables: AxisTables, j: int, count: int) -> float:
    """Cost of a cell that shows a set of `count` values of flat axis j."""
    if count <= 1:
        return 0.0
    return count * tables.unit[j]
