"""The texts of published cells: how they are written, and how they are read back.

`[20, 24]` closed interval, `[20, 25)` half-open, `>= 60` and `< 18` one-sided,
`{Cuba|India}` set. Every writer here has a reader that is its exact inverse; the
reader of intervals also knows the spellings of published hierarchies (`15~19`,
`20-24`, `[0, 5[`, `60+`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, datetime
from functools import cache
from math import ceil, inf, isinf, isnan, nan, nextafter
from typing import NamedTuple

import numpy as np

from sfumato.data.schema import Kind

DISCRETE = frozenset({Kind.INTEGER, Kind.DATE})
"""Kinds whose values lie one step apart, so that `[20, 24]` and `[20, 25)` agree."""

_DATES = frozenset({Kind.DATE, Kind.DATETIME})
_SECONDS_PER_DAY = 86_400
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_DATE = r"-?\d{4,}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?"
_ITEM = r'"(?:[^"]|"")*"|[^|"{}]+'
_SET = re.compile(rf"\{{(?:{_ITEM})(?:\|(?:{_ITEM}))*\}}", re.DOTALL)
_ITEMS = re.compile(_ITEM, re.DOTALL)
_CALENDAR = re.compile(r"(-?\d{4,})(?:-(\d\d)|-Q([1-4])|(s))?")


class Interval(NamedTuple):
    """What a label stands for; `closed` says whether `high` itself belongs to it."""

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
    low: float, high: float, *, kind: Kind = Kind.INTEGER, closed: bool = True
) -> str:
    """The text of an interval; an infinite bound makes it one-sided.

    It is closed unless told otherwise: `closed=False` is for builders whose upper end
    belongs to the next interval.
    """
    if isinf(low) and isinf(high):
        return "*"
    if isinf(high):
        return f">= {value_text(low, kind=kind)}"
    if isinf(low):
        return f"{'<=' if closed else '<'} {value_text(high, kind=kind)}"
    ends = f"{value_text(low, kind=kind)}, {value_text(high, kind=kind)}"
    return f"[{ends}]" if closed else f"[{ends})"


def set_label(texts: Iterable[str]) -> str:
    """The text of a set of values, in the order given (the axis's, for a group)."""
    return "{" + "|".join(_quoted(text) for text in texts) + "}"


def parse_interval(text: str, *, kind: Kind = Kind.DECIMAL) -> Interval | None:
    """What an interval label stands for, or None where it is not an interval.

    A lower end that does not belong (`> 60`, `(20, 25]`) becomes the next number.
    For dates `2020-03`, `2020-Q1`, `2020` and `2020s` are intervals too.
    """
    text = text.strip()
    found = _one_sided(text, kind) or _two_sided(text, kind)
    if found is None and kind in _DATES:
        found = _calendar(text, kind)
    return found if found is not None and found.low <= found.high else None


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


def value_text(value: float, *, kind: Kind) -> str:
    """The plain text of a number or a date."""
    if kind is Kind.DATE:
        return str(np.datetime64(round(value), "D"))
    if kind is Kind.DATETIME:
        return _datetime_text(value)
    return np.format_float_positional(value + 0.0, trim="-")


def parse_value(text: str, *, kind: Kind) -> float:
    """The number behind a text: days or seconds since 1970 for dates, NaN if none."""
    if not _value_pattern(kind).fullmatch(text.strip()):
        return nan
    if kind in _DATES:
        return _parse_date(text.strip().replace(" ", "T"), kind)
    return float(text)


def position_of(value: object, *, kind: Kind) -> float:
    """The number behind a setting (number, date or their text), NaN if none."""
    if isinstance(value, bool):
        return nan
    if isinstance(value, (str, date, datetime)):
        return parse_value(str(value), kind=kind)
    if isinstance(value, (int, float)) and kind not in _DATES:
        return float(value)
    return nan


def _datetime_text(seconds: float) -> str:
    text = str(np.datetime64(round(seconds * 1e6), "us"))
    return text.rstrip("0").rstrip(".") if "." in text else text


def _parse_date(text: str, kind: Kind) -> float:
    try:
        moment = np.datetime64(text, "us").astype(np.int64)
    except ValueError:
        return nan
    seconds = float(moment) / 1e6
    return seconds if kind is Kind.DATETIME else seconds // _SECONDS_PER_DAY


def _quoted(text: str) -> str:
    if text and not reserved(text) and not any(mark in text for mark in '"{}'):
        return text
    return '"' + text.replace('"', '""') + '"'


def _unquoted(item: str) -> str:
    return item[1:-1].replace('""', '"') if item.startswith('"') else item


def _one_sided(text: str, kind: Kind) -> Interval | None:
    sign, end = _split_sign(text)
    value = parse_value(end, kind=kind) if sign else nan
    if isnan(value):
        return None
    if sign in ("<", "<=", "≤"):
        return Interval(-inf, value, sign != "<")
    return Interval(nextafter(value, inf) if sign == ">" else value, inf, True)


def _split_sign(text: str) -> tuple[str, str]:
    for sign in (">=", "<=", "≥", "≤", ">", "<"):
        if text.startswith(sign):
            return sign, text[len(sign) :]
    return (">=", text[:-1]) if text.endswith("+") else ("", text)


def _two_sided(text: str, kind: Kind) -> Interval | None:
    found = _bracket_pattern(kind).fullmatch(text)
    if found:
        opening, first, second, closing = found.groups()
    else:
        found = _dash_pattern(kind).fullmatch(text)
        if not found:
            return None
        opening, first, second, closing = "[", found[1], found[2], "]"
    low, high = parse_value(first, kind=kind), parse_value(second, kind=kind)
    return Interval(
        low if opening == "[" else nextafter(low, inf), high, closing == "]"
    )


def _calendar(text: str, kind: Kind) -> Interval | None:
    found = _CALENDAR.fullmatch(text)
    if not found:
        return None
    months, length = _month_span(*found.groups())
    if months is None:
        return None
    first = np.datetime64(months, "M").astype("M8[D]").astype(np.int64)
    after = np.datetime64(months + length, "M").astype("M8[D]").astype(np.int64)
    if kind is Kind.DATE:
        return Interval(float(first), float(after - 1), True)
    day = _SECONDS_PER_DAY
    return Interval(float(first * day), float(after * day), False)


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
    return re.compile(rf"([\[(\]])\s*({value})\s*[,;]\s*({value})\s*([\])\[])")


@cache
def _dash_pattern(kind: Kind) -> re.Pattern[str]:
    value = _value_pattern(kind).pattern
    return re.compile(rf"({value})\s*(?:~|-|–|—|\.\.|\bto\b)\s*({value})")
