"""Score a published table from its cells alone, ours or another package's.

This shares no code with the product, so that a mistake in one shows in the other.
A published cell is first read into a `Cell`, in which equal things are equal however
they were printed; groups are the distinct tuples of cells.

NCP of a cell: 0 for a single value; a number: (high − low) / (max − min), clipped to
the source's range; a category: size of its set / size of the domain; 1 for a cell of
a row that was left out; the mean over all cells of the source.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

INTERVAL = re.compile(r"\[\s*(-?[\d.]+)\s*,\s*(-?[\d.]+)\s*[\])]")
BAND = re.compile(r"(\d+)~(\d+)")

Cell = tuple[float, float] | frozenset[str]
"""An interval of numbers, or a set of values."""

Reader = Callable[[str], Cell]
Record = tuple[tuple[Cell, ...], int]
"""The cells of published rows, and how many rows show them."""


@dataclass(frozen=True)
class Domain:
    """What the source has in one column: a range of numbers, or a set of values."""

    values: frozenset[str]
    numeric: bool

    @classmethod
    def of(cls, values: Iterable[str], *, numeric: bool) -> Domain:
        """The domain of a source column."""
        return cls(frozenset(values), numeric)

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and the highest number."""
        numbers = [float(value) for value in self.values]
        return min(numbers), max(numbers)

    @property
    def everything(self) -> Cell:
        """The cell that says nothing."""
        return self.range if self.numeric else self.values

    def loss(self, cell: Cell) -> float:
        """NCP of one cell."""
        if isinstance(cell, frozenset):
            return len(cell) / len(self.values) if len(cell) > 1 else 0.0
        low, high = self.range
        if high == low:
            return 0.0
        return max(0.0, min(cell[1], high) - max(cell[0], low)) / (high - low)


@dataclass(frozen=True)
class Score:
    """What a published table keeps, and whether it is as anonymous as it should be."""

    ncp: float
    discernibility: int
    average_class_size: float
    groups: int
    smallest_group: int
    suppressed: int

    def facts(self) -> dict[str, float]:
        """The figures by name."""
        return dict(vars(self))


def score(
    records: Iterable[Record], domains: Sequence[Domain], *, rows: int, k: int
) -> Score:
    """Judge published records against the domains of the source's columns."""
    groups: Counter[tuple[Cell, ...]] = Counter()
    for cells, count in records:
        groups[cells] += count
    published = sum(groups.values())
    suppressed = rows - published
    lost = sum(_loss(cells, domains) * size for cells, size in groups.items())
    squares = sum(size * size for size in groups.values())
    return Score(
        ncp=(lost + suppressed * len(domains)) / (rows * len(domains)),
        discernibility=squares + rows * suppressed,
        average_class_size=published / len(groups) / k if groups else 0.0,
        groups=len(groups),
        smallest_group=min(groups.values(), default=0),
        suppressed=suppressed,
    )


def _loss(cells: Sequence[Cell], domains: Sequence[Domain]) -> float:
    return sum(d.loss(cell) for cell, d in zip(cells, domains, strict=True))


def our_reader(domain: Domain) -> Reader:
    """Reads `[20, 24]`, `20~24`, `{Cuba|India}`, `*` and plain values."""

    def read(text: str) -> Cell:
        if text == "*":
            return domain.everything
        if not domain.numeric:
            inside = text[1:-1] if text.startswith("{") else text
            return frozenset(inside.split("|"))
        bounds = INTERVAL.fullmatch(text) or BAND.fullmatch(text)
        if bounds:
            return float(bounds[1]), float(bounds[2])
        return float(text), float(text)

    return read


def anonypy_reader(domain: Domain) -> Reader:
    """Reads `20-24` and `Cuba,India`."""

    def read(text: str) -> Cell:
        if not domain.numeric:
            return frozenset(text.split(","))
        low, _, high = text.partition("-")
        return float(low), float(high or low)

    return read


def label_reader(domain: Domain, leaves: Mapping[str, frozenset[str]]) -> Reader:
    """Reads the labels of a hierarchy, given the leaves under each.

    Leaves that do not occur in the source do not count, to the label's advantage.
    """

    def read(text: str) -> Cell:
        under = leaves[text] & domain.values
        if not domain.numeric:
            return under
        numbers = [float(leaf) for leaf in under]
        return min(numbers), max(numbers)

    return read


def node_reader(leaves: Mapping[str, frozenset[str]]) -> Reader:
    """Reads the labels of a hierarchy of categories as all the leaves under them."""
    return leaves.__getitem__


def records_of(
    columns: Sequence[Sequence[object]],
    readers: Sequence[Reader],
    counts: Sequence[int] | None = None,
) -> list[Record]:
    """Published columns as records; each distinct text is read once.

    A missing cell reads as an empty one.
    """
    told = ([("" if cell is None else str(cell)) for cell in c] for c in columns)
    texts = list(zip(*told, strict=True))
    weights = [1] * len(texts) if counts is None else counts
    merged: Counter[tuple[str, ...]] = Counter()
    for row, weight in zip(texts, weights, strict=True):
        merged[row] += int(weight)
    return [(_read(row, readers), count) for row, count in merged.items()]


def _read(row: Sequence[str], readers: Sequence[Reader]) -> tuple[Cell, ...]:
    return tuple(read(text) for read, text in zip(readers, row, strict=True))
