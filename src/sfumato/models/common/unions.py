"""Unions of groups: what an attacker sees when knowing only some quasi-identifiers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Counts
from sfumato.models.base import Groups, Histogram
from sfumato.models.common.candidates import agreeing, fillings
from sfumato.models.common.groups import once_per_person, packed


@dataclass(frozen=True, eq=False)
class Unions:
    """Sets of published groups; where a missing cell may be any value, they overlap."""

    sets: Counts
    """Pairs of a union and a group in it, sorted by union: the union of each."""
    members: Counts
    """The group of each pair."""
    count: int

    def sizes(self, groups: Groups) -> Counts:
        """Rows in each, or different persons; a person has a value in every view."""
        if groups.apart:
            inside = groups.sizes[self.members]
            summed = np.bincount(self.sets, weights=inside, minlength=self.count)
            return summed.astype(np.int64)
        histogram = next(iter(groups.histograms.values()))
        entry, of_set = self._entries(histogram)
        once, _ = _by_person(histogram, entry, of_set)
        return np.bincount(once, minlength=self.count)

    def histogram(self, histogram: Histogram, sizes: Counts) -> Histogram:
        """The histogram of the unions, of the sizes given."""
        entry, of_set = self._entries(histogram)
        size = max(histogram.axis.size, 1)
        key = of_set * size + histogram.codes[entry]
        number, persons = histogram.counts[entry], None
        if histogram.persons is not None:
            key, persons = _by_person(histogram, entry, key)
            number = np.ones(len(key), dtype=np.int64)
        found, inverse = np.unique(key, return_inverse=True)
        counts = np.bincount(inverse, weights=number)
        return replace(
            histogram,
            starts=np.searchsorted(found, np.arange(len(sizes) + 1) * size),
            codes=(found % size).astype(np.int32),
            counts=counts.astype(np.int64),
            sizes=sizes,
            groups=None,
            persons=persons,
        )

    def _entries(self, histogram: Histogram) -> tuple[Counts, Counts]:
        """The entries of the members of each union, and the union of each."""
        owners = histogram.owners
        if histogram.groups is not None:
            owners = histogram.groups[owners]
        order = np.argsort(owners, kind="stable")
        first = np.searchsorted(owners[order], self.members, "left")
        number = np.searchsorted(owners[order], self.members, "right") - first
        return order[_stretches(first, number)], np.repeat(self.sets, number)


def _by_person(
    histogram: Histogram, entry: Counts, key: Counts
) -> tuple[Counts, npt.NDArray[Any]]:
    """The keys of some entries, each once per person who is in them; those persons."""
    assert histogram.persons is not None
    number = histogram.counts[entry]
    first = np.cumsum(histogram.counts)[entry] - number
    persons = histogram.persons[_stretches(first, number)]
    return once_per_person(np.repeat(key, number), persons)


def _stretches(first: Counts, number: Counts) -> Counts:
    """The places of stretches that begin at `first`, one stretch after the other."""
    shift = np.repeat(first - (np.cumsum(number) - number), number)
    return np.asarray(np.arange(int(number.sum())) + shift)


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


def partition(union: Counts) -> Unions:
    """Unions that have no group in common, from the union of each group."""
    members = np.argsort(union, kind="stable")
    return Unions(union[members], members, int(union.max(initial=-1)) + 1)


def candidate_unions(
    cells: npt.NDArray[np.int32],
    blank: npt.NDArray[np.bool_],
    known: tuple[int, ...],
) -> tuple[Unions, Counts, Counts]:
    """Candidates of people of whom only some cells are known, missing ones filled in.

    Returns the unions; and pairs: a union, and a group whose people it is about.
    """
    columns = list(known)
    union = union_of(cells, known)
    _, first = np.unique(union, return_index=True)
    some, open_cells = cells[first][:, columns], blank[first][:, columns]
    owner, filled = fillings(some, open_cells)
    sets, members = agreeing(filled, cells[:, columns], blank[:, columns])
    about = partition(union)
    start = np.searchsorted(about.sets, owner)
    number = np.searchsorted(about.sets, owner, "right") - start
    return (
        Unions(sets, members, len(filled)),
        np.repeat(np.arange(len(filled)), number),
        about.members[_stretches(start, number)],
    )
