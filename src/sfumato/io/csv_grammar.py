"""Decide what the cells of a CSV file are, and refuse a file that leaves it open.

Every CSV file passes here before a parser cuts it into cells. The grammar itself is in
`data/csv_syntax.py`.

A file can obey the grammar by accident: two stray marks in different rows join all rows
between them into one cell, which may then be published. So a cell of several lines is
accepted only where it does no harm (`LineBreaks`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from sfumato.data.arrays import Bytes, Flags
from sfumato.data.csv_syntax import (
    CARRIAGE_RETURN,
    LINE_ENDS,
    LINE_FEED,
    QUOTE,
    Cell,
    CsvGrammar,
    GrammarError,
    end_of,
    grammar_fault,
    has_line_break,
    line_number,
)
from sfumato.errors import DataError, SettingHint
from sfumato.io.headers import column_forms, fits_forms
from sfumato.io.sniff import Utf8Content, first_rows

PIECE_BYTES = 1 << 16
"""Bytes that are looked at together: what is computed of them stays in the cache."""
END_OF_LINE = re.compile(rb"\n")
LINE_BREAK = re.compile(r"\r\n?|\n")
BLANK_LINES = re.compile(rb"[\r\n]*+")


@dataclass(frozen=True)
class LineBreaks:
    """Where cells of a CSV file may have line breaks."""

    refused: Callable[[Sequence[str]], Collection[str]] | None = list
    """Picks the columns without them from the names of all; None allows all."""

    @property
    def allowed(self) -> bool:
        return self.refused is None

    def refuse(self, names: Sequence[str]) -> frozenset[str]:
        """The columns in which a line break is refused."""
        return frozenset() if self.refused is None else frozenset(self.refused(names))


REFUSED = LineBreaks()
"""No cell may have a line break."""
ALLOWED = LineBreaks(None)
"""Line breaks were declared: `multiline = true`."""
UNLIKE_ROWS = LineBreaks(lambda names: ())
"""Cells may have line breaks, unless their lines look like rows of the table."""


def line_breaks(
    *, multiline: bool | None, otherwise: LineBreaks = REFUSED
) -> LineBreaks:
    """What the setting `multiline` allows."""
    return ALLOWED if multiline else otherwise


def check_cells(
    plain: Utf8Content,
    delimiter: str,
    names: Sequence[str],
    path: Path,
    *,
    breaks: LineBreaks,
) -> bool:
    """Refuse a file whose cells are in doubt; return whether any has several lines."""
    if _marks_enclose_lines(plain, delimiter):
        return False
    grammar, content = CsvGrammar(delimiter), memoryview(plain.buffer)
    rule = _LineBreakRule(plain, grammar, names, path, breaks)
    several = False
    try:
        for row in grammar.rows_of_several_lines(content):
            several = True
            rule.judge(row)
    except GrammarError as error:
        plain.check_decodes(path)
        fault = grammar_fault(content, error, grammar)
        column = _column(names, fault.column)
        raise DataError(
            f"'{path}', line {fault.line}, {column}: {fault.problem}.", hint=fault.hint
        ) from None
    return several


def _marks_enclose_lines(plain: Utf8Content, delimiter: str) -> bool:
    """Whether every quotation mark is one of a cell that is quoted and has one line.

    Marks then open and close in turn: an opening one follows a delimiter or a line end,
    a closing one precedes one, and two inside of a cell close and open it again. Other
    files may be fine, too, but are read cell by cell.
    """
    content = np.frombuffer(plain.buffer, dtype=np.uint8)
    borders = np.zeros(256, dtype=np.bool_)
    borders[[ord(delimiter), *LINE_ENDS, QUOTE]] = True
    return all(_piece_is_plain(piece, borders) for piece in _pieces(plain, content))


def _pieces(plain: Utf8Content, content: Bytes) -> Iterator[Bytes]:
    """Pieces of a file that end with a line."""
    view, at = memoryview(plain.buffer), 0
    while at < len(content):
        line_end = END_OF_LINE.search(view, at + PIECE_BYTES)
        end = len(content) if line_end is None else line_end.end()
        yield content[at:end]
        at = end


def _piece_is_plain(piece: Bytes, borders: Flags) -> bool:
    marks = np.flatnonzero(piece == QUOTE)
    if not len(marks):
        return True
    if len(marks) % 2:
        return False
    opening, closing = marks[::2], marks[1::2]
    # The first and the last byte of a piece have a border, whatever they are.
    opening, closing = opening[opening > 0], closing[closing < len(piece) - 1]
    before, after = borders.take(piece[opening - 1]), borders.take(piece[closing + 1])
    if not (before.all() and after.all()):
        return False
    ends = piece == LINE_FEED
    if CARRIAGE_RETURN in piece.tobytes():
        ends |= piece == CARRIAGE_RETURN
    return not (np.searchsorted(marks, np.flatnonzero(ends)) % 2).any()


@dataclass(frozen=True, eq=False)
class _LineBreakRule:
    """Refuse cells of several lines that may be rows joined by accident."""

    plain: Utf8Content
    grammar: CsvGrammar
    names: Sequence[str]
    path: Path
    breaks: LineBreaks

    @cached_property
    def _refused(self) -> frozenset[str]:
        return self.breaks.refuse(self.names)

    @cached_property
    def _forms(self) -> list[re.Pattern[str] | None]:
        rows = first_rows(self.plain.sample, self.grammar.delimiter)
        return column_forms(rows[1:], len(self.names))

    @cached_property
    def _header_end(self) -> int:
        """Where the header ends: in a name, no line break is harmless."""
        content = memoryview(self.plain.buffer)
        return max(cell.end for cell in self.grammar.record(content, _start(content)))

    def judge(self, row: Sequence[Cell]) -> None:
        """Refuse a row if one of its cells has lines that may be rows."""
        if self.breaks.allowed:
            return
        content = memoryview(self.plain.buffer)
        for cell in row:
            if has_line_break(content, cell):
                self._judge_cell(content, row, cell)

    def _judge_cell(self, content: memoryview, row: Sequence[Cell], cell: Cell) -> None:
        name = self.names[cell.column] if cell.column < len(self.names) else None
        if cell.start < self._header_end or name in self._refused:
            raise self._fault(cell, "has a line break")
        lines = LINE_BREAK.split(_text(content[cell.start + 1 : cell.end - 1]))
        first = _text(content[row[0].start : cell.start]) + lines[0]
        last = lines[-1] + _text(content[cell.end : row[-1].end])
        if any(map(self._looks_like_row, lines)) or (
            # A mark in each of two rows: the text around them completes the rows.
            self._looks_like_row(first) and self._looks_like_row(last)
        ):
            raise self._fault(cell, "has lines that look like rows of the table")

    def _looks_like_row(self, line: str) -> bool:
        """Whether a line has a cell for each column, of the kind that the column has.

        Marks inside of a quoted cell are doubled, so those of a row in it may be, too.
        """
        width = len(self.names)
        if width < 2 or line.count(self.grammar.delimiter) + 1 < width:
            return False
        return any(
            len(cells) == width and fits_forms(cells, self._forms)
            for text in {line, line.replace('""', '"')}
            for cells in first_rows(text, self.grammar.delimiter)
        )

    def _fault(self, cell: Cell, problem: str) -> DataError:
        line = line_number(memoryview(self.plain.buffer), cell.start)
        return DataError(
            f"'{self.path}', line {line}: the cell of "
            f"{_column(self.names, cell.column)} {problem}.",
            setting=SettingHint(
                key="multiline",
                value=True,
                reason="A stray quotation mark joins rows into one cell: look at it. If "
                "cells of several lines are meant",
            ),
        )


def _text(content: memoryview) -> str:
    return str(content, "utf-8", errors="replace")


def _column(names: Sequence[str], number: int) -> str:
    """What messages call a column; its number, where the header may hold cells of rows."""
    joined = any(re.search(r"[\r\n]", name) for name in names)
    named = number < len(names) and not joined
    return f"column '{names[number]}'" if named else f"column {number + 1}"


def _start(content: memoryview) -> int:
    """Where the header begins: blank lines are skipped."""
    return end_of(BLANK_LINES, content, 0)


def ragged_fault(plain: Utf8Content, delimiter: str, path: Path) -> DataError | None:
    """The error for the first row that has more or fewer cells than the header."""
    grammar, content = CsvGrammar(delimiter), memoryview(plain.buffer)
    *_, last = header = list(grammar.record(content, _start(content)))
    width = len(header)
    ragged = grammar.ragged_row(content, width)
    if ragged is None:
        return None
    at, cells = ragged
    hint = (
        f"Quote cells that contain the delimiter ({delimiter!r}), or declare another."
    )
    if grammar.ragged_row(content, width + 1, start=last.end) is None:
        hint = (
            "So has every row, as R's write.table names rows: write the file with "
            "row.names = FALSE, or with col.names = NA, which leaves the names out here."
        )
    return DataError(
        f"'{path}', line {line_number(content, at)}: "
        f"{cells:,} cells where the header has {width:,}.",
        hint=hint,
    )
