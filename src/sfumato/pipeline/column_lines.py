"""Break a column down into a few lines: rows before, and rows as published.

Public lines are named by texts that the release shows. The source's count of every
union of lines differs from the published rows that lie inside of it, and from those
that may lie inside, by nothing or by many rows, so that no difference tells of few.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypedDict

import numpy as np

from sfumato.data.arrays import Counts, Flags, Floats, Ints
from sfumato.data.schema import Kind
from sfumato.hierarchies.axis import Axis, Shape
from sfumato.pipeline.shown_cells import ShownCells

MOST_LINES = 8
"""Named lines of a column; what is left is in one line more."""
CANDIDATES = 64
"""Cells that public lines are chosen from."""
FEWEST = 10
"""The smallest count of source rows that a report may publish, whatever k is."""
UNITS = {Kind.DATE: "D", Kind.DATETIME: "s"}
"""What the numbers of dates count, since 1970."""
TINY, HUGE = 1e-100, 1e100
"""Lines of numbers that are shorter or longer are not cut."""
NICE = (1.0, 2.0, 2.5, 5.0, 10.0)


class PublicLine(TypedDict):
    """A line for everybody."""

    label: str | None
    """A text that the release shows; None for all other values."""
    before: int
    """Source rows with a value in the line."""
    inside: int
    """Published rows whose cell lies inside the line."""
    possible: int
    """Published rows whose cell may stand for a value in the line."""


class PrivateLine(TypedDict):
    """A line for the steward."""

    label: str | None
    before: int
    after: float
    """Published rows, each cell spread evenly over the values it may stand for."""


def public_lines(
    cells: ShownCells, text: Callable[[int], str | None], *, least: int, gone: int
) -> list[PublicLine]:
    """The most common cells that can be told; none where no count can.

    `text` gives the text of a cell, `gone` is the number of rows that took part and
    are not published.
    """
    owner, labels = _chosen(cells, text)
    lines = _Lines.of(cells, owner, len(labels) + 1, gone)
    while labels:
        if not lines.few(least):
            return list(_told(lines, labels))
        pooled = [lines.pooled(each) for each in range(len(labels))]
        weakest = min(range(len(labels)), key=lambda at: pooled[at].few(least))
        lines = pooled[weakest]
        del labels[weakest]
    return []


def lines_as_published(cells: ShownCells) -> list[PublicLine]:
    """Lines of numbers that are all published as they are: nothing differs."""
    found = numbered_lines(cells.axis)
    if found is None:
        return []
    owner, labels = found
    counts = np.bincount(owner[cells.coded.codes], minlength=len(labels)).tolist()
    return [
        PublicLine(label=label, before=rows, inside=rows, possible=rows)
        for label, rows in zip(labels, counts, strict=True)
        if rows
    ]


def _chosen(
    cells: ShownCells, text: Callable[[int], str | None]
) -> tuple[Ints, list[str]]:
    """Choose disjoint cells, the most common first: the line of each leaf, and texts."""
    size = cells.axis.size
    owner = np.full(size, -1, dtype=np.int64)
    chosen: list[str] = []
    for cell in np.argsort(-cells.rows, kind="stable")[:CANDIDATES].tolist():
        leaves = cells.leaves(cell)
        if len(leaves) == size or (owner[leaves] >= 0).any():
            continue
        label = text(cell)
        if label is not None and len(chosen) < MOST_LINES:
            owner[leaves] = len(chosen)
            chosen.append(label)
    if chosen and cells.axis.shape is not Shape.FLAT:
        # On an ordered axis, lines are listed in its order.
        _, place = np.unique(owner[owner >= 0], return_index=True)
        order = np.argsort(place, kind="stable")
        owner = np.where(owner < 0, -1, np.argsort(order)[owner])
        chosen = [chosen[at] for at in order]
    return np.where(owner < 0, len(chosen), owner), chosen


@dataclass(frozen=True, eq=False)
class _Lines:
    """Lines and the cells that touch them; the last line holds what is left."""

    touched: Flags
    """(kinds of cells, lines): cells that touch the same lines are of one kind."""
    rows: Counts
    """Published rows of each kind."""
    before: Counts
    """Source rows of each line."""
    gone: int

    @classmethod
    def of(cls, cells: ShownCells, owner: Ints, lines: int, gone: int) -> _Lines:
        touched = cells.per_line(owner, lines) > 0
        _, first, kind = np.unique(
            touched @ (1 << np.arange(lines)), return_index=True, return_inverse=True
        )
        rows = np.rint(np.bincount(kind, cells.rows)).astype(np.int64)
        before = np.rint(np.bincount(owner, cells.before, minlength=lines))
        return cls(touched[first], rows, before.astype(np.int64), gone)

    def pooled(self, line: int) -> _Lines:
        """The same with one line less: its values go to the last."""
        touched, before = self.touched.copy(), self.before.copy()
        touched[:, -1] |= touched[:, line]
        before[-1] += before[line]
        kept = np.delete(touched, line, axis=1), self.rows, np.delete(before, line)
        return _Lines(*kept, self.gone)

    @cached_property
    def _sums(self) -> tuple[Counts, Counts]:
        """For every union of lines, a bit each: source rows, and published rows inside."""
        lines = len(self.before)
        bits = 1 << np.arange(lines)
        inside = np.bincount(self.touched @ bits, self.rows, minlength=1 << lines)
        single = np.zeros(1 << lines)
        single[bits] = self.before
        return _subset_sums(single, lines), _subset_sums(inside, lines)

    def few(self, least: int) -> int:
        """How many unions would tell of fewer than `least` rows.

        Rows that may lie inside are all but those inside the complement, so that their
        difference is that of the complement, less the rows that are gone.
        """
        before, inside = self._sums
        difference = before - inside
        found = np.zeros(len(before), dtype=np.bool_)
        for counts in (before, difference, difference - self.gone):
            found |= (counts != 0) & (np.abs(counts) < least)
        # The whole table is counted in the manifest.
        return int(found[1:-1].sum())

    def line(self, number: int) -> tuple[int, int, int]:
        """Source rows of a line, published rows inside, and those that may be."""
        before, inside = self._sums
        here, everything = 1 << number, len(before) - 1
        possible = inside[-1] - inside[everything ^ here]
        return int(before[here]), int(inside[here]), int(possible)


def _subset_sums(values: Counts | Floats, bits: int) -> Counts:
    """For each set of bits, the sum over all its subsets."""
    sums = np.rint(values).astype(np.int64)
    for bit in range(bits):
        pairs = sums.reshape(-1, 2, 1 << bit)
        pairs[:, 1] += pairs[:, 0]
    return sums


def _told(lines: _Lines, labels: list[str]) -> Iterator[PublicLine]:
    for number, label in enumerate([*labels, None]):
        before, inside, possible = lines.line(number)
        if before or possible:
            yield PublicLine(
                label=label, before=before, inside=inside, possible=possible
            )


def private_lines(cells: ShownCells) -> list[PrivateLine]:
    """A few lines with what the source has, and what the release seems to have."""
    before, after = cells.before, cells.spread()
    owner, labels = numbered_lines(cells.axis) or _commonest(cells.axis, before)
    lines = len(labels)
    counts = np.bincount(owner, before, minlength=lines).astype(np.int64)
    seen = np.bincount(owner, after, minlength=lines)
    return [
        PrivateLine(label=label, before=int(counts[at]), after=float(seen[at]))
        for at, label in enumerate(labels)
        if counts[at] or seen[at] > 0
    ]


def _commonest(axis: Axis, before: Counts) -> tuple[Ints, list[str | None]]:
    order = np.argsort(-before, kind="stable")[:MOST_LINES]
    owner = np.full(axis.size, len(order), dtype=np.int64)
    owner[order] = np.arange(len(order))
    return owner, [*(axis.labels[leaf] for leaf in order), None]


def numbered_lines(axis: Axis) -> tuple[Ints, list[str | None]] | None:
    """Lines of equal length on a line of numbers: the line of each leaf, and labels.

    None where there are too few numbers for that.
    """
    if axis.positions is None or axis.size <= MOST_LINES:
        return None
    known = ~np.isnan(axis.positions)
    numbers, unit = _in_units(axis.positions[known], axis.kind)
    low, high = numbers.min(initial=np.inf), numbers.max(initial=-np.inf)
    if not high > low or not TINY < high - low < HUGE:
        return None
    step = _nice((high - low) / MOST_LINES)
    if unit is not None:
        step = max(np.ceil(step), 1.0)
    start = np.floor(low / step)
    place = np.floor(numbers / step) - start
    lines = int(place.max()) + 1
    if lines > 2 * MOST_LINES:
        # So far from zero that the numbers cannot be told apart.
        return None
    edges = [_edge((start + at) * step, unit) for at in range(lines + 1)]
    owner = np.full(axis.size, lines, dtype=np.int64)
    owner[known] = place.astype(np.int64)
    return owner, [*(f"{a} to {b}" for a, b in pairwise(edges)), None]


def _in_units(numbers: Floats, kind: Kind) -> tuple[Floats, str | None]:
    """Dates as years, or as months where they span few years; numbers as they are."""
    if kind not in UNITS:
        return numbers, None
    moments = numbers.astype(np.int64).astype(f"datetime64[{UNITS[kind]}]")
    years = moments.astype("datetime64[Y]").astype(np.int64)
    long = years.max(initial=0) - years.min(initial=years.max(initial=0)) >= MOST_LINES
    unit = "Y" if long else "M"
    return moments.astype(f"datetime64[{unit}]").astype(np.float64), unit


def _edge(number: float, unit: str | None) -> str:
    """A round number, or the year or month that it stands for."""
    if unit is not None:
        return str(np.datetime64(int(number), unit))
    return f"{number:,.10g}"


def _nice(least: float) -> float:
    """The smallest 1, 2, 2.5 or 5 times a power of ten that is at least `least`."""
    scale = 10.0 ** np.floor(np.log10(least))
    return float(next(each * scale for each in NICE if each * scale >= least))
