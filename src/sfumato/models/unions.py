"""Unions of groups: what an attacker sees who knows only some quasi-identifiers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from sfumato.models.base import Counts, Groups, Histogram
from sfumato.models.groups import packed


def known_sets(width: int, sizes: range) -> Iterator[tuple[int, ...]]:
    """Every set of quasi-identifiers of these sizes, the largest first."""
    for size in reversed(sizes):
        yield from combinations(range(width), size)


def union_of(cells: npt.NDArray[np.int32], known: tuple[int, ...]) -> Counts:
    """Which union each group falls into: groups with equal known cells are one."""
    if not known:
        return np.zeros(len(cells), dtype=np.int64)
    key, _ = packed([cells[:, column] - cells[:, column].min() for column in known])
    _, union = np.unique(key, return_inverse=True)
    return np.asarray(union, dtype=np.int64)


def union_sizes(groups: Groups, union: Counts) -> Counts:
    """Rows or persons in each union; where persons are in several groups, at least."""
    if groups.apart:
        return np.bincount(union, weights=groups.sizes).astype(np.int64)
    largest = np.zeros(int(union.max(initial=-1)) + 1, dtype=np.int64)
    np.maximum.at(largest, union, groups.sizes)
    return largest


def union_histogram(histogram: Histogram, union: Counts, sizes: Counts) -> Histogram:
    """The histogram of unions of a table's groups, of the sizes given."""
    of_part = union if histogram.groups is None else union[histogram.groups]
    size = max(histogram.axis.size, 1)
    key = of_part[histogram.owners] * size + histogram.codes
    found, inverse = np.unique(key, return_inverse=True)
    return replace(
        histogram,
        starts=np.searchsorted(found, np.arange(len(sizes) + 1) * size),
        codes=(found % size).astype(np.int32),
        counts=np.bincount(inverse, weights=histogram.counts).astype(np.int64),
        sizes=sizes,
        groups=None,
    )
