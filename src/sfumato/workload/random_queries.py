"""Random queries over the values of a table."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from sfumato.hierarchies.axis import Axis
from sfumato.hierarchies.labels import value_text
from sfumato.workload.queries import (
    Bound,
    Condition,
    Query,
    RandomQueries,
    Share,
    Workload,
)


def written_out(workload: Workload, axes: Mapping[str, Axis]) -> tuple[Query, ...]:
    """The queries of a workload, with its random part drawn."""
    drawn = tuple(q for part in workload.random for q in draw(part, axes))
    return workload.queries + drawn


def draw(part: RandomQueries, axes: Mapping[str, Axis]) -> tuple[Query, ...]:
    """Random queries; the same seed and values give the same ones.

    A category takes distinct values at random (Boger 2020, section 4.5). Numbers and
    dates take a run of neighboring values that begins at random.
    """
    random = np.random.default_rng(part.seed)
    return tuple(
        Query(
            where=tuple(
                _condition(axes[name], share, random)
                for name, share in part.selectivity.items()
            ),
            histogram=part.histogram,
            group_by=part.group_by,
        )
        for _ in range(part.count)
    )


def _condition(axis: Axis, share: Share, random: np.random.Generator) -> Condition:
    if axis.positions is not None:
        line = np.sort(axis.positions[~np.isnan(axis.positions)])
        return _window(axis, line, share, random)
    chosen = np.sort(random.choice(axis.size, _taken(axis.size, share), replace=False))
    values = tuple(axis.labels[code] for code in chosen)
    return Condition(column=axis.name, values=values)


def _window(
    axis: Axis,
    line: npt.NDArray[np.float64],
    share: Share,
    random: np.random.Generator,
) -> Condition:
    """Neighboring numbers; the missing value is not among them."""
    width = _taken(len(line), share)
    start = int(random.integers(len(line) - width + 1))
    ends = line[start], line[start + width - 1]
    low, high = (value_text(float(end), kind=axis.kind) for end in ends)
    return Condition(column=axis.name, bounds=(Bound(">=", low), Bound("<=", high)))


def _taken(size: int, share: Share) -> int:
    """How many of `size` values a share stands for: at least one, at most all."""
    wanted = share if isinstance(share, int) else round(share * size)
    return min(max(wanted, 1), size)
