"""Real tables go through SPSS, Stata, SAS and Excel files and come back the same."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyreadstat
import pytest

import sfumato as sf
from sfumato.data.cell_text import as_text
from sfumato.io.read import read_source
from sfumato.io.write import write_table

ROWS = 300
TABLES = {
    "eusilc": "eusilc.csv",
    "stroke": "stroke.csv",
    "cmc": "cmc.csv",
    "adult": "adult_clean_30162.csv.gz",
}
METHODS = {1.0: "No use", 2.0: "Long term", 3.0: "Short term"}


def rows_of(shared_data, name) -> pa.Table:
    """Rows of a real table, in the types that Arrow finds.

    Names of columns in statistical files have no hyphens.
    """
    table = arrow_csv.read_csv(shared_data / name / TABLES[name])
    step = table.num_rows // ROWS
    plain = [column.replace("-", "_") for column in table.column_names]
    return table.take(list(range(0, ROWS * step, step))).rename_columns(plain)


def spelled(column) -> list:
    """The texts of cells; statistical files cannot tell an empty text from a null."""
    return [text or None for text in as_text(column.combine_chunks()).to_pylist()]


@pytest.mark.parametrize("ending", ["sav", "dta", "xpt", "xlsx"])
@pytest.mark.parametrize("name", list(TABLES))
def test_a_real_table_reads_back_cell_by_cell(shared_data, tmp_path, name, ending):
    table = rows_of(shared_data, name)
    write_table(table, tmp_path / f"t.{ending}")
    back = read_source(tmp_path / f"t.{ending}")
    assert back.column_names == table.column_names
    for column in table.column_names:
        if pa.types.is_floating(table[column].type):
            given, found = table[column].to_pylist(), back[column].to_pylist()
            assert [None if x is None else float(x) for x in found] == given, column
        else:
            assert spelled(back[column]) == spelled(table[column]), column


def labelled(shared_data, tmp_path, ending):
    """The survey of contraceptive methods, with labels and a declared missing value."""
    frame = rows_of(shared_data, "cmc").to_pandas().astype(float)
    frame.loc[frame.index % 10 == 0, "religion"] = -9.0
    labels = {"method": "Method that is used", "religion": "Religion", "age": "Age"}
    values = {
        "method": METHODS | {8.0: "Not shown"},
        "religion": {0.0: "Other", 1.0: "Islam", -9.0: "Refused"},
    }
    place = tmp_path / f"source.{ending}"
    if ending == "sav":
        pyreadstat.write_sav(
            frame,
            str(place),
            column_labels=labels,
            variable_value_labels=values,
            missing_ranges={"religion": [-9]},
        )
    else:
        whole = frame.astype({"method": int, "religion": int})
        pyreadstat.write_dta(
            whole,
            str(place),
            column_labels=[labels.get(name) for name in frame.columns],
            variable_value_labels={
                column: {int(code): text for code, text in found.items()}
                for column, found in values.items()
            },
        )
    return place


def read_back(place):
    reader = pyreadstat.read_sav if place.suffix == ".sav" else pyreadstat.read_dta
    options: dict[str, Any] = {"user_missing": True} if place.suffix == ".sav" else {}
    frame, meta = reader(str(place), **options)
    assert isinstance(frame, pd.DataFrame)
    return frame, meta


@pytest.mark.parametrize("ending", ["sav", "dta"])
def test_a_labelled_survey_is_released_with_the_labels_of_what_it_shows(
    shared_data, tmp_path, ending
):
    source = labelled(shared_data, tmp_path, ending)
    settings = {
        "identifier": "ID",
        "quasi": ["age", "children"],
        "sensitive": "method",
        "k": 5,
        "missing": ["", "-9"],
        "max_loss": 1,
        "unlisted": "keep",
    }
    others = ["Weducation", "Heducation", "religion", "working", "occupation"]
    others += ["solindex", "exposure"]
    exact = {"role": "insensitive", "keep_as_is": True}
    policy = sf.Policy.build(**settings).with_settings(
        {f"columns.{name}": exact for name in others}
    )
    release = sf.anonymize(source, policy, insecure_seed=1)
    release.save(tmp_path / "out")
    file = tmp_path / "out" / f"data.{ending}"
    frame, meta = read_back(file)
    assert len(frame) == ROWS
    assert meta.column_names_to_labels["method"] == "Method that is used"
    assert not meta.column_names_to_labels["age"]
    kept = {
        float(code): text for code, text in meta.variable_value_labels["method"].items()
    }
    assert kept == METHODS
    assert int((frame["religion"] == -9).sum()) == ROWS // 10
    if ending == "sav":
        assert meta.missing_ranges == {"religion": [{"lo": -9.0, "hi": -9.0}]}
    assert sf.check(file, quasi=["age", "children"], k=5, missing=["", "-9"]).holds
