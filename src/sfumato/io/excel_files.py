"""Read and write Excel workbooks."""

from __future__ import annotations

import datetime as dt
import logging
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as types

from sfumato.data.cell_text import as_text
from sfumato.errors import DataError
from sfumato.io.extras import library
from sfumato.io.statistical_files import whole_numbers

LARGEST_WHOLE = 10**15
"""Excel shows 15 digits; longer numbers are written as text."""
FIRST_DAY = dt.date(1900, 3, 1)
"""Excel counts a 29 February 1900 that never was; earlier dates are written as text."""
DIGITS = 16
"""Digits of a number in a workbook."""
SHEET = "data"
UNNAMED = "__UNNAMED__0"
"""What the reader calls a first column without a name."""


def read_excel(content: pa.Buffer, path: Path, sheet: str | None) -> pa.Table:
    """Read a sheet of a workbook: the one named, or the only one with cells.

    Cells keep their types; a column of mixed types becomes text, whole numbers become
    integers, and times that are all midnight become dates.
    """
    excel = library("fastexcel", extra="excel", purpose="An Excel file")
    try:
        with _quiet():
            book = excel.read_excel(content.to_pybytes())
            name = _sheet(book, path, sheet)
            found = book.load_sheet(name, schema_sample_rows=None).to_arrow()
    except DataError:
        raise
    except Exception:
        # The reader raises errors of many kinds, some of which quote cells.
        raise DataError(
            f"'{path}' is not a whole Excel workbook, or is protected by a password.",
            hint="Open it in a spreadsheet program and save it again as .xlsx.",
        ) from None
    table = pa.Table.from_batches([found])
    columns = [_typed(column) for column in table.columns]
    return pa.table(columns, names=table.column_names)


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the reader's warnings: they are not ours to print."""
    log = logging.getLogger("fastexcel")
    before = log.disabled, log.propagate
    log.propagate = False
    handler = logging.NullHandler()
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.propagate = before[1]


def _sheet(book: Any, path: Path, asked: str | None) -> str:
    names: list[str] = list(book.sheet_names)
    if asked is not None:
        if asked in names:
            return asked
        raise DataError(
            f"'{path}' has no sheet '{asked}'.",
            hint=f"It has {_listed(names)}.",
        )
    filled = [name for name in names if book.load_sheet(name).total_height]
    if len(filled) == 1:
        return filled[0]
    if not filled:
        raise DataError(
            f"'{path}' has no sheet with a header and rows below it.",
            hint="A table needs a header and at least one row.",
        )
    raise DataError(
        f"'{path}' has {len(filled):,} sheets with cells, and none is named.",
        hint=f"Set data.sheet to one of {_listed(filled)}.",
    )


def _listed(names: list[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _typed(column: pa.ChunkedArray) -> Any:
    whole = column.combine_chunks()
    if types.is_null(whole.type):
        return whole.cast(pa.string())
    if types.is_timestamp(whole.type):
        days = pc.floor_temporal(whole, unit="day")
        midnight = pc.all(pc.equal(whole, days)).as_py() is not False
        return whole.cast(pa.date32()) if midnight else whole
    return whole_numbers(whole)


def write_excel(table: pa.Table, path: Path) -> None:
    """Write a table as a workbook with one sheet; no cell becomes a formula or a link.

    What a sheet cannot hold exactly (numbers of more than 15 digits, days before March
    1900, times of day, time zones) is written as text.
    """
    writer = library("xlsxwriter", extra="excel", purpose="Writing an Excel file")
    book = writer.Workbook(str(path), {"nan_inf_to_errors": False})
    sheet = book.add_worksheet(SHEET)
    day = book.add_format({"num_format": "yyyy-mm-dd"})
    moment = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
    try:
        for place, name in enumerate(table.column_names):
            sheet.write_string(0, place, name)
            column = _storable(table.column(place))
            write = _cell_writer(sheet, column.type, day, moment)
            for row, cell in enumerate(column.to_pylist(), 1):
                if cell is not None:
                    write(row, place, cell)
    finally:
        book.close()


def _cell_writer(
    sheet: Any, kind: Any, day: Any, moment: Any
) -> Callable[[int, int, Any], Any]:
    if types.is_boolean(kind):
        return sheet.write_boolean  # type: ignore[no-any-return]
    if types.is_date(kind):
        return lambda row, place, cell: sheet.write_datetime(row, place, cell, day)
    if types.is_timestamp(kind):
        return lambda row, place, cell: sheet.write_datetime(row, place, cell, moment)
    if types.is_floating(kind) or types.is_integer(kind):
        return sheet.write_number  # type: ignore[no-any-return]
    return sheet.write_string  # type: ignore[no-any-return]


def _storable(column: pa.ChunkedArray) -> Any:
    """A column in a type that a sheet holds exactly; else as text."""
    kind = column.type
    if types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if types.is_boolean(kind):
        return column
    if types.is_integer(kind) and _between(column, -LARGEST_WHOLE, LARGEST_WHOLE):
        return column
    if types.is_floating(kind) and _short(column):
        numbers = column.cast(pa.float64())
        return pc.if_else(pc.is_nan(numbers), pa.scalar(None, pa.float64()), numbers)
    if types.is_date(kind) and _between(column, FIRST_DAY, dt.date.max):
        return column
    return _moments(column) if types.is_timestamp(kind) else as_text(column)


def _short(column: pa.ChunkedArray) -> bool:
    """Whether the digits that a workbook keeps tell every number of a column."""
    numbers = pc.unique(column.cast(pa.float64()).drop_null()).to_pylist()
    return all(float(f"{x:.{DIGITS}G}") == x or x != x for x in numbers) and not any(
        map(math.isinf, numbers)
    )


def _moments(column: pa.ChunkedArray) -> Any:
    seconds = pc.floor_temporal(column, unit="second")
    first = dt.datetime.combine(FIRST_DAY, dt.time())
    plain = column.type.tz is None and pc.all(pc.equal(column, seconds)).as_py()
    kept = plain is not False and _between(column, first, dt.datetime.max)
    return seconds.cast(pa.timestamp("s")) if kept else as_text(column)


def _between(column: pa.ChunkedArray, low: Any, high: Any) -> bool:
    least, most = pc.min_max(column).as_py().values()
    return least is None or (least >= low and most <= high)
