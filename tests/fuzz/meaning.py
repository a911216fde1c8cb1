"""What texts mean, read in plain Python: values exactly, and published cells.

Nothing here comes from the product: numbers are fractions, so that no magnitude is
rounded, and a cell covers a value only if a recipient would say so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from fractions import Fraction

import numpy as np

NUMERIC = frozenset({"integer", "decimal", "date", "datetime"})
STAR = "*"
_DOTTED = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})")
_BRACKETS = re.compile(r"\[(?P<low>.+), (?P<high>.+)(?P<end>[\])])", re.DOTALL)
_ONE_SIDED = re.compile(r"(?P<sign>>=|<=|<|>) (?P<bound>.+)")
_CALENDAR = re.compile(r"(-?\d{4,})(?:-(\d\d)|-Q([1-4])|(s))?")
_MASK = re.compile(r"(?P<kept>.*?)(?P<stars>\*+)", re.DOTALL)
_ITEM = re.compile(r'"(?:[^"]|"")*"|[^|]+', re.DOTALL)
_DAY = 86_400_000_000


def number_of(text: str, kind: str) -> Fraction | None:
    """The number behind a text: itself, days, or microseconds; None if there is none."""
    text = text.strip()
    if kind in ("date", "datetime"):
        moment = _microseconds(text)
        if moment is None:
            return None
        return Fraction(moment // _DAY if kind == "date" else moment)
    try:
        found = Decimal(text)
    except InvalidOperation:
        return None
    return Fraction(found) if found.is_finite() else None


def _microseconds(text: str) -> int | None:
    dotted = _DOTTED.fullmatch(text)
    if dotted:
        text = f"{dotted[3]}-{int(dotted[2]):02}-{int(dotted[1]):02}"
    text = re.sub(r"(\.\d{6})\d+$", r"\1", text.removesuffix("Z"))
    if not re.fullmatch(r"-?\d{4,}-\d\d-\d\d([T ][\d:.]+)?", text):
        return None
    try:
        return int(np.datetime64(text.replace(" ", "T"), "us").astype(np.int64))
    except ValueError:
        return None


@dataclass(frozen=True)
class Reader:
    """Reads the cells of one column."""

    kind: str
    marks: frozenset[str] = frozenset({""})
    """Texts that mean that there is no value."""
    paths: dict[str, list[str]] | None = None
    values: frozenset[str] = field(default_factory=frozenset)
    """The texts that occur in the source or the population."""

    def missing(self, text: str | None) -> bool:
        return text is None or text in self.marks

    def key(self, text: str | None) -> object:
        """What a value is compared by: its number, or its text."""
        if self.missing(text):
            return None
        number = number_of(str(text), self.kind) if self.kind in NUMERIC else None
        return text if number is None else number

    def path(self, text: str) -> list[str]:
        """A value and its ancestors, however the value is written."""
        assert self.paths is not None
        if text in self.paths:
            return self.paths[text]
        return next(p for v, p in self.paths.items() if self.key(v) == self.key(text))

    def covers(self, cell: str | None, value: str | None) -> bool:
        """Whether a published cell may stand for a value of the source."""
        if cell == STAR:
            return True
        if self.missing(value):
            # A set shows a null as an empty text, whatever the marks are.
            listed = members(cell) or ()
            return self.missing(cell) or "" in listed or any(map(self.missing, listed))
        assert value is not None
        if cell is None or self.missing(cell):
            return False
        if cell == value or self.key(cell) == self.key(value):
            return True
        if self.paths and cell in self.paths.get(value, ()):
            return True
        return cell not in self.values and self._inside(cell, value)

    def _inside(self, cell: str, value: str) -> bool:
        listed = members(cell)
        if listed is not None:
            return self.key(value) in [self.key(item) for item in listed]
        number = number_of(value, self.kind) if self.kind in NUMERIC else None
        if number is not None:
            return self._holds(cell, number)
        return _masked(cell, value)

    def _holds(self, cell: str, number: Fraction) -> bool:
        found = _BRACKETS.fullmatch(cell)
        if found:
            low = number_of(found["low"], self.kind)
            high = number_of(found["high"], self.kind)
            if low is None or high is None:
                return False
            return low <= number and (
                number <= high if found["end"] == "]" else number < high
            )
        found = _ONE_SIDED.fullmatch(cell)
        if found:
            return self._on_side(found["sign"], found["bound"], number)
        return self.kind in ("date", "datetime") and _in_calendar(
            cell, number, self.kind
        )

    def _on_side(self, sign: str, text: str, number: Fraction) -> bool:
        bound = number_of(text, self.kind)
        if bound is None:
            return False
        return {
            ">=": number >= bound,
            ">": number > bound,
            "<=": number <= bound,
            "<": number < bound,
        }[sign]

    def between(self, low: str | None, high: str | None, value: str | None) -> bool:
        """Whether two bound columns may stand for a value; an empty bound is open."""
        if self.missing(low) and self.missing(high):
            return True
        if self.missing(value):
            return False
        number = number_of(str(value), self.kind)
        lowest = None if self.missing(low) else number_of(str(low), self.kind)
        highest = None if self.missing(high) else number_of(str(high), self.kind)
        if number is None or (lowest is None) != self.missing(low):
            return False
        return (lowest is None or lowest <= number) and (
            highest is None or number <= highest
        )


def members(cell: str | None) -> list[str] | None:
    """The values of a published set, quoted ones unquoted; None if it is no set."""
    if cell is None or not (cell.startswith("{") and cell.endswith("}")):
        return None
    return [
        item[1:-1].replace('""', '"') if item.startswith('"') else item
        for item in _ITEM.findall(cell[1:-1])
    ]


def _masked(cell: str, value: str) -> bool:
    """Whether a cell is the beginning of a value with stars for the rest."""
    found = _MASK.fullmatch(cell)
    if not found or not value.startswith(found["kept"]):
        return False
    return len(found["stars"]) == 1 or len(cell) == len(value)


def _in_calendar(cell: str, number: Fraction, kind: str) -> bool:
    """Whether a day or moment lies in a published month, quarter, year or decade."""
    if kind == "datetime" and re.fullmatch(r"-?\d{4,}-\d\d-\d\d", cell):
        day = number_of(cell, kind)
        return day is not None and day <= number < day + _DAY
    found = _CALENDAR.fullmatch(cell)
    if not found:
        return False
    year, month, quarter, decade = found.groups()
    first = (int(year) - 1970) * 12
    length = 120 if decade else 12
    if month:
        first, length = first + int(month) - 1, 1
    elif quarter:
        first, length = first + 3 * int(quarter) - 3, 3
    unit = 1 if kind == "date" else _DAY
    days = [
        int(np.datetime64(m, "M").astype("M8[D]").astype(np.int64))
        for m in (first, first + length)
    ]
    return days[0] * unit <= number < days[1] * unit
