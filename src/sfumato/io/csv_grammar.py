"""Decide what the cells of a CSV file are, and refuse a file that leaves it open.

Every CSV file passes here before a parser cuts it into cells. The grammar is that of
Python's `csv.reader(strict=True)`: a quotation mark at the start of a cell opens it, two
of them inside are one, and after the closing mark comes a delimiter or a line end.
Elsewhere, in a cell that has none around it, a mark is a character like others.

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
from typing import NamedTuple

import numpy as np

from sfumato.data.arrays import Bytes, Flags
from sfumato.errors import DataError, SettingHint
from sfumato.io.headers import column_forms, fits_forms
from sfumato.io.sniff import Utf8Content, first_rows

QUOTE, LINE_FEED, CARRIAGE_RETURN, BACKSLASH = b'"\n\r\\'
LINE_ENDS = (LINE_FEED, CARRIAGE_RETURN)
PIECE_BYTES = 1 << 16
"""Bytes that are looked at together: what is computed of them stays in the cache."""
LINE_END = re.compile(rb"\r\n?|\n")
END_OF_LINE = re.compile(rb"\n")
QUOTED = re.compile(rb'"[^"]*+(?:""[^"]*+)*+"')
QUOTED_LINE = rb'"[^"\r\n]*+(?:""[^"\r\n]*+)*+"'
BLANK_LINES = re.compile(rb"[\r\n]*+")
BLANKS = re.compile(rb"[ \t]+")


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


class Cell(NamedTuple):
    """A cell: its column from 0, and where its bytes are, with their marks."""

    column: int
    start: int
    end: int


class GrammarError(Exception):
    """The bytes at a position break the grammar."""

    def __init__(self, cell: Cell, *, closed: bool) -> None:
        super().__init__()
        self.cell = cell
        """The cell at fault; it ends behind its closing mark, if there is one."""
        self.closed = closed


@dataclass(frozen=True)
class CsvGrammar:
    """The cells of UTF-8 text with one delimiter."""

    delimiter: str

    @property
    def mark(self) -> int:
        return ord(self.delimiter)

    @cached_property
    def _bare(self) -> re.Pattern[bytes]:
        """A cell without marks around it, which may be empty."""
        return re.compile(rb"[^%s\r\n]*+" % self._escaped)

    @property
    def _escaped(self) -> bytes:
        return re.escape(self.delimiter.encode())

    def _rows(self, quoted: bytes, more_cells: bytes) -> re.Pattern[bytes]:
        """As many rows as follow each other, blank lines among them."""
        mark = self._escaped
        cell = rb'(?:%s(?=[%s\r\n]|\Z)|(?!")%s)' % (quoted, mark, self._bare.pattern)
        row = rb"%s(?:%s%s)%s(?:\r\n?|\n|\Z)" % (cell, mark, cell, more_cells)
        return re.compile(rb"(?:\r\n?|\n|%s)*+" % row)

    @cached_property
    def _rows_of_one_line(self) -> re.Pattern[bytes]:
        return self._rows(QUOTED_LINE, rb"*+")

    def cells_of_several_lines(self, content: memoryview) -> Iterator[Cell]:
        """The cells that have line breaks; raises `GrammarError` at the first fault."""
        at = 0
        while (at := _end_of(self._rows_of_one_line, content, at)) < len(content):
            for cell in self.record(content, at):
                at = cell.end
                if LINE_END.search(content, cell.start, cell.end):
                    yield cell
            at = _end_of(LINE_END, content, at)

    def record(self, content: memoryview, at: int) -> Iterator[Cell]:
        """The cells of the row that starts at a position."""
        column = 0
        while True:
            cell = self._cell(content, column, at)
            yield cell
            if cell.end == len(content) or content[cell.end] in LINE_ENDS:
                return
            column, at = column + 1, cell.end + 1

    def _cell(self, content: memoryview, column: int, at: int) -> Cell:
        if at == len(content) or content[at] != QUOTE:
            return Cell(column, at, _end_of(self._bare, content, at))
        quoted = QUOTED.match(content, at)
        if quoted is None:
            raise GrammarError(Cell(column, at, len(content)), closed=False)
        cell = Cell(column, at, quoted.end())
        ends = (*LINE_ENDS, self.mark)
        if cell.end < len(content) and content[cell.end] not in ends:
            raise GrammarError(cell, closed=True)
        return cell

    def ragged_row(self, content: memoryview, width: int) -> tuple[int, int] | None:
        """Where the first row starts that has another number of cells, and its number."""
        rows = self._rows(QUOTED.pattern, rb"{%d}" % (width - 1))
        at = _end_of(rows, content, 0)
        if at == len(content):
            return None
        return at, sum(1 for _ in self.record(content, at))


def _end_of(pattern: re.Pattern[bytes], content: memoryview, at: int) -> int:
    match = pattern.match(content, at)
    return at if match is None else match.end()


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
        for cell in grammar.cells_of_several_lines(content):
            several = True
            rule.judge(cell)
    except GrammarError as fault:
        plain.check_decodes(path)
        raise _grammar_fault(content, fault, grammar, names, path) from None
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

    def judge(self, cell: Cell) -> None:
        if self.breaks.allowed:
            return
        content = memoryview(self.plain.buffer)
        name = self.names[cell.column] if cell.column < len(self.names) else None
        if cell.start < self._header_end or name in self._refused:
            raise self._fault(cell, "has a line break")
        if any(map(self._looks_like_row, _lines(content[cell.start : cell.end]))):
            raise self._fault(cell, "has lines that look like rows of the table")

    def _looks_like_row(self, line: str) -> bool:
        """Whether a line has a cell for each column, of the kind that the column has."""
        if len(self.names) < 2 or line.count(self.grammar.delimiter) + 1 < len(
            self.names
        ):
            return False
        rows = first_rows(line, self.grammar.delimiter)
        return any(
            len(r) == len(self.names) and fits_forms(r, self._forms) for r in rows
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


def _lines(cell: memoryview) -> list[str]:
    """The lines of a quoted cell, without the marks around it."""
    text = str(cell[1:-1], "utf-8", errors="replace")
    return re.split(r"\r\n?|\n", text)


def _column(names: Sequence[str], number: int) -> str:
    """What messages call a column; its number, where the header may hold cells of rows."""
    joined = any(re.search(r"[\r\n]", name) for name in names)
    named = number < len(names) and not joined
    return f"column '{names[number]}'" if named else f"column {number + 1}"


def _start(content: memoryview) -> int:
    """Where the header begins: blank lines are skipped."""
    return _end_of(BLANK_LINES, content, 0)


def line_number(content: memoryview, at: int) -> int:
    """The line of a position; lines end with a line feed, a carriage return or both."""
    data = np.frombuffer(content[:at], dtype=np.uint8)
    returns = np.flatnonzero(data == CARRIAGE_RETURN)
    follows = data.take(np.minimum(returns + 1, max(len(data) - 1, 0))) == LINE_FEED
    return int(np.count_nonzero(data == LINE_FEED) + np.count_nonzero(~follows)) + 1


def _grammar_fault(
    content: memoryview,
    fault: GrammarError,
    grammar: CsvGrammar,
    names: Sequence[str],
    path: Path,
) -> DataError:
    cell = fault.cell
    opened = line_number(content, cell.start)
    column = _column(names, cell.column)
    if not fault.closed:
        return DataError(
            f"'{path}', line {opened}, {column}: a quotation mark is opened and never "
            "closed.",
            hint="Close it, or double quotation marks inside a quoted cell.",
        )
    line = line_number(content, cell.end)
    where = "" if line == opened else f", of a cell that began on line {opened}"
    return DataError(
        f"'{path}', line {line}, {column}: text follows a closing quotation mark"
        f"{where}.",
        hint=_after_mark_hint(content, cell, grammar),
    )


def _after_mark_hint(content: memoryview, cell: Cell, grammar: CsvGrammar) -> str:
    """What to do about text behind a closing mark, by what it looks like."""
    if content[cell.end - 2] == BACKSLASH:
        return (
            'Marks inside cells are escaped with backslashes: write them doubled ("").'
        )
    after = _end_of(BLANKS, content, cell.end)
    ended = after == len(content) or content[after] in (*LINE_ENDS, grammar.mark)
    if after > cell.end and ended:
        return "Remove the blanks between the closing mark and the delimiter."
    return "Double quotation marks inside a quoted cell, or remove a stray one."


def ragged_fault(plain: Utf8Content, delimiter: str, path: Path) -> DataError | None:
    """The error for the first row that has more or fewer cells than the header."""
    grammar, content = CsvGrammar(delimiter), memoryview(plain.buffer)
    width = sum(1 for _ in grammar.record(content, _start(content)))
    ragged = grammar.ragged_row(content, width)
    if ragged is None:
        return None
    at, cells = ragged
    return DataError(
        f"'{path}', line {line_number(content, at)}: "
        f"{cells:,} cells where the header has {width:,}.",
        hint=f"Quote cells that contain the delimiter ({delimiter!r}), or declare "
        "another one.",
    )
