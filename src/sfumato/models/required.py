"""Whether values that may not be ruled out can be in every group at all."""

from __future__ import annotations

from sfumato.models.base import (
    TOLERANCE,
    Feasibility,
    Groups,
    Histogram,
    SensitiveModel,
)
from sfumato.models.feasible import nearest, together
from sfumato.models.measures import flags


def required_everywhere(
    model: SensitiveModel,
    whole: Groups,
    required: tuple[str, ...],
    share: float,
    *,
    removable: int,
) -> Feasibility:
    """Judge each required value by its share once other rows are left out.

    Some group has at most the table's share of a value, so that share bounds them.
    """
    return together(
        _on_column(
            model, view.column, whole.histograms[view], required, share, removable
        )
        for view in model.views(whole.sensitive)
    )


def _on_column(
    model: SensitiveModel,
    column: str,
    histogram: Histogram,
    required: tuple[str, ...],
    share: float,
    removable: int,
) -> Feasibility:
    rows = int(histogram.sizes.sum())
    best = 1.0
    for label in required:
        marked = flags(histogram.axis, (label,))[histogram.codes]
        found = int(histogram.counts[marked].sum())
        best = min(best, found / max(rows - removable, found, 1))
    return Feasibility(
        feasible=best >= share - TOLERANCE,
        best=best,
        message=f"{model.name} on '{column}' needs a share of {share:g} for each of "
        f"{len(required)} values in every group; the rarest can reach {best:.6g}.",
        hint=f"Lower c2 to {nearest(best, at_least=True)}, "
        "or take the value out of must_occur.",
    )
