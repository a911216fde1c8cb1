"""The keyed hash by which a person is found again."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.errors import DataError, PolicyError

TABLE = pa.table(
    {
        "name": ["ann", "bob", "ann", "cat"],
        "born": ["1990", "1990", "1991", "1992"],
        "age": [20, 21, 20, 22],
    }
)


@pytest.fixture
def key(tmp_path: Path) -> Path:
    place = tmp_path / "link.key"
    place.write_bytes(b"k" * 32)
    place.chmod(0o600)
    return place


def record(tmp_path, key, table=TABLE, **settings) -> pa.Table:
    asked = {"identifier": ["name", "born"], "quasi": "age", "k": 2} | settings
    made = sf.anonymize(
        table, privacy={"link_key": str(key)}, max_loss=1.0, insecure_seed=1, **asked
    )
    made.save(tmp_path / "release")
    return pq.read_table(tmp_path / "release" / "private" / "rows.parquet")


def test_a_person_is_what_all_identifiers_say_together(tmp_path, key):
    persons = record(tmp_path, key)["person"].to_pylist()
    assert len(set(persons)) == 4
    assert all(len(person) == 32 for person in persons)


def test_a_subject_is_a_person_whatever_the_identifiers_say(tmp_path, key):
    found = record(tmp_path, key, identifier="born", subject="name")
    one, two, three, four = found["person"].to_pylist()
    assert one == three
    assert len({one, two, four}) == 3


def test_another_key_gives_other_hashes(tmp_path, key):
    (tmp_path / "a").mkdir()
    before = record(tmp_path / "a", key)["person"].to_pylist()
    key.write_bytes(b"j" * 32)
    after = record(tmp_path, key)["person"].to_pylist()
    assert not set(before) & set(after)


def test_the_type_of_an_identifier_does_not_matter(tmp_path, key):
    (tmp_path / "a").mkdir()
    as_text = record(tmp_path / "a", key)["person"].to_pylist()
    years = pa.array([int(year) for year in TABLE["born"].to_pylist()])
    as_numbers = TABLE.set_column(1, "born", years)
    assert record(tmp_path, key, as_numbers)["person"].to_pylist() == as_text


def test_a_key_that_others_may_open_is_refused(tmp_path, key):
    key.chmod(0o640)
    with pytest.raises(PolicyError, match=r"others may open \(mode 0640\)"):
        record(tmp_path, key)


def test_a_short_key_is_refused(tmp_path, key):
    key.write_bytes(b"k" * 15)
    with pytest.raises(PolicyError, match="has 15 bytes, where a key has 16 or more"):
        record(tmp_path, key)


def test_a_key_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(PolicyError, match="cannot be read"):
        record(tmp_path, tmp_path / "none")


def test_a_key_needs_somebody_to_tell_apart(tmp_path, key):
    with pytest.raises(PolicyError, match="needs a column that tells persons apart"):
        record(tmp_path, key, identifier=None, drop=["name", "born"])


def test_nobody_may_be_without_a_name(tmp_path, key):
    nameless = TABLE.set_column(0, "name", pa.array(["ann", None, "", "cat"]))
    with pytest.raises(DataError, match="'name' is missing in 2 rows"):
        record(tmp_path, key, nameless)


def test_without_a_key_there_is_no_person(tmp_path):
    made = sf.anonymize(
        TABLE, identifier=["name", "born"], quasi="age", k=2, max_loss=1.0
    )
    made.save(tmp_path / "release")
    found = pq.read_table(tmp_path / "release" / "private" / "rows.parquet")
    assert "person" not in found.column_names


def test_the_manifest_says_that_there_is_a_key_and_not_where(tmp_path, key):
    record(tmp_path, key)
    text = (tmp_path / "release" / "manifest.json").read_text()
    assert '"link_key": true' in text
    assert "link.key" not in text
