"""Coded tables: which columns can be published from their codes, and as what."""

from __future__ import annotations

import pyarrow as pa
import pytest

import sfumato
from sfumato.pipeline.code_table import FEW, coded_table
from sfumato.policy import Policy

POLICY = Policy.build(quasi=["age"], sensitive=["value"], k=2, missing=["?"])


def told(values: pa.Array) -> bool:
    ages = pa.array([str(row % 2) for row in range(len(values))])
    table = pa.table({"age": ages, "value": values})
    return "value" in coded_table(POLICY, table).told_by_codes


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["a", "b"] * FEW, True),
        (["1", "2"] * FEW, True),
        (["1", "1.0"] * FEW, False),
        (["a", "?"] * FEW, False),
        (["a", None] * FEW, False),
        ([str(row) for row in range(16)], False),
    ],
    ids=["texts", "numbers", "equal numbers", "marked missing", "null", "unique"],
)
def test_codes_tell_cells_only_where_each_text_has_its_own(values, expected):
    assert told(pa.array(values, pa.string())) == expected


def test_codes_do_not_tell_cells_of_other_types():
    assert not told(pa.array([1, 2] * FEW))
    assert not told(pa.array(["a", "b"] * FEW).dictionary_encode())


@pytest.mark.parametrize(
    "pair", [("a", "b"), ("1", "1.0"), ("a", "?"), ("a", ""), ("a", None)]
)
def test_sensitive_texts_are_published_as_they_were(pair):
    values = pa.array([*pair] * FEW, pa.string())
    ages = pa.array([str(20 + row // 2) for row in range(len(values))])
    table = pa.table({"age": ages, "value": values})
    release = sfumato.anonymize(
        table, quasi=["age"], sensitive=["value"], k=4, missing=["?"]
    )
    found = release.table.column("value")
    assert found.type == pa.string()
    expected = [values[row].as_py() for row in release.source_rows]
    assert found.to_pylist() == expected
