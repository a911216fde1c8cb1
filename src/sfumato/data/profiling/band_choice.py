"""Choose bands and tails for a column of numbers, so that few know any published value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import floor, log10

import numpy as np

from sfumato.data.arrays import Counts, Floats, Ints
from sfumato.data.schema import Kind
from sfumato.data.table import Column

MOST_IN_TAILS = (0.1, 0.5)
"""The share of rows that tails may hold: wide bands are better than long tails, and long
tails are better than no column."""
MOST_BANDS = 1_000
EDGE_DIGITS = 9
"""A value that differs less from the edge of a band, in widths, is on the edge."""
EXACT = 2.0**53
"""Larger whole numbers are not exact as floats."""


@dataclass(frozen=True)
class BandCoding:
    """How the numbers of a column are published, as `bands`, `bottom` and `top` say.

    Without a width, values between the tails stay exact.
    """

    bands: float | None = None
    bottom: float | None = None
    top: float | None = None

    def settings(self) -> Iterator[tuple[str, float]]:
        """The keys of the policy that say it, with their values."""
        for name in ("bands", "bottom", "top"):
            value: float | None = getattr(self, name)
            if value is not None:
                yield name, value


@dataclass(frozen=True, eq=False)
class Coded:
    """A column as a coding publishes it."""

    coding: BandCoding
    codes: Ints


def holders(codes: Ints, persons: Ints | None) -> Counts:
    """How many persons have each code; how many rows, without persons."""
    if persons is None or not len(codes):
        return np.bincount(codes)
    span = int(persons.max()) + 1
    pairs = np.unique(codes * span + persons)
    return np.bincount(pairs // span)


def codings(column: Column, persons: Ints | None, *, k: int) -> Iterator[Coded]:
    """Round codings in which k persons hold each published value, the finest first."""
    if column.kind not in (Kind.INTEGER, Kind.DECIMAL) or column.numbers is None:
        return
    values = column.numbers[~np.isnan(column.numbers)]
    present = column.codes != column.missing
    rows = column.codes[present].astype(np.int64)
    if not len(rows) or np.abs(values).max() > EXACT:
        return
    whole = column.kind is Kind.INTEGER
    owners = None if persons is None else persons[present]
    widths = (None, *_widths(float(values[-1] - values[0]), whole=whole))
    for most, width in product(MOST_IN_TAILS, widths):
        numbers, band_of = _bands(values, width)
        ends = _tails(band_of[rows], len(numbers), owners, k=k, most=most)
        if ends is None:
            continue
        codes = np.full(len(present), -1, dtype=np.int64)
        codes[present] = np.clip(band_of[rows], *ends)
        yield Coded(_coding(numbers, ends, width, whole=whole), codes)


def _widths(span: float, *, whole: bool) -> Iterator[float]:
    """Round widths: 1, 2 and 5 times powers of ten, up to the span."""
    if not 0 < span < np.inf:
        return
    for power in range(floor(log10(span / MOST_BANDS)), floor(log10(span)) + 1):
        for digit in (1, 2, 5):
            width = float(f"{digit}e{power}")
            if width <= span and (not whole or width >= 2):
                yield width


def _bands(values: Floats, width: float | None) -> tuple[Floats, Ints]:
    """The occupied bands, as multiples of the width, and the band of each value."""
    if width is None:
        return values, np.arange(len(values))
    multiples = np.floor(np.round(values / width, EDGE_DIGITS))
    numbers, band_of = np.unique(multiples, return_inverse=True)
    return numbers, band_of.astype(np.int64)


def _tails(
    bands: Ints, size: int, persons: Ints | None, *, k: int, most: float
) -> tuple[int, int] | None:
    """The last band of the lower tail and the first of the upper one.

    −1 and `size` stand for no tail. None where tails would hold too many rows, or one
    value would be left.
    """
    rare = np.flatnonzero(holders(bands, persons) < k)
    middle = int(np.median(bands))
    up_to, from_on = _reaching(bands, size, persons)
    low = int(max(rare[rare < middle], default=-1))
    high = int(min(rare[rare >= middle], default=size))
    while 0 <= low < size - 1 and up_to[low] < k:
        low += 1
    while 0 < high < size and from_on[high] < k:
        high -= 1
    inside = int(((bands <= low) | (bands >= high)).sum())
    values = high - low - 1 + (low >= 0) + (high < size)
    crowded = inside > most * len(bands)
    return None if crowded or low >= high or values < 2 else (low, high)


def _reaching(bands: Ints, size: int, persons: Ints | None) -> tuple[Counts, Counts]:
    """How many persons have a band up to each one, and from each one on."""
    if persons is None:
        lowest = highest = bands
    else:
        owner = np.unique(persons, return_inverse=True)[1]
        lowest = np.full(int(owner.max()) + 1, size)
        highest = np.full(int(owner.max()) + 1, -1)
        np.minimum.at(lowest, owner, bands)
        np.maximum.at(highest, owner, bands)
    up_to = np.cumsum(np.bincount(lowest, minlength=size))
    from_on = np.cumsum(np.bincount(highest, minlength=size)[::-1])[::-1]
    return up_to, from_on


def _coding(
    numbers: Floats, ends: tuple[int, int], width: float | None, *, whole: bool
) -> BandCoding:
    """The settings that publish these bands between these tails."""
    low, high = ends
    scale = 1.0 if width is None else width
    bottom = top = None
    if high < len(numbers):
        top = _plain(numbers[high] * scale)
    if low >= 0 and width is None:
        # Whole numbers show `<= bottom`, decimals `< bottom`.
        bottom = _plain(numbers[low] if whole else numbers[low + 1])
    elif low >= 0:
        bottom = _plain((numbers[low] + 1) * scale - whole)
    return BandCoding(bands=width, bottom=bottom, top=top)


def _plain(number: float) -> float:
    """Remove the digits that a product of floats adds."""
    return float(f"{number:.15g}")
