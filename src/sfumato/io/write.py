"""Write a table so that reading it back gives the same cells."""

from __future__ import annotations

import os
from collections.abc import (
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as parquet
import pyarrow.types as types

from sfumato.data.arrays import Codes, Ints
from sfumato.data.cell_text import as_text, distinct
from sfumato.data.distinct_keys import first_rows, numbered_keys
from sfumato.data.file_labels import ColumnLabels
from sfumato.data.parallel import each
from sfumato.data.published_cells import packed_key
from sfumato.errors import DataError
from sfumato.io.compression import opened
from sfumato.io.format_limits import refuse_unwritable
from sfumato.io.formats import Format, format_of, hash_bytes
from sfumato.io.spreadsheet import guarded
from sfumato.io.strip_hidden import bare

__all__ = ["format_of", "hash_bytes", "write_table"]

BATCH_ROWS = 1 << 16
FEW_ROWS = 1 << 14
"""Rows whose lines stay in the cache of a processor until they are written."""
SLICE_ROWS = 1 << 20
"""Rows that are prepared and written together; larger tables need not fit in memory."""
QUOTE = '"'
FEW = 8
"""Rows that share their cells on average, if these are put together once."""
SAMPLE_ROWS = 1 << 13
"""Rows that are looked at to guess how many share their cells."""


def write_table(
    table: pa.Table,
    path: str | Path,
    format: Format | str | None = None,
    *,
    delimiter: str = ",",
    spreadsheet_safe: bool = False,
    categories: Collection[str] | None = None,
    labels: Mapping[str, ColumnLabels] = MappingProxyType({}),
) -> None:
    """Write a table in any format; without one, by the path's end.

    Only what the cells show is written: schema metadata is dropped, and
    dictionaries keep only values that occur, in an order that says nothing about rows.
    CSV is UTF-8 with LF, and quoted only where needed. A null is an empty cell; where a
    column has both nulls and empty texts, the latter are quoted. With `spreadsheet_safe`
    no CSV cell can be taken for a formula (`io/spreadsheet.py` reads it back). Where
    `categories` are named, formats with types get no other columns of categories.
    `labels` go into statistical files, as far as they are about values that are shown.
    """
    form = Format(format) if format else format_of(path)
    if form is Format.CSV:
        with opened(Path(path)) as sink:
            _write_csv(_with_one_precision(table), sink, delimiter, spreadsheet_safe)
        return
    if form is Format.EXCEL or form.statistical:
        refuse_unwritable(table, form)
        plain = bare(table if categories is None else _decoded_but(table, categories))
        _write_elsewhere(plain, Path(path), form, labels)
        return
    _write_slices(_bare_slices(table, categories), Path(path), form)


def _write_slices(slices: Iterator[pa.Table], path: Path, form: Format) -> None:
    """Write rows part by part; a part is given up before the next one is made."""
    part = next(slices)
    schema = part.schema
    with pa.OSFile(str(path), "wb") as sink:
        try:
            with _WRITERS[form](sink, schema) as writer:
                while part is not None:
                    writer.write_table(part)
                    part = None
                    part = next(slices, None)
        except (pa.ArrowException, OSError) as fault:
            if getattr(fault, "errno", None):
                raise
            shown = schema.empty_table() if part is None else part
            raise _unwritable(shown, form) from None


def _bare_slices(
    table: pa.Table, categories: Collection[str] | None
) -> Iterator[pa.Table]:
    """The rows as they are written; together, where columns of categories are."""
    kept = {field.name for field in table.schema if types.is_dictionary(field.type)}
    if categories is None or kept.intersection(categories):
        table = bare(table if categories is None else _decoded_but(table, categories))
        yield from _slices(table)
        return
    for part in _slices(table):
        yield bare(_decoded_but(part, categories))


def _slices(table: pa.Table) -> Iterator[pa.Table]:
    for start in range(0, max(table.num_rows, 1), SLICE_ROWS):
        yield table.slice(start, SLICE_ROWS)


def _write_elsewhere(
    table: pa.Table, path: Path, form: Format, labels: Mapping[str, ColumnLabels]
) -> None:
    """Write a file for another program."""
    # Imported late: few releases need them.
    if form is Format.EXCEL:
        from sfumato.io.excel_files import write_excel

        write_excel(table, path)
    else:
        from sfumato.io.statistical_files import write_statistical

        write_statistical(table, path, form, labels)


def _decoded_but(table: pa.Table, categories: Collection[str]) -> pa.Table:
    """Decode dictionary columns to plain values, except for some."""
    for place, field in enumerate(table.schema):
        if types.is_dictionary(field.type) and field.name not in categories:
            column = table.column(place).cast(field.type.value_type)
            table = table.set_column(place, field.name, column)
    return table


def _parquet_writer(sink: Any, schema: pa.Schema) -> Any:
    return parquet.ParquetWriter(sink, schema, compression="zstd")


_WRITERS = {Format.PARQUET: _parquet_writer, Format.ARROW: pa.ipc.new_file}


def _unwritable(table: pa.Table, form: Format) -> DataError:
    """Build the error for a column whose type or values a format does not support."""
    for field in table.schema:
        try:
            column = table.select([field.name])
            with _WRITERS[form](pa.BufferOutputStream(), column.schema) as writer:
                writer.write_table(column)
        except (pa.ArrowException, OSError):
            return DataError(
                f"Column '{field.name}' has the type {field.type}, which cannot be "
                f"written to a file of the format {form}.",
                hint="Drop the column, turn it into text, or set publish.format.",
            )
    return DataError(
        f"The table cannot be written to a file of the format {form}.",
        hint="Set publish.format to another one.",
    )


def _with_one_precision(table: pa.Table) -> pa.Table:
    """Points in time as text: all of a column are written with the same precision."""
    for place, field in enumerate(table.schema):
        if types.is_timestamp(field.type):
            texts = as_text(table.column(place), name=field.name)
            table = table.set_column(place, field.name, texts)
    return table


def _write_csv(
    table: pa.Table, sink: IO[bytes], delimiter: str, spreadsheet_safe: bool
) -> None:
    alone = table.num_columns == 1
    parts = list(_slices(table))
    marks = [
        alone or any(_misses(name, part.column(index)) for part in parts)
        for index, name in enumerate(table.column_names)
    ]
    for number, part in enumerate(parts):
        shown = guarded(part) if spreadsheet_safe else part
        if number == 0:
            sink.write(_header(shown.column_names, delimiter))
        _write_lines(shown, sink, delimiter, marks)


def _misses(name: str, column: pa.ChunkedArray) -> bool:
    """Whether cells of a column are missing, so that empty texts must be quoted."""
    if not types.is_dictionary(column.type):
        return bool(as_text(column, name=name).null_count)
    values, places = distinct(column, name=name)
    empty = np.append(as_text(values, name=name).is_null().to_numpy(False), True)
    if int(places.min(initial=0)) >= 0 and not empty[:-1].any():
        return False
    return bool(empty[places].any())


def _write_lines(
    table: pa.Table, sink: IO[bytes], delimiter: str, marks: list[bool]
) -> None:
    alone, names = table.num_columns == 1, table.column_names
    columns = each(
        lambda index: _quoted_column(
            names[index], table.column(index), delimiter, alone, marks[index]
        ),
        range(table.num_columns),
    )
    columns = [_repeating(column) for column in _fused(columns, delimiter)]
    _write_behind(_all_lines(columns, delimiter), sink)


def _write_behind(parts: Iterable[memoryview], sink: IO[bytes]) -> None:
    """Write each part while the next one is made."""
    written: Future[int] | None = None
    with ThreadPoolExecutor(1) as pool:
        for part in parts:
            if written is not None:
                written.result()
            written = pool.submit(sink.write, part)
        if written is not None:
            written.result()


def _all_lines(
    columns: Sequence[pa.ChunkedArray], delimiter: str
) -> Iterator[memoryview]:
    """The lines of all rows, a batch at a time."""
    if columns and all(types.is_dictionary(column.type) for column in columns):
        yield from _Pieces.of(columns, delimiter).lines()
        return
    quoted = pa.table(columns, [str(place) for place in range(len(columns))])
    batches = quoted.to_batches(max_chunksize=BATCH_ROWS)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for lines in pool.map(lambda batch: _lines(batch, delimiter), batches):
            yield from lines


def _repeating(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column as a dictionary, if many of its first rows share their cells."""
    if types.is_dictionary(column.type):
        return column
    sample = column.slice(0, SAMPLE_ROWS)
    repeats = len(sample.unique()) * FEW <= len(sample)
    return column.dictionary_encode() if repeats else column


class _Pieces(NamedTuple):
    """Cells that lines are made of, each followed by its delimiter or line end.

    One pass over them writes the lines, where joining columns copies all cells twice.
    """

    texts: Any
    """All cells that occur, column by column."""
    places: Sequence[Codes]
    """Per column, the place of each row's cell among those of the column."""
    starts: Ints
    """Per column, where its cells start in `texts`."""

    @classmethod
    def of(cls, columns: Sequence[pa.ChunkedArray], delimiter: str) -> _Pieces:
        parts = [column.combine_chunks() for column in columns]
        ends = [*[delimiter] * (len(parts) - 1), "\n"]
        texts = [
            _followed(part.dictionary, end)
            for part, end in zip(parts, ends, strict=True)
        ]
        return cls(
            texts=pa.concat_arrays(texts),
            places=[part.indices.to_numpy() for part in parts],
            starts=np.cumsum([0, *map(len, texts[:-1])], dtype=np.int64),
        )

    def lines(self) -> Iterator[memoryview]:
        """The lines of all rows, a batch at a time.

        On one thread, because batches that wait for others would be new pages.
        """
        for first in range(0, len(self.places[0]), FEW_ROWS):
            rows = slice(first, first + FEW_ROWS)
            columns = zip(self.places, self.starts, strict=True)
            cells = np.column_stack([places[rows] + start for places, start in columns])
            _, ends, data = self.texts.take(pa.array(cells.ravel())).buffers()
            yield memoryview(data)[: np.frombuffer(ends, dtype=np.int64)[cells.size]]


def _followed(texts: Any, end: str) -> Any:
    """Texts that are followed by an end; large, so that all columns fit together."""
    empty, last = (pa.scalar(each, pa.large_string()) for each in ("", end))
    return pc.binary_join_element_wise(texts.cast(pa.large_string()), empty, last)


def _fused(
    columns: Sequence[pa.ChunkedArray], delimiter: str
) -> Iterator[pa.ChunkedArray]:
    """Columns of cells, with dictionaries that stand side by side as one.

    The rows of a group share most of their cells, so that what they share is put
    together once.
    """
    for repeats, run in groupby(columns, lambda each: types.is_dictionary(each.type)):
        some = list(run)
        fused = _one_dictionary(some, delimiter) if repeats and len(some) > 1 else None
        if fused is None:
            yield from some
        else:
            yield fused


def _one_dictionary(
    columns: Sequence[pa.ChunkedArray], delimiter: str
) -> pa.ChunkedArray | None:
    """Dictionaries as one of their combinations.

    None if few rows share one, or if the texts are larger than Arrow can hold together.
    """
    parts = [column.combine_chunks() for column in columns]
    codes = [part.indices.to_numpy() for part in parts]
    count, place = numbered_keys(packed_key(codes, len(codes[0])))
    if count * FEW > len(place):
        return None
    first = pa.array(first_rows(place, count))
    cells = [part.dictionary.take(part.indices.take(first)) for part in parts]
    try:
        texts = pc.binary_join_element_wise(*cells, delimiter)
    except pa.ArrowCapacityError:
        return None
    whole = pa.DictionaryArray.from_arrays(place, texts)
    return pa.chunked_array([whole])


def _header(names: Iterable[str], delimiter: str) -> bytes:
    cells = [_quoted_name(name, delimiter) for name in names]
    return (delimiter.join(cells) + "\n").encode()


def _quoted_name(name: str, delimiter: str) -> str:
    # Readers would strip an unquoted byte order mark at the start of the file.
    special = {delimiter, QUOTE, "\n", "\r", "\ufeff"}
    if special.isdisjoint(name):
        return name
    return QUOTE + name.replace(QUOTE, QUOTE + QUOTE) + QUOTE


def _quoted_column(
    name: str, column: pa.ChunkedArray, delimiter: str, alone: bool, mark_empty: bool
) -> pa.ChunkedArray:
    """A column as the text of its CSV cells; a dictionary stays one."""
    mark = QUOTE + QUOTE if alone else ""
    if types.is_dictionary(column.type):
        return _quoted_dictionary(name, column, delimiter, mark, mark_empty)
    texts = as_text(column, name=name)
    cells = _quoted_texts(texts, delimiter, mark_empty)
    return pc.fill_null(cells, mark) if cells.null_count else cells


def _quoted_dictionary(
    name: str, column: pa.ChunkedArray, delimiter: str, mark: str, mark_empty: bool
) -> pa.ChunkedArray:
    values, places = distinct(column, name=name)
    texts = pa.chunked_array([as_text(values, name=name)])
    cells = _quoted_texts(texts, delimiter, mark_empty)
    known = pa.chunked_array([*pc.fill_null(cells, mark).chunks, pa.array([mark])])
    if int(places.min(initial=0)) < 0:
        # Index −1, a null, becomes the last place.
        places = np.where(places < 0, len(values), places).astype(np.int32)
    return pa.chunked_array(
        [pa.DictionaryArray.from_arrays(places, known.combine_chunks())]
    )


def _quoted_texts(
    texts: pa.ChunkedArray, delimiter: str, mark_empty: bool
) -> pa.ChunkedArray:
    chunks = [_quoted_chunk(chunk, delimiter, mark_empty) for chunk in texts.chunks]
    return pa.chunked_array(chunks, texts.type)


def _quoted_chunk(chunk: Any, delimiter: str, mark_empty: bool) -> Any:
    needed = None
    if _has_special(chunk, delimiter):
        needed = pc.match_substring_regex(chunk, f'[\\x{ord(delimiter):02x}"\\r\\n]')
    if mark_empty:
        empty = pc.equal(chunk, "")
        needed = empty if needed is None else pc.or_(needed, empty)
    if needed is None or not pc.any(needed).as_py():
        return chunk
    doubled = pc.replace_substring(chunk, QUOTE, QUOTE + QUOTE)
    quoted = pc.binary_join_element_wise(QUOTE, doubled, QUOTE, "")
    return pc.if_else(needed, quoted, chunk)


def _has_special(chunk: Any, delimiter: str) -> bool:
    """Whether any of the bytes that need quotation marks occurs: one fast scan."""
    _, offsets, data = chunk.buffers()
    if data is None or not len(chunk):
        return False
    ends = np.frombuffer(offsets, dtype=np.int32)
    first, last = ends[chunk.offset], ends[chunk.offset + len(chunk)]
    seen = np.frombuffer(data, dtype=np.uint8)[first:last].tobytes()
    return any(mark in seen for mark in (delimiter.encode(), b'"', b"\n", b"\r"))


def _lines(batch: pa.RecordBatch, delimiter: str) -> list[memoryview]:
    """The lines of some rows, as they are written."""
    try:
        return _joined(batch, delimiter)
    except pa.ArrowCapacityError:
        # The rows together are larger than one Arrow array can hold.
        half = len(batch) // 2
        if half == 0:
            raise
        parts = (batch.slice(0, half), batch.slice(half))
        return [lines for part in parts for lines in _lines(part, delimiter)]


def _joined(batch: pa.RecordBatch, delimiter: str) -> list[memoryview]:
    columns = [_decoded(column) for column in batch.columns]
    ended = pc.binary_join_element_wise(columns[-1], "", "\n")
    joined = pc.binary_join_element_wise(*columns[:-1], ended, delimiter)
    return list(_bytes_of(joined))


def _decoded(column: Any) -> Any:
    if not types.is_dictionary(column.type):
        return column
    return column.dictionary.take(column.indices)


def _bytes_of(texts: Any) -> Iterator[memoryview]:
    """All texts one after the other, as they lie in memory."""
    chunks = texts.chunks if isinstance(texts, pa.ChunkedArray) else [texts]
    for chunk in chunks:
        _, offsets, data = chunk.buffers()
        ends = np.frombuffer(offsets, dtype=np.int32)
        first, last = ends[chunk.offset], ends[chunk.offset + len(chunk)]
        yield memoryview(data)[first:last]
