"""Which candidates are acceptable, and which of them to choose."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from sfumato.data.arrays import Floats
from sfumato.data.safe_repr import counted
from sfumato.errors import UsageError
from sfumato.pipeline.comparison.figure_catalogue import ComparedFigure, find_figure
from sfumato.pipeline.comparison.pareto_front import knee, on_front
from sfumato.report.number_text import amount, percent

Pick = Literal["knee", "min-risk", "min-loss"]
PICKS: tuple[Pick, ...] = get_args(Pick)
UNKNOWN = float("inf")
LEAST_POINTS = 3
"""Points that a front needs to have a knee: two ends, and one between."""


@dataclass(frozen=True)
class AcceptLimit:
    """The worst value of a figure that is accepted."""

    figure: ComparedFigure
    limit: float

    def excess(self, value: float | None) -> float:
        """How far a value lies beyond the limit, as a share of it; 0 if within."""
        if value is None or np.isnan(value):
            return UNKNOWN
        beyond = self.figure.cost(value) - self.figure.cost(self.limit)
        return max(beyond, 0.0) / (abs(self.limit) or 1.0)

    def told(self, value: float | None = None) -> str:
        """The limit in words, beside a value if one is given."""
        word = "at least" if self.figure.more_is_better else "at most"
        asked = f"{word} {shown(self.figure, self.limit)}"
        if value is None:
            return f"{self.figure.name} {asked}"
        return f"{self.figure.name} is {shown(self.figure, value)}, {asked} is accepted"


def shown(figure: ComparedFigure, value: float | None) -> str:
    """The value of a figure as people read it."""
    return percent(value) if figure.share else amount(value)


def accept_limits(accept: Mapping[str, float]) -> tuple[AcceptLimit, ...]:
    """The limits of `[accept]`; an unknown figure is an error."""
    return tuple(AcceptLimit(find_figure(k), float(v)) for k, v in accept.items())


def excess(limits: Sequence[AcceptLimit], figures: Mapping[str, float]) -> float:
    """The largest excess of a candidate over any limit; 0 if it is accepted."""
    return max((l.excess(figures.get(l.figure.name)) for l in limits), default=0.0)


def choose(points: Floats, pick: Pick) -> int | None:
    """The place of the point to choose: (risk, loss) of each, both known.

    None where the knee is asked for, and the front has none.
    """
    front = np.flatnonzero(on_front(points))
    risk, loss = points[front, 0], points[front, 1]
    if pick == "knee":
        place = knee(points[front])
        return None if place is None else int(front[place])
    order = np.lexsort((loss, risk) if pick == "min-risk" else (risk, loss))
    return int(front[order[0]])


def no_knee(points: Floats) -> UsageError:
    """The error where the knee is asked for, and the front has none."""
    size = len(np.unique(points[on_front(points)], axis=0))
    why = (
        f"the front has {counted(size, 'point')}, and a knee needs {LEAST_POINTS}"
        if size < LEAST_POINTS
        else "no point of the front lies below the line between its ends"
    )
    return UsageError(
        f"There is no knee: {why}.",
        hint="Choose by min-loss (or min-risk), or compare more candidates.",
    )
