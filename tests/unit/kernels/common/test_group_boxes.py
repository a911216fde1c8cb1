"""Boxes of groups against the lowest, the highest and the set of their codes."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.kernels.common.group_boxes import group_bounds, group_masks

NOTHING = 2**31 - 1
rows = st.lists(st.tuples(st.integers(-1, 4), st.integers(0, 63)), max_size=30)


def columns(table: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    return [group for group, _ in table], [code for _, code in table]


@given(rows)
def test_bounds_are_the_lowest_and_highest_code_of_each_group(
    table: list[tuple[int, int]],
) -> None:
    groups, codes = columns(table)
    low, high = group_bounds(
        np.array(groups, dtype=np.int32), np.array(codes, dtype=np.int32), 5
    )
    for group in range(5):
        inside = [code for g, code in table if g == group]
        assert low[group] == min(inside, default=NOTHING)
        assert high[group] == max(inside, default=-1)


@given(rows)
def test_masks_are_the_sets_of_codes(table: list[tuple[int, int]]) -> None:
    groups, codes = columns(table)
    masks = group_masks(
        np.array(groups, dtype=np.int32), np.array(codes, dtype=np.int32), 5
    )
    for group in range(5):
        inside = {code for g, code in table if g == group}
        assert int(masks[group]) == sum(1 << code for code in inside)
