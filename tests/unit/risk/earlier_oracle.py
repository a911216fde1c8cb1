"""The candidates of people in several releases, from their definition, person by person."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple


class Row(NamedTuple):
    """A published row: who is behind it, what it shows, and a sensitive value."""

    person: Hashable
    cells: Hashable
    value: Hashable


Release = Sequence[Row]
Choice = tuple[Hashable | None, ...]
"""The group that a person is looked up in, release by release; None: absent."""


def shown(release: Release, person: Hashable) -> set[Hashable | None]:
    """The groups that have a row of a person, or None where there is none."""
    return {row.cells for row in release if row.person == person} or {None}


def candidates(releases: Sequence[Release]) -> Mapping[Choice, set[Hashable]]:
    """The people who fit each choice of groups that fits somebody."""
    people = {row.person for release in releases for row in release}
    found: dict[Choice, set[Hashable]] = {}
    for person in people:
        for choice in product(*(shown(release, person) for release in releases)):
            found.setdefault(choice, set()).add(person)
    return found


def values(releases: Sequence[Release]) -> Iterator[set[Hashable]]:
    """The values that each choice leaves open, in each release that has it."""
    for choice, people in candidates(releases).items():
        for release, cells in zip(releases, choice, strict=True):
            if cells is not None:
                yield {
                    row.value
                    for row in release
                    if row.cells == cells and row.person in people
                }


def holds(releases: Sequence[Release], *, k: int, l: int) -> bool:
    """Whether everybody has k candidates, and l values in every release."""
    enough = all(len(people) >= k for people in candidates(releases).values())
    return enough and all(len(found) >= l for found in values(releases))
