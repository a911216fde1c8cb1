"""How far one column tells another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sfumato.data.table import Column
from sfumato.data.unique_rows import joined

SAMPLE = 20_000
"""So many rows, evenly spread, are enough to see that a column follows another."""
TELLS = 0.99
"""The share of rows in which a column's value must follow."""
GAIN = 0.1
"""… and the share of rows that are guessed wrong without the others must fall to."""
FEW_PER_VALUE = 5
"""With fewer rows per combination of values, anything would follow from it."""


def follows_from(column: Column, others: Sequence[Column]) -> bool:
    """Whether the values of a column follow from those of others, in nearly all rows."""
    if not others or not len(column.codes):
        return False
    known = joined([_sampled(other) for other in others], len(_sampled(column)))
    if int(known.max()) + 1 > len(known) / FEW_PER_VALUE:
        return False
    told = _sampled(column)
    missed = 1.0 - _share_told(known, told)
    blindly = 1.0 - float(np.bincount(told).max() / len(told))
    return missed <= min(1.0 - TELLS, GAIN * blindly)


def same_values(first: Column, second: Column) -> bool:
    """Whether two columns say the same in other words: each follows from the other."""
    if not len(first.codes) or abs(first.size - second.size) > 0.02 * first.size:
        return False
    one, other = _sampled(first), _sampled(second)
    if max(first.size, second.size) > len(one) / FEW_PER_VALUE:
        return False
    return min(_share_told(one, other), _share_told(other, one)) >= TELLS


def _share_told(known: npt.NDArray[np.int64], told: npt.NDArray[np.int64]) -> float:
    """The share of rows with the commonest value of `told` among their equals."""
    pairs, counts = np.unique(known * (int(told.max()) + 1) + told, return_counts=True)
    owner = pairs // (int(told.max()) + 1)
    most = np.zeros(int(owner.max()) + 1, dtype=np.int64)
    np.maximum.at(most, owner, counts)
    return float(most.sum() / len(known))


def _sampled(column: Column) -> npt.NDArray[np.int64]:
    step = max(1, -(-len(column.codes) // SAMPLE))
    return column.codes[::step].astype(np.int64)
