"""The texts of published cells: how they are written, and how they are read back.

`[20, 24]` closed interval, `[20, 25)` half-open, `>= 60` and `< 18` one-sided,
`{Cuba|India}` set. Every writer here has a reader that is its exact inverse; the
reader of intervals also knows the spellings of published hierarchies (`15~19`,
`20-24`, `[20-24]`, `[0, 5[`, `60+`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import cache
from math import ceil, floor, inf, isinf, nan, nextafter
from typing import NamedTuple

import numpy as np

from sfumato.data.cell_text import interval_text
from sfumato.data.schema import Kind

DISCRETE = frozenset({Kind.INTEGER, Kind.DATE})
"""Kinds whose values lie one step apart, so that `[20, 24]` and `[20, 25)` agree."""

_DATES = frozenset({Kind.DATE, Kind.DATETIME})
_SECONDS_PER_DAY = 86_400
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_ZONE = r"Z|[+-]\d\d:?\d\d"
_DATE = rf"-?\d{{4,}}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:{_ZONE})?)?"
_MOMENT = re.compile(rf"(.{{10,}}?)(\.\d+)?({_ZONE})?")
_ITEM = r'"(?:[^"]|"")*"|[^|"{}]+'
_SET = re.compile(rf"\{{(?:{_ITEM})(?:\|(?:{_ITEM}))*\}}", re.DOTALL)
_ITEMS = re.compile(_ITEM, re.DOTALL)
_DASH = r"~|-|–|—|\.\.|\bto\b"
_CALENDAR = re.compile(r"(-?\d{4,})(?:-(\d\d)|-Q([1-4])|(s))?")

Exact = Fraction | int
"""A number that no float has rounded."""
_MOST_DIGITS = 4000
"""Texts with more zeros before or after the point are not treated as numbers."""


class Span(NamedTuple):
    """What a label stands for, exactly: a side without an end is None."""

    low: Exact | None
    high: Exact | None
    low_in: bool = True
    high_in: bool = True
    """Whether the ends themselves belong to it."""

    def closed(self, kind: Kind) -> Span:
        """The same values, both ends among them, for kinds that have steps."""
        if kind not in DISCRETE:
            return self
        low, high = self.low, self.high
        if low is not None:
            low = ceil(low) if self.low_in else floor(low) + 1
        if high is not None:
            high = floor(high) if self.high_in else ceil(high) - 1
        return Span(low, high)


class Interval(NamedTuple):
    """What a label stands for, in floats; `closed` says whether `high` belongs to it."""

    low: float
    high: float
    closed: bool

    def bounds(self, kind: Kind) -> tuple[float, float]:
        """The lowest and the highest number, for kinds that have steps."""
        if kind not in DISCRETE:
            return self.low, self.high
        low = self.low if isinf(self.low) else float(ceil(self.low))
        if self.closed or isinf(self.high):
            return low, self.high
        return low, float(ceil(self.high) - 1)


def interval_label(
    low: float | Exact,
    high: float | Exact,
    *,
    kind: Kind = Kind.INTEGER,
    closed: bool = True,
) -> str:
    """The text of an interval; an infinite bound makes it one-sided.

    It is closed unless told otherwise: `closed=False` is for builders whose upper end
    belongs to the next interval.
    """
    if low == -inf and high == inf:
        return "*"
    return interval_text(
        None if low == -inf else value_text(low, kind=kind),
        None if high == inf else value_text(high, kind=kind),
        closed=closed,
    )


def set_label(texts: Iterable[str]) -> str:
    """The text of a set of values, in the order given (the axis's, for a group)."""
    return set_of_items(set_item(text) for text in texts)


def set_of_items(items: Iterable[str]) -> str:
    """The text of a set of values that are written as `set_item` writes them."""
    return "{" + "|".join(items) + "}"


def parse_interval(text: str, *, kind: Kind = Kind.DECIMAL) -> Interval | None:
    """What an interval label stands for, or None where it is not an interval.

    A lower end that does not belong (`> 60`, `(20, 25]`) becomes the next number.
    For dates `2020-03`, `2020-Q1`, `2020` and `2020s` are intervals too.
    """
    found = parse_span(text, kind=kind)
    if found is None:
        return None
    low = -inf if found.low is None else _float(found.low)
    high = inf if found.high is None else _float(found.high)
    return Interval(low if found.low_in else nextafter(low, inf), high, found.high_in)


def parse_span(text: str, *, kind: Kind = Kind.DECIMAL) -> Span | None:
    """What an interval label stands for, exactly; None where it is not an interval."""
    text = text.strip()
    found = _one_sided(text, kind) or _two_sided(text, kind)
    if found is None and kind in _DATES:
        found = _calendar(text, kind)
    if found is None or found.low is None or found.high is None:
        return found
    empty = found.low > found.high or (found.low == found.high and not found.low_in)
    return None if empty else found


def parse_set(text: str) -> tuple[str, ...] | None:
    """The values of a set label, or None where it is not a set."""
    if not _SET.fullmatch(text):
        return None
    return tuple(_unquoted(item) for item in _ITEMS.findall(text[1:-1]))


def reserved(text: str) -> bool:
    """Whether a value could be taken for a published set, interval or `*`."""
    return (
        "|" in text
        or text == "*"
        or (text.startswith("{") and text.endswith("}"))
        or (text.startswith("[") and text.endswith(("]", ")", "[")))
    )


def value_text(value: float | Exact, *, kind: Kind) -> str:
    """The plain text of a number or a date; an exact number is written in full."""
    if kind is Kind.DATE:
        return str(np.datetime64(round(value), "D"))
    if kind is Kind.DATETIME:
        return _datetime_text(value)
    if isinstance(value, Fraction | int):
        return _decimal_text(value)
    return np.format_float_positional(value + 0.0, trim="-")


def parse_value(text: str, *, kind: Kind) -> float:
    """The number behind a text: days or seconds since 1970 for dates, NaN if none."""
    if kind in _DATES:
        found = parse_exact(text, kind=kind)
        return nan if found is None else _float(found)
    return float(text) if _value_pattern(kind).fullmatch(text.strip()) else nan


def parse_exact(text: str, *, kind: Kind) -> Exact | None:
    """The number behind a text as `parse_value` reads it, but exact; None if none."""
    text = text.strip()
    if not _value_pattern(kind).fullmatch(text):
        return None
    return _parse_date(text, kind) if kind in _DATES else _parse_number(text)


def position_of(value: object, *, kind: Kind) -> float:
    """The number behind a setting (number, date or their text), NaN if none."""
    found = exact_position(value, kind=kind)
    return nan if found is None else _float(found)


def exact_position(value: object, *, kind: Kind) -> Exact | None:
    """The exact number behind a setting, None if none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (str, date, datetime)):
        return parse_exact(str(value), kind=kind)
    if isinstance(value, (int, float)) and kind not in _DATES:
        return value if isinstance(value, int) else _parse_number(repr(value))
    return None


def _float(number: Exact) -> float:
    try:
        return float(number)
    except OverflowError:
        return inf if number > 0 else -inf


def _parse_number(text: str) -> Exact | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    if not number.is_finite() or abs(number.adjusted()) > _MOST_DIGITS:
        return None
    return Fraction(number)


def _parse_date(text: str, kind: Kind) -> Exact | None:
    found = _MOMENT.fullmatch(text)
    if found is None:
        return None
    try:
        whole = int(np.datetime64(found[1].replace(" ", "T"), "s").astype(np.int64))
    except ValueError:
        return None
    seconds = whole + Fraction(found[2] or 0) - _offset(found[3])
    return seconds if kind is Kind.DATETIME else seconds // _SECONDS_PER_DAY


def _offset(zone: str | None) -> int:
    """How many seconds a zone is ahead."""
    if zone in (None, "", "Z"):
        return 0
    seconds = int(zone[1:3]) * 3600 + int(zone[-2:]) * 60
    return -seconds if zone[0] == "-" else seconds


def _decimal_text(number: Exact) -> str:
    """All digits of a number whose decimals come to an end."""
    if number.denominator == 1:
        return str(number.numerator)
    twos = _power_of(2, number.denominator)
    places = max(twos, _power_of(5, number.denominator))
    digits = str(abs(number.numerator) * 10**places // number.denominator)
    digits = digits.rjust(places + 1, "0")
    sign = "-" if number < 0 else ""
    return f"{sign}{digits[:-places]}.{digits[-places:]}"


def _power_of(factor: int, number: int) -> int:
    """How often a number can be divided by a factor."""
    power = 0
    while number % factor == 0:
        number, power = number // factor, power + 1
    return power


def _datetime_text(seconds: float | Exact) -> str:
    if isinstance(seconds, float):
        seconds = Fraction(round(seconds * 1e6), 10**6)
    whole, part = divmod(seconds, 1)
    text = str(np.datetime64(int(whole), "s"))
    return text + _decimal_text(part)[1:] if part else text


def set_item(text: str) -> str:
    """A value as it is written within a set."""
    if text and not reserved(text) and not any(mark in text for mark in '"{}'):
        return text
    return '"' + text.replace('"', '""') + '"'


def _unquoted(item: str) -> str:
    return item[1:-1].replace('""', '"') if item.startswith('"') else item


def _one_sided(text: str, kind: Kind) -> Span | None:
    sign, end = _split_sign(text)
    value = parse_exact(end, kind=kind) if sign else None
    if value is None:
        return None
    if sign in ("<", "<=", "≤"):
        return Span(None, value, high_in=sign != "<")
    return Span(value, None, low_in=sign != ">")


def _split_sign(text: str) -> tuple[str, str]:
    for sign in (">=", "<=", "≥", "≤", ">", "<"):
        if text.startswith(sign):
            return sign, text[len(sign) :]
    return (">=", text[:-1]) if text.endswith("+") else ("", text)


def _two_sided(text: str, kind: Kind) -> Span | None:
    found = _bracket_pattern(kind).fullmatch(text)
    if found:
        opening, first, second, closing = found.groups()
    else:
        found = _dash_pattern(kind).fullmatch(text)
        if not found:
            return None
        opening, first, second, closing = "[", found[1], found[2], "]"
    low, high = parse_exact(first, kind=kind), parse_exact(second, kind=kind)
    if low is None or high is None:
        return None
    return Span(low, high, opening == "[", closing == "]")


def _calendar(text: str, kind: Kind) -> Span | None:
    found = _CALENDAR.fullmatch(text)
    if not found:
        return None
    months, length = _month_span(*found.groups())
    if months is None:
        return None
    first = int(np.datetime64(months, "M").astype("M8[D]").astype(np.int64))
    after = int(np.datetime64(months + length, "M").astype("M8[D]").astype(np.int64))
    if kind is Kind.DATE:
        return Span(first, after - 1)
    day = _SECONDS_PER_DAY
    return Span(first * day, after * day, high_in=False)


def _month_span(
    year: str, month: str | None, quarter: str | None, decade: str | None
) -> tuple[int | None, int]:
    january = (int(year) - 1970) * 12
    if month is not None:
        return (january + int(month) - 1, 1) if 1 <= int(month) <= 12 else (None, 1)
    if quarter is not None:
        return january + (int(quarter) - 1) * 3, 3
    return january, 120 if decade else 12


@cache
def _value_pattern(kind: Kind) -> re.Pattern[str]:
    return re.compile(_DATE if kind in _DATES else _NUMBER)


@cache
def _bracket_pattern(kind: Kind) -> re.Pattern[str]:
    value = _value_pattern(kind).pattern
    between = rf"(?:[,;]|{_DASH})"
    return re.compile(rf"([\[(\]])\s*({value})\s*{between}\s*({value})\s*([\])\[])")


@cache
def _dash_pattern(kind: Kind) -> re.Pattern[str]:
    value = _value_pattern(kind).pattern
    return re.compile(rf"({value})\s*(?:{_DASH})\s*({value})")
