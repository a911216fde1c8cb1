"""What a box has to spare, by its definition: every node, every box, every row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from sfumato.hierarchies.axis import Axis

Box = tuple[float, list[int]]


def every_box(axes: Sequence[Axis], tuples: np.ndarray) -> Iterator[Box]:
    """What each box of the lattice costs a row, and the tuples in it."""
    for levels in product(*(range(axis.height) for axis in axes)):
        boxes: dict[tuple[int, ...], list[int]] = {}
        for t, codes in enumerate(tuples):
            nodes = [
                a.levels[v, c] for a, v, c in zip(axes, levels, codes, strict=True)
            ]
            boxes.setdefault(tuple(nodes), []).append(t)
        for box, inside in boxes.items():
            costs = [a.weight * a.node_ncp[n] for a, n in zip(axes, box, strict=True)]
            yield float(sum(costs)), inside


def spare_of_box(box: Box, weights: np.ndarray, prices: np.ndarray, k: int) -> float:
    """Its cost less the mean of the k highest prices; infinite with fewer rows."""
    cost, inside = box
    asked = sorted(np.repeat(prices[inside], weights[inside]), reverse=True)
    return cost - sum(asked[:k]) / k if len(asked) >= k else np.inf


def spare_prices(
    axes: Sequence[Axis],
    tuples: np.ndarray,
    weights: np.ndarray,
    prices: np.ndarray,
    k: int,
) -> np.ndarray:
    """The least that a box around each tuple has to spare."""
    result = np.full(len(tuples), np.inf)
    for box in every_box(axes, tuples):
        spare = spare_of_box(box, weights, prices, k)
        result[box[1]] = np.minimum(result[box[1]], spare)
    return result
