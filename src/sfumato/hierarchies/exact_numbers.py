"""Compare numbers exactly: by their floats, and by their texts where the floats tie.

A float is the number nearest to a value. Two values whose floats differ are in the
order of the floats; where the floats are the same, the texts decide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Floats, Signs
from sfumato.data.schema import Kind
from sfumato.data.table import Column
from sfumato.data.values import exact_numbers
from sfumato.hierarchies.labels import Exact, Span


@dataclass(frozen=True, eq=False)
class Line:
    """Values of a numeric kind: the text and the float of each."""

    kind: Kind
    texts: Sequence[str]
    floats: Floats

    @classmethod
    def of(cls, column: Column) -> Line:
        """The values of a column, without the missing one."""
        floats = np.empty(0) if column.numbers is None else column.numbers
        known = np.flatnonzero(~np.isnan(floats))
        return cls(column.kind, [column.labels[code] for code in known], floats[known])

    def exact(self, places: Sequence[int] | npt.NDArray[np.int64]) -> list[Fraction]:
        """The exact numbers of some values."""
        at = np.asarray(places, dtype=np.int64)
        texts = [self.texts[place] for place in at]
        return exact_numbers(self.kind, texts, self.floats[at])

    def signs(self, ends: Floats, exact: Callable[[int], Exact]) -> Signs:
        """Whether each value is below (−1), at (0) or above (1) an end of its own.

        `ends` are the floats nearest to the ends that `exact` gives.
        """
        found: Signs = (self.floats > ends).astype(np.int8)
        found -= self.floats < ends
        tied = np.flatnonzero(self.floats == ends)
        for place, number in zip(tied.tolist(), self.exact(tied), strict=True):
            end = exact(place)
            found[place] = (number > end) - (number < end)
        return found

    def signs_to(self, end: Exact) -> Signs:
        """Whether each value is below (−1), at (0) or above (1) one end."""
        ends = np.full(len(self.floats), nearest(end))
        return self.signs(ends, lambda _: end)

    def inside(self, span: Span) -> npt.NDArray[np.bool_]:
        """Which values a label stands for; none of them may be missing."""
        found = np.ones(len(self.floats), dtype=np.bool_)
        if span.low is not None:
            found &= self.signs_to(span.low) >= (0 if span.low_in else 1)
        if span.high is not None:
            found &= self.signs_to(span.high) <= (0 if span.high_in else -1)
        return found

    def run(self, span: Span) -> tuple[int, int]:
        """The same values as a slice, where the values are sorted by size."""
        low, high = span.low, span.high
        start = 0 if low is None else self._below(low, or_at=not span.low_in)
        stop = len(self.floats)
        if high is not None:
            stop = self._below(high, or_at=span.high_in)
        return start, max(start, stop)

    def _below(self, end: Exact, *, or_at: bool) -> int:
        """How many sorted values are below an end, or at it."""
        place = nearest(end)
        start = int(np.searchsorted(self.floats, place, side="left"))
        stop = int(np.searchsorted(self.floats, place, side="right"))
        tied = self.exact(range(start, stop))
        return start + sum(n < end or (or_at and n == end) for n in tied)


def nearest(number: Exact) -> float:
    """The float nearest to a number; infinite where it is too large for one."""
    try:
        return float(number)
    except OverflowError:
        return inf if number > 0 else -inf


def float_bounds(span: Span, *, kind: Kind) -> tuple[float, float]:
    """The lowest and the highest number of a span in floats, for measuring it."""
    low, high, *_ = span.closed(kind)
    return (
        -inf if low is None else nearest(low),
        inf if high is None else nearest(high),
    )
