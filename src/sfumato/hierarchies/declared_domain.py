"""Build axes from declared domains only: every value, whether it occurs or not.

In a differentially private release, axes must not depend on the data. Here
the leaves are those of the hierarchy's file or tree, of the declared `domain`, of
`order`, or the intervals between `bottom` and `top`; the cells are then looked up in them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.data.arrays import Codes, Flags
from sfumato.data.cell_text import TextArray
from sfumato.data.coding import code_column
from sfumato.data.schema import Kind
from sfumato.data.table import Column
from sfumato.data.values import exact_numbers, readable
from sfumato.errors import DataError, PolicyError, RefusedError
from sfumato.hierarchies.axis import Axis, CodedAxis
from sfumato.hierarchies.build import (
    WORDS,
    Spec,
    build,
    refuse_reserved,
    written_leaves,
)
from sfumato.hierarchies.exact_numbers import Line, nearest
from sfumato.hierarchies.labels import DISCRETE, Exact, exact_position, value_text

MOST_LEAVES = 100_000
MOST_SINGLES = 1_000
"""With more whole numbers than this, the finest intervals are the leaves."""


@dataclass(frozen=True, kw_only=True)
class Declared:
    """What a policy declares about a column."""

    name: str
    hierarchy: Spec = None
    kind: Kind | None = None
    domain: Sequence[Any] | Mapping[str, Any] | None = None
    order: Sequence[str] | None = None
    missing: tuple[str, ...] = ()
    """The marks of a missing value."""
    with_missing: bool = True
    """Whether a missing value is one of the domain."""
    weight: float = 1.0
    base: Path | None = None


def declared_axis(declared: Declared, cells: pa.ChunkedArray) -> CodedAxis:
    """The axis that a policy declares, and the cells' codes on it."""
    refuse_fitted(declared)
    tails = _tails(declared)
    if tails is not None:
        return _clipped_axis(declared, tails, cells)
    column, axis, place = _public_axis(declared, _leaves(declared))
    return CodedAxis(axis, place[_looked_up(declared, column, cells)])


def refuse_fitted(declared: Declared) -> None:
    """Refuse a hierarchy that depends on the data."""
    spec = declared.hierarchy
    by_rows = isinstance(spec, Mapping) and "quantiles" in spec
    if spec is None or by_rows or (isinstance(spec, str) and spec in WORDS):
        shape = "no hierarchy" if spec is None else "a hierarchy that the data shapes"
        raise RefusedError(
            f"Column '{declared.name}' has {shape}; under differential privacy "
            "hierarchies may not depend on the data.",
            hint="Declare one (intervals with bottom and top, prefix, calendar, a file "
            "or a tree), or drop the column.",
        )


def has_domain(declared: Declared) -> bool:
    """Whether a column's values are declared, by its hierarchy or beside it."""
    if declared.domain is not None or declared.order is not None:
        return True
    spec, kind = declared.hierarchy, declared.kind or Kind.CATEGORY
    written = written_leaves(declared.name, spec, kind=kind, base=declared.base)
    return written is not None or _tails(declared) is not None


def in_domain(declared: Declared, texts: TextArray) -> Flags:
    """Which texts of cells are declared values, each judged by itself."""
    if _tails(declared) is not None:
        assert declared.kind is not None
        return readable(declared.kind, texts)
    column = _domain_column(declared, _leaves(declared))
    if not column.kind.numeric:
        members = pc.is_in(texts, value_set=pa.array(column.labels, pa.string()))
        return np.array(members.to_numpy(zero_copy_only=False), dtype=np.bool_)
    inside = readable(column.kind, texts)
    read = code_column(
        declared.name,
        pa.chunked_array([texts.filter(pa.array(inside))]),
        kind=column.kind,
    )
    domain = set(_keys(column))
    members = np.array([key in domain for key in _keys(read)], dtype=np.bool_)
    inside[inside] = members[read.codes]
    return inside


def fitting_kind(declared: Declared) -> Kind | None:
    """The kind that a declared hierarchy and its values fit; None if more is missing.

    Whole ends do not tell whether values are whole too: decimal reads both.
    """
    spec, domain = declared.hierarchy, declared.domain
    if not isinstance(spec, Mapping) or not {"calendar", "intervals"} & set(spec):
        return None
    ranged = isinstance(domain, Mapping)
    listed = domain.values() if isinstance(domain, Mapping) else domain or ()
    said = [*listed, *(spec[end] for end in ("bottom", "top") if end in spec)]
    if not said:
        return None
    if "calendar" in spec or any(isinstance(end, str | date) for end in said):
        return Kind.DATE
    return Kind.INTEGER if ranged else Kind.DECIMAL


def _public_axis(
    declared: Declared, texts: Sequence[str]
) -> tuple[Column, Axis, Codes]:
    """The domain as a column, its axis, and the leaf of each of the column's codes."""
    column = _domain_column(declared, texts)
    refuse_reserved(column)
    coded = build(
        column, declared.hierarchy, base=declared.base, weight=declared.weight
    )
    place = np.zeros(column.size, dtype=np.int32)
    place[column.codes] = coded.codes
    return column, coded.axis, place


def _domain_column(declared: Declared, texts: Sequence[str]) -> Column:
    """The domain as a column of one cell per value."""
    if len(texts) > MOST_LEAVES:
        raise RefusedError(
            f"The declared domain of '{declared.name}' has {len(texts):,} values; "
            f"{MOST_LEAVES:,} can be counted with noise.",
            hint="Declare wider intervals.",
        )
    extra = [None] if declared.with_missing else []
    return code_column(
        declared.name,
        pa.chunked_array([pa.array([*texts, *extra], pa.string())]),
        kind=declared.kind,
        missing=declared.missing,
        order=declared.order,
    )


def _leaves(declared: Declared) -> Sequence[str]:
    """The texts of the domain: declared, or written in the hierarchy."""
    kind = declared.kind or Kind.CATEGORY
    if isinstance(declared.domain, Mapping):
        return _steps(declared, declared.domain)
    if declared.domain is not None:
        return [_text(declared, value) for value in declared.domain]
    if declared.order is not None and not isinstance(declared.order, str):
        return tuple(declared.order)
    written = written_leaves(
        declared.name, declared.hierarchy, kind=kind, base=declared.base
    )
    if written is None:
        raise RefusedError(
            f"The values that '{declared.name}' may have are not declared.",
            hint="Add domain = [values] or domain = { low = …, high = … } to the "
            "column, or bottom and top to its intervals.",
        )
    return written


def _steps(declared: Declared, ends: Mapping[str, Any]) -> list[str]:
    if declared.kind not in DISCRETE or set(ends) != {"low", "high"}:
        raise PolicyError(
            f"The domain of '{declared.name}' is a range, which needs low, high and "
            "the kind integer or date.",
            hint="Set kind, or list the values.",
        )
    low, high = (exact_position(ends[e], kind=declared.kind) for e in ("low", "high"))
    if low is None or high is None or low > high:
        raise PolicyError(
            f"The domain of '{declared.name}' does not go from a low to a high value.",
            hint="Dates are written 2020-01-31.",
        )
    count = min(int(high - low) + 1, MOST_LEAVES + 1)
    return [value_text(low + step, kind=declared.kind) for step in range(count)]


def _text(declared: Declared, value: Any) -> str:
    number = exact_position(value, kind=Kind.DECIMAL)
    if isinstance(value, str) or number is None:
        return str(value)
    return value_text(number, kind=Kind.DECIMAL)


def _looked_up(declared: Declared, column: Column, cells: pa.ChunkedArray) -> Codes:
    """Look up each cell among the declared values, or raise an error with a count."""
    found = code_column(
        declared.name,
        cells,
        kind=column.kind,
        missing=declared.missing,
        order=declared.order,
    )
    known = {key: code for code, key in enumerate(_keys(column))}
    target = np.array([known.get(key, -1) for key in _keys(found)], dtype=np.int32)
    if found.missing >= 0:
        target[found.missing] = column.missing
    codes: Codes = target[found.codes]
    outside = int((codes < 0).sum())
    if outside:
        raise DataError(
            f"Column '{declared.name}': {outside:,} of {len(codes):,} cells have a value "
            "that the policy does not declare.",
            hint="Complete the domain or the hierarchy; it must not come from the data.",
            values=[found.labels[code] for code in np.flatnonzero(target < 0)],
        )
    return codes


def _keys(column: Column) -> list[Any]:
    """What each code of a column means: an exact number, or its text."""
    if not column.kind.numeric or column.numbers is None:
        return list(column.labels)
    known = [code for code in range(column.size) if code != column.missing]
    texts = [column.labels[code] for code in known]
    keys: list[Any] = [None] * column.size
    exact = exact_numbers(column.kind, texts, column.numbers[known])
    for code, number in zip(known, exact, strict=True):
        keys[code] = number
    return keys


# Intervals with coded tails: whatever lies outside is in a tail, so none is refused.


@dataclass(frozen=True)
class _Tails:
    kind: Kind
    starts: Sequence[Exact]
    """The first number of each leaf but the lowest, which has no beginning."""
    shown: Sequence[Exact]
    """A number that lies in each leaf."""
    single: bool
    """Whether leaves between the tails are single numbers."""

    def leaf_of(self, column: Column) -> npt.NDArray[np.int64]:
        """The leaf that each known value of a column lies in."""
        line = Line.of(column)
        floats = np.array([nearest(start) for start in self.starts])
        leaf = np.searchsorted(floats, line.floats, side="right")
        tied = np.flatnonzero(np.isin(line.floats, floats))
        leaf[tied] = [bisect_right(self.starts, n) for n in line.exact(tied)]
        return leaf


def _tails(declared: Declared) -> _Tails | None:
    spec = declared.hierarchy
    ends = ("bottom", "top")
    if not isinstance(spec, Mapping) or not all(spec.get(e) is not None for e in ends):
        return None
    if declared.kind is None:
        raise PolicyError(
            f"Column '{declared.name}' has no declared kind.",
            hint='Set kind = "integer" or kind = "decimal": the data may not decide it.',
        )
    kind = declared.kind
    bottom, top = (exact_position(spec[end], kind=kind) for end in ends)
    if bottom is None or top is None or bottom >= top:
        return None  # The builder reports what is wrong.
    if kind in DISCRETE and top - bottom < MOST_SINGLES:
        steps = [bottom + step for step in range(int(top - bottom) + 1)]
        return _Tails(kind, steps[1:], steps, single=True)
    return _edges(declared, kind, bottom, top)


def _edges(declared: Declared, kind: Kind, bottom: Exact, top: Exact) -> _Tails:
    spec: Any = declared.hierarchy
    width = Fraction(str(spec["intervals"][0]))
    origin = exact_position(spec.get("origin", 0), kind=kind) or 0
    first = int((bottom - origin) // width)
    last = int((top - origin) // width) + 1
    last = min(last, first + MOST_LEAVES + 1)
    inside = [origin + step * width for step in range(first, last + 1)]
    # A lower tail of whole numbers has its end, `<= bottom`; one of decimals has not.
    first_inside = bottom + 1 if kind in DISCRETE else bottom
    inside = [edge for edge in inside if first_inside < edge < top]
    starts = [first_inside, *inside, top]
    shown = [bottom - width, *starts[:-1], top + width]
    return _Tails(kind, starts, shown, single=False)


def _clipped_axis(
    declared: Declared, tails: _Tails, cells: pa.ChunkedArray
) -> CodedAxis:
    texts = [value_text(number, kind=tails.kind) for number in tails.shown]
    column, axis, place = _public_axis(declared, texts)
    found = code_column(declared.name, cells, kind=tails.kind, missing=declared.missing)
    target = np.full(found.size, place[column.missing], dtype=np.int32)
    known = np.arange(found.size) != found.missing
    target[known] = place[tails.leaf_of(found)]
    return CodedAxis(_renamed(axis, tails), np.ascontiguousarray(target[found.codes]))


def _renamed(axis: Axis, tails: _Tails) -> Axis:
    """Leaves that stand for more than one number show the interval above them."""
    wide = np.arange(axis.size) != axis.missing
    if tails.single:
        positions = np.asarray(axis.positions)
        wide &= (positions <= float(tails.shown[0])) | (
            positions >= float(tails.shown[-1])
        )
    parents = axis.levels[1]
    labels = [
        axis.node_labels[parents[leaf]] if wide[leaf] else axis.labels[leaf]
        for leaf in range(axis.size)
    ]
    bounds, ncp, loss = (
        np.array(each) for each in (axis.node_bounds, axis.node_ncp, axis.node_loss)
    )
    for each in (bounds, ncp, loss):
        each[: axis.size][wide] = each[parents[wide]]
    return replace(
        axis,
        labels=tuple(labels),
        node_labels=(*labels, *axis.node_labels[axis.size :]),
        node_bounds=bounds,
        node_ncp=ncp,
        node_loss=loss,
    )
