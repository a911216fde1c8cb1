"""Whatever a frame or a file can hold is released, or refused with a reason."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import sfumato as sf
from sfumato.data.seeds import Seed
from sfumato.errors import DataError, SfumatoError
from sfumato.io.read import read_source
from sfumato.io.write import write_table
from tests.unit.io.every_type import (
    ROWS,
    arrow_columns,
    cycle,
    pandas_columns,
    polars_columns,
)

ROLES = ("quasi", "sensitive", "insensitive", "subject", "weight", "identifier")
WAYS = (*ROLES, "pseudonym", "mean")
BESIDE = {"age": cycle(20, 21, 22, 23, 30, 31), "illness": cycle("u", "v")}
ARROW, PANDAS, POLARS = arrow_columns(), pandas_columns(), polars_columns()


def asked(way):
    """Settings that give the column `x` one role."""
    settings = {"quasi": ["age"], "sensitive": ["illness"], "max_suppressed": 0.9}
    if way in ("quasi", "mean"):
        settings["quasi"] = ["age", "x"]
        settings["numbers"] = "mean" if way == "mean" else None
    elif way == "sensitive":
        settings["sensitive"] = ["illness", "x"]
    elif way == "pseudonym":
        settings |= {"identifier": "x", "pseudonymize": ["x"]}
    else:
        settings[way] = "x"
    if way in ("insensitive", "weight"):
        settings["keep_as_is"] = "x"
    return settings | {"k": 2, "algorithm": "mondrian"}


def released_or_refused(data, way, place):
    """Release it in every format, or be refused by an error that is not our fault."""
    reason = refusal(lambda: release_everywhere(data, way, place))
    assert reason is None or (reason.exit_code in (2, 3) and reason.hint)


def release_everywhere(data, way, place):
    release = sf.anonymize(data, seed=Seed.guessable(1), threads=1, **asked(way))
    assert release.data is not None
    for ending in ("csv", "parquet", "arrow"):
        write_table(release.table, place / f"data.{ending}")


def refusal(work):
    """The error of ours that work ends with, if it does."""
    try:
        work()
    except SfumatoError as reason:
        return reason
    return None


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ARROW)
def test_every_type_of_arrow_in_every_role(name, way, tmp_path):
    table = pa.table({**BESIDE, "x": ARROW[name]})
    released_or_refused(table, way, tmp_path)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", PANDAS)
def test_every_type_of_pandas_in_every_role(name, way, tmp_path):
    frame = pd.DataFrame({**BESIDE, "x": PANDAS[name]})
    released_or_refused(frame, way, tmp_path)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", POLARS)
def test_every_type_of_polars_in_every_role(name, way, tmp_path):
    frame = pl.DataFrame({**BESIDE, "x": POLARS[name]})
    released_or_refused(frame, way, tmp_path)


@pytest.mark.parametrize("way", ["quasi", "insensitive"])
@pytest.mark.parametrize("name", POLARS)
def test_every_arrow_file_of_polars(name, way, tmp_path):
    place = tmp_path / "source.arrow"
    try:
        pl.DataFrame({**BESIDE, "x": POLARS[name]}).write_ipc(place)
    except BaseException:
        pytest.skip("polars itself has no file for it")
    released_or_refused(place, way, tmp_path)


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
@pytest.mark.parametrize("name", ARROW)
def test_every_type_in_a_file(name, ending, tmp_path):
    place = tmp_path / f"source.{ending}"
    table = pa.table({**BESIDE, "x": ARROW[name]})
    try:
        if ending == "parquet":
            parquet.write_table(table, place)
        else:
            with pa.ipc.new_file(str(place), table.schema) as writer:
                writer.write_table(table)
    except (pa.ArrowException, OSError):
        pytest.skip("Arrow itself has no file for it")
    for way in ("quasi", "insensitive"):
        released_or_refused(place, way, tmp_path)


ALIKE = {
    "zeros of both signs": {"0"},
    "zeros, NaN and null": {"0", None},
}


@pytest.mark.parametrize("name", ALIKE)
def test_values_with_one_code_are_shown_alike(name):
    """None of them stands out, also where each is alone with its spelling."""
    table = pa.table({"x": ARROW[name]})
    release = sf.anonymize(
        table, quasi="x", k=6, algorithm="mondrian", seed=Seed.guessable(1)
    )
    shown = set(release.table["x"].cast(pa.string()).to_pylist())
    assert shown == ALIKE[name]


def test_cells_of_views_come_back_as_they_were():
    frame = pl.DataFrame({**BESIDE, "x": POLARS["String"]})
    release = sf.anonymize(
        frame, seed=Seed.guessable(1), order="source", **asked("insensitive")
    )
    assert release.data["x"].to_list() == frame["x"].to_list()


def test_several_levels_of_column_names_are_refused():
    levels = pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")])
    frame = pd.DataFrame([[1, 2]] * ROWS, columns=levels)
    with pytest.raises(DataError, match="2 of 2 columns of the frame have no text"):
        sf.anonymize(frame, quasi="x", k=2)


def test_several_levels_of_row_names_stay_behind():
    levels = pd.MultiIndex.from_product([["ann", "bob"], range(ROWS // 2)])
    frame = pd.DataFrame(BESIDE, index=levels)
    release = sf.anonymize(
        frame,
        quasi="age",
        sensitive="illness",
        k=2,
        algorithm="mondrian",
        seed=Seed.guessable(1),
    )
    assert "ann" not in str(release.data.to_dict())


def test_columns_that_share_a_name_are_refused_by_it():
    frame = pd.DataFrame([[1, 2]] * ROWS, columns=["x", "x"])
    with pytest.raises(DataError, match="share a name: 'x'"):
        sf.anonymize(frame, quasi="x", k=2)


def test_a_column_that_arrow_cannot_hold_is_named():
    frame = pd.DataFrame({**BESIDE, "x": PANDAS["objects: mixed"]})
    with pytest.raises(DataError, match="Column 'x' mixes types"):
        sf.anonymize(frame, quasi="age", k=2, unlisted="drop")


def test_a_column_that_is_dropped_may_be_of_any_type(tmp_path):
    table = pa.table({**BESIDE, "x": ARROW["map"]})
    release = sf.anonymize(
        table, quasi="age", drop=["x", "illness"], k=2, seed=Seed.guessable(1)
    )
    assert release.table.column_names == ["age"]


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_a_damaged_file_is_refused_wherever_it_is_damaged(ending, tmp_path):
    place = tmp_path / f"source.{ending}"
    write_table(pa.table({**BESIDE, "x": ARROW["string"]}), place)
    whole = place.read_bytes()
    for at in range(0, len(whole), 29):
        place.write_bytes(whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1 :])
        reason = refusal(lambda: read_source(place))
        assert reason is None or f"source.{ending}" in reason.message
