"""Read a plain CSV file as codes, one per distinct text of a column.

This takes little more than half of the CPU time in which Arrow reads texts and then
numbers them.
Only plain files are read here (`kernels/files/csv_cells.py`), and they give the cells
that Arrow gives. Any other file is left to Arrow, which also says what is wrong with it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.data.arrays import Bytes, Codes, Flags, Ints
from sfumato.data.growing_dictionary import GrowingDictionary
from sfumato.data.parallel import each
from sfumato.data.source import coded_field
from sfumato.io.sniff import Utf8Content
from sfumato.kernels.files.csv_cells import (
    LINE_END,
    CellSpans,
    TextTables,
    copy_texts,
    count_lines,
    line_after,
    read_lines,
)

LEAST_BYTES = 1 << 20
"""Smaller files take no time anyway."""
MOST_BYTES = (1 << 31) - 1
"""Places in a file, and those in the texts of a column, are numbers of 32 bits."""
SAMPLE_BYTES = 1 << 22
PART_BYTES = 1 << 22
"""Threads get no less than this to read."""
MOST_TEXTS = 1 << 16
"""A column with more distinct texts is not coded."""
ROOM = 1 << 22
"""Distinct texts of all columns together, in one part of a file."""
TEXT_BYTES = 24
"""What the tables of a part take for each text that they have room for."""
FEW = 8
"""Rows that share a text on average, in the sample, if a column is coded."""
MARK = "\ufeff"


class NotPlainError(Exception):
    """The file is one that Arrow has to read."""


def coded_table(
    plain: Utf8Content, delimiter: str, names: Sequence[str]
) -> pa.Table | None:
    """The cells of a CSV file; None where Arrow has to read it.

    Columns in which texts repeat come as dictionaries of the texts in the order in which
    they first occur. Other columns come as texts.
    """
    if not LEAST_BYTES <= plain.buffer.size < MOST_BYTES:
        return None
    try:
        columns = _columns(_whole_lines(plain.buffer), delimiter, names)
    except (NotPlainError, pa.ArrowInvalid, MemoryError):
        return None
    fields = [
        coded_field(name, cells.type)
        if isinstance(cells, pa.DictionaryArray)
        else pa.field(name, cells.type)
        for name, cells in zip(names, columns, strict=True)
    ]
    return pa.table(columns, pa.schema(fields))


def _columns(content: Bytes, delimiter: str, names: Sequence[str]) -> list[Any]:
    below = line_after(content, 0)
    whole = _Layout(ord(delimiter), np.ones(len(names), dtype=np.bool_))
    _check_header(_LinesRead.of([content[:below]], whole), names)
    body = content[below:]
    layout = _Layout(ord(delimiter), _repeating(body, whole))
    if not layout.coded.any():
        # Arrow is as fast where nothing repeats.
        raise NotPlainError
    reading = _LinesRead.of(_parts(body, int(layout.coded.sum())), layout)
    return each(reading.column, layout.place_of.tolist())


def _whole_lines(buffer: pa.Buffer) -> Bytes:
    """The bytes of a file, of which the last one ends a line."""
    content = np.frombuffer(buffer, dtype=np.uint8)
    if content[-1] != LINE_END:
        content = np.append(content, np.uint8(LINE_END))
    content = content.view()
    content.flags.writeable = False
    return content


def _check_header(header: _LinesRead, names: Sequence[str]) -> None:
    """Leave a header to Arrow that it could read differently."""
    found = [header.column(place) for place in range(len(names))]
    told = [cells[0].as_py() for cells in found]
    if told != list(names) or told[0].startswith(MARK):
        raise NotPlainError


def _repeating(body: Bytes, layout: _Layout) -> Flags:
    """Which columns repeat their texts, as the first lines show."""
    end = min(SAMPLE_BYTES, len(body))
    while count_lines(body[:end]) >= _room(len(layout.coded)):
        end //= 2
    sample = body[: line_after(body, max(end, 1) - 1)]
    rows = count_lines(sample)
    if not rows:
        raise NotPlainError
    part = _LinesRead.of([sample], layout).parts[0]
    return np.asarray(part.tables.counts * FEW <= rows)


def _parts(body: Bytes, columns: int) -> list[Bytes]:
    """Parts of about the same size, each of whole lines: one for each thread.

    None has fewer bytes than the tables of its coded columns: however many threads
    there are, all tables together take hardly more room than the file.
    """
    least = max(PART_BYTES, TEXT_BYTES * columns * _room(columns))
    count = min(os.cpu_count() or 1, len(body) // least + 1)
    cuts = {line_after(body, len(body) * i // count) for i in range(1, count)}
    ends = sorted({0, len(body), *cuts})
    return [body[start:end] for start, end in pairwise(ends)]


@dataclass(frozen=True, eq=False)
class _Layout:
    """How a file is read."""

    delimiter: int
    coded: Flags
    """Which columns come as codes; of others the spans of their cells are found."""

    @cached_property
    def place_of(self) -> Ints:
        """The place of each column among the coded ones; −1 − that among others."""
        places = np.where(self.coded, self.coded.cumsum() - 1, -(~self.coded).cumsum())
        return np.ascontiguousarray(places, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class _Part:
    """Some lines of a file, and the distinct texts of each column in them."""

    content: Bytes
    first: int
    """Their first row."""
    last: int
    """The row after their last."""
    tables: TextTables

    def texts(self, place: int) -> Any:
        """The distinct texts of a column."""
        size = int(self.tables.counts[place])
        starts, sizes = self.tables.starts[place], self.tables.sizes[place]
        return _texts(self.content, starts[:size], sizes[:size])


@dataclass(frozen=True, eq=False)
class _LinesRead:
    """What was read of the lines of a file."""

    parts: Sequence[_Part]
    codes: Codes
    """(coded columns, rows), by the distinct texts of the part that a row is in."""
    spans: CellSpans
    """(other columns, rows)"""

    @classmethod
    def of(cls, contents: Sequence[Bytes], layout: _Layout) -> _LinesRead:
        """Read parts of a file side by side."""
        ends = np.cumsum([0, *each(count_lines, contents)]).tolist()
        width, others = int(layout.coded.sum()), int((~layout.coded).sum())
        parts = [
            _Part(content, first, last, _empty_tables(width, last - first))
            for content, (first, last) in zip(contents, pairwise(ends), strict=True)
        ]
        spans = CellSpans(_numbers(others, ends[-1]), _numbers(others, ends[-1]))
        found = cls(parts, _numbers(width, ends[-1]), spans)
        if not all(each(lambda part: found._read(part, layout), parts)):
            raise NotPlainError
        return found

    def _read(self, part: _Part, layout: _Layout) -> bool:
        return read_lines(
            part.content,
            layout.delimiter,
            layout.place_of,
            self.codes,
            part.tables,
            self.spans,
            part.first,
            part.last,
        )

    def column(self, place: int) -> Any:
        """The cells of a column."""
        return self._coded(place) if place >= 0 else self._spanned(-1 - place)

    def _coded(self, place: int) -> Any:
        """Codes of the whole file, which do not depend on how it was parted."""
        codes, known = self.codes[place], GrowingDictionary(pa.string())
        for part in self.parts:
            code_of = known.add(part.texts(place))
            if not np.array_equal(code_of, np.arange(len(code_of))):
                there = codes[part.first : part.last]
                there[:] = np.take(code_of, there, mode="clip")
        return pa.DictionaryArray.from_arrays(pa.array(codes), known.values)

    def _spanned(self, place: int) -> Any:
        starts, sizes = self.spans.starts[place], self.spans.sizes[place]
        rows = [slice(part.first, part.last) for part in self.parts]
        return pa.chunked_array(
            [
                _texts(part.content, starts[here], sizes[here])
                for part, here in zip(self.parts, rows, strict=True)
            ]
        )


def _texts(content: Bytes, starts: Codes, sizes: Codes) -> Any:
    """Some texts of a file, which have to be UTF-8."""
    ends = np.zeros(len(starts) + 1, dtype=np.int32)
    np.cumsum(sizes, out=ends[1:])
    texts = np.empty(ends[-1], dtype=np.uint8)
    if not copy_texts(content, starts, ends, texts):
        raise NotPlainError
    found = pa.StringArray.from_buffers(
        len(starts), pa.py_buffer(ends), pa.py_buffer(texts)
    )
    found.validate(full=True)
    return found


def _empty_tables(columns: int, rows: int) -> TextTables:
    """Tables without texts, with room for those of some rows."""
    room = min(_room(columns), 1 << rows.bit_length())
    return TextTables(
        np.zeros((columns, 2 * room), dtype=np.int32),
        _numbers(columns, room),
        _numbers(columns, room),
        np.empty((columns, room), dtype=np.uint64),
        np.zeros(columns, dtype=np.int64),
    )


def _room(columns: int) -> int:
    """How many distinct texts each of some columns may have: a power of 2."""
    shared = max(ROOM // max(columns, 1), 2)
    return min(MOST_TEXTS, 1 << (shared.bit_length() - 1))


def _numbers(columns: int, places: int) -> Codes:
    return np.empty((columns, places), dtype=np.int32)
