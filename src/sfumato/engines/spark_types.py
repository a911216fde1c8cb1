"""How cells of each type go between Spark and Arrow without changing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.types as types

from sfumato.errors import DataError, RefusedError

DECIMAL = re.compile(r"decimal\(([0-9]+),([0-9]+)\)")
TEXT = re.compile(r"(string|(var)?char\([0-9]+\))")
ZONE = "UTC"
PLAIN = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", ZONE),
    "timestamp_ntz": pa.timestamp("us"),
}
"""Types of Spark, as it writes them, and those of Arrow."""
WALL_CLOCK = (
    "(unix_date(cast({0} as date)) * 86400000000L + hour({0}) * 3600000000L"
    " + minute({0}) * 60000000L"
    " + cast(extract(SECOND FROM {0}) * 1000000 as bigint))"
)
"""Microseconds of a time without a zone: a zone's clock may skip or repeat hours."""


def arrow_schema(schema: Any) -> pa.Schema:
    """The columns of a Spark schema in Arrow's types; refuse those that have none."""
    fields = [(each.name, each.dataType.simpleString()) for each in schema.fields]
    _check_names([name for name, _ in fields])
    return pa.schema([(name, _arrow_type(name, kind)) for name, kind in fields])


def _arrow_type(name: str, kind: str) -> Any:
    if TEXT.fullmatch(kind):
        return pa.string()
    digits = DECIMAL.fullmatch(kind)
    if digits:
        return pa.decimal128(int(digits[1]), int(digits[2]))
    if kind in PLAIN:
        return PLAIN[kind]
    raise RefusedError(
        f"Column '{name}' has the type {_family(kind)}, which cannot be released on "
        "Spark.",
        hint="Turn it into text or numbers, or select the other columns.",
    )


def _family(kind: str) -> str:
    """A type without its details: names of fields may be long."""
    return re.split(r"[<(]", kind, maxsplit=1)[0]


def _check_names(names: Sequence[str]) -> None:
    """Refuse names that Spark takes for the same one."""
    if any(not name.strip() for name in names):
        raise DataError(
            f"A column of {len(names):,} has no name.", hint="Name all columns."
        )
    folded = [name.lower() for name in names]
    twice = sorted(
        {n for n, low in zip(names, folded, strict=True) if folded.count(low) > 1}
    )
    if twice:
        listed = ", ".join(f"'{name}'" for name in twice)
        raise DataError(
            f"{len(names):,} columns, but to Spark some have the same name: {listed}.",
            hint="Give columns names that differ in more than capital letters.",
        )


def quoted(name: str) -> str:
    """A name of a column in an expression of Spark."""
    return "`" + name.replace("`", "``") + "`"


def carried_as(name: str, kind: Any) -> str:
    """The expression by which Spark counts a column.

    Points in time are whole numbers, and floats are text, because Spark does not tell
    `0.0` from `-0.0`.
    """
    column = quoted(name)
    if types.is_string(kind) or types.is_floating(kind):
        return f"cast({column} as string)"
    if types.is_date(kind):
        return f"unix_date({column})"
    if types.is_timestamp(kind):
        if kind.tz is not None:
            return f"unix_micros({column})"
        return WALL_CLOCK.format(column)
    return column


def is_missing(name: str, kind: Any) -> str:
    """The expression that says whether a cell is null or not a number."""
    column = quoted(name)
    missing = f"{column} IS NULL"
    return f"({missing} OR isnan({column}))" if types.is_floating(kind) else missing
