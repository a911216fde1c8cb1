"""A table of a database is compared with the hash of its manifest, new or old."""

from __future__ import annotations

import hashlib

import pyarrow as pa
import pytest

from sfumato.errors import DataError
from sfumato.io.row_hashes import hash_table
from sfumato.pipeline.table_hashes import hash_entries, is_described

PEOPLE = pa.table({"age": ["[20, 29]", None], "ill": ["flu\x1f", "cold"]})
MOVED = pa.table({"age": ["[20, 29]\x1fflu", "\0"], "ill": ["", "cold"]})
"""Another table, with the same hash in the form of older versions."""
OLD = {
    "data_sha256": hashlib.sha256(
        b"age\nill\n\0\x1fcold\n[20, 29]\x1fflu\x1f"
    ).hexdigest()
}


def test_a_table_that_an_older_version_confused_is_told_apart():
    assert is_described(PEOPLE, hash_entries(PEOPLE))
    assert not is_described(MOVED, hash_entries(PEOPLE))


def test_a_manifest_of_an_older_version_is_still_compared():
    assert is_described(PEOPLE.take([1, 0]), OLD)
    assert not is_described(PEOPLE.slice(1), OLD)


def test_the_old_form_is_never_taken_where_the_manifest_names_the_new_one():
    assert not is_described(PEOPLE, {**hash_entries(PEOPLE), **OLD})


def test_a_manifest_without_kinds_is_still_compared_without_them():
    numbers = pa.table({"age": [20, 40]})
    manifest = {
        "data_sha256": hash_table(numbers, typed=False),
        "data_sha256_form": "row-sum",
    }
    texts = numbers.cast(pa.schema([("age", pa.string())]))
    assert is_described(numbers, manifest)
    assert is_described(texts, manifest)
    assert not is_described(texts, hash_entries(numbers))


def test_a_form_of_a_newer_version_is_refused():
    manifest = {"data_sha256": "0" * 64, "data_sha256_form": "of-tomorrow"}
    with pytest.raises(DataError, match="form that this version does not know"):
        is_described(PEOPLE, manifest)
