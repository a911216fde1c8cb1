"""Identifying power equals its definition by pairs."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data.profiling.identifying_power import identifying_power, power_of
from sfumato.data.schema import Kind
from sfumato.data.table import Column


def coded(name, codes, size=None):
    size = size or max(codes, default=0) + 1
    labels = ("",) * size
    array = np.array(codes, dtype=np.int32)
    return Column(name=name, kind=Kind.CATEGORY, codes=array, labels=labels)


@given(
    st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=2, max_size=12),
    st.sampled_from([4, 40]),
)
def test_power_equals_counting_rows_and_pairs(rows, size):
    columns = [coded(str(i), [row[i] for row in rows], size) for i in range(3)]
    found = power_of(columns)
    pairs = list(combinations(rows, 2))
    assert found.distinct == len(set(rows))
    assert found.distinction == pytest.approx(len(set(rows)) / len(rows))
    apart = sum(a != b for a, b in pairs) / len(pairs)
    assert found.separation == pytest.approx(apart)


def test_keys_too_wide_for_one_word_are_still_exact():
    rows = [(0, 0, 0), (0, 0, 2_999_999), (2_999_999, 0, 0), (0, 0, 0)]
    columns = [coded(str(i), [row[i] for row in rows], 3_000_000) for i in range(3)]
    assert power_of(columns).distinct == 3


def test_sets_have_up_to_three_columns_and_the_strongest_is_first():
    columns = [coded("a", [0, 0, 1, 1]), coded("b", [0, 1, 0, 1]), coded("c", [0] * 4)]
    sets = identifying_power(columns)
    assert len(sets) == 3 + 3 + 1
    assert sets[0].columns == ("a", "b")
    assert sets[0].separation == 1.0


def test_sets_are_formed_of_the_strongest_columns_only():
    columns = [coded(f"c{i:02}", [0, 1] * 3) for i in range(12)]
    assert len(identifying_power(columns)) == 12 + 45 + 120


def test_no_columns_have_no_sets():
    assert identifying_power([]) == ()
