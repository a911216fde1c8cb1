"""The loss of cells at each level, which lattice algorithms minimize.

A *separable* loss is a sum over cells. `cells[j][level, leaf]` is the loss of a cell of
column j with this leaf shown at this level, `stars[j][leaf]` that of a suppressed one;
both are scaled so that the loss of the table is a plain sum over all cells, 0 for the
source and 1 for nothing but suppressed rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Counts, Floats
from sfumato.errors import HierarchyError, PolicyError
from sfumato.hierarchies.axis import Axis

Metric = Literal[
    "ncp", "generalized_loss", "discernibility", "average_class_size", "entropy"
]
METRICS: tuple[str, ...] = get_args(Metric)
SEPARABLE = ("ncp", "generalized_loss", "entropy")
ROUNDING = 1e-12


def check_metric(name: str, metric: object, allowed: tuple[str, ...] = METRICS) -> None:
    """Refuse a metric that an algorithm cannot minimize."""
    if metric not in allowed:
        raise PolicyError(
            f"{name}: 'metric' is {metric!r}.",
            hint=f"It must be one of: {', '.join(allowed)}.",
        )


def check_count(name: str, option: str, value: object) -> None:
    """Refuse anything but a whole number above zero."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not (whole and isinstance(value, int) and value > 0):
        raise PolicyError(
            f"{name}: '{option}' is {value!r}.",
            hint=f"'{option}' must be a whole number above 0.",
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class CellLosses:
    """The loss of cells, published or suppressed, of every column."""

    cells: tuple[Floats, ...]
    stars: tuple[Floats, ...]

    @property
    def extra(self) -> tuple[Floats, ...]:
        """What suppressing a cell adds to its loss, per level and leaf."""
        return tuple(
            star - cell for star, cell in zip(self.stars, self.cells, strict=True)
        )

    @property
    def bounded(self) -> bool:
        """Whether suppressing never costs less at a lower level.

        This holds if the loss of a leaf never falls from one level to the next. Where
        a hierarchy breaks it, bounds from suppressed rows are not used.
        """
        return all((np.diff(cell, axis=0) >= -ROUNDING).all() for cell in self.cells)

    def base(self, leaves: Sequence[Counts]) -> list[Floats]:
        """Per column, the loss of all its cells at each level."""
        return [cell @ count for cell, count in zip(self.cells, leaves, strict=True)]

    def least_extra(self) -> list[Floats]:
        """Per column and level, the least that suppressing a cell can add."""
        return [extra.min(axis=1) for extra in self.extra]


def cell_losses(
    metric: str, axes: Sequence[Axis], leaves: Sequence[Counts]
) -> CellLosses:
    """The losses of a metric on a table with these counts of each leaf.

    Metrics that are not separable are guided by NCP.
    """
    if metric == "entropy":
        return _entropy(axes, leaves)
    rows = int(leaves[0].sum())
    scale = rows * (sum(axis.weight for axis in axes) or 1.0)
    cells = []
    for axis in axes:
        costs = axis.node_loss if metric == "generalized_loss" else axis.node_ncp
        _require_at_most_one(axis, costs)
        cells.append(axis.weight * costs[axis.levels] / max(scale, 1.0))
    stars = [np.full(a.size, a.weight / max(scale, 1.0)) for a in axes]
    return CellLosses(cells=tuple(cells), stars=tuple(stars))


def _require_at_most_one(axis: Axis, costs: Floats) -> None:
    worst = float(costs[axis.levels].max(initial=0.0))
    if worst > 1.0 + ROUNDING:
        raise HierarchyError(
            f"A node of the hierarchy of '{axis.name}' loses {worst:.6g}; a "
            "suppressed cell loses 1.",
            hint="No label may stand for more than the whole domain.",
        )


def _entropy(axes: Sequence[Axis], leaves: Sequence[Counts]) -> CellLosses:
    """Return the non-uniform entropy: bits that identify a value given its cell.

    A cell that shows a node loses log2(rows under the node / rows with the value), a
    suppressed one log2(rows / rows with the value). Counts are those of the source.
    """
    cells, stars = [], []
    for axis, count in zip(axes, leaves, strict=True):
        seen = np.maximum(count, 1)
        under = np.stack([_under(level, count) for level in axis.levels])
        cells.append(axis.weight * np.log2(np.maximum(under, 1) / seen))
        stars.append(axis.weight * np.log2(max(int(count.sum()), 1) / seen))
    whole = sum(float(s @ c) for s, c in zip(stars, leaves, strict=True)) or 1.0
    return CellLosses(
        cells=tuple(cell / whole for cell in cells),
        stars=tuple(star / whole for star in stars),
    )


def _under(nodes: npt.NDArray[np.int32], count: Counts) -> Counts:
    """For each leaf, the rows under its node."""
    return np.bincount(nodes, weights=count)[nodes].astype(np.int64)
