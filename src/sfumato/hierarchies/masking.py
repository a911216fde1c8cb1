"""Levels from the text of a value: prefixes of codes, units of the calendar."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from sfumato.data.arrays import Ints
from sfumato.data.schema import Kind
from sfumato.data.table import Column
from sfumato.errors import HierarchyError
from sfumato.hierarchies.axis import Losses
from sfumato.hierarchies.exact_numbers import Line
from sfumato.hierarchies.labels import value_text
from sfumato.hierarchies.levels import (
    HierarchyLevel,
    UpperLevels,
    line_level,
    possible_leaves,
    run_nodes,
)

MASK = "*"
UNITS = ("day", "month", "quarter", "year", "decade")
_MONTHS = {"month": 1, "quarter": 3, "year": 12, "decade": 120}
_DAY = 86_400.0
_EPOCH_MONTHS = 1970 * 12


def prefix_levels(column: Column, lengths: Sequence[object]) -> UpperLevels:
    """Keep the first characters of a code and mask the rest.

    Codes of one length are masked character by character (`123**`); codes of many
    lengths end in one `*`, so that the mask does not tell how long they were.
    """
    if column.kind.numeric:
        raise HierarchyError(
            f"Column '{column.name}' has kind '{column.kind}'; 'prefix' needs text.",
            hint='Set kind = "code" for it: leading zeros then survive.',
        )
    keep = _checked_lengths(column, lengths)
    inner_levels = tuple(_prefix_level(column, length) for length in keep)
    return UpperLevels(inner_levels=inner_levels, total=float(column.size))


def calendar_levels(column: Column, units: Sequence[object]) -> UpperLevels:
    """Days, months, quarters, years, decades: `2020-03`, `2020-Q1`, `2020`, `2020s`."""
    if column.kind not in (Kind.DATE, Kind.DATETIME):
        raise HierarchyError(
            f"Column '{column.name}' has kind '{column.kind}'; 'calendar' needs a date.",
            hint='Set kind = "date" or kind = "datetime" for it.',
        )
    names = _checked_units(column, units)
    inner_levels = tuple(_calendar_level(column, name) for name in names)
    return UpperLevels(inner_levels=inner_levels, total=possible_leaves(column))


def _checked_lengths(column: Column, lengths: Sequence[object]) -> list[int]:
    keep = [length for length in lengths if type(length) is int and length > 0]
    falling = all(a > b for a, b in itertools.pairwise(keep))
    if len(keep) == len(lengths) and falling:
        return keep
    raise HierarchyError(
        f"Column '{column.name}': 'prefix' lists how many characters each level keeps, "
        f"from many to few; {list(lengths)!r} does not.",
        hint="For example prefix = [4, 3, 2].",
    )


def _checked_units(column: Column, units: Sequence[object]) -> list[str]:
    names = [str(unit) for unit in units]
    known = [UNITS.index(name) for name in names if name in UNITS]
    rising = all(a < b for a, b in itertools.pairwise(known))
    if len(known) == len(names) and rising:
        return names
    raise HierarchyError(
        f"Column '{column.name}': 'calendar' lists units from fine to coarse; "
        f"{names!r} does not.",
        hint=f"The units are {', '.join(UNITS)}.",
    )


def _prefix_level(column: Column, length: int) -> HierarchyLevel:
    known = [code for code in range(column.size) if code != column.missing]
    even = len({len(column.labels[code]) for code in known}) == 1
    nodes = np.full(column.size, -1, dtype=np.int64)
    numbers: dict[str, int] = {}
    masked: dict[str, str] = {}
    for code in known:
        text = column.labels[code]
        stem = text[:length]
        nodes[code] = numbers.setdefault(stem, len(numbers))
        hidden = len(text) - len(stem)
        if hidden:
            masked[stem] = stem + MASK * (hidden if even else 1)
    leaves = np.bincount(nodes[nodes >= 0], minlength=len(numbers))
    labels = tuple(masked.get(stem, stem) for stem in numbers)
    return HierarchyLevel(nodes=nodes, labels=labels, leaves=leaves.astype(np.float64))


def _calendar_level(column: Column, unit: str) -> HierarchyLevel:
    scale = 1.0 if column.kind is Kind.DATE else _DAY
    days = _days(Line.of(column))
    keys = days if unit == "day" else _unit_keys(days, unit)
    nodes, starts = run_nodes(keys)
    used = keys[starts]
    last = 1.0 if column.kind is Kind.DATE else 0.0
    bounds = np.column_stack(
        [_unit_start(used, unit) * scale, _unit_start(used + 1, unit) * scale - last]
    )
    labels = [_unit_label(key, unit) for key in used.tolist()]
    return line_level(column, nodes=nodes, labels=labels, bounds=bounds)


def _days(line: Line) -> Ints:
    """The day that each value falls in; times are rounded down."""
    if line.kind is Kind.DATE:
        return line.floats.astype(np.int64)
    days: Ints = np.floor_divide(line.floats, _DAY).astype(np.int64)
    early = line.signs(days * _DAY, lambda place: int(days[place]) * int(_DAY)) < 0
    return days - early


def _unit_keys(days: Ints, unit: str) -> Ints:
    months = days.astype("M8[D]").astype("M8[M]").astype(np.int64)
    # Counted from year 0, so that decades begin with a year that ends in 0.
    return (months + _EPOCH_MONTHS) // _MONTHS[unit]


def _unit_start(keys: Ints, unit: str) -> Losses:
    if unit == "day":
        return keys.astype(np.float64)
    months = keys * _MONTHS[unit] - _EPOCH_MONTHS
    return months.astype("M8[M]").astype("M8[D]").astype(np.int64).astype(np.float64)


def _unit_label(key: int, unit: str) -> str:
    if unit == "day":
        return value_text(key, kind=Kind.DATE)
    year, month = divmod(key * _MONTHS[unit], 12)
    if unit == "month":
        return f"{year:04d}-{month + 1:02d}"
    if unit == "quarter":
        return f"{year:04d}-Q{month // 3 + 1}"
    return f"{year:04d}" if unit == "year" else f"{year:04d}s"
