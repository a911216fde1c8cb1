"""Cells of several lines, and row numbers, from the source to the published file."""

from __future__ import annotations

import json
from itertools import product

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as parquet
import pytest

import sfumato as sf
from sfumato.errors import DataError, HierarchyError
from sfumato.io.read import read_source

ENGINES = ["memory", "duckdb"]
ROLES = {"identifier": "name", "quasi": "age", "sensitive": "ill", "k": 3}
LINES = [f"Ann{i:02d},{20 + i % 4},x{i % 3}" for i in range(40)]


def written(tmp_path, lines, header="name,age,ill", name="t.csv"):
    path = tmp_path / name
    path.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    return path


def joined(first, last):
    """The rows with a mark opened in row 10 and closed in row 20."""
    return [*LINES[:10], first, *LINES[11:20], last, *LINES[21:]]


@pytest.mark.parametrize("engine", ENGINES)
def test_names_in_a_joined_cell_of_a_published_column_stop_the_run(tmp_path, engine):
    path = written(tmp_path, joined('Ann,22,"x1', 'Ann,22,x2"'))
    with pytest.raises(DataError, match="line 12: the cell of column 'ill'") as error:
        sf.anonymize(path, engine=engine, **ROLES)
    assert "pass multiline=True" in error.value.hint


@pytest.mark.parametrize("engine", ENGINES)
def test_cells_of_several_lines_that_are_left_out_do_no_harm(tmp_path, engine):
    path = written(tmp_path, joined('"Ann\nof Hill",22,x1', "Ann,22,x2"))
    release = sf.anonymize(path, engine=engine, **ROLES)
    assert release.manifest["rows_in"] == 40


@pytest.mark.parametrize("engine", ENGINES)
def test_joined_rows_that_are_left_out_stop_the_run(tmp_path, engine):
    path = written(tmp_path, joined('"Ann,22,x1', 'Ann",22,x2'))
    with pytest.raises(DataError, match="look like rows of the table"):
        sf.anonymize(path, engine=engine, **ROLES)


@pytest.mark.parametrize("engine", ENGINES)
def test_declared_lines_are_published_and_the_manifest_lets_them_be_checked(
    tmp_path, engine
):
    path = written(
        tmp_path, [f"n{i},{i % 2},'a\nb'".replace("'", '"') for i in range(8)]
    )
    release = sf.anonymize(path, engine=engine, multiline=True, **ROLES)
    manifest = release.save(tmp_path / "out")
    assert manifest["multiline"] is True
    data = tmp_path / "out" / "data.csv"
    with pytest.raises(DataError, match="has a line break"):
        sf.check(data, quasi="age", k=3, engine=engine)
    for more in ({"manifest": tmp_path / "out" / "manifest.json"}, {"multiline": True}):
        assert sf.check(data, quasi="age", k=3, engine=engine, **more).holds


def test_lines_of_a_frame_are_recorded_though_its_policy_says_nothing(tmp_path):
    frame = pa.table({"age": [1, 1, 2, 2], "ill": ["a\nb", "c", "d", "e"]})
    release = sf.anonymize(frame, quasi="age", sensitive="ill", k=2)
    assert release.save(tmp_path / "out")["multiline"] is True


def test_a_release_without_such_cells_says_nothing_of_them(tmp_path):
    release = sf.anonymize(written(tmp_path, LINES), **ROLES)
    assert "multiline" not in release.save(tmp_path / "out")


@pytest.mark.parametrize("engine", ENGINES)
def test_row_numbers_are_never_published_and_the_manifest_says_so(tmp_path, engine):
    lines = [f"{i},{line}" for i, line in enumerate(LINES)]
    path = written(tmp_path, lines, header=",name,age,ill")
    policy = sf.Policy.build(unlisted="keep", **ROLES)
    release = sf.anonymize(path, policy, engine=engine)
    assert release.table.column_names == ["age", "ill"]
    assert release.manifest["row_numbers"] == "left out"


def test_row_numbers_of_a_workbook_are_left_out_too(tmp_path):
    frame = pd.DataFrame({"age": [1, 1, 2, 2], "ill": list("abab")})
    frame.to_excel(tmp_path / "t.xlsx", engine="xlsxwriter")
    release = sf.anonymize(tmp_path / "t.xlsx", quasi="age", sensitive="ill", k=2)
    assert release.table.column_names == ["age", "ill"]
    assert release.manifest["row_numbers"] == "left out"


def numbered_source(tmp_path, kind):
    """A table whose first column has no name, as a file or a frame."""
    frame = pa.table({"": range(40), "age": [1, 2] * 20, "ill": list("abba") * 10})
    if kind == "parquet":
        parquet.write_table(frame, tmp_path / "t.parquet")
    if kind == "arrow":
        feather.write_feather(frame, str(tmp_path / "t.arrow"))
    frames = {
        "pandas": frame.to_pandas,
        "polars": lambda: pl.DataFrame(frame.to_pydict()),
    }
    frames |= {"lazy": lambda: pl.LazyFrame(frame.to_pydict()), "table": lambda: frame}
    return frames[kind]() if kind in frames else tmp_path / f"t.{kind}"


@pytest.mark.parametrize(
    ("kind", "engine"),
    [
        *product(["parquet", "pandas", "polars", "lazy", "table"], ENGINES),
        ("arrow", "memory"),
    ],
)
def test_row_numbers_of_typed_tables_are_left_out_too(tmp_path, kind, engine):
    data = numbered_source(tmp_path, kind)
    policy = sf.Policy.build(unlisted="keep", quasi="age", sensitive="ill", k=3)
    release = sf.anonymize(data, policy, engine=engine)
    manifest = release.save(tmp_path / "out")
    assert manifest["row_numbers"] == "left out"
    assert read_source(next((tmp_path / "out").glob("data.*"))).column_names == [
        "age",
        "ill",
    ]
    assert sf.check(data, quasi="age", k=3, engine=engine).row_numbers


@pytest.mark.parametrize("engine", ENGINES)
def test_a_check_says_that_row_numbers_were_not_checked(tmp_path, engine):
    path = written(tmp_path, ["0,1,a", "1,1,b"], header=",age,ill")
    assert sf.check(path, quasi="age", sensitive="ill", k=2, engine=engine).row_numbers


def test_a_proposal_leaves_out_a_column_whose_cells_have_several_lines(tmp_path):
    words = ["red", "blue", "green"]
    lines = [f'n{i},{20 + i % 3},"{words[i % 3]}\nx"' for i in range(60)]
    path = written(tmp_path, lines)
    assert sf.propose(path).columns["ill"].drop
    meant = sf.propose(path, multiline=True)
    assert not meant.columns["ill"].drop
    assert meant.data.multiline


def test_a_proposal_says_that_row_numbers_were_left_out(tmp_path):
    lines = [f"{i},{line}" for i, line in enumerate(LINES)]
    policy = sf.propose(written(tmp_path, lines, header=",name,age,ill"))
    assert set(policy.columns) == {"name", "age", "ill"}


def test_a_population_of_joined_rows_is_refused(tmp_path):
    source = written(tmp_path, LINES)
    people = written(tmp_path, joined('Ann,"22,x1', 'Ann",22,x2'), name="people.csv")
    with pytest.raises(DataError, match=r"people.csv.*line break"):
        sf.anonymize(
            source,
            identifier="name",
            quasi="age",
            sensitive="ill",
            require=[{"model": "k-map", "k": 3, "population": str(people)}],
        )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            '20,"low\n21,low\n22,"high\n23,high\n',
            "line 3, column 2: text follows a closing",
        ),
        ('20,"low\n21,low\n22,high"\n23,high\n', "line break that ends in line 3"),
    ],
)
def test_a_hierarchy_of_joined_rows_is_refused(tmp_path, text, problem):
    (tmp_path / "age.csv").write_text(text, encoding="utf-8")
    with pytest.raises(HierarchyError, match=problem):
        sf.anonymize(
            written(tmp_path, LINES),
            hierarchies={"age": "age.csv"},
            kinds={"age": "category"},
            base=tmp_path,
            **ROLES,
        )


def test_an_earlier_release_with_declared_lines_is_read_again(tmp_path):
    lines = [f'n{i},{i % 2},"a\nb"' for i in range(8)]
    path = written(tmp_path, lines)
    key = tmp_path / "link.key"
    key.write_text("0" * 64, encoding="utf-8")
    key.chmod(0o600)
    settings = {"privacy": {"link_key": str(key)}, "multiline": True}
    first = sf.anonymize(path, **ROLES, **settings)
    assert json.loads(json.dumps(first.save(tmp_path / "one")))["multiline"]
    second = sf.anonymize(path, after=[tmp_path / "one"], **ROLES, **settings)
    assert second.verdicts[0]["holds"]
