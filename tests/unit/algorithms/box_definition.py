"""What the cheapest box around a row is, as short and slow as possible."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from sfumato.hierarchies.axis import Axis, Shape


def loss_of_cell(axis: Axis, codes: Sequence[int]) -> float:
    """What a row loses on an axis in a group that has these codes."""
    if axis.shape is Shape.FLAT:
        return float(axis.set_ncp(np.array([len(set(codes))]))[0])
    low, high = np.array([min(codes)]), np.array([max(codes)])
    if axis.shape is Shape.FREE:
        return float(axis.interval_ncp(low, high)[0])
    shared = [set(level[list(codes)]) for level in axis.levels]
    return float(
        axis.node_ncp[next(nodes.pop() for nodes in shared if len(nodes) == 1)]
    )


def loss_of_rows(axes: Sequence[Axis], points: np.ndarray) -> float:
    """What a row of a group with these rows loses, weighted."""
    return sum(
        axis.weight * loss_of_cell(axis, codes)
        for axis, codes in zip(axes, points.T.tolist(), strict=True)
    )


def cheapest_of_all(
    axes: Sequence[Axis], points: np.ndarray, row: int, least: int
) -> float:
    """The least that a row loses in any group of at least so many rows.

    More rows never lose less, so groups of just as many will do.
    """
    others = [other for other in range(len(points)) if other != row]
    return min(
        loss_of_rows(axes, points[[row, *chosen]])
        for chosen in combinations(others, least - 1)
    )
