"""Feasibility of models that ask for a limit on values and for groups of k rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from sfumato.models.base import Feasibility, Groups, SensitiveModel
from sfumato.models.common.feasibility import (
    Limit,
    enough_rows,
    limited,
    rows_left,
    rows_to_count_on,
    together,
    within_reach,
)
from sfumato.models.common.parameter_changes import Loosening

LimitedModel = TypeVar("LimitedModel", bound=SensitiveModel)

OfWhole = Callable[[LimitedModel, Groups, int], Feasibility]
"""Whether a model can hold for a table of which some rows may be left out."""


def limit_and_rows(
    model: SensitiveModel,
    whole: Groups,
    limit: Limit,
    *,
    k: int,
    removable: int,
    least: int = 1,
) -> Feasibility:
    """Whether a table can meet a limit on its values and keep k rows."""
    values = limited(model, whole, lambda _: limit, removable=removable, least=least)
    left = rows_left(model, whole, values)
    rows = enough_rows(model.name, needed=k, found=left, parameter="k")
    return together([values, rows])


def explained(
    model: LimitedModel,
    whole: Groups,
    of_whole: OfWhole[LimitedModel],
    *,
    removable: int,
    ends: Mapping[str, float],
) -> Feasibility:
    """The answer for a whole table, with the nearest parameters that would do."""
    spare = rows_to_count_on(model, whole, removable)
    return Loosening(
        model,
        lambda changed: (
            of_whole(changed, whole, spare).feasible and within_reach(changed, whole)
        ),
        ends,
    ).explain(of_whole(model, whole, removable))
