"""Quasi-identifiers as coordinates: numbers, sets of categories, nodes of trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Floats
from sfumato.hierarchies.axis import Axis, CodedAxis, Shape
from sfumato.kernels.clustering.neighbor_tree import (
    HEIGHT,
    KEYS,
    LEAVES,
    LEVELS,
    LOSSES,
    NUMBER,
    SET,
    TREE,
    NeighborSpace,
)
from sfumato.kernels.common.random_streams import mixed

KEY_BITS = 51
SHORTEST, LONGEST = 1e-100, 1e100
"""Lengths of lines whose squares, summed over many rows, are ordinary floats."""


@dataclass(frozen=True, eq=False)
class Coordinates:
    """The axes as kernels take them, and the coordinate of each code."""

    space: NeighborSpace
    order: tuple[int, ...]
    """The column of each axis: sets come before numbers, these before trees."""
    scales: tuple[Floats, ...]

    def points(self, codes: Sequence[npt.NDArray[np.int32]]) -> Floats:
        """Coordinates: low, high and sums, which for one point are the same."""
        columns = zip(self.scales, self.order, strict=True)
        once = [scale[codes[column]] for scale, column in columns]
        return np.column_stack(3 * once)


def coordinates_of(
    quasi: Sequence[CodedAxis], *, old: bool, hierarchy: bool
) -> Coordinates:
    """Coordinates on some quasi-identifiers.

    A missing number lies one whole length below the lowest. `old` scales as the
    program of 2020 does: numbers are divided by the highest, and a category with two
    values is a number. With `hierarchy`, categories that have one
    are compared by it.
    """
    found = [_kind(coded.axis, old=old, hierarchy=hierarchy) for coded in quasi]
    order = tuple(sorted(range(len(found)), key=found.__getitem__))
    axes, kinds = [quasi[column].axis for column in order], sorted(found)
    keys = _keys(sum(axis.size for axis in axes))
    scales = [_scale(axis, old=old) for axis in axes]
    weights = np.array(
        [
            axis.weight / (scale[1] ** 2 if kind == NUMBER else 1.0)
            for axis, kind, scale in zip(axes, kinds, scales, strict=True)
        ]
    )
    heads = np.zeros((len(axes), LOSSES + 1), dtype=np.int64)
    heads[:, LEAVES] = [axis.size for axis in axes]
    heads[:, HEIGHT] = [axis.height for axis in axes]
    heads[:, KEYS] = _starts([axis.size for axis in axes])
    heads[:, LEVELS] = len(keys) + _starts([axis.levels.size for axis in axes])
    heads[:, LOSSES] = len(weights) + _starts([len(axis.node_ncp) for axis in axes])
    levels = [axis.levels.ravel().astype(np.int64) for axis in axes]
    return Coordinates(
        space=NeighborSpace(
            ends=np.searchsorted(kinds, [SET, NUMBER, TREE], side="right"),
            heads=heads,
            whole=np.concatenate([keys, *levels]),
            real=np.concatenate([weights, *(axis.node_ncp for axis in axes)]),
        ),
        order=order,
        scales=tuple(
            scale[0] if kind == NUMBER else np.arange(len(scale[0]), dtype=np.float64)
            for kind, scale in zip(kinds, scales, strict=True)
        ),
    )


def _kind(axis: Axis, *, old: bool, hierarchy: bool) -> int:
    if axis.kind.numeric and axis.positions is not None:
        return NUMBER
    if old and axis.size == 2:
        return NUMBER
    return TREE if hierarchy and axis.shape is Shape.TREE else SET


def _scale(axis: Axis, *, old: bool) -> tuple[Floats, float]:
    """The coordinate of each code of a number, and how long the line is.

    Coordinates are not divided by the length, the weight is: sums of whole numbers
    then stay whole, and rows at equal distances tie exactly. The program of 2020
    divides, so rounding decides its ties. We do the same where a square would overflow
    or vanish.
    """
    if axis.positions is None:
        return np.arange(axis.size, dtype=np.float64), 1.0
    known = axis.positions[~np.isnan(axis.positions)]
    start = 0.0 if old or not len(known) else float(known.min())
    length = float(np.abs(known - start).max(initial=0.0)) or 1.0
    numbers = np.where(np.isnan(axis.positions), start - length, axis.positions)
    if old:
        return numbers / length, 1.0
    if SHORTEST < length < LONGEST:
        return numbers - start, length
    return numbers / length - start / length, 1.0


def _starts(sizes: Sequence[int]) -> npt.NDArray[np.int64]:
    return np.cumsum([0, *sizes[:-1]])


def _keys(count: int) -> npt.NDArray[np.int64]:
    """Draw a fixed number for each value; a set is the exclusive or of its values.

    Two different sets have one number with a chance of 2⁻⁵¹: they would then count
    as near, which breaks no requirement.
    """
    words = mixed(np.arange(count, dtype=np.int64))
    return (words >> np.uint64(64 - KEY_BITS)).astype(np.int64)
