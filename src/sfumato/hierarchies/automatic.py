"""Propose hierarchy levels that suit the values of a column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import floor, log10
from typing import TypeVar

import numpy as np

from sfumato.data.arrays import Ints
from sfumato.data.schema import Kind
from sfumato.data.table import Column
from sfumato.hierarchies.axis import Shape
from sfumato.hierarchies.intervals import halving_nodes, interval_levels
from sfumato.hierarchies.labels import DISCRETE, set_label
from sfumato.hierarchies.levels import (
    HierarchyLevel,
    UpperLevels,
    known_numbers,
    possible_leaves,
)
from sfumato.hierarchies.masking import calendar_levels, prefix_levels

_FINEST_BINS = 20
_MOST_LEVELS = 5
_NARROWEST = 1e-280
"""Below this range, floats cannot represent interval widths exactly enough."""
_UNIT_DAYS = {"day": 1, "month": 31, "quarter": 92, "year": 366, "decade": 3653}

Item = TypeVar("Item")


def automatic_levels(column: Column) -> UpperLevels:
    """Propose levels: numbers get round intervals, dates the calendar, codes prefixes.

    Ordered categories get runs of neighbors. Plain categories stay flat, because
    nothing says which are similar.
    """
    if column.kind in (Kind.DATE, Kind.DATETIME):
        upper = calendar_levels(column, calendar_units(column))
    elif column.kind.numeric:
        upper = _interval_levels(column)
    elif column.kind is Kind.CODE:
        upper = prefix_levels(column, prefix_lengths(column))
    elif column.kind is Kind.ORDERED:
        upper = _run_levels(column)
    else:
        return UpperLevels(shape=Shape.FLAT, fitted=True)
    return replace(upper, fitted=True)


def interval_widths(column: Column) -> tuple[float, ...]:
    """Round widths (1, 2, 5 × a power of ten), each a multiple of the one before."""
    values = known_numbers(column)
    span = float(values[-1] - values[0]) if len(values) else 0.0
    if not span >= _NARROWEST:
        return ()
    least = 2.0 if column.kind in DISCRETE else 0.0
    width = _round_up(max(_core_span(column) / _FINEST_BINS, least))
    widths = []
    while width <= span / 2:
        widths.append(width)
        width = _round_up(width * 2, over=width)
    return _thinned(tuple(widths))


def calendar_units(column: Column) -> tuple[str, ...]:
    """Return the units of which the column's range has more than one."""
    values = known_numbers(column)
    days = float(values[-1] - values[0]) if len(values) else 0.0
    if column.kind is Kind.DATETIME:
        days /= 86_400
    finer = column.kind is Kind.DATETIME
    return tuple(
        unit
        for unit, length in _UNIT_DAYS.items()
        if days >= length and (finer or unit != "day")
    )


def prefix_lengths(column: Column) -> tuple[int, ...]:
    """Return the lengths at which different codes become equal, longest first."""
    texts = [t for code, t in enumerate(column.labels) if code != column.missing]
    longest = max(map(len, texts), default=0)
    lengths, groups = [], len(texts)
    for length in range(longest - 1, 0, -1):
        stems = len({text[:length] for text in texts})
        if 1 < stems < groups:
            lengths.append(length)
            groups = stems
    return _thinned(tuple(lengths))


def _interval_levels(column: Column) -> UpperLevels:
    widths = interval_widths(column)
    if not widths:
        return UpperLevels(total=possible_leaves(column))
    whole = column.kind in DISCRETE
    given = [int(width) if whole else width for width in widths]
    return interval_levels(column, given)


def _core_span(column: Column) -> float:
    """The range of the middle 98% of rows, so that outliers do not set the scale."""
    values = known_numbers(column)
    counts = np.bincount(column.codes, minlength=column.size)[: len(values)]
    shares = np.cumsum(counts) / max(counts.sum(), 1)
    low, high = np.searchsorted(shares, [0.01, 0.99])
    core = float(values[min(high, len(values) - 1)] - values[low])
    return core if core > 0 else float(values[-1] - values[0])


def _round_up(width: float, *, over: float | None = None) -> float:
    """Return the smallest round number from `width` up, a multiple of `over`."""
    power = floor(log10(width))
    for exponent in range(power - 1, power + 3):
        for digit in (1, 2, 5):
            candidate = float(f"{digit}e{exponent}")
            if candidate >= width * (1 - 1e-9) and _divides(over, candidate):
                return candidate
    return float(f"1e{power + 3}")


def _divides(finer: float | None, coarser: float) -> bool:
    if finer is None:
        return True
    ratio = coarser / finer
    return abs(ratio - round(ratio)) < 1e-9


def _thinned(items: Sequence[Item]) -> tuple[Item, ...]:
    """At most five of the levels, evenly spread, the finest among them."""
    if len(items) <= _MOST_LEVELS:
        return tuple(items)
    kept = np.linspace(0, len(items) - 1, _MOST_LEVELS).round().astype(int)
    return tuple(items[place] for place in kept)


def _run_levels(column: Column) -> UpperLevels:
    known = np.array([c for c in range(column.size) if c != column.missing], np.int64)
    inner_levels = tuple(
        _run_level(column, known, runs) for runs in halving_nodes(len(known))
    )
    return UpperLevels(inner_levels=inner_levels, total=float(column.size))


def _run_level(column: Column, known: Ints, runs: Ints) -> HierarchyLevel:
    nodes = np.full(column.size, -1, dtype=np.int64)
    nodes[known] = runs
    members = [known[runs == run].tolist() for run in range(int(runs[-1]) + 1)]
    labels = tuple(_run_label([column.labels[c] for c in codes]) for codes in members)
    leaves = np.array([float(len(codes)) for codes in members])
    return HierarchyLevel(nodes=nodes, labels=labels, leaves=leaves)


def _run_label(texts: list[str]) -> str:
    return texts[0] if len(texts) == 1 else set_label(texts)
