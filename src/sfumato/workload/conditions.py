"""Match conditions with the values of a column: leaves, or a range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isnan, nextafter

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Floats
from sfumato.data.schema import Kind
from sfumato.errors import UsageError
from sfumato.hierarchies.axis import Axis
from sfumato.hierarchies.labels import position_of
from sfumato.workload.queries import Bound, Condition


@dataclass(frozen=True, eq=False)
class BoundConditions:
    """The conditions of several queries on one column."""

    leaves: npt.NDArray[np.bool_]
    """(queries, leaves): whether a row with that value qualifies."""
    low: Floats
    """Per query the lowest number that qualifies; −∞ without a bound."""
    high: Floats
    listed: npt.NDArray[np.bool_]
    """Per query, whether values are listed, or ordered without being numbers: a range
    of numbers says nothing then, and the leaves say all."""


def bind(axis: Axis, conditions: Sequence[Condition]) -> BoundConditions:
    """Read conditions against the values that a column has."""
    codes = {label: code for code, label in enumerate(axis.labels)}
    taken = np.ones((len(conditions), axis.size), dtype=np.bool_)
    low, high = np.full(len(conditions), -inf), np.full(len(conditions), inf)
    listed = np.zeros(len(conditions), dtype=np.bool_)
    for i, condition in enumerate(conditions):
        if condition.values is not None:
            listed[i] = True
            taken[i] = _listed(axis, codes, condition.values)
        if condition.bounds and axis.kind is Kind.ORDERED:
            listed[i] = True
            taken[i] &= _between(axis, codes, condition.bounds)
        elif condition.bounds:
            low[i], high[i] = _range(axis, condition.bounds)
            taken[i] &= _inside(axis, low[i], high[i])
    return BoundConditions(taken, low, high, listed)


def _listed(
    axis: Axis, codes: dict[str, int], values: Sequence[str]
) -> npt.NDArray[np.bool_]:
    found = [codes[v] for v in values if v in codes]
    if axis.positions is not None:
        wanted = [position_of(v, kind=axis.kind) for v in values if v not in codes]
        found += np.flatnonzero(np.isin(axis.positions, wanted)).tolist()
    if values and not found:
        raise UsageError(
            f"A query lists {len(values):,} values of '{axis.name}', and the column has "
            "none of them.",
            hint="Values are compared as text, exactly as the file shows them.",
            values=values,
        )
    mask = np.zeros(axis.size, dtype=np.bool_)
    mask[found] = True
    return mask


def _range(axis: Axis, bounds: Sequence[Bound]) -> tuple[float, float]:
    """The tightest closed range; an open end is the next number."""
    if axis.positions is None:
        raise UsageError(
            f"A query has a range on '{axis.name}', which is a {axis.kind}.",
            hint="Ranges need numbers, dates or an ordered category; list the values.",
        )
    low, high = -inf, inf
    for bound in bounds:
        end = position_of(bound.value, kind=axis.kind)
        if isnan(end):
            raise UsageError(
                f"A query has a range on '{axis.name}' with an end that is no "
                f"{axis.kind}.",
                hint="Dates are written YYYY-MM-DD, decimals with a point.",
            )
        if bound.sign.startswith(">"):
            low = max(low, end if bound.sign == ">=" else nextafter(end, inf))
        else:
            high = min(high, end if bound.sign == "<=" else nextafter(end, -inf))
    return low, high


def _inside(axis: Axis, low: float, high: float) -> npt.NDArray[np.bool_]:
    if axis.positions is None:
        raise TypeError(f"Axis '{axis.name}' is not a line of numbers.")
    with np.errstate(invalid="ignore"):
        return np.asarray((axis.positions >= low) & (axis.positions <= high))


def _between(
    axis: Axis, codes: dict[str, int], bounds: Sequence[Bound]
) -> npt.NDArray[np.bool_]:
    """Leaves of an ordered category within bounds that name values of it."""
    order = np.arange(axis.size)
    mask = order != axis.missing
    for bound in bounds:
        if str(bound.value) not in codes:
            raise UsageError(
                f"A query has a range on '{axis.name}' with an end that the column "
                "does not have.",
                hint="Name a value of the column.",
            )
        end = codes[str(bound.value)]
        mask &= _compared(order, bound, end)
    return np.asarray(mask)


def _compared(
    order: npt.NDArray[np.int64], bound: Bound, end: int
) -> npt.NDArray[np.bool_]:
    signs = {
        ">": order > end,
        ">=": order >= end,
        "<": order < end,
        "<=": order <= end,
    }
    return np.asarray(signs[bound.sign])
