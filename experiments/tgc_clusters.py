"""Threshold-based greedy clustering by utility alone (TGCU), in several readings.

A plain form of `tgc` for experiments: the paper leaves open what becomes of the rows of
rejected clusters, what a cell with one category costs, and whether subspaces are cut.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bits = npt.NDArray[np.uint64]

Leftover = Literal["growth", "together", "result", "subspace", "again", "dropped"]
"""What becomes of rows of rejected clusters. They join the group that grows least, one row
after the other or all together by the groups as they were; the group with the least
diversity afterwards; a group of their own subspace. Or they are clustered once more, or
dropped."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One way to read algorithms 1 and 2."""

    k: int
    delta: float
    size: int | None = None
    """The least rows of a subspace; None: no subspaces."""
    leftover: Leftover = "growth"
    free_singles: bool = False
    """Whether a cell that shows one category costs nothing, instead of 1 / n."""


@dataclass(frozen=True)
class Boxes:
    """Rows or groups as boxes: ranges of numbers, and sets of categories as bits."""

    low: Floats
    high: Floats
    bits: Bits

    def only(self, rows: Ints) -> Boxes:
        """Some of them."""
        return Boxes(self.low[rows], self.high[rows], self.bits[rows])

    def joined(self, low: Floats, high: Floats, bits: Bits) -> Boxes:
        """Each of them with one more box."""
        return Boxes(
            np.minimum(self.low, low), np.maximum(self.high, high), self.bits | bits
        )

    def whole(self) -> tuple[Floats, Floats, Bits]:
        """The box over all of them."""
        return (
            self.low.min(axis=0),
            self.high.max(axis=0),
            np.bitwise_or.reduce(self.bits, axis=0),
        )


@dataclass(frozen=True)
class Quasi:
    """The quasi-identifiers of a table: numbers scaled to 0 … 1, and codes."""

    numbers: Floats
    codes: Ints
    sizes: Ints

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.codes)

    def boxes(self) -> Boxes:
        """Every row as a box."""
        one = np.left_shift(np.uint64(1), self.codes.astype(np.uint64))
        return Boxes(self.numbers, self.numbers, one)

    def diversity(self, boxes: Boxes, *, free_singles: bool) -> Floats:
        """Mean Q-diversity (definition 2.1)."""
        counts = np.bitwise_count(boxes.bits).astype(np.float64)
        shares = counts / self.sizes
        if free_singles:
            shares = np.where(counts == 1, 0.0, shares)
        total = (boxes.high - boxes.low).sum(axis=1) + shares.sum(axis=1)
        return np.asarray(total / (self.numbers.shape[1] + self.codes.shape[1]))


def clustered(table: Quasi, reading: Reading, seed: int) -> Ints:
    """A group for every row; −1 for one that is dropped."""
    random = np.random.default_rng(seed)
    boxes = table.boxes()
    group_of = np.full(table.rows, -1, dtype=np.int64)
    parts = list(subspaces(table, np.arange(table.rows), reading.size))
    homes: list[int] = []
    for place, part in enumerate(parts):
        count = len(homes)
        made = _grown(table, boxes, random.permutation(part), reading, group_of, count)
        homes += [place] * made
    if not homes:
        return np.zeros(table.rows, dtype=np.int64)
    if reading.leftover == "dropped":
        return group_of
    if reading.leftover == "again":
        _again(table, boxes, reading, group_of, len(homes), random)
    part_of = np.empty(table.rows, dtype=np.int64)
    for place, part in enumerate(parts):
        part_of[part] = place
    inside = reading.leftover == "subspace"
    _placed(table, boxes, reading, group_of, part_of if inside else None, homes)
    return group_of


def subspaces(table: Quasi, rows: Ints, size: int | None) -> Iterator[Ints]:
    """Algorithm 2 without its limit on S-diversity: halves at the median."""
    if size is None or len(rows) < 2 * size:
        yield rows
        return
    values = np.column_stack(
        [table.numbers[rows], table.codes[rows].astype(np.float64)]
    )
    widest = max(range(values.shape[1]), key=lambda c: len(np.unique(values[:, c])))
    order = rows[np.argsort(values[:, widest], kind="stable")]
    middle = len(order) // 2
    yield from subspaces(table, order[:middle], size)
    yield from subspaces(table, order[middle:], size)


def _grown(
    table: Quasi,
    boxes: Boxes,
    order: Ints,
    reading: Reading,
    group_of: Ints,
    first: int,
) -> int:
    """Algorithm 1 on some rows; how many groups were kept."""
    free = np.ones(len(order), dtype=np.bool_)
    here = boxes.only(order)
    made = 0
    while free.any():
        members = [int(np.flatnonzero(free)[0])]
        free[members[0]] = False
        low, high, bits = here.only(np.array(members)).whole()
        while free.any():
            there = np.flatnonzero(free)
            tried = here.only(there).joined(low, high, bits)
            costs = table.diversity(tried, free_singles=reading.free_singles)
            nearest = int(np.argmin(costs))
            if costs[nearest] > reading.delta:
                break
            same = there[costs <= costs[nearest]]
            inside = _inside(here.only(same), low, high, bits)
            taken = same[inside] if inside.any() else there[nearest : nearest + 1]
            members += taken.tolist()
            free[taken] = False
            low, high, bits = here.only(np.array(members)).whole()
        if len(members) >= reading.k:
            group_of[order[members]] = first + made
            made += 1
    return made


def _inside(
    boxes: Boxes, low: Floats, high: Floats, bits: Bits
) -> npt.NDArray[np.bool_]:
    """Which boxes lie in a box: rows that can be added in one step, at no cost."""
    return np.asarray(
        (boxes.low >= low).all(axis=1)
        & (boxes.high <= high).all(axis=1)
        & ((boxes.bits | bits) == bits).all(axis=1)
    )


def _again(
    table: Quasi,
    boxes: Boxes,
    reading: Reading,
    group_of: Ints,
    count: int,
    random: np.random.Generator,
) -> None:
    """Cluster left-over rows of all subspaces once more."""
    left = random.permutation(np.flatnonzero(group_of < 0))
    _grown(table, boxes, left, replace(reading, size=None), group_of, count)


def _placed(
    table: Quasi,
    boxes: Boxes,
    reading: Reading,
    group_of: Ints,
    part_of: Ints | None,
    homes: list[int],
) -> None:
    """Each row that is left over joins a group, one after the other or all together."""
    groups = _boxes_of(boxes, group_of)
    together = reading.leftover == "together"
    now = table.diversity(groups, free_singles=reading.free_singles)
    place = np.array(homes + [-1] * (len(now) - len(homes)))
    for row in np.flatnonzero(group_of < 0):
        tried = groups.joined(boxes.low[row], boxes.high[row], boxes.bits[row])
        costs = table.diversity(tried, free_singles=reading.free_singles)
        scores = costs if reading.leftover == "result" else costs - now
        if part_of is not None and (place == part_of[row]).any():
            scores = np.where(place == part_of[row], scores, np.inf)
        best = int(np.argmin(scores))
        group_of[row] = best
        if together:
            continue
        groups.low[best], groups.high[best] = tried.low[best], tried.high[best]
        groups.bits[best] = tried.bits[best]
        now[best] = costs[best]


def _boxes_of(boxes: Boxes, group_of: Ints) -> Boxes:
    kept = np.flatnonzero(group_of >= 0)
    order = kept[np.argsort(group_of[kept], kind="stable")]
    starts = np.flatnonzero(np.diff(group_of[order], prepend=-1))
    return Boxes(
        np.minimum.reduceat(boxes.low[order], starts, axis=0),
        np.maximum.reduceat(boxes.high[order], starts, axis=0),
        np.bitwise_or.reduceat(boxes.bits[order], starts, axis=0),
    )
