"""The grouping of rows that every algorithm returns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

SUPPRESSED = -1
SPARSE = 8
"""Labels up to so many times the number of rows are numbered without sorting them."""


@dataclass(frozen=True, eq=False)
class Grouping:
    """A group for every row; rows left out of the release have group −1.

    Groups are numbered 0 … count − 1 and none is empty. Full-domain and other
    level-bound algorithms also say at which hierarchy level each group shows each
    quasi-identifier; without levels a group shows the smallest node, interval or
    set that covers its rows.
    """

    group_of: npt.NDArray[np.int32]
    count: int
    levels: npt.NDArray[np.int16] | None = None
    """(count, quasi-identifiers), or None."""
    nodes: npt.NDArray[np.int32] | None = None
    """(count, quasi-identifiers): the node that each group shows on each axis, where
    the algorithm decides that by itself; or None."""
    hidden: npt.NDArray[np.bool_] | None = None
    """(count, quasi-identifiers): cells that do not show their value although all
    rows of the group share it; or None."""

    @property
    def kept(self) -> npt.NDArray[np.bool_]:
        return self.group_of >= 0

    @cached_property
    def complete(self) -> bool:
        """Whether no row is left out."""
        return int(self.group_of.min(initial=0)) >= 0

    def sizes(self) -> npt.NDArray[np.int64]:
        """Rows per group."""
        return self._sizes.copy()

    @cached_property
    def _sizes(self) -> npt.NDArray[np.int64]:
        kept = self.group_of if self.complete else self.group_of[self.kept]
        return np.bincount(kept, minlength=self.count)

    @classmethod
    def renumbered(
        cls,
        group_of: npt.NDArray[np.integer[Any]],
        levels: npt.NDArray[np.int16] | None = None,
    ) -> Grouping:
        """A grouping from any labels: empty groups vanish, negative is suppressed."""
        labels = np.asarray(group_of)
        if int(labels.max(initial=0)) > SPARSE * len(labels):
            kept = labels >= 0
            result = np.full(len(labels), SUPPRESSED, dtype=np.int32)
            present, result[kept] = np.unique(labels[kept], return_inverse=True)
        else:
            present, result = _numbered(labels)
        return cls(result, len(present), None if levels is None else levels[present])


def _numbered(
    labels: npt.NDArray[np.integer[Any]],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """The labels that occur, ascending, and the place of each row's among them."""
    # Negative labels are moved to the last place, which is no label.
    last = int(labels.max(initial=-1)) + 1
    found = np.where(labels < 0, last, labels)
    seen = np.zeros(last + 1, dtype=np.bool_)
    seen[found] = True
    seen[last] = False
    place = (np.cumsum(seen) - 1).astype(np.int32)
    place[last] = SUPPRESSED
    return np.flatnonzero(seen), place[found]
