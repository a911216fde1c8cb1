"""Find the box of each group: lowest and highest code, or the set of codes.

Cost: O(n) time for n rows, one pass; O(g) memory for g groups.
Invariant: a group with a row has low ≤ high; one without rows has low > high, or no
bit set; suppressed rows, of group −1, are in no box.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.kernels.compilation.decorators import both


@both
def group_bounds(
    group_of: npt.NDArray[np.int32], codes: npt.NDArray[np.int32], count: int
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return the lowest and highest code of each group; skip suppressed rows."""
    low = np.full(count, np.iinfo(np.int32).max, dtype=np.int32)
    high = np.full(count, -1, dtype=np.int32)
    for row in range(len(group_of)):
        group = group_of[row]
        if group >= 0:
            code = codes[row]
            if code < low[group]:
                low[group] = code
            if code > high[group]:
                high[group] = code
    return low, high


@both
def group_masks(
    group_of: npt.NDArray[np.int32], codes: npt.NDArray[np.int32], count: int
) -> npt.NDArray[np.uint64]:
    """Return the set of codes of each group as one 64-bit word; codes are below 64."""
    masks = np.zeros(count, dtype=np.uint64)
    one = np.uint64(1)
    for row in range(len(group_of)):
        group = group_of[row]
        if group >= 0:
            masks[group] |= one << np.uint64(codes[row])
    return masks
