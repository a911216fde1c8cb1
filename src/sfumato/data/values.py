"""What distinct values mean: numbers, dates, codes or words.

Every function takes distinct texts, never rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as types

from sfumato.data.cell_text import TextArray
from sfumato.data.schema import DateOrder, Kind

INTEGER = r"^[+-]?[0-9]{1,18}$"
WHOLE = r"^[+-]?[0-9]{1,20}$"
"""Every whole number of 64 bits, with a sign or without."""
NO_FRACTION = r"\.0+$"
DECIMAL = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$"
LEADING_ZERO = r"^[+-]?0[0-9]"
DIGITS = r"^[0-9]+$"
CODE = r"^[A-Z]{1,3}[0-9][0-9A-Z]{1,8}([.\-/][0-9A-Z]{1,6})?$"
DATE = r"^(?P<a>[0-9]{1,4})(?P<mark>[-/.])(?P<b>[0-9]{1,2})[-/.](?P<c>[0-9]{1,4})$"
DATETIME = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}(:[0-9]{2}){0,2}.*)?$"
ZONED = r"[T ][0-9:.]+(Z|[+-][0-9]{2}:?[0-9]{2})$"
FINER = r"(?P<kept>\.[0-9]{6})(?P<rest>[0-9]+)"
EXACT = 2**53
"""Up to here, floats represent every whole number exactly."""
MICRO = 10**6

FARTHEST = 1e300
"""The largest number whose distances fit in a float."""
FEW_MARKS = 3
"""Up to this many values that are not numbers, among numbers, look like marks."""
SAMPLE = 1000
"""How many distinct values are tried before all of them."""


@dataclass(frozen=True, eq=False)
class Meaning:
    """The sortable meaning of each text, and the texts that have none."""

    keys: npt.NDArray[Any]
    """Exact: two texts share a key only if they mean the same."""
    bad: npt.NDArray[np.bool_]
    note: str = ""
    """Why a text has no meaning, where the pattern alone does not say it."""
    dates: DateOrder | None = None
    """How dates are written."""


def meaning(kind: Kind, texts: TextArray, *, dates: DateOrder | None = None) -> Meaning:
    """Read texts as values of a numeric kind; left open, the texts decide on dates."""
    trimmed = pc.utf8_trim_whitespace(texts)
    if kind is Kind.INTEGER:
        return _integers(trimmed)
    if kind is Kind.DECIMAL:
        return _decimals(trimmed)
    return _dates(trimmed, dates) if kind is Kind.DATE else _datetimes(trimmed)


def readable(kind: Kind, texts: TextArray) -> npt.NDArray[np.bool_]:
    """Which texts are values of a numeric kind, each judged by itself.

    Dates have the year first: other texts may not decide how one of them is read.
    """
    good = np.ones(len(texts), dtype=np.bool_)
    if kind is Kind.DECIMAL:
        good = ~_mismatch(pc.utf8_trim_whitespace(texts), DECIMAL)
    # Texts of another shape keep the rest from being read, so read the rest again.
    for _ in range(2):
        rest = texts.filter(pa.array(good))
        good[good] = ~meaning(kind, rest, dates=DateOrder.YEAR_FIRST).bad
    return good


def numbers(kind: Kind, keys: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """The float nearest to each meaning: days for dates, seconds for datetimes."""
    if kind is not Kind.DATETIME:
        return np.asarray(keys, dtype=np.float64)
    if keys.dtype != object and np.abs(keys).max(initial=0) <= EXACT:
        return np.asarray(keys / MICRO, dtype=np.float64)
    return np.array([float(Fraction(key) / MICRO) for key in keys.tolist()])


def exact_numbers(
    kind: Kind, texts: Sequence[str], places: npt.NDArray[np.float64]
) -> list[Fraction]:
    """The numbers behind texts of a numeric kind, of which `places` are the floats."""
    if kind is Kind.DATE:
        # Whole days, which floats hold exactly; one text alone may not show which part
        # is the month.
        return [Fraction(place) for place in places.tolist()]
    if kind is Kind.DATETIME:
        keys = meaning(kind, pa.array(texts, pa.string())).keys
        return [Fraction(key) / MICRO for key in keys.tolist()]
    return [Fraction(Decimal(text.strip())) for text in texts]


def kind_of_type(kind: Any, texts: TextArray) -> tuple[Kind, str] | None:
    """The kind that an Arrow type of values with these texts is; None for text."""
    if types.is_dictionary(kind):
        return None if not kind.ordered else (Kind.ORDERED, "an ordered category")
    if types.is_integer(kind):
        return Kind.INTEGER, "whole numbers by type"
    if types.is_floating(kind) or types.is_decimal(kind):
        return Kind.DECIMAL, "decimal numbers by type"
    if types.is_date(kind):
        return Kind.DATE, "dates by type"
    if types.is_timestamp(kind):
        if len(texts) and _fits(texts, DATE):
            return Kind.DATE, "points in time by type, every one at midnight"
        return Kind.DATETIME, "points in time by type"
    if types.is_boolean(kind):
        return Kind.CATEGORY, "true or false"
    return None


def kind_of_texts(texts: TextArray) -> tuple[Kind, str]:
    """The kind that fits every one of these texts, and why."""
    if not len(texts):
        return Kind.CATEGORY, "no values"
    trimmed = pc.utf8_trim_whitespace(texts)
    digits = _digits(trimmed)
    if digits is not None:
        return digits
    if _are_decimals(trimmed):
        return Kind.DECIMAL, "every value is a number"
    return _moments(trimmed) or _words(trimmed)


def _are_decimals(texts: TextArray) -> bool:
    if not _fits(texts.slice(0, SAMPLE), DECIMAL) or _decimals(texts).bad.any():
        return False
    return not _any(texts, LEADING_ZERO + r"[0-9]*\.")


def _digits(texts: TextArray) -> tuple[Kind, str] | None:
    if _fits(texts, DIGITS) and _any(texts, LEADING_ZERO):
        return Kind.CODE, "digits with leading zeros"
    if _fits(texts, INTEGER):
        return Kind.INTEGER, "every value is a whole number"
    if _fits(texts, DIGITS):
        return Kind.CODE, "digits, too many for a number"
    return None


def _moments(texts: TextArray) -> tuple[Kind, str] | None:
    if _fits(texts, DATE):
        found = _dates(texts)
        if not found.bad.any():
            return Kind.DATE, "every value is a date"
        return (Kind.CATEGORY, found.note) if found.note else None
    if _fits(texts, DATETIME) and not _datetimes(texts).bad.any():
        return Kind.DATETIME, "every value is a point in time"
    return None


def _words(texts: TextArray) -> tuple[Kind, str]:
    if _fits(texts, CODE):
        return Kind.CODE, "capital letters and digits, as in ICD or postal codes"
    others = int(_mismatch(texts, DECIMAL).sum())
    if others <= FEW_MARKS < len(texts) - others:
        return Kind.CATEGORY, (
            f"numbers but for {others} of {len(texts)} values: if those are marks for "
            "missing ones, declare them"
        )
    return Kind.CATEGORY, "words"


def _fits(texts: TextArray, pattern: str) -> bool:
    """Whether all texts match, tried on a few first."""
    return all(
        bool(pc.all(pc.match_substring_regex(part, pattern), min_count=0).as_py())
        for part in (texts.slice(0, SAMPLE), texts.slice(SAMPLE))
    )


def _any(texts: TextArray, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(texts, pattern)).as_py())


def _mismatch(texts: TextArray, pattern: str) -> npt.NDArray[np.bool_]:
    fits = pc.match_substring_regex(texts, pattern)
    return ~np.asarray(fits.to_numpy(zero_copy_only=False), dtype=np.bool_)


def _integers(texts: TextArray) -> Meaning:
    """Whole numbers, also those that are written with a fraction of zeros."""
    bad = _mismatch(texts, WHOLE)
    if bad.any():
        texts = pc.replace_substring_regex(texts, NO_FRACTION, "")
        bad = _mismatch(texts, WHOLE)
    plain = pc.utf8_ltrim(texts, characters="+")
    try:
        return Meaning(_cast_good(plain, bad, pa.int64()), bad)
    except pa.ArrowInvalid:
        whole = pc.if_else(pa.array(bad), pa.scalar("0"), plain).to_pylist()
        return Meaning(np.array([int(text) for text in whole], dtype=object), bad)


def _decimals(texts: TextArray) -> Meaning:
    try:
        # Parsing all at once is several times faster than looking for bad texts first.
        keys = pc.cast(texts, pa.float64()).to_numpy(zero_copy_only=False)
        bad = np.zeros(len(keys), dtype=np.bool_)
    except pa.ArrowInvalid:
        bad = _mismatch(texts, DECIMAL)
        keys = _cast_good(texts, bad, pa.float64())
    # The distance between two numbers beyond may be infinite: no interval could hold it.
    bad = bad | ~(np.abs(keys) <= FARTHEST)
    return Meaning(keys + 0.0 if bad.any() else _told_apart(texts, keys + 0.0), bad)


def _told_apart(texts: TextArray, keys: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
    """Return floats if they distinguish all numbers, exact numbers otherwise."""
    if pc.count_distinct(pa.array(keys)).as_py() == len(keys):
        return keys
    _, place, counts = np.unique(keys, return_inverse=True, return_counts=True)
    shared = np.flatnonzero(counts[place] > 1)
    exact = {Decimal(text) for text in texts.take(pa.array(shared)).to_pylist()}
    if len(exact) == int((counts > 1).sum()):
        return keys
    return np.array([Decimal(text) for text in texts.to_pylist()], dtype=object)


def _cast_good(
    texts: TextArray, bad: npt.NDArray[np.bool_], kind: Any
) -> npt.NDArray[Any]:
    if bad.any():
        texts = pc.if_else(pa.array(bad), pa.scalar("0"), texts)
    keys: npt.NDArray[Any] = pc.cast(texts, kind).to_numpy(zero_copy_only=False)
    return keys


def _dates(texts: TextArray, order: DateOrder | None = None) -> Meaning:
    """Days since 1970: year first, or last where day and month can be told apart."""
    bad = _mismatch(texts, DATE)
    if bad.any():
        return Meaning(np.zeros(len(bad), dtype=np.int64), bad)
    parts = pc.extract_regex(texts, DATE)
    a, b, c = (_field(parts, name) for name in "abc")
    if order is None and (_lengths(parts, "a") == 4).all():
        order = DateOrder.YEAR_FIRST
    if order is not None:
        written = _lengths(parts, "a" if order is DateOrder.YEAR_FIRST else "c") == 4
        return _in_order(order, a, b, c, ~written)
    if not (_lengths(parts, "c") == 4).all():
        return Meaning(
            a, np.ones(len(a), dtype=np.bool_), "the year is not written out"
        )
    return _day_or_month_first(a, b, c, _dotted(parts))


def _day_or_month_first(
    a: npt.NDArray[np.int64],
    b: npt.NDArray[np.int64],
    c: npt.NDArray[np.int64],
    dotted: bool,
) -> Meaning:
    unwritten = np.zeros(len(a), dtype=np.bool_)
    day_first = _in_order(DateOrder.DAY_FIRST, a, b, c, unwritten)
    if dotted:
        return day_first
    month_first = _in_order(DateOrder.MONTH_FIRST, a, b, c, unwritten)
    if day_first.bad.any():
        return month_first if not month_first.bad.any() else day_first
    if month_first.bad.any() or (a == b).all():
        return day_first
    return Meaning(
        a,
        np.ones(len(a), dtype=np.bool_),
        "dates in which day and month cannot be told apart",
    )


def _in_order(
    order: DateOrder,
    a: npt.NDArray[np.int64],
    b: npt.NDArray[np.int64],
    c: npt.NDArray[np.int64],
    unwritten: npt.NDArray[np.bool_],
) -> Meaning:
    """Dates whose three parts are in this order, the year written out or not."""
    if order is DateOrder.YEAR_FIRST:
        found = _calendar(a, b, c)
    elif order is DateOrder.DAY_FIRST:
        found = _calendar(c, b, a)
    else:
        found = _calendar(c, a, b)
    return replace(found, bad=found.bad | unwritten, dates=order)


def _field(parts: Any, name: str) -> npt.NDArray[np.int64]:
    texts = pc.struct_field(parts, name)
    field: npt.NDArray[np.int64] = pc.cast(texts, pa.int64()).to_numpy()
    return field


def _lengths(parts: Any, name: str) -> npt.NDArray[np.int32]:
    lengths: npt.NDArray[np.int32] = pc.utf8_length(
        pc.struct_field(parts, name)
    ).to_numpy()
    return lengths


def _dotted(parts: Any) -> bool:
    return bool(pc.all(pc.equal(pc.struct_field(parts, "mark"), ".")).as_py())


def _calendar(
    year: npt.NDArray[np.int64],
    month: npt.NDArray[np.int64],
    day: npt.NDArray[np.int64],
) -> Meaning:
    bad = (year < 1) | (month < 1) | (month > 12) | (day < 1) | (day > 31)
    months = (year - 1970) * 12 + np.where(bad, 1, month) - 1
    first = months.astype("datetime64[M]").astype("datetime64[D]")
    moment = first + (np.where(bad, 1, day) - 1)
    overflow = moment.astype("datetime64[M]").astype(np.int64) != months
    return Meaning(moment.astype(np.int64), bad | overflow)


def _datetimes(texts: TextArray) -> Meaning:
    """Microseconds since 1970 and parts of them; a zone, where given, is honored."""
    bad = _mismatch(texts, DATETIME)
    if not bad.any():
        bad = np.zeros(len(bad), dtype=np.bool_)
        _mark_unreadable(texts, bad, 0)
    good = pc.if_else(pa.array(bad), pa.scalar("1970-01-01"), texts)
    return Meaning(_with_parts(_microseconds(good), good), bad)


def _with_parts(whole: npt.NDArray[np.int64], texts: TextArray) -> npt.NDArray[Any]:
    """Microseconds, with what a text says beyond them."""
    rest = pc.struct_field(pc.extract_regex(texts, FINER), "rest")
    beyond = pc.fill_null(pc.utf8_rtrim(rest, characters="0"), "")
    if not pc.any(pc.not_equal(beyond, "")).as_py():
        return whole
    pairs = zip(whole.tolist(), beyond.to_pylist(), strict=True)
    return np.array([micro + Fraction(f"0.{part}0") for micro, part in pairs], object)


def _mark_unreadable(texts: TextArray, bad: npt.NDArray[np.bool_], start: int) -> None:
    """Split in halves until each part parses or is a single unreadable text."""
    if not len(texts) or _readable(texts):
        return
    if len(texts) == 1:
        bad[start] = True
        return
    half = len(texts) // 2
    _mark_unreadable(texts.slice(0, half), bad, start)
    _mark_unreadable(texts.slice(half), bad, start + half)


def _readable(texts: TextArray) -> bool:
    try:
        _microseconds(texts)
    except pa.ArrowInvalid:
        return False
    return True


def _microseconds(texts: TextArray) -> npt.NDArray[np.int64]:
    texts = pc.replace_substring_regex(texts, FINER, r"\1")
    zoned = pc.match_substring_regex(texts, ZONED)
    nothing = pa.scalar(None, pa.string())
    local = pc.cast(pc.if_else(zoned, nothing, texts), pa.timestamp("us"))
    utc = pc.cast(pc.if_else(zoned, texts, nothing), pa.timestamp("us", tz="UTC"))
    moments = pc.coalesce(local, pc.cast(utc, pa.timestamp("us")))
    return np.asarray(pc.cast(moments, pa.int64()).to_numpy(), dtype=np.int64)
