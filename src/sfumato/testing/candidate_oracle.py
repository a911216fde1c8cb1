"""Whom people may be where a missing cell may be any value, straight from the
definition, in plain Python: every person, every way of filling in the missing cells.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import combinations, product

from sfumato.testing.model_oracles import (
    OracleGroup,
    OracleRows,
    SensitiveDomain,
    groups_of,
)

CellRows = Sequence[Sequence[Hashable]]
NOBODY = object()
"""A value that no row has."""


def candidate_sets(
    cells: CellRows, missing: Hashable, known: Sequence[int] | None = None
) -> list[tuple[int, frozenset[int]]]:
    """Every person, and the rows the person may be, for every way of filling in.

    `known` are the columns that an attacker knows; all of them, unless given.
    """
    columns = range(len(cells[0])) if known is None else known
    return [
        (at, agreeing(cells, person, columns, missing))
        for at, row in enumerate(cells)
        for person in completions(cells, row, missing)
    ]


def completions(
    cells: CellRows, row: Sequence[Hashable], missing: Hashable
) -> list[tuple[Hashable, ...]]:
    """A row with its missing cells filled in, with each value and with a new one."""
    choices: list[list[Hashable]] = [
        [NOBODY, *{other[j] for other in cells if other[j] != missing}]
        if cell == missing
        else [cell]
        for j, cell in enumerate(row)
    ]
    return list(product(*choices))


def agreeing(
    cells: CellRows, person: Sequence[Hashable], known: Sequence[int], missing: Hashable
) -> frozenset[int]:
    """The rows that agree with a person wherever their cells are not missing."""
    return frozenset(
        at
        for at, row in enumerate(cells)
        if all(row[j] in (missing, person[j]) for j in known)
    )


def group_of_rows(
    inside: frozenset[int], rows: OracleRows, domain: SensitiveDomain
) -> OracleGroup:
    """Some rows as a group, compared with the whole table."""
    number = len(rows.group)
    chosen = [0 if at in inside else 1 for at in range(number)]
    whole = OracleRows(chosen, rows.value, rows.person, None, rows.missing_any)
    return groups_of(whole, domain)[0]


def known_sets(width: int, most: int) -> list[tuple[int, ...]]:
    """Every set of at most this many columns."""
    sizes = range(min(most, width) + 1)
    return [known for size in sizes for known in combinations(range(width), size)]
