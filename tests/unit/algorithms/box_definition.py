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


def cells_around(axis: Axis, code: int) -> list[tuple[np.ndarray, float]]:
    """All cells of an axis that hold a code: the codes in each, and its loss."""
    every = np.arange(axis.size)
    if axis.shape is Shape.TREE:
        held = [every[level == level[code]] for level in axis.levels]
    elif axis.shape is Shape.FREE:
        ends = [
            (low, high) for low in range(code + 1) for high in range(code, axis.size)
        ]
        held = [every[low : high + 1] for low, high in ends]
    else:
        others = np.delete(every, code).tolist()
        sets = (combinations(others, size) for size in range(axis.size))
        held = [np.array([code, *chosen]) for some in sets for chosen in some]
    return [(codes, axis.weight * loss_of_cell(axis, codes.tolist())) for codes in held]


def cheapest_of_all_boxes(
    axes: Sequence[Axis], points: np.ndarray, row: int, least: int
) -> float:
    """The least that a box around a row costs that holds at least so many rows."""
    boxes = [(np.ones(len(points), dtype=bool), 0.0)]
    for j, axis in enumerate(axes):
        cells = cells_around(axis, int(points[row, j]))
        boxes = [
            (inside & np.isin(points[:, j], codes), cost + more)
            for inside, cost in boxes
            for codes, more in cells
        ]
    return min(cost for inside, cost in boxes if inside.sum() >= least)
