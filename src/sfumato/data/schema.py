"""What a column is: its role in privacy and its kind of value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property


class Role(StrEnum):
    """What a column means for privacy."""

    IDENTIFIER = "identifier"
    QUASI = "quasi"
    SENSITIVE = "sensitive"
    INSENSITIVE = "insensitive"
    SUBJECT = "subject"
    WEIGHT = "weight"


class Kind(StrEnum):
    """What the values of a column are."""

    INTEGER = "integer"
    DECIMAL = "decimal"
    CATEGORY = "category"
    ORDERED = "ordered"
    CODE = "code"
    DATE = "date"
    DATETIME = "datetime"

    @property
    def numeric(self) -> bool:
        """Whether values lie on a line, so that an interval of them has a length."""
        return self in _ON_A_LINE


class DateOrder(StrEnum):
    """Where the year, the month and the day of a date are written."""

    YEAR_FIRST = "year first"
    DAY_FIRST = "day first"
    MONTH_FIRST = "month first"


_ON_A_LINE = frozenset({Kind.INTEGER, Kind.DECIMAL, Kind.DATE, Kind.DATETIME})


@dataclass(frozen=True, kw_only=True)
class Attribute:
    """A named column with its role, its kind and its weight in the loss."""

    name: str
    role: Role
    kind: Kind
    weight: float = 1.0


@dataclass(frozen=True)
class Schema:
    """The attributes of a table, in the order of its columns."""

    attributes: tuple[Attribute, ...]

    def __iter__(self) -> Iterator[Attribute]:
        return iter(self.attributes)

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def __getitem__(self, name: str) -> Attribute:
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> Mapping[str, Attribute]:
        return {attribute.name: attribute for attribute in self.attributes}

    def names(self, *roles: Role) -> tuple[str, ...]:
        """Names of the columns with one of `roles`, or of all columns."""
        return tuple(a.name for a in self.attributes if not roles or a.role in roles)

    @property
    def quasi(self) -> tuple[str, ...]:
        return self.names(Role.QUASI)

    @property
    def sensitive(self) -> tuple[str, ...]:
        return self.names(Role.SENSITIVE)

    @property
    def subject(self) -> str | None:
        return _only(self.names(Role.SUBJECT))

    @property
    def weight(self) -> str | None:
        return _only(self.names(Role.WEIGHT))


def _only(names: Iterable[str]) -> str | None:
    return next(iter(names), None)
