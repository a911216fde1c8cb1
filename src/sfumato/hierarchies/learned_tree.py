"""Learn a tree of categories: values that go along with the same values elsewhere are near.

Each value has a profile: how the other columns are distributed in its rows, compared
with all rows (in the metric of a correspondence analysis), drawn towards the middle
where rows are few. The two clusters of values whose merger raises the weighted spread of
profiles least are merged (Ward 1963), until one is left. A level of the tree has about
half as many clusters as the one below.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Codes, Floats, Ints
from sfumato.data.table import Column
from sfumato.errors import HierarchyError
from sfumato.hierarchies.hierarchy_files import LabelTable
from sfumato.hierarchies.labels import set_label
from sfumato.hierarchies.levels import UpperLevels
from sfumato.hierarchies.tree import table_levels

BINS = 16
"""Another column has at most so many classes in a profile."""
FEW = 10.0
"""A value with so many rows counts half for itself, half for the middle."""
MOST_VALUES = 1_000
"""A column with more values has no learned hierarchy: its labels would list hundreds."""
MOST_MERGED = 600
"""With more values than this, neighbors along the main direction are merged first."""

Profiles = npt.NDArray[np.float64]


def learned_levels(column: Column, others: Sequence[Column]) -> UpperLevels:
    """Learn the levels above a column's values, and check them like a written tree."""
    if column.kind.numeric:
        raise HierarchyError(
            f"The hierarchy of column '{column.name}' cannot be learned: its kind is "
            f"'{column.kind}'.",
            hint='Use "auto" for numbers and dates, or declare the kind "category".',
        )
    if column.size > MOST_VALUES:
        raise HierarchyError(
            f"The hierarchy of column '{column.name}' cannot be learned: it has "
            f"{column.size:,} values; at most {MOST_VALUES:,} can be shown as sets.",
            hint="Name a hierarchy file, or join rare values before.",
        )
    if not others:
        raise HierarchyError(
            f"The hierarchy of column '{column.name}' cannot be learned: there is no "
            "other quasi-identifier to learn from.",
            hint="Name a hierarchy file, for example one that an earlier release wrote.",
        )
    upper = table_levels(column, learned_table(column, others))
    return replace(upper, fitted=True)


def learned_table(column: Column, others: Sequence[Column]) -> LabelTable:
    """Learn a tree from other columns of the same rows, and write it as labels."""
    known = np.array([c for c in range(column.size) if c != column.missing], np.int64)
    texts = [column.labels[code] for code in known]
    levels = [tuple(texts)]
    for nodes in nested_clusters(
        _profiles(column, others)[known], _counts(column)[known]
    ):
        levels.append(_labels(texts, nodes))
    return LabelTable(name="learned tree", levels=(*levels, ("*",) * len(texts)))


def _labels(texts: Sequence[str], nodes: Ints) -> tuple[str, ...]:
    """Label each value with the set of those in its cluster."""
    members = [
        [texts[i] for i in np.flatnonzero(nodes == node)]
        for node in range(int(nodes.max()) + 1)
    ]
    named = [each[0] if len(each) == 1 else set_label(each) for each in members]
    return tuple(named[node] for node in nodes)


def _counts(column: Column) -> Floats:
    return np.bincount(column.codes, minlength=column.size).astype(np.float64)


def _profiles(column: Column, others: Sequence[Column]) -> Profiles:
    """How the others are distributed among the rows of each value, against all rows."""
    counts = np.maximum(_counts(column), 1.0)[:, None]
    parts = []
    for other in others:
        classes, number = _classes(other)
        pairs = np.bincount(
            column.codes.astype(np.int64) * number + classes[other.codes],
            minlength=column.size * number,
        ).reshape(column.size, number)
        overall = pairs.sum(axis=0) / max(pairs.sum(), 1)
        parts.append((pairs / counts - overall) / np.sqrt(np.maximum(overall, 1e-12)))
    return np.asarray(np.hstack(parts) * (counts / (counts + FEW)))


def _classes(column: Column) -> tuple[Codes, int]:
    """The class of each value: numbers by quantile, categories by frequency."""
    counts = _counts(column)
    if column.size <= BINS:
        return np.arange(column.size, dtype=np.int32), column.size
    if column.kind.numeric:
        middle = (np.cumsum(counts) - counts / 2) / max(counts.sum(), 1)
        found = np.minimum((middle * BINS).astype(np.int32), BINS - 1)
        return found, BINS
    rank = np.empty(column.size, dtype=np.int32)
    rank[np.argsort(-counts, kind="stable")] = np.arange(column.size, dtype=np.int32)
    return np.minimum(rank, BINS - 1), BINS


def nested_clusters(profiles: Profiles, counts: Floats) -> Iterator[Ints]:
    """Clusters of values, level by level, each nested in the next; neither all nor one."""
    count = len(profiles)
    first = _first_clusters(profiles) if count > MOST_MERGED else np.arange(count)
    merges = _merges(profiles, counts, first)
    left = int(first.max(initial=-1)) + 1
    member = first.copy()
    wanted = _halved(left)
    if left < count:
        yield first
    for one, other in merges:
        member[member == other] = one
        left -= 1
        if left in wanted:
            yield np.unique(member, return_inverse=True)[1].ravel()


def _halved(count: int) -> set[int]:
    """How many clusters levels have: half of those below, down to two."""
    wanted = set()
    while count > 2:
        count = (count + 1) // 2
        wanted.add(count)
    return wanted


def _first_clusters(profiles: Profiles) -> Ints:
    """Runs of values along the main direction, as many as can be merged in pairs."""
    _, _, directions = np.linalg.svd(
        profiles - profiles.mean(axis=0), full_matrices=False
    )
    along = np.round(profiles @ directions[0], 9)
    order = np.argsort(along, kind="stable")
    found = np.empty(len(profiles), dtype=np.int64)
    edges = np.linspace(0, len(order), MOST_MERGED + 1).astype(np.int64)
    for run, (start, end) in enumerate(pairwise(edges)):
        found[order[start:end]] = run
    return found


def _merges(
    profiles: Profiles, counts: Floats, first: Ints
) -> Iterator[tuple[int, int]]:
    """Pairs of clusters in the order in which they are merged; the first one stays."""
    size = int(first.max(initial=-1)) + 1
    # A value may have lost its rows to suppression.
    weight = np.bincount(first, np.maximum(counts, 0.5), size).astype(np.float64)
    center = np.zeros((size, profiles.shape[1]))
    np.add.at(center, first, profiles * np.maximum(counts, 0.5)[:, None])
    center /= np.maximum(weight, 1e-12)[:, None]
    cost = np.full((size, size), np.inf)
    for one in range(size):
        cost[one, :one] = _raised(center, weight, one)[:one]
    for _ in range(size - 1):
        high, low = divmod(int(np.argmin(cost)), size)
        total = weight[high] + weight[low]
        center[low] = (center[low] * weight[low] + center[high] * weight[high]) / max(
            total, 1e-12
        )
        weight[low] = total
        cost[high, :] = cost[:, high] = np.inf
        weight[high] = np.nan
        renewed = _raised(center, weight, low)
        cost[low, :low] = np.where(np.isnan(weight[:low]), np.inf, renewed[:low])
        rest = slice(low + 1, None)
        cost[rest, low] = np.where(np.isnan(weight[rest]), np.inf, renewed[rest])
        yield low, high


def _raised(center: Profiles, weight: Floats, one: int) -> Floats:
    """How much merging a cluster with each other one raises the spread, rounded."""
    apart = ((center - center[one]) ** 2).sum(axis=1)
    return np.asarray(
        np.round(weight * weight[one] / (weight + weight[one]) * apart, 9)
    )
