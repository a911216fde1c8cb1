"""Read and write SPSS, Stata and SAS files, with the labels of what they show."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as types

from sfumato.data.cell_text import as_text
from sfumato.data.file_labels import Code, ColumnLabels, FileLabels, with_labels
from sfumato.errors import DataError
from sfumato.io.extras import library
from sfumato.io.formats import Format

READERS = MappingProxyType(
    {
        Format.SPSS: ("SPSS", "read_sav"),
        Format.STATA: ("Stata", "read_dta"),
        Format.SAS: ("SAS transport", "read_xport"),
        Format.SAS_NATIVE: ("SAS", "read_sas7bdat"),
    }
)
TELLS_MISSING = frozenset({Format.SPSS, Format.STATA, Format.SAS_NATIVE})
"""Formats whose files can declare values to mean "no value"."""
LARGEST_WHOLE = 1 << 53
"""Whole numbers up to here survive as a double, the only number these files have."""
NUMBERS = MappingProxyType(
    {
        Format.SPSS: (0.0, 1.7e308),
        Format.STATA: (0.0, 8.9e307),
        Format.SAS: (1e-75, 9e74),
    }
)
"""The smallest and largest number of each format; zero fits everywhere."""
MOST_MISSING = 3
"""How many single values an SPSS file can declare as missing in one column."""


def read_statistical(content: pa.Buffer, path: Path, format: Format) -> pa.Table:
    """Read a file of a statistical program; the table remembers its labels.

    Whole numbers come as integers. Values declared as missing stay what they are; a
    tagged missing value of Stata or SAS comes as `.a` to `.z`, in a column of text.
    """
    what, reader = READERS[format]
    stats = _pyreadstat(f"A {what} file")
    options = {"user_missing": True} if format in TELLS_MISSING else {}
    try:
        columns, meta = getattr(stats, reader)(
            io.BytesIO(content), output_format="dict", **options
        )
    except Exception as fault:
        # pyreadstat raises errors of many kinds for damaged files.
        raise _unread(path, what, fault) from None
    table = pa.table(
        [_column(columns[name]) for name in meta.column_names],
        names=list(meta.column_names),
    )
    return with_labels(table, _labels(meta, table))


def _pyreadstat(what: str) -> Any:
    return library("pyreadstat", extra="stats", purpose=what)


def _unread(path: Path, what: str, fault: Exception) -> DataError:
    if isinstance(fault, OverflowError):
        return DataError(
            f"'{path}' has a date beyond the year 9999.",
            hint="Turn the column into text or numbers, or leave it out.",
        )
    return DataError(
        f"'{path}' is not a whole {what} file.",
        hint="Check that its ending says what it is, or copy it again.",
    )


def _column(cells: Sequence[Any]) -> Any:
    tags = {cell for cell in set(cells) if isinstance(cell, str)}
    if tags and any(isinstance(cell, float | int) for cell in set(cells)):
        return _tagged(cells)
    found = pa.array(cells, from_pandas=True)
    if types.is_null(found.type):
        return found.cast(pa.string())
    return whole_numbers(found)


def _tagged(cells: Sequence[Any]) -> Any:
    """Numbers and tags of missing values, all as text."""
    numbers = [None if isinstance(cell, str) else cell for cell in cells]
    texts = as_text(whole_numbers(pa.array(numbers, pa.float64(), from_pandas=True)))
    tags = pa.array([f".{cell}" if isinstance(cell, str) else None for cell in cells])
    return pc.coalesce(texts, tags)


def whole_numbers(column: Any) -> Any:
    """A column of doubles as integers, if all of them are whole numbers."""
    if not types.is_floating(column.type):
        return column
    held = pc.drop_null(column)
    near = pc.less_equal(pc.abs(held), float(LARGEST_WHOLE))
    whole = pc.and_(near, pc.equal(held, pc.trunc(held)))
    if not len(held) or not pc.all(whole).as_py():
        return column
    return column.cast(pa.int64())


def _labels(meta: Any, table: pa.Table) -> dict[str, ColumnLabels]:
    found = {
        name: ColumnLabels(
            type=str(table.schema.field(name).type),
            label=meta.column_names_to_labels.get(name) or None,
            values=_value_labels(meta.variable_value_labels.get(name, {})),
            missing=_missing(meta, name),
            measure=_measure(meta, name),
        )
        for name in meta.column_names
    }
    return {name: each for name, each in found.items() if _says_something(each)}


def _says_something(labels: ColumnLabels) -> bool:
    return bool(labels.label or labels.values or labels.missing or labels.measure)


def _measure(meta: Any, name: str) -> str | None:
    found: str | None = meta.variable_measure.get(name)
    return None if found == "unknown" else found


def _value_labels(found: Mapping[Code, str]) -> tuple[tuple[Code, str], ...]:
    return tuple((_whole(code), label) for code, label in found.items())


def _missing(meta: Any, name: str) -> tuple[tuple[Code, Code], ...]:
    ranges = meta.missing_ranges.get(name, [])
    tags = meta.missing_user_values.get(name, [])
    return (
        *((_whole(each["lo"]), _whole(each["hi"])) for each in ranges),
        *((f".{tag}", f".{tag}") for tag in tags),
    )


def _whole(code: Code) -> Code:
    whole = isinstance(code, float) and code.is_integer() and abs(code) < LARGEST_WHOLE
    return int(code) if whole else code


def write_statistical(
    table: pa.Table, path: Path, format: Format, labels: FileLabels
) -> None:
    """Write a table as an SPSS, Stata or SAS transport file.

    What these files cannot hold exactly (large integers, decimals, times of day,
    fractions of seconds, time zones) is written as text. Of the labels, those of values
    that occur are kept. Texts that are missing and empty texts are the same there.
    """
    stats = _pyreadstat(f"A file with the ending .{format}")
    pandas = library(
        "pandas", extra="stats", purpose=f"Writing a file with the ending .{format}"
    )
    columns = [_storable(column, format) for column in table.columns]
    plain = pa.table(columns, names=table.column_names)
    frame = pandas.DataFrame(
        {name: _in_numpy(plain.column(name)) for name in plain.column_names}
    )
    kept = {name: labels[name] for name in plain.column_names if name in labels}
    try:
        _WRITERS[format](stats, frame, path, _Shown(plain, kept))
    except OSError:
        raise
    except Exception:
        # pyreadstat raises errors of many kinds for names and cells that do not fit.
        raise _unwritable(plain, format) from None


def _in_numpy(column: pa.ChunkedArray) -> npt.NDArray[Any]:
    """A column as pandas holds it; dates as objects.

    Not by Arrow's `to_pandas`, because a command tells Arrow that there is no pandas.
    """
    if types.is_date(column.type):
        return np.array(column.to_pylist(), dtype=object)
    cells: npt.NDArray[Any] = column.to_numpy()
    return cells


def _storable(column: pa.ChunkedArray, format: Format) -> pa.ChunkedArray:
    """A column in a type that the files hold exactly; else as text."""
    kind = column.type
    if types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if types.is_boolean(kind):
        return column.cast(pa.int8())
    if types.is_floating(kind) and _in_range(column, format):
        numbers = column.cast(pa.float64())
        return pc.if_else(pc.is_nan(numbers), pa.scalar(None, pa.float64()), numbers)
    if types.is_integer(kind) and _fits_double(column):
        return column.cast(pa.float64())
    if types.is_date(kind):
        return column.cast(pa.date32())
    if types.is_timestamp(kind) and kind.tz is None and _whole_seconds(column):
        return column.cast(pa.timestamp("us"))
    return as_text(column)


def _in_range(column: pa.ChunkedArray, format: Format) -> bool:
    low, high = NUMBERS[format]
    size = pc.abs(column.cast(pa.float64()))
    fits = pc.and_(pc.greater_equal(size, low), pc.less_equal(size, high))
    known = pc.or_(pc.or_(fits, pc.equal(size, 0.0)), pc.is_nan(size))
    return pc.all(known).as_py() is not False


def _fits_double(column: pa.ChunkedArray) -> bool:
    low, high = pc.min_max(column).as_py().values()
    return low is None or (low >= -LARGEST_WHOLE and high <= LARGEST_WHOLE)


def _whole_seconds(column: pa.ChunkedArray) -> bool:
    rounded = pc.floor_temporal(column, unit="second")
    return pc.all(pc.equal(column, rounded)).as_py() is not False


class _Shown:
    """The labels of the values that a table shows."""

    def __init__(self, table: pa.Table, labels: FileLabels) -> None:
        self.columns = {name: label.label for name, label in labels.items()}
        self.measures = {
            name: label.measure for name, label in labels.items() if label.measure
        }
        shown = {name: _codes(table[name]) for name in labels}
        self.values = {
            name: {code: text for code, text in label.values if code in shown[name]}
            for name, label in labels.items()
        }
        self.missing = {
            name: [
                code for code in sorted(shown[name], key=str) if label.is_missing(code)
            ]
            for name, label in labels.items()
        }
        self.formats = {
            name: "F11.0" for name in table.column_names if _integral(table[name])
        }


def _codes(column: pa.ChunkedArray) -> set[Code]:
    return {_whole(code) for code in pc.unique(column).to_pylist() if code is not None}


def _integral(column: pa.ChunkedArray) -> bool:
    if not types.is_floating(column.type):
        return False
    whole = whole_numbers(column.combine_chunks())
    return bool(types.is_integer(whole.type))


def _write_sav(stats: Any, frame: Any, path: Path, shown: _Shown) -> None:
    stats.write_sav(
        frame,
        str(path),
        column_labels=_named(shown.columns),
        variable_value_labels=_filled(shown.values),
        missing_ranges=_filled({n: _ranges(c) for n, c in shown.missing.items()}),
        variable_measure=shown.measures,
        variable_format=shown.formats,
    )


def _ranges(codes: Sequence[Code]) -> list[Any]:
    """Codes as SPSS declares them: up to three, or one range over them."""
    if len(codes) <= MOST_MISSING:
        return list(codes)
    numbers = [code for code in codes if not isinstance(code, str)]
    return [{"lo": min(numbers), "hi": max(numbers)}] if numbers else []


def _write_dta(stats: Any, frame: Any, path: Path, shown: _Shown) -> None:
    for name, codes in shown.missing.items():
        if any(isinstance(code, str) for code in codes):
            frame[name] = [_untagged(cell) for cell in frame[name]]
    stats.write_dta(
        frame,
        str(path),
        column_labels=_named(shown.columns),
        variable_value_labels=_filled(
            {
                name: {_bare_tag(code): text for code, text in found.items()}
                for name, found in shown.values.items()
                if all(isinstance(code, int | str) for code in found)
            }
        ),
        missing_user_values=_filled(
            {
                name: [_bare_tag(code) for code in codes if isinstance(code, str)]
                for name, codes in shown.missing.items()
            }
        ),
    )


def _untagged(cell: Any) -> Any:
    """A number, or the letter of a tagged missing value, from text."""
    if not isinstance(cell, str):
        return None
    return cell[1:] if cell.startswith(".") else float(cell)


def _bare_tag(code: Code) -> Code:
    return code[1:] if isinstance(code, str) else code


def _write_xpt(stats: Any, frame: Any, path: Path, shown: _Shown) -> None:
    stats.write_xport(frame, str(path), column_labels=_named(shown.columns))


def _named(labels: Mapping[str, str | None]) -> dict[str, str] | None:
    return _filled({name: text for name, text in labels.items() if text})


def _filled(found: Mapping[str, Any]) -> dict[str, Any] | None:
    return {name: each for name, each in found.items() if each} or None


_WRITERS = {
    Format.SPSS: _write_sav,
    Format.STATA: _write_dta,
    Format.SAS: _write_xpt,
}


def _unwritable(table: pa.Table, format: Format) -> DataError:
    return DataError(
        f"The {table.num_columns:,} columns cannot be written to a file with the ending "
        f".{format}: a name or a text is too long for it, or a name has signs that it "
        "does not allow.",
        hint="Rename the columns, or set publish.format to another format.",
    )
