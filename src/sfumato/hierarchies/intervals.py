"""Intervals on a line: fixed widths with coded tails, and widths fitted by quantiles."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, isnan

import numpy as np
import numpy.typing as npt

from sfumato.data.schema import Kind
from sfumato.data.table import Column
from sfumato.errors import HierarchyError
from sfumato.hierarchies.axis import Losses
from sfumato.hierarchies.labels import DISCRETE, interval_label, position_of
from sfumato.hierarchies.rungs import (
    Ints,
    Ladder,
    Rung,
    known_numbers,
    line_rung,
    possible_leaves,
    run_nodes,
)

_MOST_STEPS = 2**52


@dataclass(frozen=True, kw_only=True)
class Tails:
    """Where intervals end: values beyond share one node from level 1 up."""

    bottom: float = -inf
    top: float = inf


def interval_ladder(
    column: Column,
    widths: Sequence[object],
    *,
    origin: object = None,
    bottom: object = None,
    top: object = None,
) -> Ladder:
    """Fixed-width intervals, the finest first.

    Integers and dates show `[20, 24]` and the tails `<= bottom` and `>= top`;
    decimals and datetimes show `[20, 25)`, `< bottom` and `>= top`. Intervals that
    a tail cuts are shown as far as the tail.
    """
    require_line(column, "intervals")
    exact = _checked_widths(column, widths)
    tails = Tails(
        bottom=_setting(column, "bottom", bottom, -inf),
        top=_setting(column, "top", top, inf),
    )
    _check_tails(column, tails)
    start = Fraction(str(_setting(column, "origin", origin, 0.0)))
    finest = _steps(column, start, exact[0])
    rungs = tuple(
        _interval_rung(column, finest // int(width / exact[0]), start, width, tails)
        for width in exact
    )
    return Ladder(rungs=rungs, total=possible_leaves(column))


def quantile_ladder(column: Column, bins: Sequence[object]) -> Ladder:
    """Intervals of about equally many rows; coarser cuts are among the finer ones."""
    require_line(column, "quantiles")
    counts = _checked_bins(column, bins)
    values = known_numbers(column)
    cuts = _quantile_cuts(column, counts[0]) if len(values) else np.empty(0, np.int64)
    rungs = tuple(
        _cut_rung(column, np.unique(cuts[:: counts[0] // count])) for count in counts
    )
    return Ladder(rungs=rungs, total=possible_leaves(column), fitted=True)


def require_line(column: Column, builder: str) -> None:
    """Refuse to lay intervals over what is not a line of numbers."""
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
    if good and 0 < float(str(width)) < inf:
        exact = Fraction(str(width))
        if not whole or (exact.denominator == 1 and exact > 1):
            return exact
    needed = "whole numbers above 1" if whole else "numbers above 0"
    raise HierarchyError(
        f"Column '{column.name}': interval widths must be {needed}; {width!r} is not.",
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


def _setting(column: Column, name: str, value: object, default: float) -> float:
    if value is None:
        return default
    number = position_of(value, kind=column.kind)
    if not isnan(number) and (column.kind is not Kind.INTEGER or number.is_integer()):
        return number
    raise HierarchyError(
        f"Column '{column.name}': '{name}' must be of kind '{column.kind}'; "
        f"{value!r} is not.",
        hint="Dates are written 2020-01-31.",
    )


def _check_tails(column: Column, tails: Tails) -> None:
    if tails.bottom < tails.top:
        return
    raise HierarchyError(
        f"Column '{column.name}': bottom {tails.bottom:g} is not below top "
        f"{tails.top:g}.",
        hint="Exchange them, or leave one out.",
    )


def _steps(column: Column, origin: Fraction, width: Fraction) -> Ints:
    """Which interval of the finest width each known number falls in."""
    values = known_numbers(column)
    guess = np.floor((values - float(origin)) / float(width))
    if len(values) and np.abs(guess).max() > _MOST_STEPS:
        raise HierarchyError(
            f"Column '{column.name}': its range holds more than {_MOST_STEPS} "
            f"intervals of {float(width):g}.",
            hint="Use wider intervals.",
        )
    steps: Ints = guess.astype(np.int64)
    # Division rounds: 0.3 / 0.1 is below 3. The true edges decide.
    steps -= values < _edges(steps, origin, width)
    steps += values >= _edges(steps + 1, origin, width)
    return steps


def _edges(steps: Ints, origin: Fraction, width: Fraction) -> Losses:
    if origin.denominator == 1 and width.denominator == 1:
        return (steps * int(width) + int(origin)).astype(np.float64)
    unique, place = np.unique(steps, return_inverse=True)
    return np.array([float(origin + int(s) * width) for s in unique])[place]


def _interval_rung(
    column: Column, steps: Ints, origin: Fraction, width: Fraction, tails: Tails
) -> Rung:
    values = known_numbers(column)
    discrete = column.kind in DISCRETE
    low_side = values <= tails.bottom if discrete else values < tails.bottom
    side = np.where(low_side, -1, np.where(values >= tails.top, 1, 0))
    nodes, starts = run_nodes(np.where(side == 0, steps, 0), side)
    lows = _edges(steps[starts], origin, width)
    highs = _edges(steps[starts] + 1, origin, width)
    bounds = _with_tails(lows, highs, side[starts], tails, discrete=discrete)
    return line_rung(column, nodes=nodes, labels=_labels(column, bounds), bounds=bounds)


def _with_tails(
    lows: Losses, highs: Losses, side: Ints, tails: Tails, *, discrete: bool
) -> Losses:
    step = 1.0 if discrete else 0.0
    low = np.where(side == 1, tails.top, np.maximum(lows, tails.bottom + step))
    high = np.where(side == -1, tails.bottom, np.minimum(highs, tails.top) - step)
    return np.column_stack(
        [np.where(side == -1, -inf, low), np.where(side == 1, inf, high)]
    )


def _labels(column: Column, bounds: Losses) -> list[str]:
    closed = column.kind in DISCRETE
    return [
        interval_label(low, high, kind=column.kind, closed=closed)
        for low, high in bounds.tolist()
    ]


def _checked_bins(column: Column, bins: Sequence[object]) -> list[int]:
    counts = [count for count in bins if type(count) is int and count > 1]
    if len(counts) != len(bins):
        raise HierarchyError(
            f"Column '{column.name}': 'quantiles' lists numbers of bins, each a whole "
            f"number above 1; {len(bins) - len(counts)} of {len(bins)} are not.",
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


def _cut_rung(column: Column, cuts: Ints) -> Rung:
    values = known_numbers(column)
    # A value may be spelled in two ways; a cut between them would give two bins
    # the same number.
    cuts = np.unique(np.searchsorted(values, values[cuts]))
    nodes = np.searchsorted(cuts, np.arange(len(values)), side="right") - 1
    discrete = column.kind in DISCRETE
    highs = values[cuts[1:]] - (1.0 if discrete else 0.0)
    bounds = np.column_stack([values[cuts], np.append(highs, values[-1:])])
    labels = _labels(column, bounds)
    if labels:
        low, high = bounds[-1].tolist()
        labels[-1] = interval_label(low, high, kind=column.kind)
    return line_rung(column, nodes=nodes, labels=labels, bounds=bounds)


def halving_nodes(size: int) -> list[npt.NDArray[np.int64]]:
    """Runs of neighbors over `size` places, the finest first, each halving the next."""
    depth = max(size - 1, 0).bit_length()
    places = np.arange(size, dtype=np.int64)
    return [places * 2**power // size for power in range(depth - 1, 0, -1)]
