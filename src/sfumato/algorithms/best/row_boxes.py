"""The cheapest box around a row that holds k rows: the best bound of a row by itself.

A group of at least k rows that has the row in it lies in such a box, so the row loses no
less. A box is an interval per free axis, a set per flat axis and a node per tree axis.
The search (`kernels/best/cheapest_box.py`) sees only tuples that are near enough: those
that lose no more together with the row than the box of the row's k nearest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from sfumato.data.arrays import Codes, Counts, Floats, Ints
from sfumato.hierarchies.axis import Axis, Shape
from sfumato.kernels.best.box_bounds import BITS, LINE, SET, NearTuples, RowAxes
from sfumato.kernels.best.cheapest_box import cheapest_box

ROUNDING = 1e-9
"""Tuples that are farther away by this share may still be near enough."""


@dataclass(frozen=True, kw_only=True)
class RowBoxes:
    """Distinct tuples of a table, in which boxes around rows are searched."""

    axes: Sequence[Axis]
    tuples: Codes
    weights: Counts
    """How many rows have each tuple."""
    least: int
    """How many rows a box must hold; not above the number of rows."""

    def cheapest(self, row: Codes, looks: int) -> tuple[float, int]:
        """The weighted loss of a row's cheapest box, and the looks at cells it took.

        It is a lower bound on that loss if more looks would have been needed.
        """
        near = self._near(row)
        around = [
            AxisAround.of(axis, int(code))
            for axis, code in zip(self.axes, row, strict=True)
        ]
        values, axes = row_axes(around, self.tuples[near], row)
        left = np.array([looks], dtype=np.int64)
        found = cheapest_box(
            NearTuples(values, self.weights[near]), axes, self.least, left
        )
        return float(found), looks - int(left[0])

    def _near(self, row: Codes) -> Ints:
        """The tuples that may be in the cheapest box, the nearest first."""
        apart = np.zeros(len(self.tuples))
        for j, axis in enumerate(self.axes):
            apart += (axis.weight * pair_losses(axis, int(row[j])))[self.tuples[:, j]]
        order = _first(apart, self.least)
        reached = int(np.searchsorted(np.cumsum(self.weights[order]), self.least))
        most = self._loss_of_box(order[: reached + 1], row) * (1 + ROUNDING)
        near = np.flatnonzero(apart <= most)
        return near[np.argsort(apart[near], kind="stable")]

    def _loss_of_box(self, inside: Ints, row: Codes) -> float:
        """The weighted loss of the box of a row and some tuples."""
        codes = np.vstack([self.tuples[inside], row])
        return sum(
            axis.weight * cell_loss(axis, codes[:, j])
            for j, axis in enumerate(self.axes)
        )


def _first(apart: Floats, number: int) -> Ints:
    """Some tuples in the order of their distance: so many of the nearest ones.

    Each stands for a row at least, so that so many rows are among them.
    """
    if number >= len(apart):
        return np.argsort(apart, kind="stable")
    near = np.argpartition(apart, number - 1)[:number]
    return near[np.argsort(apart[near], kind="stable")]


def cell_loss(axis: Axis, codes: Codes) -> float:
    """The loss of the smallest cell over some codes."""
    if axis.shape is Shape.FLAT:
        return float(axis.set_ncp(np.array([len(np.unique(codes))]))[0])
    low, high = codes.min(keepdims=True), codes.max(keepdims=True)
    if axis.shape is Shape.TREE:
        return float(axis.node_ncp[axis.covering(low, high)][0])
    return float(axis.interval_ncp(low, high)[0])


def pair_losses(axis: Axis, code: int) -> Floats:
    """The loss of a cell over a code and each other one."""
    others = np.arange(axis.size)
    if axis.shape is Shape.FLAT:
        return axis.set_ncp(np.where(others == code, 1, 2))
    low, high = np.minimum(others, code), np.maximum(others, code)
    if axis.shape is Shape.TREE:
        return axis.node_ncp[axis.covering(low, high)]
    return axis.interval_ncp(low, high)


@dataclass(frozen=True)
class AxisAround:
    """One axis as seen from one of its codes; losses are weighted."""

    kind: int
    places: Ints
    """Where each code is on a line through the row; of sets, the code."""
    reach: Floats
    """How far a cell must reach on its side of the row to hold each place."""
    base: float = 0.0
    scale: float = 0.0
    whole: float = 0.0

    @classmethod
    def of(cls, axis: Axis, code: int) -> Self:
        """The axis as seen from a code."""
        if axis.shape is Shape.TREE:
            return cls._nodes(axis, code)
        if axis.shape is Shape.FLAT:
            codes = np.arange(axis.size)
            return cls(SET, codes, np.zeros(axis.size), scale=axis.weight / axis.size)
        if axis.shares is not None:
            return cls._shares(axis, code, axis.shares)
        codes = np.arange(axis.size)
        reach = axis.weight * pair_losses(axis, code)
        return cls(LINE, codes, reach, whole=axis.weight)

    @classmethod
    def _nodes(cls, axis: Axis, code: int) -> Self:
        """The nodes over a code, as a line to the right of it: costs only grow."""
        nodes = axis.levels[:, code]
        joined = np.argmax(axis.levels == nodes[:, None], axis=0)
        costs = axis.weight * axis.node_ncp[nodes]
        own, whole = float(costs[0]), float(costs[-1])
        return cls(LINE, joined, costs - own, base=own, whole=whole)

    @classmethod
    def _shares(cls, axis: Axis, code: int, shares: Floats) -> Self:
        """Intervals whose losses are bits: what they reach is the share of rows."""
        codes = np.arange(axis.size)
        before = np.concatenate([[0.0], shares])
        left, right = before[code] - before[:-1], before[1:] - before[code + 1]
        reach = np.where(codes > code, right, left)
        if axis.missing >= 0:
            # Beside numbers, a missing value makes the cell cover the whole axis.
            reach[codes if code == axis.missing else axis.missing] = 1.0
        reach[code] = 0.0
        return cls(
            BITS,
            codes,
            reach,
            base=float(before[code + 1] - before[code]),
            scale=axis.weight * axis.per_bit,
            whole=axis.weight * float(axis.node_ncp[axis.root]),
        )


def row_axes(
    around: Sequence[AxisAround], near: Codes, row: Codes
) -> tuple[Codes, RowAxes]:
    """Number the values of some tuples and a row, one axis after the other."""
    values = np.empty(near.shape, dtype=np.int32)
    starts, own, reach = [0], [], []
    for j, axis in enumerate(around):
        places, at = axis.places[near[:, j]], axis.places[row[j]]
        occurs = np.zeros(len(axis.reach), dtype=np.bool_)
        occurs[places] = occurs[at] = True
        number = np.cumsum(occurs) - 1 + starts[-1]
        values[:, j] = number[places]
        own.append(int(number[at]))
        reach.append(axis.reach[occurs])
        starts.append(int(number[-1]) + 1)
    return values, RowAxes(
        np.array([axis.kind for axis in around], dtype=np.int64),
        np.array(starts, dtype=np.int64),
        np.array(own, dtype=np.int64),
        np.concatenate(reach),
        np.array([axis.base for axis in around]),
        np.array([axis.scale for axis in around]),
        np.array([axis.whole for axis in around]),
    )
