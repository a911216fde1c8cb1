"""Prices of rows: a lower bound on the loss that counts what rows do to each other.

A price for each row is *fair* if no box with k rows or more costs its rows less than
their prices ask: the mean of the k highest prices in it is at most what a row loses in
it. Then no grouping loses less than the sum of all prices: a group lies in a box, so the
mean of its prices, of k rows or more, is at most what each of its rows loses there.

Prices of nothing are fair. They stay fair when all rise together, each by the least that
a box around it has to spare per row. The first rise gives each row its cheapest box
with k rows, the bound of a row by itself (`loss_bound`). Later ones let a row that lies
far from all others also count what it makes the rows lose that have to join it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce

import numpy as np

from sfumato.algorithms.request import Request
from sfumato.data.arrays import Codes, Counts, Floats, Ints
from sfumato.hierarchies.axis import Axis, Shape

LOOKS = 40_000_000
"""Tuples looked at over all nodes and rounds: three seconds at most."""
ROUNDS = 12
"""Rounds of rises, at most."""
FEWEST = 2
"""With fewer rounds prices are no better than the bound of each row by itself."""
LITTLE = 0.002
"""Rounds end when the sum of prices rises by less than this share."""
ROUNDING = 1e-9
"""The share by which prices are lowered, so that rounding makes none unfair."""


def rounds_for(request: Request, tuples: int) -> int:
    """How many rounds of rises are affordable; 0 if there is no lattice to look at."""
    axes = [coded.axis for coded in request.quasi]
    if not axes or not all(axis.shape is Shape.TREE for axis in axes):
        return 0
    looks = math.prod(axis.height for axis in axes) * max(tuples, 1)
    affordable = LOOKS // looks
    return min(ROUNDS, affordable) if affordable >= FEWEST else 0


def row_prices(
    axes: Sequence[Axis], tuples: Codes, weights: Counts, *, least: int, rounds: int
) -> Floats:
    """Fair prices of tuples on trees, in the unit of the axes' weights."""
    prices = np.zeros(len(tuples))
    for number in range(rounds):
        rise = spare_prices(axes, tuples, weights, prices, least=least)
        prices += rise
        gained, total = float(rise @ weights), float(prices @ weights)
        if number and gained <= LITTLE * total:
            break
    return prices * (1 - ROUNDING)


def spare_prices(
    axes: Sequence[Axis],
    tuples: Codes,
    weights: Counts,
    prices: Floats,
    *,
    least: int,
) -> Floats:
    """How much each tuple's price may rise if all rise: the least of all its boxes."""
    order = np.argsort(-prices, kind="stable")
    tuples, weights, prices = tuples[order], weights[order], prices[order]
    spare, dearest = np.full(len(tuples), np.inf), prices.max(initial=0.0)
    for levels in cheapest_first(axes, tuples, weights):
        cost = costs_at(axes, tuples, levels)
        # The mean of k prices is at most the highest of all.
        if (cost - dearest >= spare).all():
            continue
        box = boxes_at(axes, tuples, levels)
        by_box = np.argsort(box, kind="stable")
        starts = np.flatnonzero(np.diff(box[by_box], prepend=-1))
        rows = np.add.reduceat(weights[by_box], starts)
        highest = highest_prices(weights[by_box], prices[by_box], starts, least)
        left = np.where(rows >= least, cost[by_box[starts]] - highest / least, np.inf)
        lengths = np.diff(np.append(starts, len(by_box)))
        spare[by_box] = np.minimum(spare[by_box], np.repeat(left, lengths))
    result = np.empty(len(tuples))
    result[order] = np.where(np.isfinite(spare), np.maximum(spare, 0.0), 0.0)
    return result


def cheapest_first(
    axes: Sequence[Axis], tuples: Codes, weights: Counts
) -> list[tuple[int, ...]]:
    """The nodes of the lattice by their mean loss: as levels, one per axis."""
    losses = [
        np.array(
            [
                weights @ (axis.weight * axis.node_ncp[level[codes]])
                for level in axis.levels
            ]
        )
        for axis, codes in zip(axes, tuples.T, strict=True)
    ]
    order = np.argsort(reduce(np.add.outer, losses).ravel(), kind="stable")
    levels = np.unravel_index(order, [axis.height for axis in axes])
    return list(zip(*(level.tolist() for level in levels), strict=True))


def costs_at(axes: Sequence[Axis], tuples: Codes, levels: tuple[int, ...]) -> Floats:
    """What a row of each tuple loses at a node."""
    cost = np.zeros(len(tuples))
    for axis, codes, level in zip(axes, tuples.T, levels, strict=True):
        cost += (axis.weight * axis.node_ncp)[axis.levels[level][codes]]
    return cost


def boxes_at(axes: Sequence[Axis], tuples: Codes, levels: tuple[int, ...]) -> Ints:
    """The number of each tuple's box at a node."""
    box = np.zeros(len(tuples), dtype=np.int64)
    cells = 1
    for axis, codes, level in zip(axes, tuples.T, levels, strict=True):
        size = len(axis.node_ncp)
        if cells > np.iinfo(np.int64).max // size:
            found, box = np.unique(box, return_inverse=True)
            cells = len(found)
        box = box * size + axis.levels[level][codes]
        cells *= size
    return box


def highest_prices(weights: Counts, prices: Floats, starts: Ints, least: int) -> Floats:
    """The sum of the `least` highest prices of rows in each run of tuples.

    Prices fall within a run; a run with fewer rows counts all of them.
    """
    reached = np.cumsum(weights)
    before = np.repeat(
        (reached - weights)[starts], np.diff(np.append(starts, len(weights)))
    )
    counted = np.clip(least - (reached - weights - before), 0, weights)
    return np.asarray(np.add.reduceat(counted * prices, starts))
