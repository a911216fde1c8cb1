"""Rows whose value occurs once are counted, in columns of any type."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data import unique_rows
from sfumato.data.unique_rows import alone, alone_together, joined, value_places

CELLS = {
    "text": pa.array(["a", "b", "a", "", None]),
    "numbers": pa.array([1.5, 2.5, 1.5, None]),
    "bytes": pa.array([b"\xff", b"\xfe", b"\xff"]),
    "dictionary": pa.array(["x", "y", "x"]).dictionary_encode(),
    "list": pa.array([[1], [1], [2, 3], None, []]),
    "list of texts": pa.array([["a", "b"], ["a\x1fb"], ["a", "b"]]),
    "fixed list": pa.array([[1, 2], [1, 2], None], pa.list_(pa.int64(), 2)),
    "struct": pa.array([{"a": 1, "b": "x"}, {"a": 1, "b": "y"}, {"a": 1, "b": "x"}]),
    "map": pa.array([[("k", 1)], [("k", 2)], None], pa.map_(pa.string(), pa.int64())),
    "deep": pa.array([{"a": [{"b": "x"}]}, {"a": [{"b": "y"}]}, {"a": [{"b": "x"}]}]),
}


@pytest.mark.parametrize("name", CELLS)
def test_a_value_that_occurs_once_stands_alone(name):
    column = pa.chunked_array([CELLS[name]])
    cells = [str(cell) for cell in column.to_pylist()]
    counts = Counter(cells)
    known = [cell not in ("None", "") for cell in cells]
    expected = [k and counts[cell] == 1 for k, cell in zip(known, cells, strict=True)]
    assert alone(value_places(column, [""])) == sum(expected)


@given(
    st.lists(
        st.tuples(st.integers(0, 30), st.integers(-1, 30)), min_size=1, max_size=12
    )
)
def test_a_pair_stands_alone_if_no_other_row_has_both_of_its_values(rows):
    known, places = (np.array(part, dtype=np.int64) for part in zip(*rows, strict=True))
    counts = Counter(pair for pair in rows if pair[1] >= 0)
    expected = sum(number == 1 for number in counts.values())
    assert alone_together(known, places) == expected


@given(st.lists(st.tuples(*[st.integers(-1, 3)] * 3), min_size=1, max_size=12))
def test_combinations_differ_where_their_parts_do(rows):
    parts = [np.array(part, dtype=np.int64) for part in zip(*rows, strict=True)]
    found = joined(parts, len(rows)).tolist()
    pairs = list(zip(rows, found, strict=True))
    agree = [(a == b) == (x == y) for a, x in pairs for b, y in pairs]
    assert all(agree)


@pytest.mark.parametrize("largest", [1 << 62, 1, 40], ids=["once", "each", "some"])
def test_combinations_are_numbered_in_order_without_gaps(largest, monkeypatch):
    monkeypatch.setattr(unique_rows, "LARGEST", largest)
    random = np.random.default_rng(5)
    rows = random.integers(-1, 4, (60, 4))
    parts = [np.ascontiguousarray(part) for part in rows.T]
    _, expected = np.unique(rows, axis=0, return_inverse=True)
    assert joined(parts, len(rows)).tolist() == expected.ravel().tolist()


def test_very_many_columns_of_many_values_are_told_apart():
    random = np.random.default_rng(6)
    rows = random.integers(0, 1_000_000, (40, 12))
    rows[1::2, :11] = rows[::2, :11]
    parts = [np.ascontiguousarray(part) for part in rows.T]
    assert len({*joined(parts, len(rows)).tolist()}) == len({*map(tuple, rows)})
