"""A release on Spark has the groups, cells and order of the release in memory."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.cli import main
from sfumato.engines import spark_files
from sfumato.errors import GuaranteeError, PolicyError, RefusedError, UsageError
from sfumato.pipeline.release_files import ReleaseFiles
from tests.spark.random_people import (
    REQUIREMENTS,
    people,
    policy,
    without_carried,
)

ALGORITHMS = [
    {"name": "mondrian", "cut": "widest"},
    {"name": "mondrian", "cut": "gain"},
    {"name": "datafly"},
    {"name": "optimal"},
    {"name": "k-member"},
]
PARTITIONS = (1, 2, 7)


@pytest.fixture(autouse=True)
def everything_on_disk(monkeypatch):
    """Also small arrays are mapped from disk, in batches of a few rows."""
    monkeypatch.setattr("sfumato.data.disk_arrays.SMALL", 1)
    monkeypatch.setattr("sfumato.io.batch_files.BATCH_ROWS", 7)


def read(out: Path) -> dict[str, object]:
    """What a release shows and records, but for times and the bytes of its files."""
    manifest = json.loads((out / "manifest.json").read_text())
    audit = json.loads((out / "private" / "audit.json").read_text())
    data = pq.read_table(out / "data.parquet")
    told = {k: v for k, v in manifest.items() if k not in ("seconds", "data_sha256")}
    return {
        "schema": str(data.schema.remove_metadata()),
        "cells": [repr(column.to_pylist()) for column in data.columns],
        "manifest": told,
        "rows": pq.read_table(out / "private" / "rows.parquet").to_pydict(),
        "report": {k: v for k, v in audit["report"].items() if k != "algorithm"},
        "facts": audit["facts"],
    }


@pytest.mark.parametrize("requirements", REQUIREMENTS)
@pytest.mark.parametrize(
    "algorithm", ALGORITHMS, ids=lambda each: "-".join(each.values())
)
def test_all_engines_make_the_same_groups(spark, tmp_path, algorithm, requirements):
    number = 3 * ALGORITHMS.index(algorithm) + [*REQUIREMENTS].index(requirements)
    asked = policy(algorithm, REQUIREMENTS[requirements])
    table, asked = without_carried(people(number, 50), asked)
    place = tmp_path / "people.parquet"
    pq.write_table(table, place)
    shuffled = table.take(np.random.default_rng(number).permutation(50))
    pq.write_table(shuffled, tmp_path / "shuffled.parquet")
    frame = spark.read.parquet(str(tmp_path / "shuffled.parquet"))
    frame = frame.repartition(PARTITIONS[number % 3])
    made = [
        sf.anonymize(place, asked, engine="memory", insecure_seed=number),
        sf.anonymize(place, asked, engine="duckdb", insecure_seed=number),
        sf.anonymize(frame, asked, insecure_seed=number),
    ]
    expected = made[0].table.to_pydict()
    for other in made[1:]:
        assert np.array_equal(other.group_of, made[0].group_of)
        assert repr(other.table.to_pydict()) == repr(expected)


@pytest.fixture(scope="module")
def in_memory(tmp_path_factory) -> tuple[Path, dict[str, object]]:
    """A table in a file, and its release in memory."""
    place = tmp_path_factory.mktemp("memory")
    pq.write_table(people(3, 60), place / "people.parquet", row_group_size=9)
    asked = policy({"name": "mondrian"}, REQUIREMENTS["k"])
    release = sf.anonymize(place / "people.parquet", asked, insecure_seed=1)
    release.save(place / "release")
    return place / "people.parquet", read(place / "release")


@pytest.mark.parametrize("partitions", PARTITIONS)
def test_cells_order_and_records_are_those_of_memory(
    spark, tmp_path, in_memory, partitions, monkeypatch
):
    monkeypatch.setattr(spark_files, "ROWS_PER_PART", 25)
    source, expected = in_memory
    frame = spark.read.parquet(str(source)).repartition(partitions)
    asked = policy({"name": "mondrian"}, REQUIREMENTS["k"])
    release = sf.anonymize(frame, asked, insecure_seed=1)
    release.save(tmp_path / "out")
    found = read(tmp_path / "out")
    assert found == expected
    parts = sorted(path.name for path in (tmp_path / "out" / "data.parquet").iterdir())
    assert parts == ["part-00000.parquet", "part-00001.parquet", "part-00002.parquet"]


def test_files_give_the_release_of_memory_and_of_other_commands(
    spark, tmp_path, in_memory, capsys
):
    source, expected = in_memory
    text = policy({"name": "mondrian"}, REQUIREMENTS["k"]).dump()
    (tmp_path / "policy.toml").write_text(text)
    out = tmp_path / "out"
    words = ["anonymize", str(tmp_path / "policy.toml"), "--data", str(source)]
    words += ["--out", str(out), "--engine", "spark", "--insecure-seed", "1"]
    assert main(words) == 0
    assert "k = 3" in capsys.readouterr().out
    assert read(out)["cells"] == expected["cells"]
    asked = ["--policy", str(tmp_path / "policy.toml")]
    assert main(["check", str(out / "data.parquet"), *asked, "--engine", "memory"]) == 0
    files = ReleaseFiles.of(out)
    assert files.tables(sf.Policy.load(tmp_path / "policy.toml"))[0].num_rows == 59
    modes = {path.stat().st_mode & 0o777 for path in (out / "data.parquet").iterdir()}
    assert modes == {(out / "manifest.json").stat().st_mode & 0o777}


def test_a_frame_comes_back_as_a_frame_with_all_columns(spark, in_memory):
    source, _ = in_memory
    frame = spark.read.parquet(str(source))
    asked = policy({"name": "mondrian"}, REQUIREMENTS["k"])
    release = sf.anonymize(frame, asked, insecure_seed=1)
    assert type(release.data) is type(frame)
    found = release.data.toArrow()
    rows = sorted(repr(row) for row in found.select(["age", "ward"]).to_pylist())
    data = pq.read_table(source.parent / "release" / "data.parquet")
    assert rows == sorted(repr(r) for r in data.select(["age", "ward"]).to_pylist())
    assert found.column_names == data.column_names
    with pytest.raises(RefusedError, match="rows of this release are on Spark"):
        sf.assess(source, release, asked)


def test_rows_that_take_no_part_are_left_out_on_spark(spark, tmp_path, in_memory):
    source, _ = in_memory
    asked = policy({"name": "mondrian"}, REQUIREMENTS["k"])
    asked = asked.with_setting("data.missing_as", "drop")
    memory = sf.anonymize(source, asked, insecure_seed=1)
    memory.save(tmp_path / "memory")
    sf.anonymize(source, asked, insecure_seed=1, engine="spark").save(tmp_path / "out")
    assert read(tmp_path / "out") == read(tmp_path / "memory")


def damaged(frame, place, *, order, rows, write=spark_files.write_parts):
    frame = frame.withColumn("age", frame["age"].substr(1, 2))
    write(frame.filter(f"{order} > 0"), place, order=order, rows=rows)


def test_parts_that_read_back_differently_are_never_in_place(
    spark, tmp_path, in_memory, monkeypatch
):
    source, _ = in_memory
    asked = policy({"name": "mondrian"}, REQUIREMENTS["k"])
    release = sf.anonymize(source, asked, engine="spark", insecure_seed=1)
    monkeypatch.setattr("sfumato.pipeline.spark_release.write_parts", damaged)
    with pytest.raises(GuaranteeError, match="does not match the draft"):
        release.save(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_what_spark_writes_has_no_word_of_the_source(spark, tmp_path):
    table = pa.table({"id": list(range(8)), "age": [1, 1, 2, 2, 3, 3, 4, 4]})
    frame = spark.createDataFrame(table.to_pylist(), "id long, age long")
    frame = frame.withMetadata("age", {"comment": "canary-of-the-source"})
    made = sf.anonymize(frame, quasi=["age"], key=["id"], unlisted="drop", k=2)
    made.save(tmp_path / "out")
    for file in (tmp_path / "out" / "data.parquet").iterdir():
        assert b"canary" not in file.read_bytes()


@pytest.mark.parametrize(
    ("settings", "fault", "said"),
    [
        ({}, PolicyError, "A table on Spark has no order, and data.key names no"),
        ({"key": ["age"]}, PolicyError, "does not identify each of 60 rows"),
        ({"key": ["weight"]}, PolicyError, "holds floats"),
        ({"key": ["none"]}, PolicyError, "which the data do not have"),
    ],
)
def test_a_key_must_identify_rows(spark, in_memory, settings, fault, said):
    asked = policy({"name": "mondrian"}, REQUIREMENTS["k"]).model_dump(
        exclude_unset=True
    )
    asked["data"] = settings
    with pytest.raises(fault, match=said):
        sf.anonymize(in_memory[0], sf.Policy.model_validate(asked), engine="spark")


def test_another_format_is_refused_before_any_work(in_memory):
    asked = policy({"name": "mondrian"}, REQUIREMENTS["k"])
    asked = asked.with_setting("publish.format", "csv")
    with pytest.raises(RefusedError, match="Spark writes Parquet files"):
        sf.anonymize(in_memory[0], asked, engine="spark")


def test_a_release_on_spark_goes_to_no_other_place(tmp_path):
    place = tmp_path / "policy.toml"
    place.write_text(policy({"name": "mondrian"}, REQUIREMENTS["k"]).dump())
    words = ["anonymize", str(place), "--data", "people.parquet", "--engine", "spark"]
    assert main([*words, "--to", "-"]) == UsageError.exit_code
