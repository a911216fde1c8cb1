"""Keys are sorted by their upper part, stably, in runs short and long."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.kernels.common.sorting import FEW, LOWER, sort_keys


@pytest.mark.parametrize("n", [0, 1, 2, FEW, FEW + 1, 400])
@pytest.mark.parametrize("highest", [0, 1, 255, 256, 2**20, 2**31 - 1])
def test_keys_are_sorted_stably(n: int, highest: int) -> None:
    upper = np.random.default_rng(n).integers(0, highest + 1, n)
    upper[::3] = highest
    keys = upper << LOWER | np.arange(n)
    sort_keys(keys, np.empty(n, dtype=np.int64), n, highest)
    expected = sorted(range(n), key=lambda i: upper[i])
    assert (keys & (2**LOWER - 1)).tolist() == expected


def test_keys_after_the_first_n_are_left_alone() -> None:
    keys = np.array([3, 1, 2, 0]) << LOWER
    sort_keys(keys, np.empty(4, dtype=np.int64), 3, 3)
    assert (keys >> LOWER).tolist() == [1, 2, 3, 0]
