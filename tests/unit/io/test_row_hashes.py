"""Two tables have one hash if they have the same rows, and only then."""

from __future__ import annotations

import datetime as dt
from itertools import combinations, pairwise

import numpy as np
import pyarrow as pa
import pytest

from sfumato.errors import DataError
from sfumato.io.row_hashes import RowHashes, hash_table


def table(*rows, names=("a", "b")):
    columns = zip(*rows, strict=True)
    return pa.table(
        {
            name: pa.array(cells, pa.string())
            for name, cells in zip(names, columns, strict=True)
        }
    )


DIFFERENT = {
    "plain": table(("x", "y"), ("z", "y")),
    "cells in another row": table(("x", "y"), ("y", "z")),
    "a cell changed": table(("x", "y"), ("z", "z")),
    "a row twice": table(("x", "y"), ("z", "y"), ("z", "y")),
    "a row four times": table(("x", "y"), *[("z", "y")] * 4),
    "a row less": table(("x", "y")),
    "the mark of an old separator": table(("x\x1fy", ""), ("z", "y")),
    "another cut at the old separator": table(("x", "y\x1f"), ("z", "y")),
    "missing": table((None, "y"), ("z", "y")),
    "the text of an old null": table(("\0", "y"), ("z", "y")),
    "an empty text": table(("", "y"), ("z", "y")),
    "the mark of a missing cell": table(("-", "y"), ("z", "y")),
    "digits before a colon": table(("1:x1", "y"), ("z", "y")),
    "a line end": table(("x\n", "y"), ("z", "y")),
    "a length that shifts": table(("", "1:y"), ("z", "y")),
    "another name": table(("x", "y"), ("z", "y"), names=("a", "c")),
    "names cut elsewhere": table(("x", "y"), ("z", "y"), names=("ab", "")),
}


@pytest.mark.parametrize(("one", "other"), list(combinations(DIFFERENT, 2)))
def test_different_tables_have_different_hashes(one, other):
    assert hash_table(DIFFERENT[one]) != hash_table(DIFFERENT[other])


def test_the_order_of_rows_and_their_batches_do_not_matter():
    rng = np.random.default_rng(7)
    cells = [None if x < 3 else str(x) for x in rng.integers(0, 40, 1000)]
    rows = pa.table({"a": cells, "b": rng.integers(0, 5, 1000)})
    turned = rows.take(rng.permutation(1000))
    hashes = RowHashes(["a", "b"])
    for start, end in pairwise([0, 1, 1, 400, 999, 1000]):
        for batch in turned.slice(start, end - start).to_batches(max_chunksize=37):
            hashes.add(batch)
    assert hashes.hexdigest() == hash_table(rows)


def test_the_encoding_of_a_column_does_not_matter():
    cells = ["x", None, "yy", "x", ""]
    plain = pa.table({"a": pa.array(cells, pa.string())})
    large = pa.table({"a": pa.array(cells, pa.large_string())})
    listed = pa.table({"a": pa.array(cells).dictionary_encode()})
    entries = pa.array(["", "yy", None, "x"])
    gap = pa.DictionaryArray.from_arrays(pa.array([3, 2, 1, 3, 0]), entries)
    both = pa.table({"a": gap})
    assert len({hash_table(rows) for rows in (plain, large, listed, both)}) == 1


def test_the_unit_of_moments_does_not_matter():
    moments = [dt.datetime(2020, 1, 2, 3, 4, 5), None, dt.datetime(1, 1, 1)]
    hashes = {
        hash_table(pa.table({"a": pa.array(moments, pa.timestamp(unit))}))
        for unit in ("s", "ms", "us")
    }
    assert len(hashes) == 1


def test_every_cell_of_a_plain_type_counts():
    columns = {
        "double": pa.array([0.1, np.nan, None, -0.0, 0.0, 1e300]),
        "binary": pa.array([b"\xff", b"", None]),
        "moment": pa.array([0, 1, None], pa.timestamp("us", "UTC")),
        "far moment": pa.array([1 << 62, (1 << 62) + 1], pa.timestamp("us")),
        "date": pa.array([0, 2**31 - 1], pa.date32()),
    }
    for name, cells in columns.items():
        hashes = {
            hash_table(pa.table({"a": cells[i : i + 1]})) for i in range(len(cells))
        }
        assert len(hashes) == len(cells), name


def test_a_table_without_rows_has_a_hash_of_its_names():
    one, other = (pa.table({name: pa.array([], pa.string())}) for name in "ab")
    assert hash_table(one) == hash_table(one.select(["a"])) != hash_table(other)


def test_the_hash_of_a_table_is_the_same_in_every_version():
    rows = table(("x", None), ("", "é"), ("x", None))
    assert hash_table(rows, typed=False) == (
        "260f8caa5a9566dbd81c1a3dd78ff5994555489ceb7271c2d4dd7e08429583d3"
    )
    assert hash_table(rows) == (
        "8317a920a271feca5053ff4b04008692bf99051ac74db582f72a8e0f902beb87"
    )


SAME_TEXT = {
    "number and text": ([1, None], ["1", None]),
    "truth and text": ([True], ["true"]),
    "date and text": ([dt.date(2020, 1, 2)], ["2020-01-02"]),
    "date and midnight": (
        [dt.date(2020, 1, 2)],
        pa.array(["2020-01-02"]).cast(pa.date32()).cast(pa.timestamp("s")),
    ),
    "bytes and text": ([b"a"], ["a"]),
    "not a number and text": ([np.nan], ["nan"]),
    "seconds and milliseconds": (
        pa.array([1], pa.duration("s")),
        pa.array([1], pa.duration("ms")),
    ),
    "short and long floats": (pa.array([0.1], pa.float32()), [0.1]),
    "integer and decimal": ([1], pa.array([1]).cast(pa.decimal128(19, 0))),
    "nothing of two kinds": (pa.array([None], pa.int64()), pa.array([None], "string")),
}


@pytest.mark.parametrize("name", SAME_TEXT)
def test_cells_of_two_kinds_have_two_hashes(name):
    one, other = (pa.table({"a": pa.array(cells)}) for cells in SAME_TEXT[name])
    assert hash_table(one) != hash_table(other)


def test_rows_of_another_kind_than_those_before_are_refused():
    hashes = RowHashes(["a"])
    hashes.add(pa.table({"a": [1]}))
    with pytest.raises(ValueError, match="other kinds than those before"):
        hashes.add(pa.table({"a": ["1"]}))


def test_nested_cells_are_refused_by_the_name_of_their_column():
    rows = pa.table({"tags": [[1], [2]]})
    with pytest.raises(DataError, match="Column 'tags' has the type list"):
        hash_table(rows)


def test_columns_of_other_names_are_refused():
    with pytest.raises(ValueError, match="not those that are hashed"):
        RowHashes(["a"]).add(pa.table({"b": [1]}))
