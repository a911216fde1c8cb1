"""Tables that break careless code, by name, and requests made of them.

Every builder is a plain function without arguments; its name, with dashes, is the
table's name. Nothing is random: the same name gives the same table everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato import registry
from sfumato.algorithms.base import Request
from sfumato.data.coding import code_column
from sfumato.data.schema import Kind, Role
from sfumato.data.seeds import Seed
from sfumato.data.table import Column
from sfumato.hierarchies.axis import CodedAxis
from sfumato.hierarchies.build import build
from sfumato.models.base import OutputModel

CellLists = dict[str, list[Any]]

CODED = (Role.QUASI, Role.SENSITIVE, Role.SUBJECT)


@dataclass(frozen=True, eq=False)
class Awkward:
    """A named table, and what its columns are."""

    name: str
    source: pa.Table
    roles: Mapping[str, Role]
    kinds: Mapping[str, Kind]
    missing: tuple[str, ...] = ()
    """Texts that stand for a missing value, in addition to Arrow's null."""
    hierarchies: Mapping[str, Any] = field(default_factory=dict)
    """Hierarchies as a policy writes them; columns without one are free or flat."""

    @property
    def rows(self) -> int:
        return int(self.source.num_rows)

    def names(self, role: Role) -> tuple[str, ...]:
        """The columns with this role, in the order of the table."""
        return tuple(n for n in self.source.column_names if self.roles[n] is role)

    def columns(self) -> dict[str, Column]:
        """The coded columns that matter to privacy."""
        named = (n for n in self.source.column_names if self.roles[n] in CODED)
        return {name: self._coded(name) for name in named}

    def permuted(self, order: Sequence[int] | npt.NDArray[np.integer[Any]]) -> Awkward:
        """The same table with its rows in another order."""
        return replace(self, source=self.source.take(pa.array(np.asarray(order))))

    def _coded(self, name: str) -> Column:
        cells = self.source.column(name)
        return code_column(name, cells, kind=self.kinds.get(name), missing=self.missing)

    def __str__(self) -> str:
        return self.name


def request_for(
    awkward: Awkward, models: Iterable[OutputModel], **options: Any
) -> Request:
    """A request for this table: coded axes, these models, and a fixed seed.

    `options` are fields of the request (`removable`, `threads`, `progress`, …).
    """
    columns = awkward.columns()
    axes = {name: _axis(awkward, column) for name, column in columns.items()}
    subject = [columns[name].codes for name in awkward.names(Role.SUBJECT)]
    settings: dict[str, Any] = {
        "seed": Seed.guessable(1),
        "threads": 1,
        "resolve": registry.algorithm,
    }
    return Request(
        quasi=tuple(axes[name] for name in awkward.names(Role.QUASI)),
        models=tuple(models),
        sensitive={name: axes[name] for name in awkward.names(Role.SENSITIVE)},
        subject=subject[0] if subject else None,
        **(settings | options),
    )


def _axis(awkward: Awkward, column: Column) -> CodedAxis:
    return build(column, awkward.hierarchies.get(column.name))


def awkward_tables() -> tuple[Awkward, ...]:
    """Every awkward table."""
    return tuple(make() for make in _BUILDERS.values())


def awkward_table(name: str) -> Awkward:
    """The awkward table with this name."""
    return _BUILDERS[name]()


def table_names() -> tuple[str, ...]:
    """The names of all awkward tables."""
    return tuple(_BUILDERS)


def one_row() -> Awkward:
    """The smallest table there is."""
    return _table("one-row", {"age": [41]}, {"illness": ["flu"]})


def identical_rows() -> Awkward:
    """No cut is possible: every row is the same point."""
    columns: CellLists = {"age": [41] * 30, "sex": ["F"] * 30}
    return _table("identical-rows", columns, {"illness": ["flu", "gout"] * 15})


def all_unique() -> Awkward:
    """Every value of every column occurs once."""
    columns: CellLists = {
        "age": _spread(64, 64),
        "town": [f"town {i:02d}" for i in range(64)],
    }
    return _table("all-unique", columns, {"illness": [f"i{i}" for i in range(64)]})


def one_column() -> Awkward:
    """A single quasi-identifier and nothing else."""
    return _table("one-column", {"age": _spread(50, 23)}, {})


def heavy_skew() -> Awkward:
    """One value holds nearly all rows; medians fall on it."""
    ages = [30] * 190 + _spread(10, 10)
    illness = ["flu"] * 150 + ["gout"] * 45 + ["measles"] * 5
    columns: CellLists = {"age": ages, "town": ["Rome"] * 195 + list("ABCDE")}
    return _table("heavy-skew", columns, {"illness": illness})


def ties_on_the_median() -> Awkward:
    """Two values only, the lower one past the middle."""
    return _table("ties-on-the-median", {"age": [30] * 14 + [41] * 6}, {})


def missing_in_quasi() -> Awkward:
    """Nulls in a number, marks in a category."""
    ages = [None if i % 7 == 0 else age for i, age in enumerate(_spread(90, 40))]
    towns = ["?" if i % 11 == 0 else f"t{i % 5}" for i in range(90)]
    illness = [("flu", "gout", "measles")[i % 3] for i in range(90)]
    columns: CellLists = {"age": ages, "town": towns}
    return _table("missing-in-quasi", columns, {"illness": illness}, missing=("?",))


def missing_in_sensitive() -> Awkward:
    """Nulls in a sensitive column."""
    illness = [None if i % 6 == 0 else ("flu", "gout")[i % 2] for i in range(72)]
    columns: CellLists = {"age": _spread(72, 30), "sex": ["F", "M", "M"] * 24}
    return _table("missing-in-sensitive", columns, {"illness": illness})


def all_missing() -> Awkward:
    """A quasi-identifier without a single value."""
    columns: CellLists = {"age": [None] * 20, "sex": ["F", "M"] * 10}
    kinds = {"age": Kind.INTEGER}
    return _table("all-missing", columns, {"illness": _letters(20, 4)}, kinds=kinds)


def constant_columns() -> Awkward:
    """Columns that say nothing, and one that does."""
    columns: CellLists = {
        "country": ["It"] * 40,
        "year": [2020] * 40,
        "age": _spread(40, 17),
    }
    return _table("constant-columns", columns, {"illness": _letters(40, 5)})


def many_values() -> Awkward:
    """300 distinct categories: more than any one-byte code holds."""
    towns = [f"place {i % 300:03d}" for i in range(900)]
    columns: CellLists = {"town": towns, "age": _spread(900, 60)}
    return _table("many-values", columns, {"illness": _letters(900, 12)})


def unicode_text() -> Awkward:
    """Names in many scripts, composed and decomposed, with spaces and signs."""
    words = ["Ærø", "Åre", "A\u030are", "東京", "Αθήνα", "مكة", "São Paulo", "é", "ß"]
    columns: CellLists = {
        "città": [words[i % 9] for i in range(54)],
        "年齢": _spread(54, 20),
    }
    return _table("unicode-text", columns, {"болезнь": _letters(54, 4)})


def dates() -> Awkward:
    """Days over a century, leap days and days before 1970 among them."""
    days = [date(1924, 2, 29) + timedelta(days=i * 613 % 36525) for i in range(80)]
    illness = {"illness": _letters(80, 4)}
    spec = {"calendar": ["month", "year", "decade"]}
    return _table("dates", {"born": days}, illness, hierarchies={"born": spec})


def instants() -> Awkward:
    """Times of day without a hierarchy."""
    begin = datetime(2019, 12, 31, 23, 59, 30)
    times = [begin + timedelta(seconds=i * 7919 % 86400) for i in range(60)]
    return _table("instants", {"admitted": times}, {"illness": _letters(60, 4)})


def decimals() -> Awkward:
    """Negative, tiny and huge numbers together."""
    tail = [-1e12, -0.5, -1e-9, 0.0, 1e-9, 0.1, 0.1 + 0.2, 1e12]
    income = [i * 0.37 - 9 for i in range(48)] + tail
    columns: CellLists = {"income": income, "sex": ["F", "M"] * 28}
    return _table("decimals", columns, {"illness": _letters(56, 4)})


def leading_zeros() -> Awkward:
    """Codes that are not numbers: 00120 is not 120."""
    zips = [f"{i * 37 % 90:05d}" for i in range(120)]
    kinds = {"zip": Kind.CODE}
    spec = {"zip": {"prefix": [4, 3]}}
    illness = {"illness": _letters(120, 4)}
    return _table(
        "leading-zeros", {"zip": zips}, illness, kinds=kinds, hierarchies=spec
    )


def with_intervals() -> Awkward:
    """Numbers under a hierarchy of intervals, beside a flat category."""
    columns: CellLists = {"age": _spread(100, 71), "sex": ["F", "M"] * 50}
    spec = {"age": {"intervals": [5, 10, 40]}}
    illness = {"illness": _letters(100, 6)}
    return _table("with-intervals", columns, illness, hierarchies=spec)


def several_rows_per_subject() -> Awkward:
    """Persons with one to five rows; k counts persons."""
    person = [f"p{i % (7 + i % 23):02d}" for i in range(100)]
    columns: CellLists = {"age": _spread(100, 12), "sex": ["F", "M"] * 50}
    illness = {"illness": _letters(100, 5)}
    return _table("several-rows-per-subject", columns, illness, subject=person)


def two_sensitive() -> Awkward:
    """Two sensitive columns, one of them a number."""
    columns: CellLists = {"age": _spread(96, 40), "town": _letters(96, 7)}
    sensitive: CellLists = {
        "illness": _letters(96, 5),
        "cost": [i * 31 % 17 for i in range(96)],
    }
    return _table("two-sensitive", columns, sensitive)


def ten_quasi() -> Awkward:
    """Ten quasi-identifiers: nearly every row is alone."""
    numbers: CellLists = {
        f"n{j}": [i * (j + 3) % 11 for i in range(150)] for j in range(5)
    }
    letters: CellLists = {f"c{j}": _letters(150, j + 2) for j in range(5)}
    return _table("ten-quasi", numbers | letters, {"illness": _letters(150, 4)})


def wide_keys() -> Awkward:
    """Cardinalities whose product does not fit 64 bits."""
    columns: CellLists = {
        f"n{j}": [i * (2 * j + 7) % 251 for i in range(251)] for j in range(9)
    }
    return _table("wide-keys", columns, {"illness": _letters(251, 5)})


def high_cardinality() -> Awkward:
    """As many distinct decimals as rows."""
    amounts = [((i * 7919) % 2003) / 7 for i in range(2003)]
    return _table("high-cardinality", {"amount": amounts}, {"ward": _letters(2003, 9)})


def looks_like_missing() -> Awkward:
    """`NA`, `Unknown` and `None` are values unless declared missing."""
    words = ["NA", "N/A", "Unknown", "None", "null", "nan", "-"]
    columns: CellLists = {
        "answer": [words[i % 7] for i in range(42)],
        "age": _spread(42, 9),
    }
    return _table("looks-like-missing", columns, {"illness": _letters(42, 3)})


def one_row_differs() -> Awkward:
    """All rows but one share a value, and can be split in millions of ways."""
    columns: CellLists = {
        "id": [f"i{number:02d}" for number in range(18)],
        "c": ["same"] * 17 + ["other"],
    }
    return _table("one-row-differs", columns, {"illness": _letters(18, 3)})


def halves_that_overlap() -> Awkward:
    """Ten categories of two values; each value's rows are half of every other's."""
    columns: CellLists = {
        f"c{bit}": [f"v{number * 37 >> bit & 1}" for number in range(24)]
        for bit in range(10)
    }
    return _table("halves-that-overlap", columns, {"illness": _letters(24, 4)})


def pairs_of_rows() -> Awkward:
    """Every row has one twin: groups of three always mix."""
    columns: CellLists = {
        "zip": [f"z{number // 2:02d}" for number in range(22)],
        "sex": ["F"] * 11 + ["M"] * 11,
    }
    return _table("pairs-of-rows", columns, {"illness": _letters(22, 5)})


def _table(
    name: str,
    quasi: Mapping[str, Sequence[Any]],
    sensitive: Mapping[str, Sequence[Any]],
    *,
    subject: Sequence[str] | None = None,
    kinds: Mapping[str, Kind] | None = None,
    missing: tuple[str, ...] = (),
    hierarchies: Mapping[str, Any] | None = None,
) -> Awkward:
    person = {} if subject is None else {"person": subject}
    cells = {**person, **quasi, **sensitive}
    roles = {
        **dict.fromkeys(person, Role.SUBJECT),
        **dict.fromkeys(quasi, Role.QUASI),
        **dict.fromkeys(sensitive, Role.SENSITIVE),
    }
    found = {column: _kind(values) for column, values in cells.items()}
    return Awkward(
        name,
        pa.table({column: _array(values) for column, values in cells.items()}),
        MappingProxyType(roles),
        MappingProxyType(found | dict(kinds or {})),
        missing,
        MappingProxyType(dict(hierarchies or {})),
    )


def _array(values: Sequence[Any]) -> pa.Array:
    empty = all(value is None for value in values)
    return pa.array(values, type=pa.int64() if empty else None)


def _kind(values: Sequence[Any]) -> Kind:
    first = next((value for value in values if value is not None), "")
    return _KINDS[type(first)]


def _spread(rows: int, distinct: int) -> list[int]:
    """Numbers from 18 up, every one of `distinct` values about equally often."""
    return [18 + i * 7919 % distinct for i in range(rows)]


def _letters(rows: int, distinct: int) -> list[str]:
    """Categories in an order that follows no other column's."""
    return [f"v{(i * i + i // 3) % distinct:02d}" for i in range(rows)]


_KINDS: Mapping[type, Kind] = MappingProxyType(
    {
        int: Kind.INTEGER,
        float: Kind.DECIMAL,
        str: Kind.CATEGORY,
        date: Kind.DATE,
        datetime: Kind.DATETIME,
    }
)

_BUILDERS: Mapping[str, Callable[[], Awkward]] = MappingProxyType(
    {
        make.__name__.replace("_", "-"): make
        for make in (
            one_row,
            identical_rows,
            all_unique,
            one_column,
            heavy_skew,
            ties_on_the_median,
            missing_in_quasi,
            missing_in_sensitive,
            all_missing,
            constant_columns,
            many_values,
            unicode_text,
            dates,
            instants,
            decimals,
            leading_zeros,
            with_intervals,
            several_rows_per_subject,
            two_sensitive,
            ten_quasi,
            wide_keys,
            high_cardinality,
            looks_like_missing,
            one_row_differs,
            halves_that_overlap,
            pairs_of_rows,
        )
    }
)
