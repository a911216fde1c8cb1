"""A release is checked by its own policy, however its source was written."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import sfumato as sf
from sfumato.errors import DataError

ROWS = "ort;alter;krank\nKöln;20,5;Grippe\nKöln;21,5;Gicht\nBonn;40,5;Grippe\n"
ROWS += "Bonn;41,5;Gicht\n"
POLICY = """
version = 1
{data}
[columns.ort]
role = "quasi"
[columns.alter]
role = "quasi"
[columns.krank]
role = "sensitive"
[[require]]
model = "k-anonymity"
k = 2
[[require]]
model = "l-diversity"
l = 2
[algorithm]
name = "mondrian"
[publish]
max_loss = 1.0
{publish}
"""


def policy_at(place, data, publish=""):
    file = place / "policy.toml"
    text = POLICY.format(data=f"[data]\n{data}", publish=publish)
    file.write_text(text, encoding="utf-8")
    return sf.Policy.load(file)


def checked(place, policy, source):
    """What check says of a saved release, given its policy and its manifest."""
    sf.anonymize(source, policy, insecure_seed=1).save(place / "release")
    data = next((place / "release").glob("data.*"))
    return sf.check(data, policy, manifest=place / "release" / "manifest.json")


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-8-sig"])
@pytest.mark.parametrize("form", ["csv", "parquet", "arrow"])
def test_the_source_may_have_any_encoding(tmp_path, encoding, form):
    source = tmp_path / "source.csv"
    source.write_bytes(ROWS.encode(encoding))
    said = f'encoding = "{encoding}"\ndecimal = ","\ndelimiter = ";"\nformat = "csv"'
    policy = policy_at(tmp_path, said, f'format = "{form}"')
    result = checked(tmp_path, policy, source)
    assert result.holds
    assert result.rows == 4


def test_a_release_of_one_column_keeps_the_delimiter_that_its_policy_names(tmp_path):
    (tmp_path / "t.csv").write_text("sex, age\n" + "20\n" * 3)
    policy = sf.Policy.build(columns=["sex, age"], quasi="sex, age", k=3, delimiter="|")
    sf.anonymize(tmp_path / "t.csv", policy).save(tmp_path / "out")
    assert sf.check(tmp_path / "out" / "data.csv", policy).holds


def test_a_release_of_a_frame_has_commas_whatever_the_policy_says_of_a_file(tmp_path):
    policy = policy_at(tmp_path, 'delimiter = ";"\nformat = "parquet"')
    frame = pa.table(
        {"ort": ["a", "a"], "alter": ["1", "2"], "krank": ["Grippe", "Gicht"]}
    )
    policy = policy.with_setting("publish.format", "csv")
    assert checked(tmp_path, policy, frame).holds


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_the_source_itself_is_read_as_its_policy_says(tmp_path, encoding):
    source = tmp_path / "source.csv"
    source.write_bytes(ROWS.encode(encoding))
    policy = policy_at(tmp_path, f'encoding = "{encoding}"\ndelimiter = ";"')
    result = sf.check(source, policy)
    assert not result.holds
    assert result.groups == 4


def test_a_file_that_cannot_be_read_either_way_is_told_as_what_its_name_says(tmp_path):
    file = tmp_path / "data.parquet"
    file.write_bytes(b"no table at all")
    policy = policy_at(tmp_path, 'encoding = "utf-16"\nformat = "csv"')
    with pytest.raises(DataError, match="is not a whole Parquet file"):
        sf.check(file, policy)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_nulls_of_the_source_are_missing_in_every_format(tmp_path, form):
    source = tmp_path / "source.parquet"
    columns = {
        "ort": pa.array([None, None, "a", "a"], pa.string()),
        "alter": pa.array([None, None, 1, 1], pa.int64()),
        "krank": pa.array([1, None, 1, 2], pa.int64()),
    }
    parquet.write_table(pa.table(columns), source)
    policy = policy_at(tmp_path, 'missing = ["?"]', f'format = "{form}"')
    result = checked(tmp_path, policy, source)
    assert result.holds


def test_nulls_of_a_checked_table_are_missing_in_its_population_too(tmp_path):
    parquet.write_table(
        pa.table({"ort": pa.array([None, None], pa.string())}), tmp_path / "t.parquet"
    )
    (tmp_path / "people.csv").write_text('ort\n""\n""\n""\n')
    result = sf.check(
        tmp_path / "t.parquet",
        quasi="ort",
        missing=["-"],
        require=[{"model": "k-map", "k": 3, "population": "people.csv"}],
        base=tmp_path,
    )
    assert result.verdicts[0]["measured"] == 3


def test_the_manifest_of_a_process_model_has_no_kinds_to_be_taken(tmp_path):
    manifest = tmp_path / "manifest.json"
    manifest.write_text(json.dumps({"privacy": {"model": "differential-privacy"}}))
    table = pa.table({"age": ["1", "1"]})
    assert sf.check(table, quasi="age", k=2, manifest=manifest).holds
