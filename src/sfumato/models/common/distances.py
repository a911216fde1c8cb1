"""Earth mover's distance and S-diversity of all groups at once, on sparse entries."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Counts, Floats
from sfumato.data.rules import Distance
from sfumato.hierarchies.axis import Axis, Shape
from sfumato.hierarchies.sensitive_axis import ground_distance, is_line
from sfumato.models.base import TOLERANCE, Histogram

DENSE_CELLS = 1 << 21
"""How many cells of a dense table are held at a time."""


def earth_mover(histogram: Histogram, *, distance: Distance) -> Floats:
    """Each group's earth mover's distance to the reference."""
    if not len(histogram.codes):
        return np.zeros(histogram.count)
    kind = ground_distance(histogram.axis, distance)
    if kind is Distance.ORDERED:
        return _ordered(histogram)
    if kind is Distance.HIERARCHICAL:
        return _hierarchical(histogram)
    return _variation(histogram, np.arange(histogram.axis.size, dtype=np.int32))


def earth_mover_to(
    histogram: Histogram, targets: Histogram, target: Counts, *, distance: Distance
) -> Floats:
    """Each group's distance to the group `target` of another histogram.

    Values and their distances are those of the table, whichever of them occur.
    """
    kind = ground_distance(histogram.axis, distance)
    step = max(DENSE_CELLS // max(histogram.axis.size, 1), 1)
    support = histogram.reference > 0
    support[targets.codes] = True
    parts = []
    for start in range(0, histogram.count, step):
        some = np.arange(start, min(start + step, histogram.count))
        apart = _dense_shares(histogram, some) - _dense_shares(targets, target[some])
        parts.append(_dense_distance(apart, histogram.axis, kind, support))
    return np.concatenate(parts) if parts else np.zeros(0)


def _dense_shares(histogram: Histogram, groups: Counts) -> Floats:
    """Shares of some groups' known values, a row each."""
    lengths = np.diff(histogram.starts)[groups]
    owners = np.repeat(np.arange(len(groups)), lengths)
    ends = np.cumsum(lengths)
    shift = np.repeat(histogram.starts[groups] - (ends - lengths), lengths)
    entries = np.arange(len(owners)) + shift
    dense = np.zeros((len(groups), histogram.axis.size))
    dense[owners, histogram.codes[entries]] = histogram.counts[entries]
    if histogram.missing_any and histogram.axis.missing >= 0:
        dense[:, histogram.axis.missing] = 0.0
    total = dense.sum(axis=1, keepdims=True)
    return np.divide(dense, total, out=dense, where=total > 0)


def _dense_distance(
    apart: Floats, axis: Axis, kind: Distance, support: npt.NDArray[np.bool_]
) -> Floats:
    if kind is Distance.ORDERED:
        running = np.abs(np.cumsum(apart[:, support], axis=1)).sum(axis=1)
        return np.asarray(running / max(int(support.sum()) - 1, 1))
    if kind is Distance.EQUAL:
        return np.asarray(np.abs(apart).sum(axis=1) / 2)
    height = max(axis.height - 1, 1)
    total = np.zeros(len(apart))
    for nodes in axis.levels[:height]:
        first = np.flatnonzero(np.diff(nodes, prepend=-1))
        total += np.abs(np.add.reduceat(apart, first, axis=1)).sum(axis=1)
    return total / (2 * height)


def _hierarchical(histogram: Histogram) -> Floats:
    """The distance of two values is the level of their common ancestor over the height.

    That is a path in a tree whose every edge has length 1 / (2 height), so the cost
    is the sum over all edges of the mass that differs below (equal to the recursion
    of Li et al. 2007, section 4.2.2).
    """
    levels = histogram.axis.levels
    height = max(len(levels) - 1, 1)
    below = [_variation(histogram, levels[level]) for level in range(height)]
    return np.asarray(sum(below) / height)


def _variation(histogram: Histogram, nodes: npt.NDArray[np.int32]) -> Floats:
    """Half the sum of |share − reference| over the nodes of a level.

    Entries under one node are neighbors. A node without entries differs by its
    reference, so only nodes with entries need a look.
    """
    starts, shares, node = _runs(histogram, nodes)
    reference = np.bincount(nodes, weights=histogram.reference)
    here = reference[node]
    gained = np.add.reduceat(np.abs(shares - here) - here, starts)
    result: Floats = (gained + histogram.reference.sum()) / 2
    return result


def _runs(
    histogram: Histogram, nodes: npt.NDArray[np.int32]
) -> tuple[Counts, Floats, npt.NDArray[np.int32]]:
    """Entries of one group under one node as one run: starts of groups, share, node."""
    of_entry = nodes[histogram.codes]
    fresh = np.ones(len(of_entry), dtype=bool)
    fresh[1:] = of_entry[1:] != of_entry[:-1]
    fresh[histogram.starts[:-1]] = True
    first = np.flatnonzero(fresh)
    starts = np.searchsorted(first, histogram.starts[:-1])
    return starts, np.add.reduceat(histogram.shares, first), of_entry[first]


def _ordered(histogram: Histogram) -> Floats:
    """Sum of |difference of cumulative shares| over the values, over their number − 1.

    Between two entries the group's cumulative share is constant while the reference's
    grows, so one search finds where they cross.
    """
    support = histogram.reference > 0
    support[histogram.codes] = True
    rank = np.cumsum(support) - 1
    number = int(rank[-1]) + 1
    cumulative = np.cumsum(histogram.reference[support])
    prefix = np.concatenate([[0.0], np.cumsum(cumulative)])
    low = rank[histogram.codes]
    high = _next_in_group(histogram, low, number)
    level = _running_shares(histogram)
    cross = np.clip(np.searchsorted(cumulative, level), low, high)
    above = (cross - low) * level - (prefix[cross] - prefix[low])
    under = (prefix[high] - prefix[cross]) - (high - cross) * level
    ahead = prefix[low[histogram.starts[:-1]]]
    result: Floats = (histogram.add_up(above + under) + ahead) / max(number - 1, 1)
    return result


def _next_in_group(histogram: Histogram, rank: Counts, number: int) -> Counts:
    """The rank of the group's next entry; past the last one, the number of values."""
    after = np.empty_like(rank)
    after[:-1] = rank[1:]
    after[histogram.starts[1:] - 1] = number
    return after


def _running_shares(histogram: Histogram) -> Floats:
    """The group's share of values up to and with each entry."""
    running = np.cumsum(histogram.counts)
    before = running[histogram.starts[:-1]] - histogram.counts[histogram.starts[:-1]]
    lengths = np.diff(histogram.starts)
    result: Floats = (running - np.repeat(before, lengths)) / np.repeat(
        histogram.totals, lengths
    )
    return result


def s_diversity(histogram: Histogram, *, r: float) -> Floats:
    """Measure what an attacker learns who accepts values within a range r.

    The mean pairwise contribution over ordered pairs of a group's values, each with
    itself included; pairs further apart than r contribute nothing.
    """
    if not len(histogram.codes):
        return np.zeros(histogram.count)
    if is_line(histogram.axis):
        pairs = _interval_pairs(histogram, r)
    elif histogram.axis.shape is Shape.TREE:
        pairs = _tree_pairs(histogram, r)
    else:
        pairs = _flat_pairs(histogram, r)
    return pairs / histogram.totals.astype(np.float64) ** 2


def _flat_pairs(histogram: Histogram, r: float) -> Floats:
    counts = histogram.counts.astype(np.float64)
    same = histogram.add_up(counts**2)
    contribution = counted(1.0 - 1.0 / domain_size(histogram), r)
    result: Floats = same + contribution * (histogram.totals**2.0 - same)
    return result


def _tree_pairs(histogram: Histogram, r: float) -> Floats:
    """Pairs by the smallest node over both: equal values, then level by level."""
    leaves = (histogram.reference > 0).astype(np.float64)
    leaves[histogram.codes] = 1.0
    starts, shares, _ = _runs(histogram, histogram.axis.levels[0])
    total = np.add.reduceat(shares**2, starts)
    for level in range(1, histogram.axis.height):
        size = np.bincount(histogram.axis.levels[level], weights=leaves)
        weight = counted(1.0 - (size - 1.0) / leaves.sum(), r)
        total += _meeting(histogram, level, weight)
    result: Floats = total * histogram.totals.astype(np.float64) ** 2
    return result


def _meeting(histogram: Histogram, level: int, weight: Floats) -> Floats:
    """Weighed pairs that share a node at this level but not at the one below."""
    above, below = histogram.axis.levels[level], histogram.axis.levels[level - 1]
    parent = np.zeros(int(below.max()) + 1, dtype=np.int32)
    parent[below] = above
    starts, shares, node = _runs(histogram, above)
    together = np.add.reduceat(weight[node] * shares**2, starts)
    starts, shares, child = _runs(histogram, below)
    result: Floats = together - np.add.reduceat(
        weight[parent[child]] * shares**2, starts
    )
    return result


def _interval_pairs(histogram: Histogram, r: float) -> Floats:
    """Pairs of numbers, each with those above it within reach, by running sums."""
    place = unit_positions(histogram)
    codes, counts = histogram.codes, histogram.counts.astype(np.float64)
    owners = histogram.owners
    size = np.int64(histogram.axis.size)
    keys = owners * size + codes
    last = np.searchsorted(keys, owners * size + _reach(place, r)[codes], "right")
    here = np.arange(len(codes)) + 1
    known = np.nan_to_num(place[codes])
    number = np.concatenate([[0.0], np.cumsum(counts)])
    moment = np.concatenate([[0.0], np.cumsum(counts * known)])
    within = number[last] - number[here]
    apart = (moment[last] - moment[here]) - known * within
    result: Floats = histogram.add_up(counts**2 + 2 * counts * (within - apart))
    return result


def _reach(place: Floats, r: float) -> npt.NDArray[np.int64]:
    """The highest code within r of each code; the missing one reaches itself."""
    known = np.flatnonzero(~np.isnan(place))
    reach = np.arange(len(place), dtype=np.int64)
    limit = place[known] + r + TOLERANCE
    reach[known] = known[np.searchsorted(place[known], limit, "right") - 1]
    return reach


def unit_positions(histogram: Histogram) -> Floats:
    """Numbers scaled so that the occurring ones span 0 to 1; NaN for the missing."""
    numbers = np.asarray(histogram.axis.positions, dtype=np.float64)
    used = histogram.reference > 0
    used[histogram.codes] = True
    used &= ~np.isnan(numbers)
    if not used.any():
        return numbers
    low, high = float(numbers[used].min()), float(numbers[used].max())
    scaled: Floats = (numbers - low) / (high - low if high > low else 1.0)
    return scaled


def domain_size(histogram: Histogram) -> int:
    """How many values occur in the reference or in a group."""
    used = histogram.reference > 0
    used[histogram.codes] = True
    return int(used.sum())


def counted(contribution: npt.ArrayLike, r: float) -> Floats:
    """A pairwise contribution, or 0 where the pair is further apart than r."""
    value = np.asarray(contribution, dtype=np.float64)
    return np.where(value >= 1.0 - r - TOLERANCE, value, 0.0)
