"""Requirements that stand for several, which only the source can tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Codes
from sfumato.data.table import Column
from sfumato.errors import DataError
from sfumato.models.base import OutputModel

Counting = Callable[[str], Mapping[str, int]]
"""How often each value of a column occurs in the source."""


def expanded(
    models: Sequence[OutputModel], counts: Counting
) -> tuple[OutputModel, ...]:
    """Every requirement as those that it stands for."""
    k = smallest_group(models)
    return tuple(each for model in models for each in model.expanded(counts, k=k))


def smallest_group(models: Sequence[OutputModel]) -> int:
    """The fewest rows of a group that the requirements allow, as far as k tells."""
    return max((int(getattr(model, "k", 1)) for model in models), default=1)


def generated_columns(models: Sequence[OutputModel]) -> tuple[str, ...]:
    """The columns for whose values requirements are generated."""
    asked = (getattr(model, "generate", None) for model in models)
    return tuple(dict.fromkeys(str(each["column"]) for each in asked if each))


def value_counts(
    column: Column, subject: Codes | None = None, *, k: int = 1
) -> dict[str, int]:
    """How often each value of a column occurs; missing cells have none.

    With subjects, only values of k persons or more count: no group shows others, and
    nobody is told of them.
    """
    counts = np.bincount(column.codes, minlength=len(column.labels))
    persons = persons_with(column.codes, subject)
    return {
        column.labels[code]: int(counts[code])
        for code in np.flatnonzero(persons)
        if code != column.missing and (subject is None or persons[code] >= k)
    }


def persons_with(codes: Codes, subject: Codes | None) -> npt.NDArray[np.int64]:
    """How many persons have each code; without subjects every row is one."""
    if subject is None:
        return np.bincount(codes)
    return np.bincount(np.unique(np.column_stack([codes, subject]), axis=0)[:, 0])


def from_record(known: Mapping[str, Mapping[str, int]]) -> Counting:
    """The counts that a private record keeps."""

    def counts(name: str) -> Mapping[str, int]:
        if name not in known:
            raise DataError(
                f"A requirement is generated from the source's values of '{name}', "
                "which the published table does not show.",
                hint="Give the private record: --groups private/rows.parquet.",
            )
        return known[name]

    return counts
