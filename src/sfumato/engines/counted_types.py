"""How cells of each type go through a database without changing."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as types

from sfumato.errors import RefusedError

MOST_DIGITS = 38
"""The most digits of a decimal number that a database counts."""


def carrier(name: str, kind: Any) -> Any:
    """The type in which a column's cells are counted; refuse one that has none.

    Points in time travel as whole numbers, because databases round them, and floats
    as text, because databases do not tell `0.0` from `-0.0`.
    """
    if types.is_dictionary(kind) and not kind.ordered:
        return carrier(name, kind.value_type)
    if types.is_string(kind) or types.is_large_string(kind):
        return pa.string()
    if types.is_float32(kind) or types.is_float64(kind):
        return pa.string()
    if types.is_temporal(kind) and not types.is_interval(kind):
        return pa.int64()
    if types.is_integer(kind) or types.is_boolean(kind):
        return kind
    if types.is_decimal(kind) and kind.precision <= MOST_DIGITS:
        return kind
    raise RefusedError(
        f"Column '{name}' has the type {kind}, which cannot be counted out of memory.",
        hint="Turn it into text or numbers, leave it out, or take --engine memory.",
    )


def plain_of(kind: Any) -> Any:
    """The type in which counted cells come back; categories are plain values."""
    return kind.value_type if types.is_dictionary(kind) else kind


def carried(cells: Any, name: str) -> Any:
    """Cells in the type in which they are counted."""
    kind = cells.type
    if types.is_dictionary(kind):
        return carried(cells.cast(kind.value_type), name)
    if types.is_floating(kind):
        cells = pc.if_else(pc.is_nan(cells), pa.scalar(float("nan"), kind), cells)
    if types.is_date32(kind) or types.is_time32(kind):
        cells = cells.cast(pa.int32())
    return cells.cast(carrier(name, kind))


def restored(cells: Any, kind: Any) -> Any:
    """Counted cells in the type of their column; text stays a dictionary."""
    target = plain_of(kind)
    if types.is_string(target) or types.is_large_string(target):
        return cells
    if types.is_date32(target) or types.is_time32(target):
        cells = cells.cast(pa.int32())
    return cells.cast(target)
