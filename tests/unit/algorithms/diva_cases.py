"""Small random tables under diversity constraints, and their optimal releases."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from sfumato.algorithms.base import Request
from sfumato.data.grouping import Grouping
from sfumato.data.schema import Kind, Role
from sfumato.models.diversity import Diversity
from sfumato.models.k_anonymity import KAnonymity
from sfumato.testing.awkward_tables import Awkward, request_for

Target = dict[int, str]


class Asked(NamedTuple):
    """At least `low` and at most `high` rows show the target."""

    target: Target
    low: int
    high: int


class Case(NamedTuple):
    """A table of letters, a k, and constraints."""

    cells: list[tuple[str, ...]]
    k: int
    asked: list[Asked]

    def request(self, **options: Any) -> Request:
        """What is asked of an algorithm."""
        width = len(self.cells[0])
        names = [f"q{j}" for j in range(width)]
        table = Awkward(
            "drawn",
            pa.table({n: [row[j] for row in self.cells] for j, n in enumerate(names)}),
            dict.fromkeys(names, Role.QUASI),
            dict.fromkeys(names, Kind.CATEGORY),
        )
        models = [
            Diversity(
                where={f"q{j}": value for j, value in each.target.items()},
                at_least=each.low,
                at_most=each.high,
            )
            for each in self.asked
        ]
        return request_for(table, [KAnonymity(k=self.k), *models], **options)


def drawn(generator: np.random.Generator, *, most_rows: int = 8) -> Case:
    """A case whose constraints are near what the table has."""
    rows = int(generator.integers(4, most_rows + 1))
    width = int(generator.integers(2, 4))
    values = generator.integers(2, 4, width)
    cells = [
        tuple("abc"[int(generator.integers(0, values[j]))] for j in range(width))
        for _ in range(rows)
    ]
    asked = [_constraint(generator, cells) for _ in range(generator.integers(1, 4))]
    return Case(cells, int(generator.integers(2, 4)), asked)


def _constraint(generator: np.random.Generator, cells: list[tuple[str, ...]]) -> Asked:
    row = cells[int(generator.integers(0, len(cells)))]
    columns = generator.choice(len(row), int(generator.integers(1, 3)), replace=False)
    target = {int(j): row[int(j)] for j in columns}
    present = sum(all(r[j] == v for j, v in target.items()) for r in cells)
    low = int(generator.integers(0, present + 1))
    return Asked(target, low, low + int(generator.integers(0, 5)))


def fewest_stars(case: Case) -> int | None:
    """By trying everything: partitions, and in each every way to hide shared values."""
    best: int | None = None
    for parts in partitions(list(range(len(case.cells))), case.k):
        groups = [(len(part), _shared(case.cells, part)) for part in parts]
        for hidden in product(*(_hidings(case, shared) for _, shared in groups)):
            shown = [
                (size, _without(shared, columns))
                for (size, shared), columns in zip(groups, hidden, strict=True)
            ]
            stars = sum(size * cells.count(None) for size, cells in shown)
            if (best is None or stars < best) and _meets(case, shown):
                best = stars
    return best


def partitions(rows: list[int], k: int) -> Iterator[list[tuple[int, ...]]]:
    """All partitions into parts of at least k rows."""
    if not rows:
        yield []
        return
    first, rest = rows[0], rows[1:]
    for size in range(k - 1, len(rest) + 1):
        for others in combinations(rest, size):
            left = [row for row in rest if row not in others]
            for more in partitions(left, k):
                yield [(first, *others), *more]


def _shared(cells: list[tuple[str, ...]], part: tuple[int, ...]) -> list[str | None]:
    columns = zip(*(cells[row] for row in part), strict=True)
    return [values[0] if len(set(values)) == 1 else None for values in columns]


def _hidings(case: Case, shared: list[str | None]) -> list[tuple[int, ...]]:
    named = {j for each in case.asked for j in each.target if shared[j] is not None}
    sizes = range(len(named) + 1)
    return [chosen for size in sizes for chosen in combinations(sorted(named), size)]


def _without(shared: list[str | None], columns: tuple[int, ...]) -> list[str | None]:
    return [None if j in columns else value for j, value in enumerate(shared)]


def _meets(case: Case, shown: list[tuple[int, list[str | None]]]) -> bool:
    for target, low, high in case.asked:
        count = sum(
            size
            for size, cells in shown
            if all(cells[j] == value for j, value in target.items())
        )
        if not low <= count <= high:
            return False
    return True


def stars_of(case: Case, grouping: Grouping) -> tuple[int, bool, int]:
    """Stars, whether constraints are met, and the smallest group: by definition."""
    parts = [np.flatnonzero(grouping.group_of == g) for g in range(grouping.count)]
    shown = []
    for group, part in enumerate(parts):
        cells = _shared(case.cells, tuple(part.tolist()))
        if grouping.hidden is not None:
            columns = tuple(np.flatnonzero(grouping.hidden[group]).tolist())
            cells = _without(cells, columns)
        shown.append((len(part), cells))
    stars = sum(size * cells.count(None) for size, cells in shown)
    return stars, _meets(case, shown), min(len(part) for part in parts)
