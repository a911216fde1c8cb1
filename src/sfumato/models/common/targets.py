"""Which rows have the values of a target, and which groups show them. Pure NumPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sfumato.data.arrays import Counts, Flags
from sfumato.data.grouping import Grouping
from sfumato.errors import PolicyError
from sfumato.hierarchies.axis import CodedAxis
from sfumato.models.base import Matching, Target


def having(coded: CodedAxis, value: str) -> Flags:
    """Which rows have a value; a missing cell has none, whatever its mark."""
    axis = coded.axis
    codes = [c for c, text in enumerate(axis.labels) if text == value]
    wanted = [code for code in codes if code != axis.missing]
    return np.isin(coded.codes, np.array(wanted, dtype=np.int32))


def rows_of(target: Target, columns: Mapping[str, CodedAxis], rows: int) -> Flags:
    """Which rows have every value of a target."""
    found = np.ones(rows, dtype=np.bool_)
    for name, value in target:
        found &= having(column_of(name, columns), value)
    return found


def column_of(name: str, columns: Mapping[str, CodedAxis]) -> CodedAxis:
    """The column that a requirement names."""
    if name not in columns:
        listed = ", ".join(f"'{each}'" for each in columns)
        raise PolicyError(
            f"diversity: 'where' names '{name}', which is neither a quasi-identifier "
            "nor sensitive.",
            hint=f"It may name: {listed}.",
        )
    return columns[name]


def matching(
    target: Target,
    grouping: Grouping,
    *,
    quasi: Sequence[CodedAxis],
    sensitive: Mapping[str, CodedAxis],
) -> Matching:
    """How many rows of each group have, and how many show, the values of a target.

    A group shows a quasi-identifier's value if all its rows have it and nothing
    hides it; a sensitive value is shown as it is.
    """
    columns = {coded.name: coded for coded in quasi} | dict(sensitive)
    kept = grouping.kept
    found = rows_of(target, columns, len(kept)) & kept
    present = np.bincount(grouping.group_of[found], minlength=grouping.count)
    shows = np.ones(grouping.count, dtype=np.bool_)
    for name, value in target:
        if name not in sensitive:
            place = [coded.name for coded in quasi].index(name)
            rows = having(quasi[place], value) & kept
            shows &= _agreed(grouping, rows) & _open(grouping, place, quasi[place])
    return Matching(np.where(shows, present, 0), present)


def _agreed(grouping: Grouping, rows: Flags) -> Flags:
    counts: Counts = np.bincount(grouping.group_of[rows], minlength=grouping.count)
    return np.asarray(counts == grouping.sizes())


def _open(grouping: Grouping, place: int, coded: CodedAxis) -> Flags:
    """Which groups show a value that all their rows share."""
    shown = np.ones(grouping.count, dtype=np.bool_)
    if grouping.levels is not None:
        shown &= grouping.levels[:, place] == 0
    if grouping.nodes is not None:
        shown &= grouping.nodes[:, place] < coded.axis.size
    if grouping.hidden is not None:
        shown &= ~grouping.hidden[:, place]
    return shown
