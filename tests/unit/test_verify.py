from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data.published_cells import coded_cells, distinct_tuples, packed_key
from sfumato.errors import DataError
from sfumato.models.k_anonymity import KAnonymity
from sfumato.verify import Evidence, prove, require_columns

CELL = st.sampled_from(["a", "b", "?"])
ROWS = st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=12)


def evidence_of(rows, *, missing=("?",), missing_any=False):
    names = [f"c{i}" for i in range(len(rows[0]))]
    columns = zip(*rows, strict=True)
    table = pa.table(dict(zip(names, map(list, columns), strict=True)))
    cells = coded_cells(table, names, missing)
    return Evidence(cells=cells, missing_any=missing_any, rows=len(rows))


def measured_k(rows, **options):
    return prove(evidence_of(rows, **options), [KAnonymity(k=1)]).verdicts[0].measured


@given(ROWS)
def test_k_is_the_count_of_the_rarest_published_tuple(rows):
    assert measured_k(rows) == min(Counter(rows).values())


def test_a_null_is_a_missing_value():
    table = pa.table({"a": pa.array([None, "?", "x"])})
    (cells,) = coded_cells(table, ["a"], ["?"])
    assert cells.missing[cells.codes].tolist() == [True, True, False]
    assert len(set(cells.codes.tolist())) == 3


def test_typed_columns_are_compared_as_text():
    table = pa.table({"a": pa.array([1, 1, 2])})
    (cells,) = coded_cells(table, ["a"], [])
    assert cells.codes[0] == cells.codes[1] != cells.codes[2]


@pytest.mark.parametrize("columns", [3, 7, 12])
def test_keys_beyond_64_bits_still_tell_exactly_the_distinct_tuples(columns):
    # 12 columns of 1,000 values need 120 bits.
    rng = np.random.default_rng(0)
    cells = [rng.integers(0, 1000, 400).astype(np.int32) for _ in range(columns)]
    cells = [np.concatenate([c, c[:100]]) for c in cells]
    group_of, distinct = distinct_tuples(cells, 500)
    rows = list(zip(*cells, strict=True))
    assert len(distinct) == len(set(rows))
    assert [tuple(distinct[g]) for g in group_of] == rows


def test_a_table_without_quasi_identifiers_is_one_group():
    assert packed_key([], 4).tolist() == [0, 0, 0, 0]


def test_absent_columns_are_named():
    with pytest.raises(DataError, match="has no column 'zip'"):
        require_columns(pa.table({"a": [1]}), ["a", "zip"], what="The table")
