"""Convert frames of other libraries to Arrow, and results back to the same kind."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar, cast

import narwhals as nw
import pyarrow as pa
import pyarrow.types as types
from narwhals.exceptions import DuplicateError

from sfumato.data.batch_source import Batches, BatchSource, table_batches
from sfumato.data.source import unnamed_first, without_row_numbers
from sfumato.errors import DataError, RefusedError
from sfumato.io.databases import database_source
from sfumato.io.plain_types import plain_types
from sfumato.io.strip_hidden import compact

Frame = TypeVar("Frame")
LAZY_ROWS = 1 << 16
_UNFIT = (pa.ArrowException, TypeError, ValueError, OverflowError)
"""What libraries raise for cells that Arrow cannot hold."""


def to_arrow(frame: Any) -> pa.Table:
    """A pandas, polars or Arrow frame as an Arrow table.

    The index of a pandas frame is left out: it numbers or names the rows. So is a first
    column without a name.
    """
    if is_lazy(frame):
        return to_arrow(nw.from_native(frame).collect("pyarrow").to_native())
    table = frame if isinstance(frame, pa.Table) else _eager(frame)
    _check_names(table.column_names)
    return without_row_numbers(plain_types(table))


def _eager(frame: Any) -> pa.Table:
    wrapped = _wrapped(frame)
    _check_names(list(wrapped.columns))
    plain = _without_index(wrapped)
    _refuse_objects(plain)
    try:
        table = plain.to_arrow()
    except _UNFIT:
        raise _mixed(plain) from None
    return table.replace_schema_metadata(None)


def batches_of(frame: Any) -> BatchSource:
    """A frame as a source that is read in batches."""
    database = database_source(frame)
    if database is not None:
        raise RefusedError(
            "A table of a database is read into memory.",
            hint="Export it to Parquet, or take --engine memory.",
        )
    return _lazy_batches(frame) if is_lazy(frame) else table_batches(to_arrow(frame))


def is_lazy(frame: Any) -> bool:
    """Return whether something is a lazy frame of polars, or a relation of DuckDB."""
    try:
        wrapped = nw.from_native(frame)
    except (TypeError, DuplicateError):
        return False
    known = wrapped.implementation.is_polars() or wrapped.implementation.is_duckdb()
    return known and isinstance(wrapped, nw.LazyFrame)


def without_order(frame: Any) -> bool:
    """Return whether the rows of a frame have no order: a relation of DuckDB."""
    return is_lazy(frame) and nw.from_native(frame).implementation.is_duckdb()


def _lazy_batches(frame: Any) -> BatchSource:
    """A lazy frame, computed again whenever it is read."""
    wrapped = nw.from_native(frame)
    empty = to_arrow(wrapped.head(0).to_native())

    def read(names: Sequence[str]) -> Batches:
        for part in _lazy_parts(frame):
            yield from plain_types(part).select(list(names)).to_batches()

    return BatchSource(schema=empty.schema, read=read)


def _lazy_parts(frame: Any) -> Iterator[pa.Table]:
    if without_order(frame):
        for batch in frame.to_arrow_reader(LAZY_ROWS):
            yield pa.Table.from_batches([batch])
    elif hasattr(frame, "collect_batches"):
        for part in frame.collect_batches(maintain_order=True):
            yield part.to_arrow()
    else:
        # Older versions of polars give all rows at once.
        yield frame.collect().to_arrow()


def _refuse_objects(frame: nw.DataFrame[Any]) -> None:
    """Refuse Python objects in polars: Arrow would get their addresses in memory."""
    if frame.implementation.is_polars():
        for name, kind in frame.schema.items():
            if kind == nw.Object:
                raise _no_type(name)


def _mixed(frame: nw.DataFrame[Any]) -> DataError:
    """The error for cells that no type of Arrow holds together."""
    return _no_type(next(n for n in frame.columns if _unfit(frame.select(n))))


_COLLECT = "Call its method collect() first: it gives a table."


def _no_type(name: str) -> DataError:
    return DataError(
        f"Column '{name}' mixes types, or holds values that no type of Arrow can hold.",
        hint="Turn its cells into text, or into numbers of one type.",
    )


def _unfit(frame: nw.DataFrame[Any]) -> bool:
    try:
        frame.to_arrow()
    except _UNFIT:
        return True
    return False


def like(frame: Frame, table: pa.Table) -> Frame:
    """Convert an Arrow table to the kind of frame that `frame` is; Arrow for a path.

    A column that still has the type it had in `frame` gets the frame's own type back.
    Categories stay categories, of the values that occur: those of a polars Enum are a
    part of its type. Dictionaries that were plain columns in the frame become plain
    again.
    """
    if isinstance(frame, str | os.PathLike) or database_source(frame) is not None:
        return cast(Frame, _plain(table, pa.schema([])))
    if is_lazy(frame):
        return cast(Frame, _lazy_like(frame, table))
    came = to_arrow(frame).schema
    plain = _plain(table, came)
    if isinstance(frame, pa.Table):
        return cast(Frame, plain)
    wrapped = _wrapped(frame)
    result = nw.DataFrame.from_arrow(plain, backend=wrapped.implementation).to_native()
    kept = [n for n in plain.column_names if _same(plain.schema, came, n)]
    return cast(Frame, _retyped(result, frame, kept, wrapped.implementation))


def _lazy_like(frame: Any, table: pa.Table) -> Any:
    wrapped = nw.from_native(frame)
    eager: Any = wrapped.head(0).collect().to_native()
    made: Any = like(eager, table)
    return (
        nw.from_native(made, eager_only=True).lazy(wrapped.implementation).to_native()
    )


def _wrapped(frame: Any) -> nw.DataFrame[Any]:
    try:
        return nw.from_native(frame, eager_only=True)
    except TypeError:
        raise DataError(
            f"A table cannot be made of {type(frame).__name__}.",
            hint=_COLLECT
            if hasattr(frame, "collect")
            else "Give a pandas, polars or Arrow table, or the path of a file.",
        ) from None
    except DuplicateError:
        _check_names([str(name) for name in frame.columns])
        raise


def _without_index(frame: nw.DataFrame[Any]) -> nw.DataFrame[Any]:
    if not frame.implementation.is_pandas_like():
        return frame
    return nw.from_native(frame.to_native().reset_index(drop=True), eager_only=True)


def _check_names(names: list[Any]) -> None:
    named = names[unnamed_first(names) :]
    unusual = sum(not (isinstance(name, str) and name.strip()) for name in named)
    if unusual:
        raise DataError(
            f"{unusual:,} of {len(names):,} columns of the frame have no text as name.",
            hint="Name the columns with text that is not empty.",
        )
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        listed = ", ".join(f"'{name}'" for name in twice)
        raise DataError(
            f"{len(names):,} columns, but some share a name: {listed}.",
            hint="Give every column a name of its own.",
        )


def _plain(table: pa.Table, came: pa.Schema) -> pa.Table:
    for place, field in enumerate(table.schema):
        if types.is_dictionary(field.type):
            own = came.field(field.name).type if field.name in came.names else None
            column = _like_column(table.column(place), own)
            table = table.set_column(place, field.name, column)
    return table.replace_schema_metadata(None)


def _like_column(column: pa.ChunkedArray, own: Any) -> pa.ChunkedArray:
    """A column of categories as its type in the frame wants it; text stays text."""
    if own is not None and types.is_dictionary(own):
        return compact(column)
    text = own is not None and (types.is_string(own) or types.is_large_string(own))
    return column.cast(own if text else column.type.value_type)


def _same(new: pa.Schema, came: pa.Schema, name: str) -> bool:
    return name in came.names and new.field(name).type == came.field(name).type


def _retyped(
    result: Any, frame: Any, names: list[str], implementation: nw.Implementation
) -> Any:
    if implementation.is_pandas_like():
        own = {name: frame[name].dtype for name in names}
        # A categorical type lists the values of the source, also those not released.
        return result.astype({n: t for n, t in own.items() if t.name != "category"})
    if implementation.is_polars():
        own = {name: frame.schema[name] for name in names}
        return result.cast({n: _as_shown(t, result[n]) for n, t in own.items()})
    return result


def _as_shown(kind: Any, column: Any) -> Any:
    """The type of a polars column; an Enum of the values that are shown."""
    if type(kind).__name__ != "Enum":
        return kind
    shown = set(column.unique().to_list())
    return type(kind)([value for value in kind.categories if value in shown])
