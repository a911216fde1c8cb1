"""Lay axes out in a few flat arrays, and say what a cell over their codes loses.

A group is a box with a cell per axis. On a tree or free axis a cell covers a run of
codes, lowest to highest; on a flat axis it shows a set of codes. Every kernel that asks
what a cell loses asks here. Every array that a compiled function takes makes its calls
longer and slower to compile; so what is known of the axes lies in `levels` and `real`,
and a line of `axis` per axis says where.

Cost: a look-up per cell; on tree axes with more than `PAIR_LIMIT` codes O(h) for h
levels. Memory O(s²) for each axis of s codes up to that limit, else O(s × h).
Invariant: a cell with one code loses `SINGLE`; any other run loses what its smallest
node or its length does, times weight and scale, the same with and without a table of
runs; a set of c codes loses c / size, a run that mixes numbers and missing ones all.
Where losses are bits, a run loses what the logarithm of its rows' share does; one code too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Codes, Floats, Ints
from sfumato.hierarchies.axis import Axis, Shape
from sfumato.kernels.compilation.decorators import inlined, inner

TREE = int(Shape.TREE)
FREE = int(Shape.FREE)
FLAT = int(Shape.FLAT)

ABOVE = np.int32(2**31 - 1)
"""Above every code."""
LARGEST = float(np.finfo(np.float64).max)
PAIR_LIMIT = 256
"""Axes with at most so many codes have the loss of every run of codes in a table."""

SHAPE, SIZE, PAIRS, HEIGHT, LEVELS, NODES, POSITIONS, FIRST_WORD, WORDS, PLACES = range(
    10
)
"""Columns of `AxisTables.axis`: the shape and size of an axis; where its losses of runs
start in `real`, or −1; its height; where its levels start, and in `real` its losses of
nodes and its positions; on a flat axis where its words start in a set, how many they are,
and where its values start in a row of counts."""
UNIT, WEIGHT, SINGLE, SCALE, LOG = range(5)
"""Columns of `AxisTables.factor`: weight / span of a free axis, weight / size of a flat
one; the weight; the loss of a cell with one code, scaled; what losses are multiplied by;
what the logarithm of a share is multiplied by, where losses are bits, else 0. Where they
are, `UNIT` is the loss of a cell that covers everything."""


class AxisTables(NamedTuple):
    """What is known of all axes."""

    axis: Ints
    factor: Floats
    levels: Codes
    """Node of code c at level v of axis j: levels[axis[j, LEVELS] + v * size + c]."""
    real: Floats
    """Losses of nodes and positions, neither scaled; losses of runs, scaled."""

    @property
    def set_words(self) -> int:
        """How many words the sets of all flat axes take; at least one."""
        return max(int(self.axis[:, WORDS].sum()), 1)

    @property
    def values(self) -> int:
        """How many values all flat axes have."""
        return int(self.axis[self.axis[:, SHAPE] == FLAT, SIZE].sum())


def axis_tables(
    axes: Sequence[Axis], scale: Floats | None = None, single: Floats | None = None
) -> AxisTables:
    """Lay axes out; losses are multiplied by `scale`, and one code loses `single`."""
    scale = np.ones(len(axes)) if scale is None else scale
    single = np.zeros(len(axes)) if single is None else single
    unit = np.array([_unit(axis) for axis in axes])
    weight = np.array([axis.weight for axis in axes])
    log = np.array([axis.weight * axis.per_bit for axis in axes])
    table, parts = _places(axes)
    for j, axis in enumerate(axes):
        if axis.shape is not Shape.FLAT and axis.size <= PAIR_LIMIT:
            table[j, PAIRS] = sum(map(len, parts))
            parts.append(_run_losses(axis, unit[j], scale[j], single[j]))
    return AxisTables(
        axis=table,
        factor=np.column_stack([unit, weight, single, scale, log]).astype(np.float64),
        levels=np.concatenate([a.levels.ravel() for a in axes]).astype(np.int32),
        real=np.concatenate(parts).astype(np.float64),
    )


def _places(axes: Sequence[Axis]) -> tuple[Ints, list[Floats]]:
    """Where everything but losses of runs is, and the parts of `real` so far."""
    size = _ints(axis.size for axis in axes)
    flat = _ints(axis.size * (axis.shape is Shape.FLAT) for axis in axes)
    nodes = [axis.weight * axis.node_ncp for axis in axes]
    table = np.full((len(axes), PLACES + 1), -1, dtype=np.int64)
    table[:, SHAPE] = _ints(axis.shape for axis in axes)
    table[:, SIZE] = size
    table[:, HEIGHT] = _ints(axis.height for axis in axes)
    table[:, LEVELS] = _starts(_ints(axis.levels.size for axis in axes))
    table[:, NODES] = _starts(_ints(map(len, nodes)))
    table[:, POSITIONS] = sum(map(len, nodes)) + _starts(size)
    table[:, WORDS] = (flat + 63) // 64
    table[:, FIRST_WORD] = _starts(table[:, WORDS])
    table[:, PLACES] = _starts(flat)
    return table, [*nodes, *(_positions(axis) for axis in axes)]


def _run_losses(axis: Axis, unit: float, scale: float, single: float) -> Floats:
    """The scaled loss of every run of codes low … high, as a flattened square."""
    low, high = np.divmod(np.arange(axis.size * axis.size), max(axis.size, 1))
    low, high = np.minimum(low, high), np.maximum(low, high)
    if axis.shares is not None:
        return np.asarray(axis.weight * scale * axis.run_bits(low, high))
    if axis.shape is Shape.TREE:
        losses = axis.weight * axis.node_ncp[axis.covering(low, high)]
    else:
        losses = (_positions(axis)[high] - _positions(axis)[low]) * unit
        losses = np.where(np.isnan(losses), axis.weight, losses)
    return np.where(low == high, single, losses * scale)


def _ints(values: Any) -> Ints:
    return np.array([int(value) for value in values], dtype=np.int64)


def _starts(lengths: Ints) -> Ints:
    return np.cumsum(lengths) - lengths


def _positions(axis: Axis) -> npt.NDArray[np.float64]:
    """The number behind each code of a free axis; the missing leaf has NaN.

    Where losses are bits, the share of rows up to each code.
    """
    if axis.positions is None:
        return np.zeros(axis.size)
    if axis.shares is not None:
        return np.where(np.isnan(axis.positions), np.nan, axis.shares)
    return axis.positions


def _unit(axis: Axis) -> float:
    if axis.shares is not None:
        return float(axis.weight * axis.node_ncp[axis.root])
    if axis.shape is Shape.FLAT:
        return axis.weight / max(axis.size, 1)
    if axis.shape is Shape.FREE and axis.span > 0:
        # The span of denormal numbers has no finite inverse.
        return min(axis.weight / axis.span, LARGEST)
    return 0.0


@inlined
def run_loss(tables: AxisTables, j: int, low: int, high: int) -> float:
    """The loss of a cell over the codes low … high of a tree or free axis j."""
    start = tables.axis[j, PAIRS]
    if start >= 0:
        return tables.real[np.uintp(start + low * tables.axis[j, SIZE] + high)]
    return long_run_loss(tables, j, np.int64(low), np.int64(high))


@inner
def long_run_loss(tables: AxisTables, j: int, low: int, high: int) -> float:
    """The same on an axis without a table of runs."""
    axis, factor = tables.axis, tables.factor
    if low == high:
        if factor[j, LOG] > 0.0:
            return factor[j, SCALE] * tables.real[axis[j, NODES] + low]
        return factor[j, SINGLE]
    if axis[j, SHAPE] == TREE:
        node = covering_node(tables, j, low, high)
        return factor[j, SCALE] * tables.real[axis[j, NODES] + node]
    at = axis[j, POSITIONS]
    length = tables.real[at + high] - tables.real[at + low]
    if np.isnan(length):
        whole = factor[j, UNIT] if factor[j, LOG] > 0.0 else factor[j, WEIGHT]
        return factor[j, SCALE] * whole
    if factor[j, LOG] > 0.0:
        if low == 0:
            length = tables.real[at + high]
        else:
            length = tables.real[at + high] - tables.real[at + low - 1]
        return factor[j, SCALE] * (factor[j, UNIT] + factor[j, LOG] * np.log(length))
    return factor[j, SCALE] * (length * factor[j, UNIT])


@inner
def covering_node(tables: AxisTables, j: int, low: int, high: int) -> int:
    """The smallest node of tree axis j over the codes low … high."""
    size, height = tables.axis[j, SIZE], tables.axis[j, HEIGHT]
    at = tables.axis[j, LEVELS]
    return smallest_node(tables.levels, at, size, height, low, high)


@inner
def smallest_node(
    levels: Codes, at: int, size: int, height: int, low: int, high: int
) -> int:
    """The smallest node over two codes, levels of `size` nodes starting at a place."""
    for _ in range(height - 1):
        if levels[at + low] == levels[at + high]:
            break
        at += size
    return levels[at + low]


@inner
def set_loss(tables: AxisTables, j: int, count: int) -> float:
    """The loss of a cell that shows a set of `count` values of flat axis j."""
    if count <= 1:
        return tables.factor[j, SINGLE]
    return tables.factor[j, SCALE] * (count * tables.factor[j, UNIT])


@inner
def count_bits(word: int) -> int:
    """How many bits of an unsigned word are set; LLVM makes one instruction of it."""
    found = 0
    while word:
        word &= word - np.uint64(1)
        found += 1
    return found
