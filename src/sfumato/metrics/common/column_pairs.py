"""The pairs of columns that a metric compares, bounded in number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

MOST_COLUMNS = 100
"""Pairs grow with the square of the columns: 5,000 columns have 12 million."""


def column_pairs(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each two columns; of more than 100 columns, 100 or fewer at equal distances."""
    step = -(-len(names) // MOST_COLUMNS)
    return combinations(names[:: max(step, 1)], 2)
