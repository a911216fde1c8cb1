"""A release is judged by the values of its source, whatever types its file has."""

from typing import Any

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.pipeline.source_types import other_types, with_source_types

TRUTHS = pa.array([True, False, True, False] * 2)
SHORT = pa.array([0.1, 1.5, 0.1, 2.0**-13] * 2, pa.float32())
COLUMNS = {
    "truths": TRUTHS,
    "truths and nulls": pa.array([True, False, None, False] * 2),
    "categories of truths": TRUTHS.dictionary_encode(),
    "short floats": SHORT,
    "short floats and NaN": pa.array([0.1, float("nan"), None, 1.5] * 2, pa.float32()),
    "categories of short floats": SHORT.dictionary_encode(),
}
NEAR = [{"model": "t-closeness", "t": 0.9, "reference": "source"}]


def released(tmp_path, cells, ending, **roles):
    """A release, and the address of what was written."""
    table = pa.table({"q": ["a", "a", "b", "b"] * 2, "x": cells})
    to_files = ending not in ("sqlite", "duckdb")
    release = sf.anonymize(
        table,
        quasi="q",
        max_loss=1,
        format=ending if to_files else "parquet",
        **roles,
    )
    if to_files:
        release.save(tmp_path / "o")
        return release, tmp_path / "o" / f"data.{ending}"
    address = f"{ending}:///{tmp_path}/new.db#t"
    release.save(tmp_path / "o", to=address)
    return release, address


@pytest.mark.parametrize("ending", ["sav", "dta", "xpt", "xlsx", "sqlite", "duckdb"])
@pytest.mark.parametrize("name", COLUMNS)
def test_a_sensitive_column_of_any_type_is_published_and_checked(
    tmp_path, ending, name
):
    if ending == "sqlite" and "truths" in name:
        pytest.skip("SQLite has no truths, and refuses them by name")
    roles = {"sensitive": "x", "k": 2, "require": NEAR}
    release, data = released(tmp_path, COLUMNS[name], ending, **roles)
    result = sf.check(
        data,
        quasi="q",
        **roles,
        manifest=tmp_path / "o" / "manifest.json",
        groups=tmp_path / "o" / "private" / "rows.parquet",
    )
    assert result.holds
    assert result.same_as_manifest
    assert result.verdicts[-1]["measured"] == release.verdicts[-1]["measured"]


@pytest.mark.parametrize("ending", ["sav", "dta", "xpt"])
def test_truths_of_persons_and_of_anatomies_are_published(tmp_path, ending):
    for number, roles in enumerate(
        [{"subject": "x", "k": 2}, {"sensitive": "x", "l": 2, "operator": "anatomize"}]
    ):
        directory = tmp_path / str(number)
        directory.mkdir()
        _, data = released(directory, TRUTHS, ending, **roles)
        manifest = directory / "o" / "manifest.json"
        groups = directory / "o" / "private" / "rows.parquet"
        result = sf.check(data, quasi="q", **roles, manifest=manifest, groups=groups)
        assert result.holds


def test_an_assessment_reads_the_truths_of_a_statistical_file(tmp_path):
    table = pa.table({"q": ["a", "a", "b", "b"], "x": [True, False] * 2})
    release = sf.anonymize(
        table, quasi="q", sensitive="x", k=2, max_loss=1, format="sav"
    )
    release.save(tmp_path / "o")
    result = sf.assess(table, tmp_path / "o", release.claim.policy)
    assert result.unrecognized_cells == {}


def test_a_manifest_names_only_the_types_that_a_file_does_not_have(tmp_path):
    table = pa.table({"q": ["a"] * 4, "x": [True, False] * 2, "n": [1, 2] * 2})
    release = sf.anonymize(
        table, quasi="q", sensitive="x", insensitive="n", k=2, max_loss=1, format="sav"
    )
    assert release.save(tmp_path / "o")["source_types"] == {"x": "bool"}
    assert "source_types" not in sf.anonymize(
        table, quasi="q", sensitive="x", insensitive="n", k=2, max_loss=1
    ).save(tmp_path / "csv")


@pytest.mark.parametrize(
    ("kind", "cells"),
    [("bool", [1, 2]), ("bool", [0.5, 1.0]), ("float", [0.1]), ("float", ["0.1"])],
)
def test_other_cells_than_a_manifest_names_stay_as_they_are(kind, cells):
    table = pa.table({"x": cells})
    assert with_source_types(table, {"source_types": {"x": kind}}).equals(table)


def test_a_manifest_that_names_no_types_changes_nothing():
    table = pa.table({"x": [0, 1]})
    wrong: list[Any] = [None, [], "x", {"x": "int8"}, {"x": ["bool"]}, {"y": "bool"}]
    for types in wrong:
        assert with_source_types(table, {"source_types": types}).equals(table)


def test_cells_that_came_back_as_texts_need_no_other_type():
    draft = pa.table({"x": [True, False], "y": pa.array([0.1, 2.0], pa.float32())})
    assert other_types(draft, pa.table({"x": ["true", "false"], "y": [0.1, 2.0]})) == {
        "y": "float"
    }
