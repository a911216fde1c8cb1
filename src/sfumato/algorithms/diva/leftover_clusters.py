"""Place left-over rows in clusters, and hide values that are shown too often."""

from __future__ import annotations

import numpy as np

from sfumato.algorithms.diva.coloring import Clustering, clustering_of, measured
from sfumato.algorithms.diva.constraint_targets import Sigma
from sfumato.algorithms.diva.row_subsets import SubsetRules
from sfumato.data.arrays import Codes, Flags, Ints

ABSORBED = 200
"""Left-over rows that may join clusters one by one, at most."""


def place_other_rows(
    sigma: Sigma, points: Codes, judge: SubsetRules, diverse: Clustering
) -> Clustering | None:
    """Change the clusters until all other rows are none, or may be a group.

    Left-over rows join clusters where that breaks no constraint; or else clusters that
    no lower bound needs are dissolved. None: neither helps.
    """
    rest = _outside(diverse, points.shape[0])
    if not len(rest) or judge.allows(rest):
        return diverse
    joined = absorbed(sigma, points, judge, diverse, rest=rest)
    if joined is not None:
        return joined
    return _dissolved(sigma, points, judge, diverse)


def _outside(clustering: Clustering, rows: int) -> Ints:
    used = np.zeros(rows, dtype=np.bool_)
    used[clustering.rows] = True
    return np.flatnonzero(~used)


def absorbed(
    sigma: Sigma, points: Codes, judge: SubsetRules, diverse: Clustering, *, rest: Ints
) -> Clustering | None:
    """Every left-over row in the cluster that then costs least, if there is one."""
    if len(rest) > ABSORBED:
        return None
    current = diverse
    for row in rest.tolist():
        home = _home(sigma, points, judge, current, row)
        if home is None:
            return None
        clusters = current.clusters()
        clusters[home] = np.append(clusters[home], row)
        current = clustering_of(sigma, points, clusters, current.hidden)
    return current


def _home(
    sigma: Sigma, points: Codes, judge: SubsetRules, current: Clustering, row: int
) -> int | None:
    """Return the cluster that a row can join at the least cost."""
    fits, full = sigma.fits[:, row, None], sigma.full[:, row, None]
    after = np.where(fits & current.agreed, current.shown + full, 0)
    counts = current.counts[:, None] - current.shown + after
    within = (counts >= sigma.lower[:, None]) & (counts <= sigma.upper[:, None])
    possible = np.flatnonzero(within.all(axis=0))
    clusters = current.clusters()
    costs = [
        (_stars(points, np.append(clusters[c], row), current.hidden[c]), int(c))
        for c in possible
    ]
    for _, cluster in sorted(costs):
        if judge.allows(np.append(clusters[cluster], row)):
            return cluster
    return None


def _stars(points: Codes, rows: Ints, hidden: Flags) -> int:
    values = points[rows]
    mixed = values.max(axis=0) != values.min(axis=0)
    return int((mixed | hidden).sum()) * len(rows)


def _dissolved(
    sigma: Sigma, points: Codes, judge: SubsetRules, diverse: Clustering
) -> Clustering | None:
    """Without clusters that no lower bound needs, dearest first, until enough."""
    counts = diverse.counts
    kept = np.ones(diverse.count, dtype=np.bool_)
    clusters = diverse.clusters()
    for cluster in np.lexsort((np.arange(diverse.count), -diverse.stars)).tolist():
        if (counts - diverse.shown[:, cluster] < sigma.lower).any():
            continue
        counts = counts - diverse.shown[:, cluster]
        kept[cluster] = False
        left = [rows for rows, stays in zip(clusters, kept, strict=True) if stays]
        smaller = clustering_of(sigma, points, left, diverse.hidden[kept])
        if judge.allows(_outside(smaller, points.shape[0])):
            return smaller
    return None


def hide_excess(
    sigma: Sigma, points: Codes, diverse: Clustering, rest: Clustering
) -> Clustering:
    """Hide target values in groups of the rest until no upper bound is exceeded.

    Lower bounds are met by the diverse clusters alone. For each constraint, groups are
    chosen that together have hardly more rows than the excess.
    """
    hidden, current = rest.hidden.copy(), rest
    for number in range(sigma.count):
        excess = int((diverse.counts + current.counts - sigma.upper)[number])
        if excess <= 0:
            continue
        column = _column_to_hide(sigma, number, diverse, current)
        groups = cover(current.shown[number], excess)
        hidden[groups, column] = True
        current = measured(sigma, points, rest.rows, rest.starts, hidden=hidden.copy())
    return current


def _column_to_hide(
    sigma: Sigma, number: int, diverse: Clustering, rest: Clustering
) -> int:
    """Of the columns of a target, the one that most exceeded constraints name."""
    over = np.flatnonzero(diverse.counts + rest.counts > sigma.upper)
    return min(
        sigma.columns[number],
        key=lambda c: (-sum(c in sigma.columns[other] for other in over), c),
    )


def cover(sizes: Ints, excess: int) -> list[int]:
    """Groups whose rows are at least `excess`, and hardly more."""
    chosen: list[int] = []
    order = np.lexsort((np.arange(len(sizes)), -sizes)).tolist()
    for group in order:
        if 0 < sizes[group] <= excess:
            chosen.append(group)
            excess -= int(sizes[group])
    if excess > 0:
        larger = [g for g in order if g not in chosen and sizes[g] >= excess]
        chosen.append(min(larger, key=lambda g: (int(sizes[g]), g)))
    return chosen
