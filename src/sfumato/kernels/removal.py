"""The fewest rows that must leave a group before it can meet a convex rule."""

from __future__ import annotations

import numba
import numpy as np
import numpy.typing as npt

from sfumato.kernels.rules import RuleTable


@numba.njit(cache=True, nogil=True)
def fewest_removals(
    size: int,
    codes: npt.NDArray[np.int32],
    counts: npt.NDArray[np.int64],
    lengths: npt.NDArray[np.int64],
    table: RuleTable,
    slack: npt.NDArray[np.float64],
) -> int:
    """A lower bound for a group that fails: at least one row."""
    return 1
