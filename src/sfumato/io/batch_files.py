"""Open files that need not fit in memory: one Parquet or CSV file, or many Parquet files.

Cells come as `read_source` gives them, batch by batch and in the same order. A directory
or a pattern stands for all Parquet files in it, sorted by path; names such as `year=2024`
on the way to a file are columns, as Hive and Spark write them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as parquet

from sfumato.data.batch_source import Batches, BatchSource
from sfumato.data.source import remember, unnamed_first, without_row_numbers
from sfumato.errors import DataError, RefusedError
from sfumato.io.csv_grammar import REFUSED, LineBreaks, check_cells
from sfumato.io.formats import Format, compression_of, format_of, is_stream
from sfumato.io.memory import parquet_bytes
from sfumato.io.plain_types import plain_types
from sfumato.io.read import (
    all_text,
    check_names,
    check_place,
    csv_layout,
    longer_than_block,
    unparsed,
    unread_names,
)
from sfumato.io.sniff import Utf8Content, plain_text
from sfumato.io.spreadsheet import unguarded

BATCH_ROWS = 1 << 16
BLOCK_BYTES = 1 << 23
PATTERN = re.compile(r"[*?\[]")
PARQUET = (".parquet", ".pq")
HIDDEN = ("_", ".")
"""How the names of files begin that other programs keep beside their tables."""


def many_files(path: str | Path) -> bool:
    """Return whether a path stands for several files: a directory or a pattern."""
    place = Path(path)
    try:
        if is_stream(path) or place.is_file():
            return False
        return place.is_dir() or bool(PATTERN.search(str(path)))
    except OSError:
        # A path that is too long is nothing.
        return False


def batch_source(
    path: str | Path,
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    format: Format | str | None = None,
    named: bool = False,
    safe: bool = False,
    numbered: bool = False,
    breaks: LineBreaks | None = REFUSED,
) -> BatchSource:
    """Open Parquet or CSV to be read in batches.

    `named` and the other options are those of `read_source`; `safe` strips the marks of
    a CSV file that was written for spreadsheets. With `numbered`, texts of Parquet files
    come as dictionaries, which are counted faster. `breaks` None leaves the cells of a
    CSV file unread: only columns and size are wanted.
    """
    place = Path(path)
    if many_files(place):
        return _parquet_source(parquet_files(place), place, numbered=numbered)
    check_place(place)
    form = Format(format) if format else format_of(place)
    if form is Format.PARQUET:
        return _parquet_source([place], place, numbered=numbered)
    plain = form is Format.CSV and not (is_stream(place) or compression_of(place))
    if not plain or decimal == ",":
        raise RefusedError(
            f"'{path}' cannot be read in batches: only Parquet files and uncompressed "
            "CSV files with decimal points can.",
            hint="Turn it into Parquet, or take --engine memory.",
        )
    return _csv_source(
        place, delimiter, encoding, named=named, safe=safe, breaks=breaks
    )


def read_many(path: str | Path) -> pa.Table:
    """Read all Parquet files of a directory or a pattern into memory."""
    source = batch_source(path)
    batches = list(source.read(source.names))
    table = pa.Table.from_batches(batches, source.schema)
    if not table.num_rows:
        raise DataError(
            f"'{path}' has {len(source.names):,} columns and no rows.",
            hint="A table needs at least one row.",
        )
    return table


def parquet_files(path: Path) -> list[Path]:
    """The Parquet files that a directory or a pattern stands for, sorted by path."""
    found = path.rglob("*") if path.is_dir() else _matching(path)
    files = sorted(
        place
        for place in found
        if place.suffix.lower() in PARQUET
        and place.is_file()
        and not any(part.startswith(HIDDEN) for part in _below(place, path))
    )
    if not files:
        kind = "is a directory without" if path.is_dir() else "is a pattern of no"
        raise DataError(
            f"'{path}' {kind} Parquet files.",
            hint="Name a file, a directory with files that end in .parquet, or a "
            "pattern such as 'parts/*.parquet'.",
        )
    return files


def _matching(pattern: Path) -> Iterator[Path]:
    top = Path(pattern.anchor)
    return top.glob(str(pattern.relative_to(top)))


def _below(place: Path, top: Path) -> tuple[str, ...]:
    """The names on the way from a directory to a file in it."""
    return place.relative_to(top).parts if top.is_dir() else (place.name,)


def _parquet_source(
    files: Sequence[Path], path: Path, *, numbered: bool = False
) -> BatchSource:
    # Imported late: most sources are single files, which are read without it.
    import pyarrow.dataset as arrow_dataset

    try:
        found = [parquet.ParquetFile(file) for file in files]
        _check_alike([file.schema_arrow for file in found], path)
        size = sum(parquet_bytes(file.metadata, file.schema_arrow) for file in found)
        dataset = arrow_dataset.dataset(
            [str(file) for file in files],
            format=_layout(found[0].schema_arrow, numbered=numbered),
            partitioning=_hive(files, path),
            partition_base_dir=str(path) if path.is_dir() else "",
        )
    except (pa.ArrowException, OSError):
        raise _damaged(path) from None
    names = dataset.schema.names
    check_names(names, path, numbered=unnamed_first(names))
    empty = plain_types(dataset.schema.empty_table().replace_schema_metadata())
    schema = without_row_numbers(empty).schema

    def read(names: Sequence[str]) -> Batches:
        scanner = dataset.scanner(
            columns=list(names),
            batch_size=BATCH_ROWS,
            batch_readahead=2,
            fragment_readahead=1,
        )
        try:
            for batch in scanner.to_batches():
                yield from _plain(batch)
        except (pa.ArrowException, OSError):
            raise _damaged(path) from None

    return BatchSource(schema=schema, read=read, bytes=size)


def _layout(schema: Any, *, numbered: bool) -> Any:
    """How Parquet files are read; if asked, texts as they are: places in a dictionary."""
    import pyarrow.dataset as arrow_dataset

    texts = [each.name for each in schema if pa.types.is_string(each.type)]
    return arrow_dataset.ParquetFileFormat(dictionary_columns=texts if numbered else [])


def _hive(files: Sequence[Path], path: Path) -> str | None:
    """Take names like `year=2024` on the way to a file as columns, where there are any."""
    below = [part for file in files for part in _below(file, path)[:-1]]
    return "hive" if any("=" in part for part in below) else None


def _check_alike(schemas: Sequence[Any], path: Path) -> None:
    """Refuse files with other columns: the cells would silently be missing."""
    first = plain_types(schemas[0].empty_table()).schema.remove_metadata()
    for number, schema in enumerate(schemas[1:], 2):
        if not plain_types(schema.empty_table()).schema.equals(first):
            raise DataError(
                f"'{path}': file {number} of {len(schemas):,} has other columns, or "
                "columns of other types, than the first.",
                hint="Keep files of one table in a directory of their own.",
            )


def _damaged(path: Path) -> DataError:
    return DataError(
        f"'{path}' cannot be read as Parquet.",
        hint="Check that its ending says what it is, or copy it again.",
    )


def _plain(batch: Any) -> Iterator[Any]:
    """One batch in plain types; empty ones vanish."""
    if len(batch):
        batch.validate(full=True)
        table = plain_types(pa.Table.from_batches([batch]))
        yield from table.combine_chunks().to_batches()


def _csv_source(
    place: Path,
    delimiter: str | None,
    encoding: str | None,
    *,
    named: bool,
    safe: bool,
    breaks: LineBreaks | None,
) -> BatchSource:
    # Mapped, so that the system can drop pages that were read.
    content = pa.memory_map(str(place)).read_buffer()
    plain = plain_text(content, encoding, place)
    mark, header = csv_layout(plain, place, delimiter, named=named)
    several = False
    if breaks is not None:
        # Columns that are never read must be text, too, as they must be in memory.
        plain.check_decodes(place)
        several = check_cells(plain, mark, header, place, breaks=breaks)
    empty = pa.table([pa.array([], pa.string())] * len(header), names=header)
    empty = without_row_numbers(empty)
    shown = (unguarded(empty) if safe else empty).column_names
    own = dict(zip(shown, empty.column_names, strict=True))

    def read(names: Sequence[str]) -> Batches:
        csv = _CsvBatches(plain, mark, header, place, several=several)
        for batch in csv.read([own[name] for name in names]):
            table = pa.Table.from_batches([batch])
            table = unguarded(table) if safe else table
            yield from table.combine_chunks().to_batches()

    table = remember(
        empty.rename_columns(shown).replace_schema_metadata(empty.schema.metadata),
        delimiter=mark,
        encoding=plain.encoding,
        multiline=several,
    )
    return BatchSource(schema=table.schema, read=read, bytes=int(content.size))


@dataclass(frozen=True, eq=False)
class _CsvBatches:
    """A CSV file whose cells were checked, to be read in batches."""

    plain: Utf8Content
    delimiter: str
    header: list[str]
    path: Path
    _: KW_ONLY
    several: bool
    """Whether a cell has several lines."""

    def read(self, columns: list[str]) -> Batches:
        rows, block = 0, BLOCK_BYTES
        while True:
            try:
                for batch in self._blocks(columns, block, skip=rows):
                    rows += len(batch)
                    yield batch
                return
            except pa.ArrowKeyError:
                # A second byte order mark, for example, is no part of a name to Arrow.
                raise unread_names(self.path, self.header) from None
            except pa.ArrowInvalid as error:
                if not longer_than_block(error) or block > self.plain.buffer.size:
                    raise unparsed(self.plain, self.delimiter, self.path) from None
                # What was read stays read; the long row is read in larger blocks.
                block *= 8

    def _blocks(self, columns: list[str], block: int, *, skip: int) -> Batches:
        reader = arrow_csv.open_csv(
            pa.BufferReader(self.plain.buffer),
            read_options=arrow_csv.ReadOptions(
                block_size=block, skip_rows_after_names=skip
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=self.delimiter, newlines_in_values=self.several
            ),
            convert_options=all_text(self.header, only=columns),
        )
        yield from (batch for batch in reader if len(batch))
