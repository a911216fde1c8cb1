"""Intervals on a line: fixed widths with coded tails, and widths fitted by quantiles."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Ints
from sfumato.data.schema import Kind
from sfumato.data.table import Column
from sfumato.data.values import FARTHEST
from sfumato.errors import HierarchyError
from sfumato.hierarchies.exact_numbers import Line, float_bounds, nearest
from sfumato.hierarchies.labels import (
    DISCRETE,
    Exact,
    Span,
    exact_position,
    interval_label,
)
from sfumato.hierarchies.levels import (
    HierarchyLevel,
    UpperLevels,
    known_numbers,
    line_level,
    possible_leaves,
    run_nodes,
)

_MOST_STEPS = 2**52
_MOST_WHOLE = 2**62
_LEAST_WIDTH, _MOST_WIDTH = 1e-300, FARTHEST
_CALENDAR_ENDS = {
    Kind.DATE: (-719_162, 2_932_896),
    Kind.DATETIME: (-719_162 * 86_400, 2_932_897 * 86_400 - 1),
}
"""The first day of year 1 and the last of year 9999, in days and seconds since 1970."""
_MOST_BINS = 100_000


@dataclass(frozen=True, kw_only=True)
class Tails:
    """Where intervals end: values beyond share one node from level 1 up."""

    bottom: Exact | None = None
    top: Exact | None = None

    def sides(self, line: Line) -> Ints:
        """−1 for values in the lower tail, 1 for those in the upper one, 0 between."""
        side = np.zeros(len(line.floats), dtype=np.int64)
        if self.bottom is not None:
            least = 0 if line.kind in DISCRETE else -1
            side -= line.signs_to(self.bottom) <= least
        if self.top is not None:
            side += line.signs_to(self.top) >= 0
        return side

    def cut(self, low: Exact, high: Exact, side: int, *, kind: Kind) -> Span:
        """Return the interval from `low` to before `high`, or the tail instead."""
        discrete = kind in DISCRETE
        if side < 0:
            return Span(None, self.bottom, high_in=discrete)
        if side > 0:
            return Span(self.top, None)
        step = 1 if discrete else 0
        if self.bottom is not None:
            low = max(low, self.bottom + step)
        if self.top is not None:
            high = min(high, self.top)
        return Span(low, high - step, high_in=discrete)


def interval_levels(
    column: Column,
    widths: Sequence[object],
    *,
    origin: object = None,
    bottom: object = None,
    top: object = None,
) -> UpperLevels:
    """Fixed-width intervals, the finest first.

    Integers and dates show `[20, 24]` and the tails `<= bottom` and `>= top`;
    decimals and datetimes show `[20, 25)`, `< bottom` and `>= top`. Intervals that
    overlap a tail end where the tail begins.
    """
    require_line(column, "intervals")
    exact = _checked_widths(column, widths)
    tails = _tails(column, bottom, top)
    start = _setting(column, "origin", origin) or 0
    finest = _steps(column, start, exact[0])
    inner_levels = tuple(
        _interval_level(column, _coarser(finest, width / exact[0]), start, width, tails)
        for width in exact
    )
    return UpperLevels(inner_levels=inner_levels, total=possible_leaves(column))


def tail_labels(
    column: Column, *, bottom: object = None, top: object = None
) -> list[str | None]:
    """The tail that each value of a column lies in; None for the values between."""
    require_line(column, "top")
    tails = _tails(column, bottom, top)
    line = Line.of(column)
    labels = {
        side: _label(column.kind, tails.cut(0, 0, side, kind=column.kind))
        for side, end in ((-1, tails.bottom), (1, tails.top))
        if end is not None
    }
    shown = [labels.get(side) for side in tails.sides(line).tolist()]
    return shown + [None] * (column.size - len(shown))


def quantile_levels(column: Column, bins: Sequence[object]) -> UpperLevels:
    """Intervals of about equally many rows; coarser cuts are among the finer ones."""
    require_line(column, "quantiles")
    counts = _checked_bins(column, bins)
    values = known_numbers(column)
    cuts = _quantile_cuts(column, counts[0]) if len(values) else np.empty(0, np.int64)
    inner_levels = tuple(
        _cut_level(column, np.unique(cuts[:: counts[0] // count])) for count in counts
    )
    return UpperLevels(
        inner_levels=inner_levels, total=possible_leaves(column), fitted=True
    )


def require_line(column: Column, builder: str) -> None:
    """Refuse intervals on a column that does not hold numbers or dates."""
    if column.kind.numeric and column.numbers is not None:
        return
    raise HierarchyError(
        f"Column '{column.name}' has kind '{column.kind}'; '{builder}' needs a number "
        "or a date.",
        hint="Declare another kind for the column, or use a file, 'prefix' or 'flat'.",
    )


def _checked_widths(column: Column, widths: Sequence[object]) -> list[Fraction]:
    whole = column.kind in DISCRETE
    exact = [_width(column, width, whole=whole) for width in widths]
    for finer, coarser in itertools.pairwise(exact):
        _check_multiple(column, finer, coarser)
    return exact


def _width(column: Column, width: object, *, whole: bool) -> Fraction:
    good = isinstance(width, (int, float)) and not isinstance(width, bool)
    if good and _LEAST_WIDTH <= float(str(width)) <= _MOST_WIDTH:
        exact = Fraction(str(width))
        if not whole or (exact.denominator == 1 and 1 < exact <= _MOST_WHOLE):
            return exact
    needed = (
        f"whole numbers from 2 to {_MOST_WHOLE}"
        if whole
        else f"numbers from {_LEAST_WIDTH:g} to {_MOST_WIDTH:g}"
    )
    raise HierarchyError(
        f"Column '{column.name}': widths of intervals must be {needed}; one of them "
        "is not.",
        hint="Widths of dates are days, of datetimes seconds.",
    )


def _check_multiple(column: Column, finer: Fraction, coarser: Fraction) -> None:
    ratio = coarser / finer
    if ratio.denominator == 1 and ratio > 1:
        return
    shown = f"{float(finer):g}", f"{float(coarser):g}"
    raise HierarchyError(
        f"Column '{column.name}': intervals of {shown[1]} are not made of intervals "
        f"of {shown[0]}.",
        hint=f"List widths from fine to coarse, each a multiple of the one before: "
        f"{shown[0]}, then {float(finer * 2):g} or {float(finer * 4):g}.",
    )


def _setting(column: Column, name: str, value: object) -> Exact | None:
    if value is None:
        return None
    number = exact_position(value, kind=column.kind)
    whole = number is not None and number.denominator == 1
    most = float(_MOST_WHOLE) if column.kind in DISCRETE else FARTHEST
    if (
        number is not None
        and -most <= number <= most
        and (column.kind is not Kind.INTEGER or whole)
    ):
        return number.numerator if whole else number
    raise HierarchyError(
        f"Column '{column.name}': '{name}' must be of kind '{column.kind}', and "
        f"between {-most:g} and {most:g}.",
        hint="Dates are written 2020-01-31.",
    )


def _tails(column: Column, bottom: object, top: object) -> Tails:
    low, high = _setting(column, "bottom", bottom), _setting(column, "top", top)
    if low is None or high is None or low < high:
        return Tails(bottom=low, top=high)
    raise HierarchyError(
        f"Column '{column.name}': bottom {nearest(low):g} is not below top "
        f"{nearest(high):g}.",
        hint="Swap them, or leave one out.",
    )


def _steps(column: Column, origin: Exact, width: Fraction) -> Ints:
    """Which interval of the finest width each known number falls in."""
    line = Line.of(column)
    guess = np.floor((line.floats - nearest(origin)) / nearest(width))
    if len(guess) and not np.abs(guess).max() <= _MOST_STEPS:
        raise HierarchyError(
            f"Column '{column.name}': its range holds more than {_MOST_STEPS:,} "
            f"intervals of {float(width):g}.",
            hint="Use wider intervals.",
        )
    if _too_coarse(line, origin, width):
        exact = line.exact(np.arange(len(guess)))
        return np.array([int((n - origin) // width) for n in exact], dtype=np.int64)
    steps: Ints = guess.astype(np.int64)
    # Division rounds: 0.3 / 0.1 is below 3. The true edges decide.
    steps -= _signs(line, steps, origin, width) < 0
    steps += _signs(line, steps + 1, origin, width) >= 0
    return steps


def _too_coarse(line: Line, origin: Exact, width: Fraction) -> bool:
    """Whether floats lie so far apart that a value may be intervals away from its own."""
    largest = max(np.abs(line.floats).max(initial=0.0), abs(nearest(origin)))
    return bool(largest * 2.0**-50 > nearest(width))


def _signs(line: Line, steps: Ints, origin: Exact, width: Fraction) -> Ints:
    """Whether each value is below, at or above the edge that begins a step."""
    known, place = np.unique(steps, return_inverse=True)
    if origin.denominator == 1 and width.denominator == 1 and _small(line):
        # Floats hold these whole numbers exactly, so no comparison is needed.
        edges = nearest(origin) + known * nearest(width)
        return np.sign(line.floats - edges[place]).astype(np.int64)
    ends = [origin + step * width for step in known.tolist()]
    floats = np.array([nearest(end) for end in ends])[place]
    return line.signs(floats, lambda at: ends[place[at]]).astype(np.int64)


def _small(line: Line) -> bool:
    return line.kind in DISCRETE and np.abs(line.floats).max(initial=0.0) < _MOST_STEPS


def _coarser(steps: Ints, ratio: Fraction) -> Ints:
    """Which of the intervals that are `ratio` times as wide each step falls in."""
    return steps // min(int(ratio), 2**62)


def _interval_level(
    column: Column, steps: Ints, origin: Exact, width: Fraction, tails: Tails
) -> HierarchyLevel:
    side = tails.sides(Line.of(column))
    nodes, starts = run_nodes(np.where(side == 0, steps, 0), side)
    wide = width.numerator if width.denominator == 1 else width
    lows = [origin + step * wide for step in steps[starts].tolist()]
    spans = [
        _within_calendar(tails.cut(low, low + wide, at, kind=column.kind), column.kind)
        for low, at in zip(lows, side[starts].tolist(), strict=True)
    ]
    return _span_level(column, nodes, spans)


def _within_calendar(span: Span, kind: Kind) -> Span:
    """Clip an interval of dates to the years that dates may have."""
    if kind not in _CALENDAR_ENDS:
        return span
    first, last = _CALENDAR_ENDS[kind]
    low = None if span.low is None else max(span.low, first)
    if span.high is None or span.high <= last:
        return span._replace(low=low)
    high = last if kind is Kind.DATE else None
    return Span(low, high)


def _span_level(column: Column, nodes: Ints, spans: Sequence[Span]) -> HierarchyLevel:
    """A level of neighbors, labeled by what its nodes stand for."""
    ends = [float_bounds(span, kind=column.kind) for span in spans]
    return line_level(
        column,
        nodes=nodes,
        labels=[_label(column.kind, span) for span in spans],
        bounds=np.array(ends, dtype=np.float64).reshape(len(ends), 2),
    )


def _label(kind: Kind, span: Span) -> str:
    return interval_label(
        -inf if span.low is None else span.low,
        inf if span.high is None else span.high,
        kind=kind,
        closed=span.high_in,
    )


def _checked_bins(column: Column, bins: Sequence[object]) -> list[int]:
    counts = [n for n in bins if type(n) is int and 1 < n <= _MOST_BINS]
    if len(counts) != len(bins):
        raise HierarchyError(
            f"Column '{column.name}': 'quantiles' lists numbers of bins, each a whole "
            f"number from 2 to {_MOST_BINS:,}; {len(bins) - len(counts)} of {len(bins):,} "
            "are not.",
            hint="For example quantiles = [20, 10, 5].",
        )
    for finer, coarser in itertools.pairwise(counts):
        if finer <= coarser or finer % coarser:
            raise HierarchyError(
                f"Column '{column.name}': {coarser} bins are not made of {finer} bins.",
                hint="List numbers of bins from fine to coarse, each dividing the one "
                "before: [20, 10, 5].",
            )
    return counts


def _quantile_cuts(column: Column, bins: int) -> Ints:
    """The first code of each bin, on the distinct value nearest to the quantile."""
    size = len(known_numbers(column))
    before = np.cumsum(np.bincount(column.codes, minlength=column.size)[:size])
    targets = before[-1] * np.arange(bins) / bins
    starts = np.concatenate([[0], before[:-1]])
    right = np.minimum(np.searchsorted(starts, targets), size - 1)
    left = np.maximum(right - 1, 0)
    nearer = targets - starts[left] < starts[right] - targets
    cuts: Ints = np.where(nearer, left, right).astype(np.int64)
    return cuts


def _cut_level(column: Column, cuts: Ints) -> HierarchyLevel:
    line = Line.of(column)
    if not len(cuts):
        return _span_level(column, np.empty(0, dtype=np.int64), [])
    # A value may be spelled in two ways; a cut between them would give two bins
    # the same number.
    cuts = np.unique([_first_spelling(line, cut) for cut in cuts.tolist()])
    discrete = column.kind in DISCRETE
    nodes = np.searchsorted(cuts, np.arange(len(line.floats)), side="right") - 1
    starts = line.exact(cuts)
    spans = [
        Span(low, after - 1 if discrete else after, high_in=discrete)
        for low, after in itertools.pairwise(starts)
    ]
    last = line.exact([len(line.floats) - 1])[0]
    return _span_level(column, nodes, [*spans, Span(starts[-1], last)])


def _first_spelling(line: Line, place: int) -> int:
    """The first place whose value is exactly that of another place."""
    first = int(np.searchsorted(line.floats, line.floats[place]))
    *before, own = line.exact(np.arange(first, place + 1))
    return first + sum(number < own for number in before)


def halving_nodes(size: int) -> list[npt.NDArray[np.int64]]:
    """Runs of neighbors over `size` places, the finest first, each halving the next."""
    depth = max(size - 1, 0).bit_length()
    places = np.arange(size, dtype=np.int64)
    return [places * 2**power // size for power in range(depth - 1, 0, -1)]
