"""A release is the same whether its source was read as codes or as texts."""

from __future__ import annotations

import json
import pickle
import random
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import sfumato as sf
from sfumato.data.source import coded_field, coded_texts, with_texts
from sfumato.errors import SfumatoError
from sfumato.io import coded_csv
from sfumato.io.read import read_source
from sfumato.pipeline.coded_source import searched_codes

ROWS = 240
TOWNS = ("Bern", "Genève", "Zürich", "Chur", "")
ROLES: dict[str, Any] = {
    "identifier": ["id"],
    "quasi": ["age", "sex", "town", "born", "size"],
    "sensitive": ["disease", "income"],
    "drop": ["person", "note", "weight"],
    "k": 3,
    "max_loss": 1.0,
}


def rows() -> list[list[str]]:
    drawn = random.Random(7)
    return [
        [
            f"p{row}",
            f"person {row // 2}",
            # One number in two spellings, and a mark.
            drawn.choice(["30", "30.0", "31", "45", "60", "?"]),
            drawn.choice("mf"),
            drawn.choice(TOWNS),
            f"19{drawn.randrange(60, 64)}-01-{drawn.randrange(1, 4):02}",
            drawn.choice(["small", "middle", "large"]),
            f"D{drawn.randrange(6)}",
            str(1000 * drawn.randrange(8)),
            drawn.choice(["=yes", "no"]),
            str(drawn.randrange(1, 4)),
        ]
        for row in range(ROWS)
    ]


NAMES = [
    "id",
    "person",
    "age",
    "sex",
    "town",
    "born",
    "size",
    "disease",
    "income",
    "note",
    "weight",
]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("source") / "people.csv"
    lines = [NAMES, *rows()]
    place.write_text("".join(",".join(line) + "\n" for line in lines), encoding="utf-8")
    return place


@pytest.fixture(scope="module")
def link_key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("key") / "link.key"
    place.touch(mode=0o600)
    place.write_bytes(bytes(range(32)))
    return place


def read_as_codes(wanted: bool) -> Any:
    return patch.object(coded_csv, "LEAST_BYTES", 1 if wanted else 1 << 40)


def test_the_source_is_read_as_codes_but_for_the_identifiers(source):
    with read_as_codes(True):
        found = read_source(source, coded=True)
    assert coded_texts(found) == frozenset(NAMES[2:])
    assert coded_texts(read_source(source, coded=True)) == frozenset()


def timeless(record: Any) -> Any:
    """A record without the seconds that its steps took."""
    if isinstance(record, dict):
        return {k: timeless(v) for k, v in record.items() if "seconds" not in k}
    return [timeless(each) for each in record] if isinstance(record, list) else record


def made(
    source: Path,
    place: Path,
    coded: bool,
    settings: dict[str, Any],
    policy: sf.Policy | None = None,
) -> Any:
    """Everything that a run leaves: tables, records and files, or its error."""
    asked = {**ROLES, **settings} if policy is None else {}
    try:
        with read_as_codes(coded):
            release = sf.anonymize(source, policy, insecure_seed=5, **asked)
    except SfumatoError as fault:
        return fault.message, fault.hint, fault.values
    release.save(place)
    tables = {"data": release.table, **release.beside}
    files = {
        str(path.relative_to(place)): path.read_bytes()
        for path in sorted(place.rglob("*"))
        if path.is_file() and path.suffix not in (".json", ".html")
    }
    return {
        "schemas": {name: table.schema for name, table in tables.items()},
        "cells": {name: table.to_pydict() for name, table in tables.items()},
        "files": files,
        "manifest": timeless(json.loads((place / "manifest.json").read_text())),
        "audit": timeless(json.loads((place / "private" / "audit.json").read_text())),
    }


KEPT = {
    "drop": ["person"],
    "insensitive": ["note"],
    "weight": "weight",
    "keep_as_is": ["note", "weight"],
}
SETTINGS: dict[str, dict[str, Any]] = {
    "kinds inferred": {"missing": ["?", ""]},
    "kinds declared": {
        "missing": ["?"],
        "kinds": {"age": "decimal", "born": "date", "size": "ordered"},
        "orders": {"size": ["small", "middle", "large"]},
    },
    "words": {},
    "a kind that does not fit": {"kinds": {"age": "integer"}},
    "missing rows dropped": {"missing": ["?", ""], "missing_as": "drop"},
    "missing as any": {"missing": ["?", ""], "missing_as": "any"},
    "carried columns": {"missing": ["?"], **KEPT},
    "formulas marked": {"missing": ["?"], **KEPT, "spreadsheet_safe": True},
    "unlisted kept": {
        "unlisted": "keep",
        "identifier": ["id", "person"],
        "drop": [],
        "k": 40,
    },
    "pseudonyms": {"missing": ["?"], "pseudonymize": ["id"]},
    "persons": {"missing": ["?"], "drop": ["note", "weight"], "subject": "person"},
    "parquet": {"missing": ["?"], "format": "parquet"},
    "a key": {"missing": ["?"], "key": "id"},
    "no order": {"missing": ["?"], "order": "source"},
    "suppress": {"operator": "suppress", "max_suppressed": 0.5},
    "microaggregate": {"missing": ["?"], "operator": "microaggregate"},
    "means": {"missing": ["?"], "numbers": "mean"},
    "bounds": {"missing": ["?"], "numbers": "bounds"},
    "swap": {
        "missing": ["?"],
        "operator": "swap",
        "k": None,
        "require": [{"model": "group-size", "k": 3}],
    },
    "anatomize": {
        "missing": ["?"],
        "operator": "anatomize",
        "k": None,
        "require": [{"model": "l-diversity", "l": 2}],
    },
    "anatomize parquet": {
        "operator": "anatomize",
        "format": "parquet",
        "k": None,
        "require": [{"model": "l-diversity", "l": 2}],
    },
    "loss by value": {"missing": ["?"], "loss_by": ["sex", "disease"]},
    "infeasible": {"k": 500},
    "too lossy": {"missing": ["?"], "max_loss": 0.001},
    "a learned hierarchy": {"hierarchies": {"town": "learned"}},
}
REFUSED = ("a kind that does not fit", "infeasible", "too lossy")


@pytest.mark.parametrize("name", list(SETTINGS))
def test_a_release_does_not_depend_on_how_its_source_was_read(source, tmp_path, name):
    found = made(source, tmp_path / "codes", True, SETTINGS[name])
    assert found == made(source, tmp_path / "texts", False, SETTINGS[name])
    assert isinstance(found, tuple) == (name in REFUSED), found


def test_steps_of_a_grid_are_the_same(source, tmp_path):
    settings = {"missing": ["?"]}
    text = sf.Policy.build(columns=NAMES, **{**ROLES, **settings}).dump()
    policy = sf.Policy.parse(
        text.replace('role = "quasi"\n', 'role = "quasi"\nresolution = 10\n', 1)
    )
    assert policy.column("age").resolution is not None
    found = made(source, tmp_path / "codes", True, {}, policy)
    assert found == made(source, tmp_path / "texts", False, {}, policy)
    assert not isinstance(found, tuple), found


def test_persons_are_linked_alike(source, link_key, tmp_path):
    settings = {"missing": ["?"], "privacy": {"link_key": str(link_key)}}
    found = made(source, tmp_path / "codes", True, settings)
    assert found == made(source, tmp_path / "texts", False, settings)
    record = parquet.read_table(tmp_path / "codes" / "private" / "rows.parquet")
    assert "person" in record.column_names


def coded(values: list[str]) -> pa.Table:
    cells = pa.array(values).dictionary_encode()
    return pa.table([cells], pa.schema([coded_field("x", cells.type)]))


def test_only_columns_that_are_searched_stay_coded():
    table = coded(["a", "b", "a"])
    build = sf.Policy.build
    quasi = build(columns=["x"], quasi="x", k=2)
    assert searched_codes(table, quasi) is table
    for other in (
        build(columns=["x"], insensitive="x"),
        build(columns=["x"], quasi="x", k=2, key="x"),
        build(
            columns=["x"],
            quasi="x",
            algorithm="safepub",
            require=[{"model": "differential-privacy", "epsilon": 1, "delta": 1e-6}],
        ),
    ):
        found = searched_codes(table, other)
        assert coded_texts(found) == frozenset()
        assert found.schema.field("x").type == pa.string()
        assert found["x"].to_pylist() == ["a", "b", "a"]


def test_a_category_of_a_frame_is_no_coded_text():
    table = pa.table({"x": pa.array(["a", "b"]).dictionary_encode()})
    assert coded_texts(table) == frozenset()
    assert with_texts(table) is table


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("operator", ["generalize", "swap", "anatomize"])
def test_a_value_of_a_row_that_was_left_out_is_nowhere(tmp_path, operator, form):
    """The dictionary that was read has it, and every dictionary that leaves has not."""
    lines = ["age,town,disease", "?,canary town,canary disease"]
    lines += [f"{30 + i % 4},town {i % 3},D{i % 5}" for i in range(60)]
    place = tmp_path / "people.csv"
    place.write_text("\n".join(lines) + "\n")
    with read_as_codes(True), patch.object(coded_csv, "FEW", 1):
        release = sf.anonymize(
            place,
            quasi=["age", "town"],
            sensitive="disease",
            require=[{"model": "l-diversity", "l": 2}],
            missing=["?"],
            missing_as="drop",
            operator=operator,
            format=form,
            max_loss=1.0,
            insecure_seed=5,
        )
    release.save(tmp_path / "release")
    tables = [release.table, *release.beside.values()]
    left = [pickle.dumps(table) for table in tables]
    left += [path.read_bytes() for path in (tmp_path / "release").glob("*.*")]
    assert len(left) > len(tables)
    assert not any(b"canary" in content for content in left)
