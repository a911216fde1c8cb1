"""Rows of large tables are counted one by one, beyond what a float32 holds."""

from __future__ import annotations

import numpy as np

from sfumato.risk.attacks.matching_rows import candidate_counts

LARGE = 2**24
"""From here on, float32 skips every other whole number."""


def test_one_row_more_is_counted_beyond_sixteen_million():
    fits = np.ones((1, 2), dtype=np.bool_)
    rows_of_values = np.array([[LARGE, 0], [1, LARGE + 1]])
    assert candidate_counts(fits, rows_of_values).tolist() == [[LARGE + 1, LARGE + 1]]
