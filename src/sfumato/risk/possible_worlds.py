"""What the choice of groups reveals about sensitive values if the algorithm is known.

An attacker who knows everybody's quasi-identifiers and sees the published groups knows
which values each group has, but not whose they are: every way of assigning the values
of a group to its people is a possible *world*. The attacker runs the algorithm on the
worlds. Those that would have been published differently are ruled out, and what is left
may say more about a person than the group's values do (the minimality attack).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import factorial, prod

import numpy as np

from sfumato.algorithms.base import Algorithm, Request
from sfumato.data.arrays import Codes, Flags, Floats, Ints
from sfumato.data.grouping import Grouping
from sfumato.data.published_cells import distinct_tuples
from sfumato.data.seeds import Seed
from sfumato.hierarchies.axis import CodedAxis, Shape
from sfumato.publish.group_spans import Extent

Remake = Callable[[Codes, Seed], Grouping]
"""Runs the algorithm on other sensitive values."""
CONFIDENCE = 20.0
"""The weight of the group's own shares, in worlds, where worlds are drawn."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Rerun:
    """An algorithm, and the request that it was given."""

    algorithm: Algorithm
    request: Request
    rows: Ints
    """The source row of each row of the request."""

    def values(self, column: str) -> Codes:
        """The true values of a sensitive column."""
        return self.request.sensitive[column].codes

    def remake(self, column: str) -> Remake:
        """The algorithm on other values of a column; equal ones are tried once."""
        axis = self.request.sensitive[column].axis
        known: dict[bytes, Grouping] = {}

        def remake(values: Codes, seed: Seed) -> Grouping:
            key = values.astype(np.int32).tobytes()
            if key not in known:
                codes = CodedAxis(axis, values.astype(np.int32))
                sensitive = {**self.request.sensitive, column: codes}
                asked = replace(self.request, sensitive=sensitive, seed=seed)
                made = self.algorithm.solve(asked)
                known[key] = as_shown(made.quasi or asked.quasi, made.grouping)
            return known[key]

        return remake


def as_shown(quasi: Sequence[CodedAxis], grouping: Grouping) -> Grouping:
    """A grouping in which groups that show the same cells are one."""
    cells = [_cells(Extent.of(c, grouping, at)) for at, c in enumerate(quasi)]
    if not cells or not grouping.count:
        return grouping
    number, _ = distinct_tuples(
        [part for cell in cells for part in cell], grouping.count
    )
    _, first = np.unique(number, return_index=True)
    group = np.append(number, -1)[grouping.group_of].astype(np.int32)
    levels = None if grouping.levels is None else grouping.levels[first]
    return Grouping(group, len(first), levels)


def _cells(extent: Extent) -> tuple[Codes, ...]:
    """What each group shows on one axis, as codes."""
    if extent.by_node:
        return (extent.nodes,)
    if extent.coded.axis.shape is Shape.FREE:
        return extent.bounds
    return (extent.sets[0],)


@dataclass(frozen=True, eq=False)
class Published:
    """What the attacker sees: the groups, and the values in each."""

    grouping: Grouping
    values: Codes
    """The value of each row; only how often each occurs in a group is used."""

    @property
    def group(self) -> Codes:
        """The group of each row, −1 for rows that were left out."""
        return self.grouping.group_of

    @property
    def width(self) -> int:
        """One more than the highest value."""
        return int(self.values.max(initial=-1)) + 1

    def shares(self) -> Floats:
        """(rows, values): the share of each value in the row's group; 0 for nobody."""
        kept = self.group >= 0
        count = int(self.group.max(initial=-1)) + 1
        table = np.zeros((count + 1, max(self.width, 1)))
        np.add.at(table, (self.group[kept], self.values[kept]), 1.0)
        table /= np.maximum(table.sum(axis=1, keepdims=True), 1.0)
        found: Floats = table[self.group]
        return found

    def worlds(self) -> int:
        """How many ways there are to deal the values to the people of their groups."""
        return prod(_arrangements(self.values[rows]) for rows in self._members())

    def every_world(self) -> Iterator[Codes]:
        """Every way of dealing the values, one after the other."""
        yield from _dealt(self.values.copy(), self._members())

    def drawn(self, seed: Seed) -> Codes:
        """A way of dealing the values, drawn at random."""
        order = seed.permutation(len(self.values))
        place = np.lexsort((np.arange(len(order)), self.group))
        mixed = order[np.argsort(self.group[order], kind="stable")]
        world = self.values.copy()
        world[place] = self.values[mixed]
        return world

    def _members(self) -> list[Ints]:
        count = int(self.group.max(initial=-1)) + 1
        return [np.flatnonzero(self.group == number) for number in range(count)]


def _arrangements(values: Codes) -> int:
    counts = np.bincount(values)
    return factorial(len(values)) // prod(factorial(int(each)) for each in counts)


def _dealt(world: Codes, members: list[Ints]) -> Iterator[Codes]:
    """Worlds in which the first groups are dealt in every way, and then the others."""
    if not members:
        yield world.copy()
        return
    first, *others = members
    for dealt in _orders(np.sort(world[first])):
        world[first] = dealt
        yield from _dealt(world, others)


def _orders(values: Codes) -> Iterator[Codes]:
    """Every different order of some values."""
    if not len(values):
        yield values
        return
    rest = values[values != values[0]]
    for places in combinations(range(len(values)), len(values) - len(rest)):
        free = np.ones(len(values), dtype=np.bool_)
        free[list(places)] = False
        for inner in _orders(rest):
            order = np.full(len(values), values[0])
            order[free] = inner
            yield order


def exact_posteriors(published: Published, remake: Remake, seed: Seed) -> Floats:
    """(rows, values): what the attacker believes after trying every world.

    A world counts if the algorithm publishes the same groups from it.
    """
    table = np.zeros((len(published.values), published.width))
    rows = np.arange(len(published.values))
    for world in published.every_world():
        again = same_groups(published.grouping, remake(world, seed))
        if again[published.group >= 0].all():
            table[rows, world] += 1.0
    return _normalized(table, published.shares())


def drawn_posteriors(
    published: Published, remake: Remake, seed: Seed, worlds: int
) -> Floats:
    """(rows, values): what the attacker believes after trying some worlds.

    A world counts for the groups that the algorithm makes of it again. With few worlds
    the group's own shares still weigh in.
    """
    shares = published.shares()
    table = CONFIDENCE * shares
    for number in range(worlds):
        part = seed.child("world", number)
        world = published.drawn(part.child("values"))
        again = same_groups(published.grouping, remake(world, part.child("run")))
        rows = np.flatnonzero(again)
        table[rows, world[rows]] += 1.0
    return _normalized(table, shares)


def canonical(group: Codes) -> Ints:
    """The same groups, numbered by their first rows; −1 stays."""
    kept = np.flatnonzero(group >= 0)
    _, first, number = np.unique(group[kept], return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    found = np.full(len(group), -1, dtype=np.int64)
    found[kept] = rank[number.ravel()]
    return found


def same_groups(one: Grouping, other: Grouping) -> Flags:
    """Which rows have exactly the same group in both, shown at the same levels."""
    mine, theirs = canonical(one.group_of), canonical(other.group_of)
    kept = (mine >= 0) & (theirs >= 0)
    together = _sizes(np.where(kept, mine * (len(mine) + 1) + theirs, -1))
    same: Flags = kept & (together == _sizes(mine)) & (together == _sizes(theirs))
    if one.levels is not None and other.levels is not None:
        alike = one.levels[one.group_of] == other.levels[other.group_of]
        same &= alike.all(axis=1)
    return same


def _sizes(group: Ints) -> Ints:
    """The size of each row's group."""
    _, number, sizes = np.unique(group, return_inverse=True, return_counts=True)
    return np.asarray(sizes[number.ravel()])


def _normalized(table: Floats, otherwise: Floats) -> Floats:
    """Shares of each row; others where there are none."""
    total = table.sum(axis=1, keepdims=True)
    found: Floats = np.where(total > 0, table / np.maximum(total, 1e-300), otherwise)
    return found


def guessed(beliefs: Floats, truth: Codes) -> Floats:
    """The chance that guessing the likeliest value of each row is right.

    Ties are broken at random.
    """
    best = np.isclose(beliefs, beliefs.max(axis=1, keepdims=True))
    right = best[np.arange(len(truth)), truth]
    return np.where(right, 1.0 / best.sum(axis=1), 0.0)
