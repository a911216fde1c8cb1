"""How well columns, alone and together, tell people apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.data.table import Column

LARGEST_SET = 3
MOST_COLUMNS = 10
"""Sets are formed of the columns that separate best, so that there are few enough."""


@dataclass(frozen=True)
class Power:
    """The identifying power of a set of columns."""

    columns: tuple[str, ...]
    distinct: int
    """How many combinations of values occur."""
    distinction: float
    """Combinations per row: 1 when every row is unique."""
    separation: float
    """The share of pairs of rows that the columns tell apart."""


def power_of(columns: Sequence[Column]) -> Power:
    """The identifying power of a set of columns, exactly."""
    key, bound = _combined(columns)
    counts = _counts(key, bound)
    return _power(tuple(column.name for column in columns), counts, len(key))


def identifying_power(columns: Sequence[Column]) -> tuple[Power, ...]:
    """Sets of up to three columns, the most identifying first."""
    singles = sorted((power_of([column]) for column in columns), key=_order)
    strongest = {power.columns[0] for power in singles[:MOST_COLUMNS]}
    chosen = [column for column in columns if column.name in strongest]
    return tuple(sorted([*singles, *_sets(chosen)], key=_order))


def _sets(columns: Sequence[Column]) -> Iterator[Power]:
    for size in range(2, LARGEST_SET + 1):
        for several in combinations(columns, size):
            yield power_of(several)


def _order(power: Power) -> tuple[float, int, tuple[str, ...]]:
    return (-power.separation, len(power.columns), power.columns)


def _combined(columns: Sequence[Column]) -> tuple[npt.NDArray[np.int64], int]:
    """One number per row for the values of several columns, and its bound."""
    key, bound = columns[0].codes.astype(np.int64), columns[0].size
    for column in columns[1:]:
        if bound * column.size >= 2**62:
            key, bound = _dense(key)
        key = key * column.size + column.codes
        bound *= column.size
    return key, bound


def _dense(key: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], int]:
    encoded = pa.array(key).dictionary_encode()
    return encoded.indices.to_numpy().astype(np.int64), len(encoded.dictionary)


def _counts(key: npt.NDArray[np.int64], bound: int) -> npt.NDArray[np.int64]:
    """How often each number occurs that does."""
    if bound <= 4 * len(key):
        counts = np.bincount(key, minlength=1)
        return counts[counts > 0]
    ordered = np.sort(key)
    starts = np.flatnonzero(np.diff(ordered, prepend=-1))
    return np.diff(starts, append=len(key))


def _power(names: tuple[str, ...], counts: npt.NDArray[np.int64], rows: int) -> Power:
    pairs = rows * (rows - 1)
    together = int((counts * (counts - 1)).sum())
    return Power(
        columns=names,
        distinct=len(counts),
        distinction=len(counts) / rows if rows else 0.0,
        separation=1.0 - together / pairs if pairs else 0.0,
    )
