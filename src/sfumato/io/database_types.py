"""Columns of databases as exact Arrow columns, and back.

A type that Arrow has is taken as it is. Numbers with a fixed point become decimals with
their declared scale. Anything else becomes the text that the database shows. What cannot be
exact is refused by the name of the column.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as types

from sfumato.errors import DataError
from sfumato.io.plain_types import plain_column

System = Literal["postgresql", "sqlite", "duckdb"]
NAMES = MappingProxyType(
    {"postgresql": "PostgreSQL", "sqlite": "SQLite", "duckdb": "DuckDB"}
)
MOST_DIGITS, MOST_WIDE_DIGITS = 38, 76
"""Digits of the two decimal types of Arrow."""
LARGEST = (1 << 63) - 1
MOST_NAME_BYTES = 63
"""PostgreSQL cuts longer names."""
LARGEST_EXACT = 1 << 53
"""Above this, a double does not have every integer."""
DAY = 86_400_000_000
FIRST_DAY, LAST_DAY = -719_162, 2_932_896
"""The ends of the years 1 to 9999, in days since 1970."""


@dataclass(frozen=True, kw_only=True)
class ColumnQuery:
    """How a query asks for a column, and what the answer becomes."""

    sql: str = "{0}"
    number: bool = False
    """Texts of numbers become decimals."""
    digits: int | None = None
    scale: int | None = None
    """As declared; None: as many as the longest number has."""
    example: str = "0"
    """A value of the type that cells have, where a driver looks at values."""


AS_IT_IS = ColumnQuery()
POSTGRES_PLAIN = frozenset(
    (
        *("bool", "int2", "int4", "int8", "float4", "float8", "bytea", "uuid"),
        *("text", "varchar", "bpchar", "name", "char", "json", "jsonb"),
        *("date", "time", "timestamp", "timestamptz"),
    )
)
"""Types of PostgreSQL that Arrow has, or shows as the database does."""
POSTGRES_SHOWN = ColumnQuery(
    # Not a cast: a cast shows 'inet' otherwise than a query does. Not IS NOT NULL, which
    # is false of a row with a NULL in it.
    sql="CASE WHEN {0} IS DISTINCT FROM NULL THEN format('%s', {0}) END"
)
POSTGRES_MONEY = ColumnQuery(sql="{0}::numeric::text", number=True)
DUCKDB_PLAIN = frozenset(
    (
        *("BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE"),
        *("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "VARCHAR", "BLOB", "UUID"),
        *("JSON", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE"),
        *("TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", '"NULL"'),
    )
)
DUCKDB_SHOWN = ColumnQuery(sql="CAST({0} AS VARCHAR)")
DUCKDB_WHOLE = ("HUGEINT", "UHUGEINT")
SQLITE_CLASSES = ("integer", "real", "text", "blob")
"""What a cell of SQLite can be, whatever its column was declared as."""
_EXAMPLES = MappingProxyType(
    {"integer": "0", "real": "0.5", "text": "'x'", "blob": "x'00'"}
)


def places(count: int) -> list[str]:
    """Names for the columns of a query that names them as it likes."""
    return [f"c{number}" for number in range(count)]


def wrapped(query: str, columns: int, select: Iterable[str]) -> str:
    """A query about the columns of another one, by their places."""
    inner = query.strip().rstrip(";")
    named = ", ".join(places(columns))
    # On lines of its own: a query may end with a comment.
    listed = ", ".join(select)
    return (
        f"WITH sfumato_rows({named}) AS (\n{inner}\n) SELECT {listed} FROM sfumato_rows"
    )


def column_names(query: str) -> str:
    """A query without rows that has the columns of another one."""
    inner = query.strip().rstrip(";")
    return f"WITH sfumato_rows AS (\n{inner}\n) SELECT * FROM sfumato_rows LIMIT 0"


def selected(readings: Sequence[ColumnQuery]) -> list[str]:
    """The expressions that ask for columns as their readings say."""
    names = places(len(readings))
    pairs = zip(names, readings, strict=True)
    return [f"{reading.sql.format(name)} AS {name}" for name, reading in pairs]


def postgres_readings(schema: pa.Schema) -> list[ColumnQuery]:
    """How to ask PostgreSQL for columns, from the types that its driver names."""
    return [_postgres_reading(field) for field in schema]


def _postgres_reading(field: pa.Field) -> ColumnQuery:
    notes = field.metadata or {}
    named = notes.get(b"POSTGRESQL:type") or notes.get(b"ADBC:postgresql:typname")
    kind = None if named is None else named.decode()
    if kind == "numeric":
        return _declared(int(notes.get(b"POSTGRESQL:typmod", b"-1")))
    # An older driver names no type: then 64 bits may be money, in hundredths.
    if kind == "money" or (kind is None and types.is_int64(field.type)):
        return POSTGRES_MONEY
    plain = kind in POSTGRES_PLAIN or (kind is None and not types.is_nested(field.type))
    return AS_IT_IS if plain else POSTGRES_SHOWN


def _declared(typmod: int) -> ColumnQuery:
    """A number as it was declared: digits and scale are packed into one integer."""
    text = "{0}::text"
    if typmod < 4:
        return ColumnQuery(sql=text, number=True)
    digits, scale = (typmod - 4) >> 16 & 0xFFFF, (typmod - 4) & 0x7FF
    # Eleven bits with a sign: a scale may be below zero.
    scale = (scale ^ 0x400) - 0x400
    digits += max(0, -scale)
    return ColumnQuery(sql=text, number=True, digits=digits, scale=max(0, scale))


def duckdb_readings(kinds: Iterable[str]) -> list[ColumnQuery]:
    """How to ask DuckDB for columns of these types."""
    return [_duckdb_reading(kind) for kind in kinds]


def _duckdb_reading(kind: str) -> ColumnQuery:
    if kind in DUCKDB_PLAIN or kind.startswith("DECIMAL("):
        return AS_IT_IS
    if kind in DUCKDB_WHOLE:
        return ColumnQuery(sql=DUCKDB_SHOWN.sql, number=True, scale=0)
    return DUCKDB_SHOWN


def is_zoned(kind: str) -> bool:
    """Whether the text of a type of DuckDB depends on the session's time zone."""
    return "WITH TIME ZONE" in kind and kind not in DUCKDB_PLAIN


def sqlite_classes(columns: int) -> list[str]:
    """Expressions that say which classes of cells each column of SQLite has."""
    texts = []
    for name in places(columns):
        texts += [f"max(typeof({name}) = '{kind}')" for kind in SQLITE_CLASSES]
        wide = f"{name} NOT BETWEEN -{LARGEST_EXACT} AND {LARGEST_EXACT}"
        texts.append(f"max(typeof({name}) = 'integer' AND {wide})")
    return texts


def sqlite_readings(
    names: Sequence[str], answers: Sequence[int | None]
) -> list[ColumnQuery]:
    """How to ask SQLite for columns, from the answers to `sqlite_classes`."""
    width = len(SQLITE_CLASSES) + 1
    return [
        _sqlite_reading(name, answers[number * width : (number + 1) * width])
        for number, name in enumerate(names)
    ]


def _sqlite_reading(name: str, answers: Sequence[int | None]) -> ColumnQuery:
    *present, wide = answers
    pairs = zip(SQLITE_CLASSES, present, strict=True)
    classes = {kind for kind, is_there in pairs if is_there}
    if len(classes) <= 1:
        return ColumnQuery(example=_EXAMPLES[min(classes, default="integer")])
    if classes == {"integer", "real"} and not wide:
        return ColumnQuery(sql="CAST({0} AS REAL)", example=_EXAMPLES["real"])
    if classes == {"integer", "text"}:
        return ColumnQuery(sql="CAST({0} AS TEXT)", example=_EXAMPLES["text"])
    raise DataError(
        f"Column '{name}' has cells of {len(classes):,} types "
        f"({', '.join(sorted(classes))}), which have no common exact type.",
        hint="Convert it with CAST in data.query, or leave it out there.",
    )


def sqlite_query(query: str, readings: Sequence[ColumnQuery]) -> str:
    """A query whose first row, which is none of the table's, shows the type of each column.

    The driver takes a column's type from the first rows, which may be all NULL.
    """
    first = ", ".join(reading.example for reading in readings)
    rows = wrapped(query, len(readings), selected(readings))
    return f"SELECT {first} UNION ALL SELECT * FROM ({rows})"


def exact_table(
    answer: pa.Table, names: Sequence[str], readings: Sequence[ColumnQuery]
) -> pa.Table:
    """The columns of an answer in plain types; refuse cells that are not exact in them."""
    columns = [
        _exact(name, reading, column)
        for name, reading, column in zip(names, readings, answer.columns, strict=True)
    ]
    return pa.table(columns, names=list(names))


def _exact(name: str, reading: ColumnQuery, column: pa.ChunkedArray) -> pa.ChunkedArray:
    if reading.number:
        return _decimals(name, reading, column)
    column = plain_column(column)
    kind = column.type
    if types.is_null(kind):
        return column.cast(pa.string())
    if types.is_timestamp(kind) and kind.tz is not None:
        # The same moments, whatever zone the session of the database has.
        column = column.cast(pa.timestamp(kind.unit, "UTC"))
    _refuse_inexact(name, column)
    return column


def _decimals(
    name: str, reading: ColumnQuery, texts: pa.ChunkedArray
) -> pa.ChunkedArray:
    """Texts of numbers as decimals of one type."""
    before, behind = _most_digits(texts)
    scale = behind if reading.scale is None else reading.scale
    # Counted here, because Arrow wraps numbers around that do not fit its type.
    kind = _decimal_type(reading.digits or MOST_DIGITS, before + scale, scale)
    if kind is not None:
        with suppress(pa.ArrowException):
            return texts.cast(kind)
    raise DataError(
        f"Column '{name}' has numbers that are not a number or infinite, or have more "
        f"than {MOST_WIDE_DIGITS:,} digits.",
        hint="Make them NULL in data.query, or convert them to text there.",
    )


def _decimal_type(declared: int, needed: int, scale: int) -> Any:
    """The smallest decimal type with so many digits; None if there is none."""
    digits = max(declared, needed, 1)
    if digits <= MOST_DIGITS:
        return pa.decimal128(digits, scale)
    if needed <= MOST_WIDE_DIGITS:
        return pa.decimal256(MOST_WIDE_DIGITS, scale)
    return None


def _most_digits(texts: pa.ChunkedArray) -> tuple[int, int]:
    """The most digits before and behind the point."""
    unsigned = pc.ascii_ltrim(texts, "-")
    before = pc.binary_length(pc.list_element(pc.split_pattern(unsigned, "."), 0))
    behind = pc.subtract(pc.subtract(pc.binary_length(unsigned), before), 1)
    return pc.max(before).as_py() or 0, max(0, pc.max(behind).as_py() or 0)


def _refuse_inexact(name: str, column: pa.ChunkedArray) -> None:
    """Refuse what the database knows and Arrow does not: infinity, 24:00, broken text."""
    kind = column.type
    if types.is_string(kind):
        _refuse_broken_text(name, column)
    elif _is_far(column):
        raise DataError(
            f"Column '{name}' has dates that are infinite or outside of the years 1 to "
            "9999.",
            hint="Make them NULL in data.query, or convert them to text there.",
        )
    elif types.is_time64(kind) and not _within(column, 0, _day(kind) - 1):
        raise DataError(
            f"Column '{name}' has the time of day 24:00, which is none here.",
            hint="Convert it to text in data.query.",
        )


def _refuse_broken_text(name: str, column: pa.ChunkedArray) -> None:
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        raise DataError(
            f"Column '{name}' has text that is not UTF-8.",
            hint="Correct it, or leave the column out in data.query.",
        ) from None


def _is_far(column: pa.ChunkedArray) -> bool:
    """Whether a column has dates or moments that are not of the years 1 to 9999."""
    kind = column.type
    if not (types.is_date(kind) or types.is_timestamp(kind)):
        return False
    return not _within(column, *_ends_of_time(kind))


def _ends_of_time(kind: Any) -> tuple[int, int]:
    if types.is_date(kind):
        return FIRST_DAY, LAST_DAY
    a_day = DAY * _PER_MICROSECOND[kind.unit]
    return int(FIRST_DAY * a_day), int((LAST_DAY + 1) * a_day) - 1


_PER_MICROSECOND = MappingProxyType({"s": 1e-6, "ms": 1e-3, "us": 1, "ns": 1000})


def _day(kind: Any) -> int:
    return int(DAY * _PER_MICROSECOND[kind.unit])


def _within(column: pa.ChunkedArray, low: int, high: int) -> bool:
    """Return whether all cells are between two ends, as the integers behind them."""
    storage = pa.int32() if types.is_date32(column.type) else pa.int64()
    ends = pc.min_max(column.cast(storage))
    if ends["min"].as_py() is None:
        return True
    return bool(ends["min"].as_py() >= low and ends["max"].as_py() <= high)


def storable(table: pa.Table, system: System) -> pa.Table:
    """A table in types that come back from a database as they were written."""
    _refuse_long_names(table.column_names, system)
    pairs = zip(table.column_names, table.columns, strict=True)
    columns = [_storable(name, column, system) for name, column in pairs]
    return pa.table(columns, names=table.column_names)


def _refuse_long_names(names: Sequence[str], system: System) -> None:
    """Refuse names that PostgreSQL would cut."""
    for name in names if system == "postgresql" else ():
        size = len(name.encode("utf-8", "surrogatepass"))
        if size > MOST_NAME_BYTES:
            raise DataError(
                f"The name of column '{name}' has {size:,} bytes; PostgreSQL keeps "
                f"{MOST_NAME_BYTES:,}.",
                hint="Rename the column, or write files.",
            )


def _storable(name: str, column: pa.ChunkedArray, system: System) -> pa.ChunkedArray:
    kind = column.type
    if types.is_dictionary(kind):
        return _storable(name, column.cast(kind.value_type), system)
    if isinstance(kind, pa.BaseExtensionType):
        return _storable(name, plain_column(column), system)
    if types.is_nested(kind) or types.is_interval(kind) or types.is_duration(kind):
        raise _unstorable(name, kind, system)
    with suppress(pa.ArrowInvalid):
        column = column.cast(_stored_type(column, system))
        _refuse_changed(name, column, system)
        return _as_sqlite_counts(column) if system == "sqlite" else column
    raise _unstorable(name, kind, system)


def _stored_type(column: pa.ChunkedArray, system: System) -> Any:
    """The type in which a column is written; a cast to it never changes a cell."""
    kind = column.type
    if types.is_unsigned_integer(kind):
        most = pc.max(column).as_py()
        wide = most is not None and most > LARGEST
        return pa.decimal128(20, 0) if wide else pa.int64()
    if types.is_date64(kind):
        return pa.date32()
    if types.is_float16(kind) or types.is_float32(kind):
        return pa.float64()
    if types.is_null(kind):
        return pa.string()
    if types.is_time32(kind) or types.is_time64(kind):
        return kind if system == "duckdb" and kind.unit == "ns" else pa.time64("us")
    if types.is_timestamp(kind):
        # Moments with a zone come back in UTC; PostgreSQL counts microseconds.
        fine = system == "duckdb" and kind.unit == "ns" and kind.tz is None
        return pa.timestamp("ns" if fine else "us", kind.tz and "UTC")
    return kind


def _refuse_changed(name: str, column: pa.ChunkedArray, system: System) -> None:
    """Refuse a type, or cells, that a database does not give back as they were written."""
    kind = column.type
    moment = types.is_timestamp(kind) or types.is_time(kind)
    has_no_type = types.is_boolean(kind) or types.is_decimal(kind) or moment
    if system == "sqlite" and has_no_type:
        raise _unstorable(name, kind, system)
    if system == "duckdb" and types.is_decimal256(kind):
        raise _unstorable(name, kind, system)
    if _is_far(column):
        raise DataError(
            f"Column '{name}' has dates outside of the years 1 to 9999, which do not "
            f"come back from a table of a database ({NAMES[system]}).",
            hint="Make them missing (null), or leave the column out.",
        )
    if system == "postgresql" and _has_zero_character(column):
        raise DataError(
            f"Column '{name}' has a zero character, which PostgreSQL cannot keep.",
            hint="Write files, or another database.",
        )


def _has_zero_character(column: pa.ChunkedArray) -> bool:
    kind = column.type
    if not (types.is_string(kind) or types.is_large_string(kind)):
        return False
    return bool(pc.any(pc.match_substring(column, "\0")).as_py())


def _as_sqlite_counts(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Numbers as SQLite has them: none that is not a number, and one zero."""
    if not types.is_floating(column.type):
        return column
    missing = pa.scalar(None, column.type)
    # -0.0 + 0.0 is 0.0.
    return pc.add(pc.if_else(pc.is_nan(column), missing, column), 0.0)


def _unstorable(name: str, kind: Any, system: System) -> DataError:
    return DataError(
        f"Column '{name}' has the type {kind}, which a table of a database cannot keep "
        f"as it is ({NAMES[system]}).",
        hint="Drop it, convert it to text in the source, or write files.",
    )
