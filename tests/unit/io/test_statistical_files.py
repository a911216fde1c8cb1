"""SPSS, Stata, SAS and Excel files read and write the same cells and labels."""

from __future__ import annotations

import datetime as dt

import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data.cell_text import as_text
from sfumato.data.file_labels import labels_of
from sfumato.errors import DataError, InstallationError
from sfumato.io import extras
from sfumato.io.read import read_source
from sfumato.io.write import write_table

STATISTICAL = ("sav", "dta", "xpt")
ALL = (*STATISTICAL, "xlsx")
COLUMNS = {
    "age": pa.array([30, -9, None, 41]),
    "name": pa.array(["a", "ö", None, "[20, 24]"]),
    "day": pa.array([dt.date(2020, 1, 2), None, dt.date(1950, 1, 1), None]),
    "at": pa.array([dt.datetime(2020, 1, 2, 3, 4, 5), None, None, None]),
    "share": pa.array([1.5, 2.25, None, 0.1]),
}


def round_trip(table, tmp_path, ending):
    write_table(table, tmp_path / f"t.{ending}")
    return read_source(tmp_path / f"t.{ending}")


@pytest.mark.parametrize("ending", ALL)
def test_types_come_back(tmp_path, ending):
    back = round_trip(pa.table(COLUMNS), tmp_path, ending)
    kinds = {field.name: str(field.type) for field in back.schema}
    assert kinds["age"] == "int64"
    assert kinds["share"] == "double"
    assert kinds["day"] == "date32[day]"
    assert kinds["at"].startswith("timestamp")
    assert back["age"].to_pylist() == [30, -9, None, 41]
    assert [text or None for text in back["name"].to_pylist()] == [
        "a",
        "ö",
        None,
        "[20, 24]",
    ]
    assert back["day"].to_pylist() == COLUMNS["day"].to_pylist()
    assert back["at"].to_pylist() == COLUMNS["at"].to_pylist()


words = st.text(st.characters(min_codepoint=33, max_codepoint=0x2FF), max_size=6)
numbers = st.integers(-(10**20), 10**20) | st.none()


@pytest.mark.parametrize("ending", ALL)
@given(
    texts=st.lists(words, min_size=1, max_size=5),
    floats=st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=5),
)
def test_every_cell_reads_back_as_the_same_text(
    tmp_path_factory, ending, texts, floats
):
    rows = len(texts)
    table = pa.table({"text": texts, "number": pa.array(floats[:rows], pa.float64())})
    back = round_trip(table, tmp_path_factory.mktemp("t"), ending)
    assert [text or "" for text in back["text"].to_pylist()] == texts
    assert [float(x) for x in back["number"].to_pylist()] == floats[:rows]


@pytest.mark.parametrize("number", [2.0**249, -(2.0**249), 8.9e74, 1e-75, 1e75])
def test_numbers_at_the_end_of_the_range_of_sas_read_back(tmp_path, number):
    """From 2²⁴⁹ on, a library writes infinity."""
    table = pa.table({"text": ["a", "b"], "number": [number, 1.0]})
    back = round_trip(table, tmp_path, "xpt")
    assert [float(x) for x in back["number"].to_pylist()] == [number, 1.0]


@pytest.mark.parametrize("ending", ALL)
@pytest.mark.parametrize(
    "cells",
    [
        pa.array([2**60 + 1, 3]),
        pa.array([dt.datetime(2020, 1, 1, 0, 0, 0, 500_000), None]),
        pa.array([dt.time(1, 2, 3), None]),
        pa.array([dt.datetime(2020, 1, 1)] * 2, pa.timestamp("s", "UTC")),
        pa.array(["1.10", "2.30"]).cast(pa.decimal128(5, 2)),
    ],
    ids=["large", "fraction", "time", "zone", "decimal"],
)
def test_what_a_file_cannot_hold_exactly_is_written_as_text(tmp_path, ending, cells):
    back = round_trip(pa.table({"x": cells, "y": ["a", "b"]}), tmp_path, ending)
    shown = [text or None for text in as_text(back["x"]).to_pylist()]
    assert shown == as_text(cells).to_pylist()


def test_booleans_are_kept_by_excel_and_numbers_elsewhere(tmp_path):
    table = pa.table({"x": [True, False]})
    assert round_trip(table, tmp_path, "xlsx")["x"].to_pylist() == [True, False]
    assert round_trip(table, tmp_path, "sav")["x"].to_pylist() == [1, 0]


@pytest.mark.parametrize("ending", [*ALL, "sas7bdat"])
def test_a_damaged_file_is_refused_without_its_content(tmp_path, ending):
    place = tmp_path / f"t.{ending}"
    place.write_bytes(b"secret" * 50)
    with pytest.raises(DataError, match="is not a whole") as caught:
        read_source(place)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("ending", "module", "extra"),
    [("sav", "pyreadstat", "stats"), ("xlsx", "fastexcel", "excel")],
)
def test_a_format_without_its_extra_names_the_line_to_install_it(
    tmp_path, monkeypatch, ending, module, extra
):
    def without(name):
        raise ImportError(name)

    monkeypatch.setattr(extras, "import_module", without)
    place = tmp_path / f"t.{ending}"
    place.write_bytes(b"x")
    with pytest.raises(InstallationError, match=module) as caught:
        read_source(place)
    assert caught.value.hint == f"pip install 'sfumato[{extra}]'"


def labelled(tmp_path):
    """An SPSS file with labels of every kind, and canaries in all that may hide."""
    frame = pd.DataFrame(
        {
            "id": [f"CANARY{n}" for n in range(8)],
            "sex": [1.0, 2.0] * 4,
            "age": [20.0, 21, 22, 23, 40, 41, 42, 43],
            "job": [1.0, 2, -9, 1, 2, -9, 1, 2],
        }
    )
    place = tmp_path / "source.sav"
    pyreadstat.write_sav(
        frame,
        str(place),
        file_label="CANARY file",
        note="CANARY note",
        column_labels={
            "id": "CANARY id",
            "sex": "CANARY sex",
            "age": "CANARY age",
            "job": "Occupation",
        },
        variable_value_labels={
            "sex": {1.0: "CANARY man", 2.0: "CANARY woman"},
            "job": {1.0: "Clerk", 2.0: "Nurse", 7.0: "CANARY pilot", -9.0: "Refused"},
        },
        missing_ranges={"job": [-9, -8]},
        variable_measure={"job": "nominal"},
    )
    return place


def released(tmp_path, **settings):
    release = sf.anonymize(
        labelled(tmp_path),
        identifier="id",
        quasi=["sex", "age"],
        sensitive="job",
        k=2,
        max_loss=1,
        **settings,
    )
    release.save(tmp_path / "out")
    return tmp_path / "out"


def test_labels_of_shown_values_are_kept_and_no_others(tmp_path):
    out = released(tmp_path)
    _, meta = pyreadstat.read_sav(str(out / "data.sav"), user_missing=True)
    assert meta.column_names_to_labels["job"] == "Occupation"
    assert meta.variable_value_labels == {
        "job": {1.0: "Clerk", 2.0: "Nurse", -9.0: "Refused"}
    }
    assert meta.missing_ranges == {"job": [{"lo": -9.0, "hi": -9.0}]}
    assert meta.variable_measure["job"] == "nominal"
    assert meta.file_label in ("", None)
    assert meta.notes == []


@pytest.mark.parametrize("ending", ["sav", "dta", "xpt", "xlsx", "parquet", "csv"])
def test_no_label_of_what_is_not_shown_leaves(tmp_path, ending):
    out = released(tmp_path, format=ending)
    public = [path for path in out.iterdir() if path.is_file()]
    for path in [p for p in public if p.suffix != ".xlsx"]:
        assert b"CANARY" not in path.read_bytes(), path.name
    assert "CANARY" not in str(read_source(out / f"data.{ending}").to_pydict())


def test_labels_travel_from_one_program_to_another(tmp_path):
    out = released(tmp_path, format="dta")
    _, meta = pyreadstat.read_dta(str(out / "data.dta"))
    assert meta.column_names_to_labels["job"] == "Occupation"
    assert meta.variable_value_labels["job"][1] == "Clerk"


def test_tagged_missing_values_of_stata_are_kept(tmp_path):
    frame = pd.DataFrame(
        {"age": [20.0, 21, 20, 21] * 2, "pay": [1.0, "a", 3.0, "b"] * 2}
    )
    source = tmp_path / "source.dta"
    pyreadstat.write_dta(frame, str(source), missing_user_values={"pay": ["a", "b"]})
    assert read_source(source)["pay"].to_pylist() == ["1", ".a", "3", ".b"] * 2
    release = sf.anonymize(
        source, quasi="age", sensitive="pay", k=2, missing=["", ".a", ".b"], max_loss=1
    )
    release.save(tmp_path / "out")
    back, _ = pyreadstat.read_dta(str(tmp_path / "out" / "data.dta"), user_missing=True)
    assert set(back["pay"]) <= {1.0, 3.0, "a", "b"}


def test_the_labels_of_a_source_are_remembered(tmp_path):
    labels = labels_of(read_source(labelled(tmp_path)))
    assert labels["job"].is_missing(-9)
    assert not labels["job"].is_missing(1)


def test_a_workbook_with_several_sheets_needs_a_name(tmp_path):
    place = tmp_path / "book.xlsx"
    with pd.ExcelWriter(place, engine="xlsxwriter") as book:
        pd.DataFrame({"a": [1]}).to_excel(book, sheet_name="one", index=False)
        pd.DataFrame({"b": [2]}).to_excel(book, sheet_name="two", index=False)
    with pytest.raises(DataError, match="2 sheets with cells"):
        read_source(place)
    assert read_source(place, sheet="two").to_pydict() == {"b": [2]}
    with pytest.raises(DataError, match="no sheet 'three'"):
        read_source(place, sheet="three")


@pytest.mark.parametrize("ending", ["csv.gz", "csv.zst"])
def test_compressed_csv_files_read_back_and_damage_is_noticed(tmp_path, ending):
    table = pa.table({"a": ["x", "y"] * 1000, "b": ["1", "2"] * 1000})
    assert round_trip(table, tmp_path, ending).to_pydict() == table.to_pydict()
    place = tmp_path / f"t.{ending}"
    place.write_bytes(place.read_bytes()[:-9])
    with pytest.raises(DataError, match="is not a whole"):
        read_source(place)


@pytest.mark.parametrize("ending", ["csv.gz", "csv.zst", "sav", "xlsx"])
def test_an_anatomized_pair_is_checked_in_every_format(tmp_path, ending):
    table = pa.table({"age": [1, 2, 3, 4] * 3, "ill": ["a", "b", "c", "d"] * 3})
    asked = {"quasi": "age", "sensitive": "ill", "l": 2, "operator": "anatomize"}
    sf.anonymize(table, **asked, format=ending).save(tmp_path / "out")
    assert sf.check(tmp_path / "out" / f"data.{ending}", **asked).holds


def test_a_proposal_takes_the_missing_values_that_the_file_declares(tmp_path):
    frame = pd.DataFrame({"a": [1.0, -7.0, 3.0, 8.0], "b": [8.0, 2.0, 3.0, 4.0]})
    place = tmp_path / "source.sav"
    ranges = {"a": [-7, 8]}
    pyreadstat.write_sav(frame, str(place), missing_ranges=ranges)
    # 8 is an ordinary value of the other column.
    assert sf.propose(place).data.missing == ("", "-7")
