"""What the columns of a database table have to hold, stated apart from what fills them.

A table has no order, so its rows are compared as a multiset: each row is hashed in a form
that both sides have, with nulls as nulls.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.types as types

from sfumato.io.database_types import System
from sfumato.pipeline.written_cells import (
    DOUBLE,
    CellChange,
    Cells,
    Promise,
    as_number,
    decoded,
    is_blank,
    is_number,
    is_text,
    value_type,
)


def stored_promise(column: pa.ChunkedArray, system: System) -> Promise:
    """What a column of a draft becomes in a table of a database."""
    kind = value_type(column.type)
    if is_blank(column):
        # SQLite gives such a column any type.
        return _NOTHING
    if system == "sqlite":
        return _in_sqlite(kind)
    if types.is_timestamp(kind):
        return _moments(kind)
    if types.is_integer(kind):
        return _INTEGERS
    if types.is_floating(kind):
        return Promise(types=types.is_floating, drafted=_exact, written=_exact)
    return _same(kind)


def _in_sqlite(kind: Any) -> Promise:
    """SQLite has integers, doubles, texts and bytes."""
    if types.is_boolean(kind):
        return Promise(types=types.is_integer, drafted=as_number, written=as_number)
    if types.is_integer(kind):
        return _INTEGERS
    if types.is_floating(kind):
        return Promise(types=is_number, drafted=as_number, written=as_number)
    if types.is_timestamp(kind):
        naive = pa.timestamp(kind.unit)
        return Promise(types=is_text, drafted=_instants(kind), written=_instants(naive))
    if types.is_date(kind):
        return Promise(types=is_text, drafted=decoded, written=_cast(kind))
    return _same(kind)


def _same(kind: Any) -> Promise:
    """The same values in a type of the same family."""

    def allowed(seen: Any) -> bool:
        return any(family(seen) and family(kind) for family in FAMILIES)

    # Databases have no bytes of a fixed length.
    change = _cast(pa.large_binary() if _is_bytes(kind) else kind)
    return Promise(types=allowed, drafted=change, written=change)


def _is_bytes(kind: Any) -> bool:
    fixed = types.is_fixed_size_binary(kind)
    return bool(fixed or types.is_binary(kind) or types.is_large_binary(kind))


FAMILIES = (
    is_text,
    _is_bytes,
    types.is_boolean,
    types.is_date,
    types.is_time,
    types.is_decimal,
)


def _moments(kind: Any) -> Promise:
    """The same instants, with a zone where the draft has one."""

    def allowed(seen: Any) -> bool:
        return types.is_timestamp(seen) and (seen.tz is None) == (kind.tz is None)

    return Promise(types=allowed, drafted=_instants(kind), written=_instants(kind))


def _instants(kind: Any) -> CellChange:
    """Moments as numbers in the unit of the draft; in SQLite, of texts in UTC."""
    return lambda cells: decoded(cells).cast(kind).cast(pa.int64())


def _cast(kind: Any) -> CellChange:
    return lambda cells: decoded(cells).cast(kind)


def _exact(cells: Cells) -> Cells:
    return decoded(cells).cast(DOUBLE)


def _is_integer(kind: Any) -> bool:
    return bool(types.is_integer(kind) or (types.is_decimal(kind) and not kind.scale))


def _digits(cells: Cells) -> Cells:
    return decoded(cells).cast(pa.string())


def _nothing(cells: Cells) -> Cells:
    """Whether cells have a value: none has."""
    return decoded(cells).is_valid()


_INTEGERS = Promise(types=_is_integer, drafted=_digits, written=_digits)
_NOTHING = Promise(types=lambda _: True, drafted=_nothing, written=_nothing)
