"""Keep the bounds of diversity constraints in a release that its budget covers.

All of it follows from the rows that were to be published: whether a release is refused,
and which rows are left out, tells nothing more about the source than they do.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.algorithms.private.shown_values import ShownValue, listed
from sfumato.data.arrays import Codes, Flags, Ints
from sfumato.data.grouping import SUPPRESSED
from sfumato.errors import InfeasibleError

Shown = tuple[ShownValue, Flags]
"""A constraint, and which rows show its target."""


def within_limits(
    group_of: Codes, count: int, values: Sequence[Shown], *, k: int
) -> tuple[Codes, int]:
    """Leave out rows beyond upper bounds, and stop if a lower bound is not met."""
    if not values:
        return group_of, count
    group_of = group_of.copy()
    for value, shown in values:
        if value.most_rows is not None:
            _trim(group_of, count, np.flatnonzero(shown), value.most_rows, k)
    kept = np.flatnonzero(group_of != SUPPRESSED)
    for value, shown in values:
        _refuse_too_few(value, int(shown[kept].sum()), len(kept))
    return _renumbered(group_of)


def _refuse_too_few(value: ShownValue, found: int, published: int) -> None:
    asked = value.least(published)
    if found < asked:
        raise InfeasibleError(
            f"diversity on {listed(value)}: the release would show {found:,} rows; "
            f"{asked} are asked for.",
            hint="This happens with a probability of at most 1 − confidence, and the "
            "budget is spent. Raise the confidence, or lower at_least.",
        )


def _trim(group_of: Codes, count: int, shown: Ints, most: int, k: int) -> None:
    """Leave out rows, which look alike within a group, until `most` are left."""
    rows = shown[group_of[shown] != SUPPRESSED]
    owners = group_of[rows]
    sizes = np.bincount(owners, minlength=count)
    left = trimmed(sizes, most, k=k)
    order = np.argsort(owners, kind="stable")
    place = np.arange(len(rows)) - (np.cumsum(sizes) - sizes)[owners[order]]
    gone = order[place >= left[owners[order]]]
    group_of[rows[gone]] = SUPPRESSED


def trimmed(sizes: Ints, most: int, *, k: int) -> Ints:
    """Sizes of groups with as many rows as possible, `most` at most; each 0, or k or more.

    The g largest groups can be brought to any number of rows from g·k up to what they
    have. Where all have more than `most`, more than `most` − k are left.
    """
    if sizes.sum() <= most:
        return sizes
    order = np.argsort(-sizes, kind="stable")
    added = np.cumsum(sizes[order])
    numbers = np.arange(1, len(sizes) + 1)
    reached = np.where(numbers * k <= most, np.minimum(added, most), 0)
    kept = order[: int(np.argmax(reached)) + 1] if reached.max() > 0 else order[:0]
    left = np.zeros_like(sizes)
    left[kept] = sizes[kept]
    excess = int(left.sum() - reached.max()) if len(kept) else 0
    for group in kept:
        taken = min(excess, int(left[group]) - k)
        left[group] -= taken
        excess -= taken
    return left


def _renumbered(group_of: Codes) -> tuple[Codes, int]:
    """Groups without numbers that no row has."""
    kept = group_of != SUPPRESSED
    if not kept.any():
        raise InfeasibleError(
            "diversity: no row is left within the upper bounds.",
            hint="Raise at_most, or the levels of other columns.",
        )
    found, number = np.unique(group_of[kept], return_inverse=True)
    group_of[kept] = number.astype(np.int32)
    return group_of, len(found)
