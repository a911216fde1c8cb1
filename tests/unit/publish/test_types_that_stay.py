"""What is shown exactly keeps its type, and categories stay categories."""

import datetime as dt

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.data.seeds import Seed

ROWS = 8
DAYS = [dt.datetime(1952, 2, 1), dt.datetime(1952, 2, 29)] * 4
COLUMNS = {
    "whole": pa.array([30, 31] * 4, pa.int16()),
    "real": pa.array([0.5, 1.5] * 4, pa.float32()),
    "flag": pa.array([True, False] * 4),
    "day": pa.array(DAYS, pa.timestamp("ns")),
    "date": pa.array(DAYS, pa.date32()),
    "level": pa.DictionaryArray.from_arrays(
        pa.array([0, 1] * 4, pa.int8()), ["low", "high"], ordered=True
    ),
    "word": pa.array(["b", "a"] * 4).dictionary_encode(),
    "number": pa.array([10, 20] * 4).dictionary_encode(),
    "text": pa.array(["x", "y"] * 4, pa.large_string()),
}


def release(table, k, **settings):
    # Two values that differ are all there is to lose here.
    settings = {"max_loss": 1, "unlisted": "drop", **settings}
    settings = {"quasi": list(COLUMNS), "k": k, **settings}
    return sf.anonymize(table, seed=Seed.guessable(1), **settings)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"operator": "suppress"},
        {"operator": "microaggregate", "numbers": "median"},
        {"operator": "microaggregate", "numbers": "mode"},
    ],
)
@pytest.mark.parametrize("extension", ["parquet", "arrow"])
def test_exact_columns_keep_their_type_in_frames_and_files(
    tmp_path, settings, extension
):
    table = pa.table(COLUMNS)
    made = release(table, 4, format=extension, **settings)
    assert made.data.schema == table.schema
    made.save(tmp_path / "out")
    place = tmp_path / "out" / f"data.{extension}"
    back = pq.read_table(place) if extension == "parquet" else _arrow(place)
    for field in table.schema:
        expected = field.type
        if field.name == "text" or (extension, field.name) == ("parquet", "number"):
            # Files have one type of text, and Parquet has categories of text alone.
            expected = pa.string() if field.name == "text" else pa.int64()
        assert _without_index_width(back.schema.field(field.name).type) == (
            _without_index_width(expected)
        )


def _arrow(place):
    return pa.ipc.open_file(str(place)).read_all()


def _without_index_width(kind):
    if pa.types.is_dictionary(kind):
        return ("dictionary", kind.value_type, kind.ordered)
    return kind


def test_bounds_keep_the_type_of_the_numbers():
    made = release(pa.table(COLUMNS), 8, quasi=["whole", "date"], numbers="bounds").data
    assert made.schema.field("whole_from").type == pa.int16()
    assert made["whole_from"].to_pylist() == [30] * ROWS
    assert made["whole_to"].to_pylist() == [31] * ROWS
    assert made["date_to"].to_pylist() == [dt.date(1952, 2, 29)] * ROWS


def test_other_columns_keep_their_type_beside_bounds():
    settings = {"quasi": ["whole", "flag", "level"], "numbers": "bounds"}
    made = release(pa.table(COLUMNS), 4, **settings).data
    assert made.schema.field("flag").type == pa.bool_()
    assert made.schema.field("level").type == COLUMNS["level"].type


@pytest.mark.parametrize("name", ["day", "date"])
def test_dates_are_written_as_dates(name):
    made = release(pa.table(COLUMNS), 8, quasi=[name]).data
    assert set(made[name].to_pylist()) == {"[1952-02-01, 1952-02-29]"}


def test_a_frame_of_pandas_gets_its_types_back():
    frame = pa.table(COLUMNS).to_pandas(
        types_mapper={pa.large_string(): pd.StringDtype()}.get
    )
    exact = release(frame, 4).data
    assert exact.dtypes.to_dict() == frame.dtypes.to_dict()
    wide = release(frame, 8).data
    assert set(wide["day"]) == {"[1952-02-01, 1952-02-29]"}
    for name in ("level", "word", "number"):
        assert isinstance(wide[name].dtype, pd.CategoricalDtype)
    assert list(wide["word"].cat.categories) == ["{a|b}"]


def test_a_frame_of_polars_gets_its_types_back():
    frame = pl.DataFrame(
        {
            "word": pl.Series(["b", "a"] * 4, dtype=pl.Categorical),
            "level": pl.Series(["low", "high"] * 4, dtype=pl.Enum(["low", "high"])),
            "whole": pl.Series([30, 31] * 4, dtype=pl.Int16),
        }
    )
    quasi = {"quasi": frame.columns}
    exact = release(frame, 4, **quasi).data
    assert exact.schema == frame.schema
    wide = release(frame, 8, **quasi).data
    assert wide.schema["word"] == pl.Categorical
    assert wide["word"].to_list() == ["{a|b}"] * ROWS
    assert wide.schema["level"] == pl.Categorical


def test_the_values_of_an_anatomy_stay_categories():
    table = pa.table({"age": ["1", "2", "3", "4"], "ill": COLUMNS["level"][:4]})
    settings = {"quasi": ["age"], "sensitive": ["ill"], "operator": "anatomize", "l": 2}
    made = sf.anonymize(table, seed=Seed.guessable(1), **settings)
    second = made.beside["sensitive"]
    kind = second.schema.field("ill").type
    assert pa.types.is_dictionary(kind)
    assert kind.ordered
    assert sorted(second["ill"].to_pylist()) == ["high", "high", "low", "low"]
