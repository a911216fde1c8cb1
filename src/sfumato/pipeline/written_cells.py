"""What the columns of a written file have to hold, stated apart from what writes them.

One table per family of formats says what becomes of each type of a draft. Nothing here
calls the code of a writer: a fault of a conversion would then be promised, too.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as types

from sfumato.io.formats import Format

Cells = Any
"""An Arrow array or chunked array; the library's own types differ between releases."""
CellChange = Callable[[Cells], Cells]
DOUBLE, MOMENT, DAY = pa.float64(), pa.timestamp("us"), pa.date32()
EXACT_IN_DOUBLE = 2**53
NUMBERS = MappingProxyType(
    {
        Format.SPSS: (0.0, 1.7e308),
        Format.STATA: (0.0, 8.9e307),
        Format.SAS: (1e-75, 9e74),
    }
)
"""The sizes of the numbers that each format keeps as numbers, apart from zero."""
EXCEL_WHOLE, EXCEL_DIGITS, EXCEL_FIRST = 10**15, 16, dt.date(1900, 3, 1)


@dataclass(frozen=True, kw_only=True)
class Promise:
    """What one column of a file has to hold, and how both sides are compared."""

    types: Callable[[Any], bool]
    """Whether the column may have a type once it was read back."""
    drafted: CellChange
    """Cells of the draft, in the form that is compared."""
    written: CellChange
    """Cells that were read back, in the same form."""


def promise_of(column: pa.ChunkedArray, form: Format, *, category: bool) -> Promise:
    """What a column of a draft becomes in a file of a format."""
    if form is Format.CSV:
        return _as_text(value_type(column.type))
    if form in (Format.PARQUET, Format.ARROW):
        return _with_type(column.type, form, category=category)
    if is_blank(column):
        return Promise(types=is_text, drafted=_blank, written=_text)
    values = _values(column)
    if form is Format.EXCEL:
        return _in_excel(values)
    return _in_statistics(values, form)


def value_type(kind: Any) -> Any:
    """The type of the values of a column, in a dictionary or not."""
    return kind.value_type if types.is_dictionary(kind) else kind


def _values(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The cells of a column; of a dictionary, the values that its cells have."""
    if not types.is_dictionary(column.type):
        return column
    chunks = [chunk.dictionary for chunk in column.chunks]
    return pa.chunked_array(chunks, column.type.value_type)


def is_blank(column: pa.ChunkedArray) -> bool:
    """Whether no cell of a column has a value, so that a file gives it no type."""
    return column.null_count == len(column) or not len(_solid(_values(column)))


def _solid(cells: Cells) -> Cells:
    """The cells that are no null and no NaN."""
    return cells.filter(pc.invert(pc.is_null(cells, nan_is_null=True)))


def is_text(kind: Any) -> bool:
    """Whether a column of a type holds texts, in a dictionary or not."""
    kind = value_type(kind)
    return bool(types.is_string(kind) or types.is_large_string(kind))


def decoded(cells: Cells) -> Cells:
    """Cells without a dictionary."""
    if not types.is_dictionary(cells.type):
        return cells
    if isinstance(cells, pa.ChunkedArray):
        chunks = [decoded(chunk) for chunk in cells.chunks]
        return pa.chunked_array(chunks, cells.type.value_type)
    return cells.dictionary.take(cells.indices)


def _text(cells: Cells) -> Cells:
    """Texts; a missing one is the same as an empty one."""
    texts = decoded(cells)
    if not is_text(texts.type):
        texts = texts.cast(pa.string())
    return pc.fill_null(texts, "") if texts.null_count else texts


def _blank(cells: Cells) -> Cells:
    return pa.chunked_array([pa.repeat("", len(cells))])


def _number_text(cells: Cells) -> Cells:
    """Numbers as text, where NaN is missing."""
    numbers = decoded(cells)
    if types.is_floating(numbers.type):
        absent = pa.scalar(None, numbers.type)
        numbers = pc.if_else(pc.is_nan(numbers), absent, numbers)
    return _text(numbers.cast(pa.string()))


def _as_text(kind: Any) -> Promise:
    """Exact texts; of days and moments, texts that mean exactly the same."""
    if types.is_null(kind):
        return Promise(types=is_text, drafted=_blank, written=_text)
    if types.is_temporal(kind) and not types.is_duration(kind):
        return Promise(types=is_text, drafted=decoded, written=_parsed(kind))
    drafted = _text if is_text(kind) else _number_text
    return Promise(types=is_text, drafted=drafted, written=_text)


def _parsed(kind: Any) -> CellChange:
    """Read texts as days, moments or times of day; the empty text is missing."""

    def read(cells: Cells) -> Cells:
        texts = decoded(cells)
        absent = pa.scalar(None, texts.type)
        filled = pc.if_else(pc.equal(texts, ""), absent, texts)
        if not types.is_time(kind):
            return filled.cast(kind)
        # Arrow reads times of day only behind a day.
        dated = pc.binary_join_element_wise("1970-01-01", filled, " ")
        return dated.cast(pa.timestamp(kind.unit)).cast(kind)

    return read


def _with_type(kind: Any, form: Format, *, category: bool) -> Promise:
    """The same values in the type that a format with types keeps."""
    stays = category and _keeps_categories(kind, form)
    value = _leaf(value_type(kind), form)

    def allowed(seen: Any) -> bool:
        return types.is_dictionary(seen) == stays and _same_type(
            value_type(seen), value, form
        )

    def cast(cells: Cells) -> Cells:
        plain = decoded(cells)
        return plain if _opaque(value) or plain.type == value else plain.cast(value)

    return Promise(types=allowed, drafted=cast, written=decoded)


def _keeps_categories(kind: Any, form: Format) -> bool:
    """Whether a file of the format has dictionaries of such values."""
    if not types.is_dictionary(kind):
        return False
    value = kind.value_type
    binary = types.is_binary(value) or types.is_large_binary(value)
    return form is Format.ARROW or is_text(value) or binary


def _leaf(kind: Any, form: Format) -> Any:
    """The type of a column that is read back; Parquet has no seconds or long days."""
    if form is not Format.PARQUET:
        return kind
    if types.is_timestamp(kind) and kind.unit == "s":
        return pa.timestamp("ms", kind.tz)
    if types.is_time32(kind):
        return pa.time32("ms")
    return DAY if types.is_date64(kind) else kind


def _opaque(kind: Any) -> bool:
    return types.is_nested(kind) or isinstance(kind, pa.BaseExtensionType)


def _same_type(seen: Any, kind: Any, form: Format) -> bool:
    """Whether a type is as promised; fields within it may have any name."""
    if isinstance(kind, pa.BaseExtensionType):
        return seen == kind or _same_type(seen, kind.storage_type, form)
    if not types.is_nested(kind):
        # A dictionary of long texts comes back from Parquet with plain ones.
        same = bool(seen == _leaf(kind, form))
        return same or (is_text(seen) and is_text(kind))
    if seen.id != kind.id or seen.num_fields != kind.num_fields:
        return False
    inner = [
        (seen.field(at).type, kind.field(at).type) for at in range(seen.num_fields)
    ]
    return all(_same_type(one, other, form) for one, other in inner)


def _in_statistics(values: pa.ChunkedArray, form: Format) -> Promise:
    """Doubles, days and seconds; everything else as text."""
    kind = values.type
    if types.is_boolean(kind) or _are_whole(values, EXACT_IN_DOUBLE):
        return NUMBER
    if types.is_floating(kind) and _within(values, *NUMBERS[form]):
        return NUMBER
    if types.is_date(kind):
        return DAYS
    if types.is_timestamp(kind) and kind.tz is None and _in_seconds(values):
        return MOMENTS
    return _as_text(kind)


def _in_excel(values: pa.ChunkedArray) -> Promise:
    """Truths, short numbers, days and seconds of the calendar; the rest as text."""
    kind = values.type
    if types.is_boolean(kind):
        return TRUTHS
    if _are_whole(values, EXCEL_WHOLE):
        return NUMBER
    if types.is_floating(kind) and _are_short(values):
        return NUMBER
    if types.is_date(kind) and _first_day(values) >= EXCEL_FIRST:
        return DAYS
    plain = types.is_timestamp(kind) and kind.tz is None
    if plain and _in_seconds(values) and _first_day(values) >= EXCEL_FIRST:
        return MOMENTS
    return _as_text(kind)


def _are_whole(values: pa.ChunkedArray, most: int) -> bool:
    if not types.is_integer(values.type):
        return False
    least, largest = pc.min_max(values).as_py().values()
    return bool(-most <= least and largest <= most)


def _within(values: pa.ChunkedArray, low: float, high: float) -> bool:
    sizes = pc.abs(_solid(values.cast(DOUBLE)))
    fits = pc.and_(pc.greater_equal(sizes, low), pc.less_equal(sizes, high))
    return pc.all(pc.or_(fits, pc.equal(sizes, 0.0))).as_py() is True


def _are_short(values: pa.ChunkedArray) -> bool:
    """Whether as many digits as a workbook has tell every number."""
    numbers = pc.unique(_solid(values.cast(DOUBLE))).to_pylist()
    return all(
        math.isfinite(number) and float(f"{number:.{EXCEL_DIGITS}G}") == number
        for number in numbers
    )


def _in_seconds(values: pa.ChunkedArray) -> bool:
    seconds = pc.floor_temporal(values, unit="second")
    return pc.all(pc.equal(seconds, values)).as_py() is True


def _first_day(values: pa.ChunkedArray) -> dt.date:
    day: dt.date = pc.min(values).cast(DAY, safe=False).as_py()
    return day


def as_number(cells: Cells) -> Cells:
    """Numbers as doubles, where NaN is missing."""
    numbers = decoded(cells)
    if types.is_boolean(numbers.type):
        numbers = numbers.cast(pa.int8())
    # SAS has no -0.0, and a column of whole numbers is read as integers.
    doubles = pc.add(numbers.cast(DOUBLE), 0.0)
    return pc.if_else(pc.is_nan(doubles), pa.scalar(None, DOUBLE), doubles)


def _as(kind: Any) -> CellChange:
    return lambda cells: decoded(cells).cast(kind)


def is_number(kind: Any) -> bool:
    """Whether a type is one of integers or floats."""
    return bool(types.is_integer(kind) or types.is_floating(kind))


def _is_moment(kind: Any) -> bool:
    # A column of moments that are all at midnight is read back as days.
    return bool(types.is_date(kind) or types.is_timestamp(kind))


NUMBER = Promise(types=is_number, drafted=as_number, written=as_number)
TRUTHS = Promise(types=types.is_boolean, drafted=decoded, written=decoded)
DAYS = Promise(types=types.is_date, drafted=_as(DAY), written=_as(DAY))
MOMENTS = Promise(types=_is_moment, drafted=_as(MOMENT), written=_as(MOMENT))
