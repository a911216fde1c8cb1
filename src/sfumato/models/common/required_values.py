"""Decide whether required values can be in every group at all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sfumato.data.arrays import Counts, Flags
from sfumato.models.base import (
    TOLERANCE,
    Feasibility,
    Groups,
    Histogram,
    SensitiveModel,
)
from sfumato.models.common.feasibility import (
    evened,
    nearest,
    sentence,
    together,
    whole_counts,
)
from sfumato.models.common.measures import flags

WAYS = ("take the value out of must_occur",)


def required_everywhere(
    model: SensitiveModel,
    whole: Groups,
    required: tuple[str, ...],
    share: float,
    *,
    removable: int,
) -> Feasibility:
    """Judge required values by their shares once other rows are left out.

    Some group has at most the table's share of a value, so that share bounds them.
    """
    found = together(
        _on_column(
            model,
            view.column,
            whole.histograms[view],
            required,
            share,
            removable,
            rows=int(whole.rows.sum()),
        )
        for view in model.views(whole.sensitive)
    )
    return replace(found, level=model.level)


def _on_column(
    model: SensitiveModel,
    column: str,
    histogram: Histogram,
    required: tuple[str, ...],
    share: float,
    removable: int,
    *,
    rows: int,
) -> Feasibility:
    counts = np.sum(whole_counts(histogram), axis=0)
    kept = flags(histogram.axis, required)
    occurring = np.zeros(0) if not kept.any() else counts[kept]
    rarest = int(occurring.min()) if len(occurring) == len(set(required)) else 0
    size, spare = int(histogram.sizes.sum()), rows - int(histogram.counts.sum())
    # Every required value keeps at least as many rows as the rarest has.
    fewest = max(size - removable, rarest * len(set(required)), 1)
    best = min((rarest + spare) / fewest, 1.0)
    return Feasibility(
        feasible=best >= share - TOLERANCE,
        best=best,
        parameter="c2",
        message=f"{model.name} on '{column}' needs a share of {share:,g} for each of "
        f"{len(required):,} values in every group; the rarest can reach {best:,.6g}.",
        hint=sentence([*_change(best), *WAYS]),
        other_ways=WAYS,
        remove=_plan(column, counts, kept, rarest, share, removable),
    )


def _change(best: float) -> list[str]:
    value = nearest(best, at_least=True)
    return [] if float(value) <= 0 else [f"lower c2 to {value}"]


def _plan(
    column: str, counts: Counts, kept: Flags, rarest: int, share: float, removable: int
) -> dict[tuple[str, int], int]:
    """Choose rows to leave out, evenly, until the rarest value has its share.

    Of the other required values, what exceeds the share goes last.
    """
    size = int(counts.sum())
    gone = size - int(rarest / share + TOLERANCE)
    if rarest == 0 or not 0 < gone <= removable:
        return {}
    others = int(counts[~kept].sum())
    left = evened(counts, min(gone, others), cut=~kept)[1]
    if gone > others:
        left = evened(left, gone - others, cut=kept)[1]
    lost = counts - left
    return {(column, int(code)): int(lost[code]) for code in np.flatnonzero(lost)}
