"""The grammar of CSV: where cells begin and end, and what breaks it.

It is that of Python's `csv.reader(strict=True)`: a quotation mark at the start of a cell
opens it, two of them inside are one, and after the closing mark comes a delimiter or a
line end. Elsewhere, in a cell that has none around it, a mark is a character like others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

QUOTE, LINE_FEED, CARRIAGE_RETURN, BACKSLASH = b'"\n\r\\'
LINE_ENDS = (LINE_FEED, CARRIAGE_RETURN)
LINE_END = re.compile(rb"\r\n?|\n")
QUOTED = re.compile(rb'"[^"]*+(?:""[^"]*+)*+"')
QUOTED_LINE = rb'"[^"\r\n]*+(?:""[^"\r\n]*+)*+"'
BLANKS = re.compile(rb"[ \t]+")


class Cell(NamedTuple):
    """A cell: its column from 0, and where its bytes are, with their marks."""

    column: int
    start: int
    end: int


class GrammarFault(NamedTuple):
    """Where the grammar is broken, in words."""

    line: int
    column: int
    """From 0."""
    problem: str
    hint: str


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

    def rows_of_several_lines(self, content: memoryview) -> Iterator[list[Cell]]:
        """The rows with a line break in a cell; raises `GrammarError` at a fault."""
        at = 0
        while (at := end_of(self._rows_of_one_line, content, at)) < len(content):
            row = list(self.record(content, at))
            if any(has_line_break(content, cell) for cell in row):
                yield row
            at = end_of(LINE_END, content, row[-1].end)

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
            return Cell(column, at, end_of(self._bare, content, at))
        quoted = QUOTED.match(content, at)
        if quoted is None:
            raise GrammarError(Cell(column, at, len(content)), closed=False)
        cell = Cell(column, at, quoted.end())
        ends = (*LINE_ENDS, self.mark)
        if cell.end < len(content) and content[cell.end] not in ends:
            raise GrammarError(cell, closed=True)
        return cell

    def ragged_row(
        self, content: memoryview, width: int, *, start: int = 0
    ) -> tuple[int, int] | None:
        """Where the first row starts that has another number of cells, and its number."""
        rows = self._rows(QUOTED.pattern, rb"{%d}" % (width - 1))
        at = end_of(rows, content, start)
        if at == len(content):
            return None
        return at, sum(1 for _ in self.record(content, at))


def end_of(pattern: re.Pattern[bytes], content: memoryview, at: int) -> int:
    """Where a match ends that starts at a position; the position if there is none."""
    match = pattern.match(content, at)
    return at if match is None else match.end()


def line_number(content: memoryview, at: int) -> int:
    """The line of a position; lines end with a line feed, a carriage return or both."""
    data = np.frombuffer(content[:at], dtype=np.uint8)
    returns = np.flatnonzero(data == CARRIAGE_RETURN)
    follows = data.take(np.minimum(returns + 1, max(len(data) - 1, 0))) == LINE_FEED
    return int(np.count_nonzero(data == LINE_FEED) + np.count_nonzero(~follows)) + 1


def has_line_break(content: memoryview, cell: Cell) -> bool:
    """Whether a cell has several lines."""
    return LINE_END.search(content, cell.start, cell.end) is not None


def grammar_fault(
    content: memoryview, error: GrammarError, grammar: CsvGrammar
) -> GrammarFault:
    """Say what breaks the grammar, and how to mend it."""
    cell = error.cell
    opened = line_number(content, cell.start)
    if not error.closed:
        return GrammarFault(
            opened,
            cell.column,
            "a quotation mark is opened and never closed",
            "Close it, or double quotation marks inside a quoted cell.",
        )
    line = line_number(content, cell.end)
    where = "" if line == opened else f", of a cell that began on line {opened}"
    return GrammarFault(
        line,
        cell.column,
        f"text follows a closing quotation mark{where}",
        _after_mark_hint(content, cell, grammar),
    )


def _after_mark_hint(content: memoryview, cell: Cell, grammar: CsvGrammar) -> str:
    """What to do about text behind a closing mark, by what it looks like."""
    if content[cell.end - 2] == BACKSLASH:
        return (
            'Marks inside cells are escaped with backslashes: write them doubled ("").'
        )
    after = end_of(BLANKS, content, cell.end)
    ended = after == len(content) or content[after] in (*LINE_ENDS, grammar.mark)
    if after > cell.end and ended:
        return "Remove the blanks between the closing mark and the delimiter."
    return "Double quotation marks inside a quoted cell, or remove a stray one."
