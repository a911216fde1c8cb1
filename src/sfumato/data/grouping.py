"""The grouping of rows that every algorithm returns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

SUPPRESSED = -1


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

    def sizes(self) -> npt.NDArray[np.int64]:
        """Rows per group."""
        return self._sizes.copy()

    @cached_property
    def _sizes(self) -> npt.NDArray[np.int64]:
        return np.bincount(self.group_of[self.kept], minlength=self.count)

    @classmethod
    def renumbered(
        cls,
        group_of: npt.NDArray[np.integer[Any]],
        levels: npt.NDArray[np.int16] | None = None,
    ) -> Grouping:
        """A grouping from any labels: empty groups vanish, negative is suppressed."""
        result = np.full(len(group_of), SUPPRESSED, dtype=np.int32)
        kept = np.asarray(group_of) >= 0
        present, inverse = np.unique(group_of[kept], return_inverse=True)
        result[kept] = inverse
        return cls(result, len(present), None if levels is None else levels[present])
