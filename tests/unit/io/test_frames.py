"""Frames are converted to Arrow and back to the same type."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import DataError
from sfumato.io.frames import like, to_arrow


@pytest.fixture
def pandas_frame():
    return pd.DataFrame(
        {
            "whole": [1, 2],
            "text": ["007", None],
            "category": pd.Categorical(["u", "v"]),
            "nullable": pd.array([1, None], dtype="Int64"),
            "moment": pd.to_datetime(["2020-01-01", "2020-01-02"]),
            "decimal": [1.5, float("nan")],
            "date": [dt.date(2020, 1, 1)] * 2,
            "string": pd.array(["NA", None], dtype="string"),
        },
        index=["ann", "bob"],
    )


@pytest.fixture
def polars_frame():
    return pl.DataFrame(
        {
            "whole": [1, 2],
            "text": ["007", None],
            "category": pl.Series(["u", "v"], dtype=pl.Categorical),
            "moment": [dt.datetime(2020, 1, 1)] * 2,
            "declared": pl.Series(["a", "b"], dtype=pl.Enum(["b", "a"])),
        }
    )


def test_pandas_comes_back_with_its_types(pandas_frame):
    back = like(pandas_frame, to_arrow(pandas_frame))
    pd.testing.assert_frame_equal(back, pandas_frame.reset_index(drop=True))


def test_the_index_of_pandas_stays_behind(pandas_frame):
    assert "ann" not in str(to_arrow(pandas_frame).to_pydict())


def test_polars_comes_back_with_its_types(polars_frame):
    back = like(polars_frame, to_arrow(polars_frame))
    assert back.equals(polars_frame)
    assert back.schema == polars_frame.schema


def test_arrow_comes_back_as_arrow():
    table = pa.table({"a": [1]})
    assert like(table, to_arrow(table)).equals(table)


def test_a_path_gets_arrow():
    table = pa.table({"a": pa.array(["x"]).dictionary_encode()})
    shown: Any = like("some.csv", table)
    assert shown.schema.field("a").type == pa.string()


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
def test_generalized_columns_are_plain_text(library, pandas_frame, polars_frame):
    frame = {
        "pandas": pandas_frame,
        "polars": polars_frame,
        "arrow": pa.table({"whole": [1, 2]}),
    }[library]
    table = to_arrow(frame)
    shown = pa.array(["[1, 2]", "[1, 2]"]).dictionary_encode()
    back = like(frame, table.set_column(0, "whole", shown))
    assert list(back["whole"]) == ["[1, 2]", "[1, 2]"] or back["whole"].to_pylist() == [
        "[1, 2]",
        "[1, 2]",
    ]
    assert "cat" not in str(getattr(back["whole"], "dtype", "")).lower()


def test_categories_that_were_not_released_are_forgotten(pandas_frame):
    back = like(pandas_frame, to_arrow(pandas_frame).slice(1))
    assert list(back["category"].cat.categories) == ["v"]


def test_values_of_an_enum_that_were_not_released_are_forgotten():
    declared = pl.Enum(["low", "secret", "high"])
    frame = pl.DataFrame({"a": pl.Series(["high", "secret", "low"], dtype=declared)})
    back = like(frame, to_arrow(frame).filter([True, False, True]))
    assert back["a"].to_list() == ["high", "low"]
    assert back.schema["a"] == pl.Enum(["low", "high"])


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ([1, 2], "cannot be made of list"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "share a name: 'a'"),
        (pa.table([[1], [2]], ["a", "a"]), "share a name: 'a'"),
        (pd.DataFrame([[1, 2]]), "2 of 2 columns of the frame have no text as name"),
        (pd.DataFrame({"a": [1, "secret"]}), "mixes types"),
    ],
)
def test_frames_that_are_no_tables_are_named(frame, message):
    with pytest.raises(DataError, match=message) as error:
        to_arrow(frame)
    assert "secret" not in str(error.value)


def test_a_category_of_polars_may_have_gaps():
    towns = pl.Series([None, "a", "b", "a"] * 5, dtype=pl.Categorical)
    frame = pl.DataFrame({"age": [1, 2] * 10, "town": towns})
    assert sf.anonymize(frame, quasi=["age", "town"], k=2).table.num_rows == 20


def test_objects_of_polars_are_refused_instead_of_their_addresses():
    frame = pl.DataFrame({"x": pl.Series([object(), object()], dtype=pl.Object)})
    with pytest.raises(DataError, match=r"Column 'x' .* no type of Arrow can hold"):
        to_arrow(frame)


def test_a_lazy_frame_is_computed():
    assert to_arrow(pl.LazyFrame({"age": [1, 2]})).to_pydict() == {"age": [1, 2]}
