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

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as parquet

from sfumato.data.source import (
    delimiter_fault,
    delimiter_of,
    encoding_of,
    remember,
    unnamed_first,
    without_first,
    without_row_numbers,
)
from sfumato.errors import DataError
from sfumato.io.compression import unpacked
from sfumato.io.csv_grammar import REFUSED, LineBreaks, check_cells, ragged_fault
from sfumato.io.decimals import with_points
from sfumato.io.formats import Format, format_of, is_stream
from sfumato.io.headers import cells_like_data
from sfumato.io.memory import parquet_bytes, require_memory
from sfumato.io.plain_types import plain_types
from sfumato.io.sniff import Utf8Content, find_delimiter, first_rows, header, plain_text

__all__ = ["delimiter_of", "encoding_of", "read_source"]

BLOCK_BYTES = 1 << 20
FROM_HERE = "Check the name: a relative path starts from the current directory."
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
    breaks: LineBreaks = REFUSED,
) -> pa.Table:
    """Read a file of any format; once, so that `seen` sees what is parsed.

    Cells of a CSV file come as text, none of them as null; what they mean is decided
    later, on distinct values. The delimiter and encoding taken are in the schema's
    metadata (`delimiter_of`, `encoding_of`), and so are the labels of a statistical file.
    `breaks` says in which columns cells may have line breaks. A first column without a
    name is taken for row numbers and left out (`has_row_numbers`). Blank lines are
    skipped. With the decimal mark `,` numbers get points. A first line that looks like
    data is refused, unless the file is known to be `named`. `sheet` names the sheet of a
    workbook. The path `-` is standard input. With `coded`, texts of a CSV file may come
    as dictionaries (`data.source.coded_texts`), which is faster.
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
        table = _read_csv(
            plain, place, delimiter, encoding, named, coded=faster, breaks=breaks
        )
        table = with_points(table) if pointed else table
    else:
        table = without_row_numbers(_read_typed(content, place, form, sheet))
    check_names(table.column_names, place)
    if not table.num_rows:
        raise DataError(
            f"'{path}' has a header of {table.num_columns:,} columns and no rows.",
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
        from sfumato.io.excel_files import UNNAMED, read_excel

        table = read_excel(content, path, sheet)
        numbered = table.num_columns > 1 and table.column_names[0] == UNNAMED
        return without_first(table) if numbered else table
    from sfumato.io.statistical_files import read_statistical

    return read_statistical(content, path, form)


def check_place(path: Path, *, hint: str = FROM_HERE) -> None:
    """Refuse a place where there is no file, or an empty one.

    `hint` says what a relative path starts from.
    """
    if is_stream(path):
        return
    if _is(path, Path.is_dir):
        raise DataError(
            f"'{path}' is a directory, not a file.", hint="Name a file in it."
        )
    if not _is(path, Path.exists):
        raise DataError(f"There is no file '{path}'.", hint=hint)
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
    breaks: LineBreaks,
) -> pa.Table:
    plain = plain_text(content, encoding, path)
    delimiter, names = csv_layout(plain, path, delimiter, named=named)
    table, several = _coded(plain, delimiter, names) if coded else None, False
    if table is None:
        several = check_cells(plain, delimiter, names, path, breaks=breaks)
        table = _as_texts(plain, delimiter, names, path, several=several)
    return remember(
        without_row_numbers(table),
        delimiter=delimiter,
        encoding=plain.encoding,
        multiline=several,
    )


def _coded(plain: Utf8Content, delimiter: str, names: list[str]) -> pa.Table | None:
    # Imported late: most commands need no compiled code to read a file.
    from sfumato.io.coded_csv import coded_table
    from sfumato.kernels.compilation.decorators import interpreted

    return None if interpreted() else coded_table(plain, delimiter, names)


def _as_texts(
    plain: Utf8Content, delimiter: str, names: list[str], path: Path, *, several: bool
) -> pa.Table:
    table = _parse(plain, delimiter, names, path, several=several)
    if not _has_names(table, names):
        plain.check_decodes(path)
        raise unread_names(path, names)
    return table


def unread_names(path: Path, names: list[str]) -> DataError:
    """The error for a header in which Arrow finds other names."""
    return DataError(
        f"'{path}', line 1: the header cannot be read as {len(names):,} names.",
        hint="Put quotation marks around names with unusual characters.",
    )


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
    check_names(names, path, numbered=unnamed_first(names))
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
    plain: Utf8Content, delimiter: str, names: list[str], path: Path, *, several: bool
) -> pa.Table:
    try:
        return _parse_blocks(plain, delimiter, names, several=several)
    except pa.ArrowInvalid:
        raise unparsed(plain, delimiter, path) from None


def _parse_blocks(
    plain: Utf8Content, delimiter: str, names: list[str], *, several: bool
) -> pa.Table:
    """Parse blocks of lines; they are found faster if no cell has `several` of them."""
    block = BLOCK_BYTES
    while True:
        try:
            return arrow_csv.read_csv(
                pa.BufferReader(plain.buffer),
                read_options=arrow_csv.ReadOptions(block_size=block),
                parse_options=arrow_csv.ParseOptions(
                    delimiter=delimiter, newlines_in_values=several
                ),
                convert_options=all_text(names),
            )
        except pa.ArrowInvalid as error:
            if not longer_than_block(error) or block > plain.buffer.size:
                raise
            block *= 8


def longer_than_block(error: pa.ArrowInvalid) -> bool:
    """Whether a row or a header is longer than a block, which is allowed."""
    return any(words in str(error) for words in ("straddling", "or block"))


def all_text(names: list[str], *, only: list[str] | None = None) -> Any:
    """How CSV cells are converted: they stay text, and none is null."""
    return arrow_csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()),
        strings_can_be_null=False,
        include_columns=only,
    )


def unparsed(plain: Utf8Content, delimiter: str, path: Path) -> DataError:
    """Say what is wrong without the cells that the parser's own message quotes."""
    plain.check_decodes(path)
    ragged = ragged_fault(plain, delimiter, path)
    if ragged is not None:
        return ragged
    return DataError(
        f"'{path}' cannot be parsed as CSV with the delimiter {delimiter!r}.",
        hint="Declare the delimiter, and check the quotation marks.",
    )


def _check_header(sample: str, delimiter: str, path: Path) -> None:
    rows = first_rows(sample, delimiter)
    data = cells_like_data(rows)
    if data:
        raise DataError(
            f"'{path}', line 1: {data:,} of {len(rows[0]):,} cells look like data, so "
            "the file seems to have no header.",
            hint="Write the names of the columns into its first line.",
        )


def check_names(names: list[str], path: Path, *, numbered: bool = False) -> None:
    """Refuse columns without a name of their own, but for `numbered` rows."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    unnamed = [place for place, name in enumerate(names, 1) if not name.strip()]
    unnamed = unnamed[numbered:]
    if unnamed:
        raise DataError(
            f"'{path}': column {unnamed[0]} of {len(names):,} has no name.",
            hint="Every column needs a name in the header.",
        )
    if twice:
        places = [str(at) for at, name in enumerate(names, 1) if name == twice[0]]
        raise DataError(
            f"'{path}': columns {', '.join(places)} of {len(names):,} share a name.",
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
