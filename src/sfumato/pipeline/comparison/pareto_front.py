"""The candidates that no other one beats, and the best compromise among them."""

from __future__ import annotations

import numpy as np

from sfumato.data.arrays import Flags, Floats

CLOSE = 1e-12
"""Scaled costs closer than this are equal."""


def on_front(points: Floats) -> Flags:
    """Which points (rows of two costs, lower is better) no other point dominates.

    One point dominates another if it is no worse in both costs and better in one; equal
    points do not dominate each other. A point with an unknown cost (NaN) is on no front
    and dominates nothing.
    """
    front = np.zeros(len(points), dtype=np.bool_)
    known = np.flatnonzero(~np.isnan(points).any(axis=1))
    second = points[known, 1]
    values, step = np.unique(points[known, 0], return_inverse=True)
    lowest = np.full(len(values), np.inf)
    np.minimum.at(lowest, step, second)
    # The lowest second cost of all points with a lower first cost.
    before = np.minimum.accumulate(np.append(np.inf, lowest))[:-1]
    better = (lowest < before)[step] | (step == 0)
    front[known[(second == lowest[step]) & better]] = True
    return front


def dominated_by(points: Floats, place: int) -> int | None:
    """The first point of the front that dominates a point; None if none does."""
    mine = points[place]
    if np.isnan(mine).any():
        return None
    better = (points <= mine).all(axis=1) & (points < mine).any(axis=1)
    found = np.flatnonzero(better & on_front(points))
    return int(found[0]) if len(found) else None


def knee(front: Floats) -> int | None:
    """The point of a front that lies furthest below the line between its two ends.

    Both costs are scaled to the range they have on the front: the ends then have the
    sum 1, and the knee has the least. It is never an end; None where no point lies
    below the line, as on a front of one point or two. Of equals, the one with the lower
    first cost.
    """
    low, high = front.min(axis=0), front.max(axis=0)
    if not np.isfinite(front).all() or not (high > low).all():
        return None
    sums = ((front - low) / (high - low)).sum(axis=1)
    if sums.min() >= 1.0 - CLOSE:
        return None
    least = np.flatnonzero(np.isclose(sums, sums.min(), rtol=0.0, atol=CLOSE))
    return int(least[np.lexsort((front[least, 1], front[least, 0]))[0]])
