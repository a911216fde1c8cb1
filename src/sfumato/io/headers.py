"""Detect whether the first line of a CSV file is a header or data."""

from __future__ import annotations

import re
from collections.abc import Sequence

NUMBER = re.compile(
    r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?"
    r"|[+-]?\d{1,3}([., ']\d{3})+([.,]\d+)?"  # 1,234,567.00
)
DATE = re.compile(r"\d{1,4}([-./])\d{1,2}\1\d{1,4}([ T].*)?")
FORMS = (
    NUMBER,
    DATE,
    re.compile(r"[$€£¥]\s?[\d.,]+|[\d.,]+\s?[$€£¥%]"),  # $12.50, 7 %
    re.compile(r"\d{1,2}:\d{2}(:\d{2}([.,]\d+)?)?"),  # 12:30
    re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+"),  # ann@example.org
    re.compile(r"\+?\d[\d ()/-]{5,}\d"),  # +49 30 123456
    re.compile(r"[A-Z]\d{2}(\.\d{1,3})?"),  # E11.9
    re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"),  # a UUID
    re.compile(r"(\d{1,3}\.){3}\d{1,3}"),  # 192.168.0.1
)
"""Patterns that values often have and column names hardly ever do."""
MOST = 0.8
"""A column has a form if this share of its cells has it: others may be missing."""
NOTHING = frozenset({"", "?", "-", "NA", "N/A", "NaN", "nan", "null", "NULL", "None"})
YEARS = range(1000, 3000)


def cells_like_data(rows: Sequence[Sequence[str]]) -> int:
    """How many cells of the first row look like those below; 0 if it is a header.

    A word above numbers, dates, times, amounts or codes proves a header. Without such a
    proof, a number above numbers and a date above dates look like data, but for years and
    for running numbers, which name columns too; words do where half of them occur below
    themselves.
    """
    if len(rows) < 2:
        return 0
    names = [name.strip() for name in rows[0]]
    below = [_column(rows[1:], place) for place in range(len(names))]
    found = [_alike(name, cells) for name, cells in zip(names, below, strict=True)]
    alike = [name for name, same in zip(names, found, strict=True) if same]
    if False in found or _numbered(alike) or _by_chance(alike, len(names)):
        return 0
    return len(alike)


def _column(rows: Sequence[Sequence[str]], place: int) -> list[str]:
    cells = (row[place].strip() for row in rows if place < len(row))
    return [cell for cell in cells if cell not in NOTHING]


def _alike(name: str, cells: Sequence[str]) -> bool | None:
    """Return whether a name looks like the cells below it; None if unclear."""
    if not cells or name in NOTHING:
        return None
    form = _form(cells)
    if form is not None:
        return form.fullmatch(name) is not None
    return True if name in cells else None


def _form(cells: Sequence[str]) -> re.Pattern[str] | None:
    """The form that most cells of a column have, if any."""
    for form in FORMS:
        if sum(form.fullmatch(cell) is not None for cell in cells) >= MOST * len(cells):
            return form
    return None


def column_forms(
    rows: Sequence[Sequence[str]], columns: int
) -> list[re.Pattern[str] | None]:
    """The form that most cells of each column have; None for words."""
    below = [_column(rows, place) for place in range(columns)]
    return [_form(cells) if cells else None for cells in below]


def fits_forms(row: Sequence[str], forms: Sequence[re.Pattern[str] | None]) -> bool:
    """Whether each cell of a row is missing or has the form of its column."""
    pairs = zip((cell.strip() for cell in row), forms, strict=True)
    return all(
        form is None or cell in NOTHING or form.fullmatch(cell) is not None
        for cell, form in pairs
    )


def _by_chance(alike: Sequence[str], columns: int) -> bool:
    """Return whether only a few words look like data."""
    told = any(form.fullmatch(name) for name in alike for form in FORMS)
    return not told and 2 * len(alike) < columns


def _numbered(names: Sequence[str]) -> bool:
    """Whether names are years, or count columns from 0 or 1."""
    if not all(name.isdecimal() for name in names):
        return False
    numbers = [int(name) for name in names]
    rising = sorted(set(numbers)) == numbers
    years = rising and all(number in YEARS for number in numbers) and len(numbers) > 1
    return years or (len(numbers) > 1 and numbers in _counts(len(numbers)))


def _counts(count: int) -> list[list[int]]:
    return [list(range(first, first + count)) for first in (0, 1)]
