"""Expand generated requirements into one per source value, and count those values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.base import Request
from sfumato.data.arrays import Codes, Ints
from sfumato.data.table import Column, Table
from sfumato.errors import DataError
from sfumato.models.base import OutputModel

SourceCounts = Mapping[str, int]
"""How often each value of a column occurs in the source."""
Counting = Callable[[str], SourceCounts]
"""Gives the value counts of a column."""


def expanded(
    models: Sequence[OutputModel], counts: Counting
) -> tuple[OutputModel, ...]:
    """Replace each generated requirement by those that it stands for."""
    k = smallest_group(models)
    return tuple(each for model in models for each in model.expanded(counts, k=k))


def smallest_group(models: Sequence[OutputModel]) -> int:
    """Return the fewest rows that k allows in a group; 1 without a k."""
    return max((int(getattr(model, "k", 1)) for model in models), default=1)


def generated_counts(
    models: Sequence[OutputModel], table: Table
) -> dict[str, SourceCounts]:
    """The value counts of the columns that requirements are generated from."""
    subject = table.schema.subject
    persons = None if subject is None else table.columns[subject].codes
    k = smallest_group(models)
    return {
        name: common_values(_counted(table.columns[name]), persons, k=k)
        for name in _generated_columns(models)
    }


def _generated_columns(models: Sequence[OutputModel]) -> tuple[str, ...]:
    asked = (getattr(model, "generate", None) for model in models)
    return tuple(dict.fromkeys(str(each["column"]) for each in asked if each))


class CountedColumn(NamedTuple):
    """A coded column, as far as counting its values needs it."""

    codes: Codes
    labels: Sequence[str]
    missing: int
    """The code of missing cells; -1 if there are none."""


def _counted(column: Column) -> CountedColumn:
    return CountedColumn(column.codes, column.labels, column.missing)


def common_values(
    column: CountedColumn, subject: Codes | None = None, *, k: int = 1
) -> dict[str, int]:
    """How often each value of a column occurs; missing cells have none.

    With subjects, only values of at least k persons count: no group shows others, and
    they are not reported.
    """
    counts = np.bincount(column.codes, minlength=len(column.labels))
    persons = persons_with(column.codes, subject)
    return {
        column.labels[code]: int(counts[code])
        for code in np.flatnonzero(persons)
        if code != column.missing and (subject is None or persons[code] >= k)
    }


def persons_with(
    codes: Codes | Ints, subject: Codes | None, *, size: int = 0
) -> npt.NDArray[np.int64]:
    """How many persons have each code; without subjects every row is one."""
    if subject is None:
        return np.bincount(codes, minlength=size)
    pairs = np.unique(np.column_stack([codes, subject]), axis=0)
    return np.bincount(pairs[:, 0], minlength=size)


def compared_counts(request: Request) -> dict[str, SourceCounts]:
    """The value counts of the columns that requirements compare with the source."""
    names = tuple(request.sensitive)
    views = [view for model in request.models for view in model.views(names)]
    wanted = (view.column for view in views if view.reference == "source")
    return {name: _counts_on_axis(request, name) for name in dict.fromkeys(wanted)}


def _counts_on_axis(request: Request, name: str) -> dict[str, int]:
    """How many persons have each leaf of a sensitive column's axis."""
    coded = request.sensitive[name]
    counts = persons_with(coded.codes, request.subject, size=coded.axis.size)
    return dict(zip(coded.axis.labels, counts.tolist(), strict=True))


def from_record(known: Mapping[str, SourceCounts]) -> Counting:
    """The value counts that a private record keeps."""

    def counts(name: str) -> SourceCounts:
        if name not in known:
            raise DataError(
                f"A requirement is generated from the source's values of '{name}', "
                "which the published table does not show.",
                hint="Give the private record: --groups private/rows.parquet.",
            )
        return known[name]

    return counts
