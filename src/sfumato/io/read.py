"""Read a table from a file, keeping every cell as written."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as parquet

from sfumato.data.source import (
    delimiter_fault,
    delimiter_of,
    encoding_of,
    remember,
)
from sfumato.errors import DataError
from sfumato.io.compression import unpacked
from sfumato.io.decimals import with_points
from sfumato.io.formats import Format, format_of, is_stream
from sfumato.io.headers import cells_like_data
from sfumato.io.memory import parquet_bytes, require_memory
from sfumato.io.plain_types import plain_types
from sfumato.io.sniff import Utf8Content, find_delimiter, first_rows, header, plain_text

__all__ = ["delimiter_of", "encoding_of", "read_source"]

BLOCK_BYTES = 1 << 20
Seen = Callable[[pa.Buffer], None]
"""A function that receives the bytes of a file as they are read."""


def read_source(
    path: str | Path,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    format: Format | str | None = None,
    decimal: str | None = None,
    sheet: str | None = None,
    seen: Seen | None = None,
    named: bool = False,
    coded: bool = False,
) -> pa.Table:
    """Read a file of any format; once, so that `seen` sees what is parsed.

    Cells of a CSV file come as text, none of them as null; what they mean is decided
    later, on distinct values. The delimiter and encoding taken are in the schema's
    metadata (`delimiter_of`, `encoding_of`), and so are the labels of a statistical file.
    Blank lines are skipped. With the decimal mark `,` numbers get points. A first line
    that looks like data is refused, unless the file is known to be `named`. `sheet` names
    the sheet of a workbook. The path `-` is standard input. With `coded`, texts of a CSV
    file may come as dictionaries (`data.source.coded_texts`), which is faster.
    """
    place = Path(path)
    check_place(place)
    form = Format(format) if format else format_of(place)
    content = _content(place)
    if seen is not None:
        seen(content)
    if form is Format.CSV:
        plain = unpacked(content, place)
        pointed = decimal == ","
        faster = coded and not pointed
        table = _read_csv(plain, place, delimiter, encoding, named, coded=faster)
        table = with_points(table) if pointed else table
    else:
        table = _read_typed(content, place, form, sheet)
    check_names(table.column_names, place)
    if not table.num_rows:
        raise DataError(
            f"'{path}' has a header of {table.num_columns} columns and no rows.",
            hint="A table needs at least one row below its header.",
        )
    return plain_types(table)


def _read_typed(
    content: pa.Buffer, path: Path, form: Format, sheet: str | None
) -> pa.Table:
    """Read a file whose cells have types."""
    if form is Format.PARQUET:
        return _read_parquet(content, path)
    if form is Format.ARROW:
        return _read_arrow(content, path)
    # Imported late: few sources need them.
    if form is Format.EXCEL:
        from sfumato.io.excel_files import read_excel

        return read_excel(content, path, sheet)
    from sfumato.io.statistical_files import read_statistical

    return read_statistical(content, path, form)


def check_place(path: Path) -> None:
    """Refuse a place where there is no file, or an empty one."""
    if is_stream(path):
        return
    if _is(path, Path.is_dir):
        raise DataError(
            f"'{path}' is a directory, not a file.", hint="Name a file in it."
        )
    if not _is(path, Path.exists):
        raise DataError(
            f"There is no file '{path}'.",
            hint="Paths in a policy are relative to the policy file.",
        )
    if not path.stat().st_size:
        raise _empty(path)


def _is(path: Path, thing: Callable[[Path], bool]) -> bool:
    """Return whether a path is something; a path that is too long is nothing."""
    try:
        return thing(path)
    except OSError:
        return False


def _empty(path: Path) -> DataError:
    return DataError(
        f"'{path}' is empty.", hint="A table needs a header and at least one row."
    )


def _content(path: Path) -> pa.Buffer:
    try:
        return _standard_input(path) if is_stream(path) else _bytes_of(path)
    except OSError as error:
        raise DataError(
            f"'{path}' cannot be read: {error.strerror}.",
            hint="Check the permissions of the file.",
        ) from None


@cache
def _standard_input(path: Path) -> pa.Buffer:
    """All of standard input, which can be read only once."""
    content = sys.stdin.buffer.read()
    if not content:
        raise _empty(path)
    return pa.py_buffer(content)


def _bytes_of(path: Path) -> pa.Buffer:
    """A file, in memory that Arrow keeps and uses again."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        require_memory(size, path, what=f"has {size:,} bytes")
        room = pa.allocate_buffer(size)
        return room.slice(0, file.readinto(memoryview(room)))


def _read_csv(
    content: pa.Buffer,
    path: Path,
    delimiter: str | None,
    encoding: str | None,
    named: bool,
    *,
    coded: bool,
) -> pa.Table:
    plain = plain_text(content, encoding, path)
    delimiter, names = csv_layout(plain, path, delimiter, named=named)
    table = _coded(plain, delimiter, names) if coded else None
    if table is None:
        table = _as_texts(plain, delimiter, names, path)
    return remember(table, delimiter=delimiter, encoding=plain.encoding)


def _coded(plain: Utf8Content, delimiter: str, names: list[str]) -> pa.Table | None:
    # Imported late: most commands need no compiled code to read a file.
    from sfumato.io.coded_csv import coded_table
    from sfumato.kernels.compilation.decorators import interpreted

    return None if interpreted() else coded_table(plain, delimiter, names)


def _as_texts(
    plain: Utf8Content, delimiter: str, names: list[str], path: Path
) -> pa.Table:
    table = _parse(plain, delimiter, names, path)
    if not _has_names(table, names):
        plain.check_decodes(path)
        raise DataError(
            f"'{path}', line 1: the header cannot be read as {len(names)} names.",
            hint="Put quotation marks around names with unusual characters.",
        )
    _check_last_quote(plain, table, path)
    return table


def _has_names(table: pa.Table, names: list[str]) -> bool:
    """Whether Arrow found these names; those it found may be no text."""
    with suppress(UnicodeDecodeError):
        return bool(table.column_names == names)
    return False


def csv_layout(
    plain: Utf8Content, path: Path, delimiter: str | None, *, named: bool
) -> tuple[str, list[str]]:
    """The delimiter of a CSV file, declared or found, and the names of its columns."""
    if plain.blank:
        raise _empty(path)
    delimiter = _checked(delimiter, path) or find_delimiter(plain.sample)
    names = header(plain.sample, delimiter)
    if any("\ufffd" in name for name in names):
        plain.check_decodes(path)
    if not named:
        _check_header(plain.sample, delimiter, path)
    check_names(names, path)
    return delimiter, names


def _checked(delimiter: str | None, path: Path) -> str | None:
    fault = None if delimiter is None else delimiter_fault(delimiter)
    if fault is None:
        return delimiter
    raise DataError(
        f"'{path}' cannot be read: the delimiter {fault}.",
        hint="Usual ones are , ; | and the tab.",
    )


def _parse(
    plain: Utf8Content, delimiter: str, names: list[str], path: Path
) -> pa.Table:
    try:
        return _parse_blocks(plain, delimiter, names)
    except pa.ArrowInvalid:
        plain.check_decodes(path)
        raise _explain(plain, delimiter, path) from None


def _parse_blocks(
    plain: Utf8Content, delimiter: str, names: list[str], **options: Any
) -> pa.Table:
    quoted = plain.has(b'"')
    if quoted and not options:
        # Twice as fast, and the same if every line turns out to be a row: then no cell
        # has a line end in it.
        with suppress(pa.ArrowInvalid):
            table = _parse_lines(plain, delimiter, names, broken=False)
            if table.num_rows + 1 == plain.lines:
                return table
    return _parse_lines(plain, delimiter, names, broken=quoted, **options)


def _parse_lines(
    plain: Utf8Content, delimiter: str, names: list[str], broken: bool, **options: Any
) -> pa.Table:
    """Parse blocks of lines; they are found faster if no line is `broken` by a cell."""
    block = BLOCK_BYTES
    while True:
        try:
            return arrow_csv.read_csv(
                pa.BufferReader(plain.buffer),
                read_options=arrow_csv.ReadOptions(
                    block_size=block, use_threads=not options
                ),
                parse_options=arrow_csv.ParseOptions(
                    delimiter=delimiter, newlines_in_values=broken, **options
                ),
                convert_options=all_text(names),
            )
        except pa.ArrowInvalid as error:
            # A row or a header longer than a block, which is allowed.
            long = any(words in str(error) for words in ("straddling", "or block"))
            if not long or block > plain.buffer.size:
                raise
            block *= 8


def all_text(names: list[str], *, only: list[str] | None = None) -> Any:
    """How CSV cells are converted: they stay text, and none is null."""
    return arrow_csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()),
        strings_can_be_null=False,
        include_columns=only,
    )


def _explain(plain: Utf8Content, delimiter: str, path: Path) -> DataError:
    """Say what is wrong without the cells that the parser's own message quotes."""
    ragged = _first_ragged(plain, delimiter, path)
    if ragged is not None:
        return ragged
    return DataError(
        f"'{path}' cannot be parsed as CSV with the delimiter {delimiter!r}.",
        hint="Declare the delimiter, and check the quotation marks.",
    )


def _first_ragged(plain: Utf8Content, delimiter: str, path: Path) -> DataError | None:
    found: list[Any] = []

    def stop(row: Any) -> str:
        found.append(row)
        return "error"

    content = plain.content
    names = header(content.decode("utf-8"), delimiter)
    try:
        _parse_blocks(plain, delimiter, names, invalid_row_handler=stop)
    except pa.ArrowInvalid:
        if not found:
            return None
    row = found[0]
    return DataError(
        f"'{path}', line {_line_of_record(content, row.number)}: "
        f"{row.actual_columns} cells where the header has {row.expected_columns}.",
        hint="Quote cells that contain the delimiter "
        f"({delimiter!r}), or declare another one.",
    )


def _line_of_record(content: bytes, number: int) -> int:
    """The line on which the given record starts, header and records from 1."""
    data = np.frombuffer(content, dtype=np.uint8)
    feeds, returns = _positions(data, b"\n"), _positions(data, b"\r")
    ends = np.union1d(feeds, returns[~np.isin(returns + 1, feeds)])
    # After an odd number of quotation marks a line end is part of a cell.
    outside = np.searchsorted(_positions(data, b'"'), ends) % 2 == 0
    filled = _filled_lines(data, ends[outside])
    if number > len(filled):
        # But for marks inside of a cell that has none around it: they open nothing.
        filled = _filled_lines(data, ends)
    start = filled[min(number, len(filled)) - 1]
    return int(np.searchsorted(feeds if len(feeds) else returns, start)) + 1


def _filled_lines(
    data: npt.NDArray[np.uint8], ends: npt.NDArray[np.intp]
) -> npt.NDArray[np.intp]:
    """Where lines start that are not blank."""
    starts = np.concatenate([[0], ends + 1])
    starts = starts[starts < len(data)]
    return starts[~np.isin(data[starts], (10, 13))]


def _positions(data: npt.NDArray[np.uint8], byte: bytes) -> npt.NDArray[np.intp]:
    return np.flatnonzero(data == byte[0])


def _check_last_quote(plain: Utf8Content, table: pa.Table, path: Path) -> None:
    """Refuse an unclosed quotation mark, which swallows the rest of the file."""
    if not table.num_rows:
        return
    last = table.column(table.num_columns - 1)[-1].as_py()
    if "\n" not in last and "\r" not in last:
        return
    content = plain.content
    if content.count(b'"') % 2:
        rest = last.encode("utf-8")
        line = content.count(b"\n") - rest.count(b"\n") + 1
        raise DataError(
            f"'{path}', line {line}: a quotation mark is opened and never closed.",
            hint="Close it, or double quotation marks inside a quoted cell.",
        )


def _check_header(sample: str, delimiter: str, path: Path) -> None:
    rows = first_rows(sample, delimiter)
    data = cells_like_data(rows)
    if data:
        raise DataError(
            f"'{path}', line 1: {data} of {len(rows[0])} cells look like data, so "
            "the file seems to have no header.",
            hint="Write the names of the columns into its first line.",
        )


def check_names(names: list[str], path: Path) -> None:
    """Refuse columns without a name of their own."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    unnamed = [place for place, name in enumerate(names, 1) if not name.strip()]
    if unnamed:
        raise DataError(
            f"'{path}': column {unnamed[0]} of {len(names)} has no name.",
            hint="Every column needs a name in the header.",
        )
    if twice:
        places = [str(at) for at, name in enumerate(names, 1) if name == twice[0]]
        raise DataError(
            f"'{path}': columns {', '.join(places)} of {len(names)} share a name.",
            hint="Give every column a name of its own.",
        )


def _read_parquet(content: pa.Buffer, path: Path) -> pa.Table:
    try:
        file = parquet.ParquetFile(pa.BufferReader(content))
        needed = parquet_bytes(file.metadata, file.schema_arrow)
        require_memory(needed, path, what=f"has {file.metadata.num_rows:,} rows")
        return _validated(file.read())
    except (pa.ArrowException, OSError) as error:
        raise _unread(path, "Parquet", error) from None


def _read_arrow(content: pa.Buffer, path: Path) -> pa.Table:
    problem: Exception = ValueError()
    for batches in (_file_batches, _stream_batches):
        try:
            return _validated(_gathered(*batches(content), path))
        except (pa.ArrowException, OSError) as error:
            problem = error
    raise _unread(path, "Arrow", problem)


def _file_batches(content: pa.Buffer) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    reader = pa.ipc.open_file(content)
    places = range(reader.num_record_batches)
    return reader.schema, (reader.get_batch(place) for place in places)


def _stream_batches(content: pa.Buffer) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    reader = pa.ipc.open_stream(content)
    return reader.schema, iter(reader)


def _gathered(
    schema: pa.Schema, batches: Iterator[pa.RecordBatch], path: Path
) -> pa.Table:
    """Collect all batches while they fit: compressed ones may grow endlessly."""
    found, size = [], 0
    for batch in batches:
        size += batch.nbytes
        require_memory(size, path, what=f"has more than {size:,} bytes of cells")
        found.append(batch)
    return pa.Table.from_batches(found, schema)


def _validated(table: pa.Table) -> pa.Table:
    """Return the table if its bytes match its types, so damage is not processed."""
    table.validate(full=True)
    return table


def _unread(path: Path, what: str, error: Exception) -> DataError:
    if isinstance(error, pa.ArrowNotImplementedError):
        return DataError(
            f"'{path}' has a column of a type that cannot be read here.",
            hint="Turn the column into text or plain numbers, or leave it out.",
        )
    return _not_a(path, what)


def _not_a(path: Path, what: str) -> DataError:
    return DataError(
        f"'{path}' is not a whole {what} file.",
        hint="Check that its ending says what it is, or copy it again.",
    )
