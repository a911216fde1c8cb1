"""Cluster around centers: one-pass k-means (OKA) and MDAV microaggregation.

Paper: OKA (Lin and Wei 2008): `join_nearest` is its one-pass k-means stage and, with
`below`, the filling of small groups; `release_farthest` takes the farthest rows out of
groups above k. MDAV (Domingo-Ferrer and Mateo-Sanz 2002; Domingo-Ferrer and Torra 2005):
`mdav_some` is its step 1 (two groups around distant rows) and the steps for what is left.
Cost: OKA O(n × g × m) for n units, g groups and m axes; MDAV O(n² / k × m).
Invariant: every unit is in one group, or taken out (−1); a center is the mean of the
known numbers of its group and the box of everything else; of equally near groups or
units the first wins.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Codes, Floats, Ints
from sfumato.kernels.clustering.group_state import (
    GROUPS,
    Clusters,
    PairwiseContributions,
    add_unit,
)
from sfumato.kernels.clustering.units import Units, cell_with, put
from sfumato.kernels.common.boxes import Boxes, clear
from sfumato.kernels.common.geometry import WEIGHT
from sfumato.kernels.compilation.decorators import both, inner


class Centers(NamedTuple):
    """Centers of groups: means of numbers, and boxes for everything else."""

    numbers: Floats
    """(units, axes): each unit's number, times weight / span; NaN if missing."""
    numeric: npt.NDArray[np.bool_]
    sums: Floats
    known: Ints
    """(groups, axes): the sum of the numbers of a group, and how many are known."""
    size: Ints
    box: Boxes


@inner
def distance(units: Units, centers: Centers, g: int, u: int, best: float) -> float:
    """Return how far a unit is from the center of a group; may stop above `best`."""
    total = 0.0
    for j in range(units.axes):
        if centers.numeric[j]:
            here = centers.numbers[u, j]
            known = centers.known[g, j]
            # A number equals itself unless it is NaN, which stands for missing.
            if known > 0 and here == here:
                total += abs(here - centers.sums[g, j] / known)
            elif known > 0 or here == here:
                total += units.tables.factor[j, WEIGHT]
        else:
            total += cell_with(units, centers.box, g, j, u)
        if total > best:
            return total
    return total


@both
def add_to_center(
    units: Units, centers: Centers, g: int, u: int, changed: Ints
) -> None:
    """Move the center of a group towards a unit."""
    put(units, centers.box, g, u, changed)
    centers.size[g] += 1
    for j in range(units.axes):
        here = centers.numbers[u, j]
        if centers.numeric[j] and here == here:
            centers.sums[g, j] += here
            centers.known[g, j] += 1


@both
def join_nearest(
    units: Units, centers: Centers, order: Ints, group_of: Ints, below: int
) -> None:
    """Let each unit of `order` join the group with the nearest center.

    While a group has fewer than `below` units, only such groups are considered. Of
    equally near ones the first is taken.
    """
    changed = np.zeros(units.low.shape[1], dtype=np.int64)
    groups = len(centers.size)
    small = 0
    for g in range(groups):
        small += centers.size[g] < below
    for u in order:
        best = np.inf
        found = -1
        for g in range(groups):
            if small > 0 and centers.size[g] >= below:
                continue
            apart = distance(units, centers, g, u, best)
            if apart < best:
                best, found = apart, g
        group_of[u] = found
        add_to_center(units, centers, found, u, changed)
        if small > 0 and centers.size[found] == below:
            small -= 1


@both
def release_farthest(units: Units, centers: Centers, k: int, group_of: Ints) -> int:
    """Take the units farthest from their center out of groups above k; return how many."""
    changed = np.zeros(units.low.shape[1], dtype=np.int64)
    order = np.argsort(group_of, kind="mergesort")
    removed = 0
    start = 0
    while start < len(order):
        g = group_of[order[start]]
        end = start
        while end < len(order) and group_of[order[end]] == g:
            end += 1
        if end - start > k:
            members = order[start:end].copy()
            apart = np.empty(len(members))
            for i in range(len(members)):
                apart[i] = distance(units, centers, g, members[i], np.inf)
            members = members[np.argsort(apart, kind="mergesort")]
            clear(centers.box, g)
            centers.sums[g] = 0.0
            centers.known[g] = 0
            centers.size[g] = 0
            for i in range(len(members)):
                if i < k:
                    add_to_center(units, centers, g, members[i], changed)
                else:
                    group_of[members[i]] = -1
                    removed += 1
        start = end
    return removed


@both
def fill_clusters(
    units: Units,
    clusters: Clusters,
    contributions: PairwiseContributions,
    group_of: Ints,
    groups: int,
) -> None:
    """Fill groups from a group for every unit."""
    changed = np.zeros(units.low.shape[1], dtype=np.int64)
    clusters.number[GROUPS] = groups
    for u in range(len(group_of)):
        add_unit(units, clusters, contributions, group_of[u], u, changed)


class MdavRecords(NamedTuple):
    """Units as MDAV sees them."""

    numbers: Floats
    """(units, numeric axes), scaled; NaN if missing."""
    weights: Floats
    """What a missing number is away from a known one."""
    codes: Codes
    """(units, categorical axes)."""
    mismatch: Floats
    """What two different categories are apart, per axis."""
    squared: bool
    """Whether distances are Euclidean rather than Gower's."""


@inner
def _apart(records: MdavRecords, u: int, numbers: Floats, codes: Codes) -> float:
    """Return the distance of a unit from a center, squared if Euclidean."""
    total = 0.0
    for j in range(len(numbers)):
        here, there = records.numbers[u, j], numbers[j]
        gap = abs(here - there)
        if gap == gap:
            total += gap * gap if records.squared else gap
        elif here == here or there == there:
            total += records.weights[j]
    for j in range(len(codes)):
        if records.codes[u, j] != codes[j]:
            total += records.mismatch[j]
    return total


@inner
def _center(records: MdavRecords, alive: Ints, numbers: Floats, codes: Codes) -> None:
    """Find the means of known numbers and the most frequent codes of some units."""
    for j in range(len(numbers)):
        total = 0.0
        known = 0
        for u in alive:
            here = records.numbers[u, j]
            if here == here:
                total += here
                known += 1
        numbers[j] = total / known if known > 0 else np.nan
    for j in range(len(codes)):
        counts = np.zeros(np.max(records.codes[:, j]) + 1, dtype=np.int64)
        for u in alive:
            counts[records.codes[u, j]] += 1
        codes[j] = np.argmax(counts)


@inner
def _farthest(records: MdavRecords, alive: Ints, numbers: Floats, codes: Codes) -> int:
    """Find the unit farthest from a center, the first of several."""
    best, found = -1.0, alive[0]
    for u in alive:
        apart = _apart(records, u, numbers, codes)
        if apart > best:
            best, found = apart, u
    return found


@inner
def _gather(
    records: MdavRecords, alive: Ints, around: int, k: int, g: int, group_of: Ints
) -> Ints:
    """Make a group of a unit and its k − 1 nearest; return the units that are left."""
    numbers, codes = records.numbers[around], records.codes[around]
    nearest = np.full(k, np.inf)
    chosen = np.full(k, -1, dtype=np.int64)
    for u in alive:
        # Its own group must have it, even if others lie at the same place.
        apart = -1.0 if u == around else _apart(records, u, numbers, codes)
        if apart < nearest[k - 1]:
            place = k - 1
            while place > 0 and nearest[place - 1] > apart:
                nearest[place], chosen[place] = nearest[place - 1], chosen[place - 1]
                place -= 1
            nearest[place], chosen[place] = apart, u
    for u in chosen:
        group_of[u] = g
    return alive[group_of[alive] < 0]


@both
def mdav_some(
    records: MdavRecords, k: int, group_of: Ints, groups: int, limit: int
) -> int:
    """Form up to `limit` pairs of groups; return how many groups there are then.

    Units without a group have −1. While 3k are left, a group around the unit farthest
    from the center, and one around the unit farthest from that; then one more if 2k
    are left, and the rest.
    """
    numbers = np.zeros(records.numbers.shape[1])
    codes = np.zeros(records.codes.shape[1], dtype=np.int32)
    alive = np.flatnonzero(group_of < 0)
    for _ in range(limit):
        if len(alive) < 2 * k:
            for u in alive:
                group_of[u] = groups
            return groups + (len(alive) > 0)
        _center(records, alive, numbers, codes)
        first = _farthest(records, alive, numbers, codes)
        second = _farthest(records, alive, records.numbers[first], records.codes[first])
        pair = len(alive) >= 3 * k
        alive = _gather(records, alive, first, k, groups, group_of)
        groups += 1
        if pair:
            if group_of[second] >= 0:
                second = _farthest(
                    records, alive, records.numbers[first], records.codes[first]
                )
            alive = _gather(records, alive, second, k, groups, group_of)
            groups += 1
    return groups
