"""Quasi-identifiers as coordinates: numbers, sets of categories, nodes of trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies.axis import Axis, CodedAxis, Shape
from sfumato.kernels.neighbors import (
    HEIGHT,
    KEYS,
    KIND,
    LEAVES,
    LEVELS,
    LOSSES,
    NUMBER,
    SET,
    TREE,
    Space,
)

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

BELOW = -1.0
"""Where a missing number lies: one whole range below the lowest."""
KEY_BITS = 51


@dataclass(frozen=True, eq=False)
class Coordinates:
    """The axes as kernels take them, and the coordinate of each code."""

    space: Space
    scales: tuple[Floats, ...]

    def points(self, codes: Sequence[npt.NDArray[np.int32]]) -> Floats:
        """Coordinates: low, high and sums, which for one point are the same."""
        once = [scale[each] for scale, each in zip(self.scales, codes, strict=True)]
        return np.column_stack(3 * once)


def coordinates_of(
    quasi: Sequence[CodedAxis], *, old: bool, hierarchy: bool
) -> Coordinates:
    """Coordinates on some quasi-identifiers.

    `old` scales as the program of 2020 does: numbers are divided by the highest, and
    a category with two values is a number. With `hierarchy`, categories that have one
    are compared by it.
    """
    axes = [coded.axis for coded in quasi]
    kinds = [_kind(axis, old=old, hierarchy=hierarchy) for axis in axes]
    keys = _keys(sum(axis.size for axis in axes))
    weights = np.array([axis.weight for axis in axes])
    heads = np.zeros((len(axes), LOSSES + 1), dtype=np.int64)
    heads[:, KIND] = kinds
    heads[:, LEAVES] = [axis.size for axis in axes]
    heads[:, HEIGHT] = [axis.height for axis in axes]
    heads[:, KEYS] = _starts([axis.size for axis in axes])
    heads[:, LEVELS] = len(keys) + _starts([axis.levels.size for axis in axes])
    heads[:, LOSSES] = len(weights) + _starts([len(axis.node_ncp) for axis in axes])
    levels = [axis.levels.ravel().astype(np.int64) for axis in axes]
    return Coordinates(
        space=Space(
            heads=heads,
            whole=np.concatenate([keys, *levels]),
            real=np.concatenate([weights, *(axis.node_ncp for axis in axes)]),
        ),
        scales=tuple(
            _scale(axis, old=old)
            if kind == NUMBER
            else np.arange(axis.size, dtype=np.float64)
            for axis, kind in zip(axes, kinds, strict=True)
        ),
    )


def _kind(axis: Axis, *, old: bool, hierarchy: bool) -> int:
    if axis.kind.numeric and axis.positions is not None:
        return NUMBER
    if old and axis.size == 2:
        return NUMBER
    return TREE if hierarchy and axis.shape is Shape.TREE else SET


def _scale(axis: Axis, *, old: bool) -> Floats:
    """The coordinate of each code of a number."""
    if axis.positions is None:
        return np.arange(axis.size, dtype=float)
    numbers = axis.positions.astype(np.float64)
    known = numbers[~np.isnan(numbers)]
    if not len(known):
        return np.full(axis.size, BELOW)
    start = 0.0 if old else float(known.min())
    length = float(np.abs(known - start).max())
    scaled = (numbers - start) / (length if length > 0 else 1.0)
    return np.where(np.isnan(scaled), BELOW, scaled)


def _starts(sizes: Sequence[int]) -> npt.NDArray[np.int64]:
    return np.cumsum([0, *sizes[:-1]])


def _keys(count: int) -> npt.NDArray[np.int64]:
    """A fixed number for each value; a set is known by the exclusive or of its own.

    Two different sets have one number with a chance of 2⁻⁵¹: they would then count
    as near, which breaks no requirement.
    """
    generator = np.random.Generator(np.random.PCG64(2020))
    return generator.integers(1, 1 << KEY_BITS, count, dtype=np.int64)
