"""A table out of core gives the release of the table in memory, byte for byte."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.cli import main
from sfumato.errors import DataError, OutputError, PolicyError, RefusedError

ALGORITHMS = [
    {"name": "mondrian", "cut": "widest"},
    {"name": "mondrian", "cut": "gain"},
    {"name": "mondrian", "mode": "relaxed"},
    {"name": "datafly"},
    {"name": "incognito"},
    {"name": "optimal"},
    {"name": "local-optimal"},
    {"name": "k-member"},
    {"name": "best"},
    {"name": "mdav", "partition_rows": 20},
]
REQUIREMENTS = [
    [{"model": "k-anonymity", "k": 3}],
    [{"model": "k-anonymity", "k": 2}, {"model": "l-diversity", "l": 2}],
    [{"model": "k-anonymity", "k": 2}, {"model": "t-closeness", "t": 0.6}],
]


@pytest.fixture(autouse=True)
def everything_on_disk(monkeypatch):
    """Also small arrays are mapped from disk, in batches of a few rows."""
    monkeypatch.setattr("sfumato.data.disk_arrays.SMALL", 1)
    monkeypatch.setattr("sfumato.io.batch_files.BATCH_ROWS", 7)
    monkeypatch.setattr("sfumato.io.write.SLICE_ROWS", 11)


def random_table(draw: np.random.Generator, rows: int) -> pa.Table:
    def column(values, kind=None):
        cells = draw.choice(np.array([*values, None], dtype=object), rows)
        return pa.array(cells.tolist(), kind)

    return pa.table(
        {
            "name": pa.array([f"person {row}" for row in range(rows)]),
            "age": column(range(20, 60), pa.int64()),
            "weight": column([50.5, 61.25, 70.0, -0.0, 0.0], pa.float64()),
            "job": column(["nurse", "cook", "smith, black", ""], pa.string()),
            "born": column([1, 40, 400, 4000], pa.int32()).cast(pa.date32()),
            "ill": column(["flu", "cold", "gout", "ache"], pa.string()),
            "ward": column([True, False], pa.bool_()),
        }
    )


def policy_of(algorithm, requirements) -> dict:
    return {
        "columns": {
            "name": {"role": "identifier"},
            "age": {"role": "quasi", "hierarchy": {"intervals": [5, 20]}},
            "weight": {"role": "quasi"},
            "job": {"role": "quasi"},
            "born": {"role": "quasi", "hierarchy": {"calendar": ["year"]}},
            "ill": {"role": "sensitive"},
            "ward": {"role": "insensitive", "keep_as_is": True},
        },
        "require": requirements,
        "algorithm": algorithm,
        "publish": {"max_suppressed": 0.2, "max_loss": 1.0},
    }


def released(place: Path, policy: sf.Policy, engine: str) -> dict[str, bytes]:
    out = place.with_suffix(f".{engine}")
    release = sf.anonymize(place, policy, engine=engine, insecure_seed=1)
    release.save(out)
    manifest = json.loads((out / "manifest.json").read_text())
    (data,) = out.glob("data.*")
    rows = pq.read_table(out / "private" / "rows.parquet")
    audit = json.loads((out / "private" / "audit.json").read_text())
    told = {key: each for key, each in manifest.items() if key != "seconds"}
    return {
        "data": data.read_bytes(),
        "manifest": told,
        "rows": rows.to_pydict(),
        "report": {k: v for k, v in audit["report"].items() if k != "algorithm"},
        "facts": audit["facts"],
    }


@pytest.mark.parametrize("requirements", REQUIREMENTS, ids=["k", "l", "t"])
@pytest.mark.parametrize(
    "algorithm", ALGORITHMS, ids=lambda each: "-".join(map(str, each.values()))
)
def test_memory_and_duckdb_publish_the_same_bytes(tmp_path, algorithm, requirements):
    draw = np.random.default_rng(ALGORITHMS.index(algorithm))
    table = random_table(draw, 40)
    policy = sf.Policy.model_validate(policy_of(algorithm, requirements))
    place = tmp_path / "people.parquet"
    pq.write_table(table, place)
    assert released(place, policy, "duckdb") == released(place, policy, "memory")


def test_csv_files_give_the_same_bytes(tmp_path):
    draw = np.random.default_rng(5)
    cells = draw.choice(["a", "b, c", "", "?"], (60, 2))
    lines = [f'{age},"{one}",{two[:1]}' for age, (one, two) in enumerate(cells)]
    place = tmp_path / "people.csv"
    place.write_text("age,job,ill\n" + "\n".join(lines) + "\n")
    policy = sf.Policy.model_validate(
        {
            "data": {"missing": ["?"]},
            "columns": {
                "age": {"role": "quasi"},
                "job": {"role": "quasi"},
                "ill": {"role": "sensitive"},
            },
            "require": [{"model": "k-anonymity", "k": 4}],
            "algorithm": {"name": "mondrian"},
        }
    )
    assert released(place, policy, "duckdb") == released(place, policy, "memory")


def test_rows_are_taken_in_the_order_of_the_key(tmp_path):
    draw = np.random.default_rng(3)
    table = random_table(draw, 30).append_column("id", pa.array(draw.permutation(30)))
    said = policy_of({"name": "mondrian"}, REQUIREMENTS[0])
    said["columns"]["id"] = {"role": "identifier"}
    policy = sf.Policy.model_validate({**said, "data": {"key": ["id"]}})
    place = tmp_path / "people.parquet"
    pq.write_table(table, place)
    expected = released(place, policy, "memory")
    assert released(place, policy, "duckdb") == expected


def test_a_directory_of_parts_is_released_as_parquet(tmp_path):
    table = random_table(np.random.default_rng(2), 30)
    (tmp_path / "parts").mkdir()
    for number in range(3):
        part = table.slice(10 * number, 10)
        pq.write_table(part, tmp_path / "parts" / f"{number}.parquet")
    said = policy_of({"name": "mondrian"}, REQUIREMENTS[0])
    policy = sf.Policy.model_validate(said)
    expected = released(tmp_path / "parts", policy, "memory")
    assert released(tmp_path / "parts", policy, "duckdb") == expected


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"columns": {"name": {"role": "subject"}}}, "a subject column"),
        ({"publish": {"operator": "swap"}}, "an operator that does not publish cells"),
        ({"data": {"missing_as": "any"}}, 'missing_as = "any"'),
        ({"privacy": {"link_key": "key"}}, "privacy.link_key"),
    ],
)
def test_what_needs_all_rows_is_refused_before_any_work(
    tmp_path, monkeypatch, changes, said
):
    asked = policy_of({"name": "mondrian"}, [{"model": "group-size", "k": 2}])
    for section, values in changes.items():
        asked[section] = {**asked.get(section, {}), **values}
    asked["publish"].pop("max_loss", None)
    policy = sf.Policy.model_validate(asked)
    place = tmp_path / "people.parquet"
    pq.write_table(random_table(np.random.default_rng(1), 5), place)
    opened: list[object] = []
    monkeypatch.setattr("sfumato.pipeline.large_release.source_batches", opened.append)
    with pytest.raises(RefusedError, match=f"A run with {said} needs all rows"):
        sf.anonymize(place, policy, engine="duckdb")
    assert opened == []


def test_a_column_of_lists_is_refused_before_any_work(tmp_path):
    place = tmp_path / "people.parquet"
    pq.write_table(pa.table({"age": [1, 2], "visits": [[1], [2]]}), place)
    with pytest.raises(RefusedError, match="'visits' has the type list<"):
        sf.anonymize(place, quasi=["age"], insensitive=["visits"], k=1, engine="duckdb")


def test_texts_that_exceed_the_memory_limit_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("sfumato.engines.duckdb_engine.FEWEST_BYTES", 1)
    place = tmp_path / "people.parquet"
    pq.write_table(pa.table({"job": [f"job {row}" for row in range(100)]}), place)
    with pytest.raises(DataError, match="The distinct texts of column 'job'"):
        sf.anonymize(place, quasi=["job"], k=2, engine="duckdb", memory_limit=100)


def test_a_full_disk_leaves_nothing_behind(tmp_path, monkeypatch):
    place = tmp_path / "people.parquet"
    pq.write_table(random_table(np.random.default_rng(1), 30), place)

    def full(*_arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sfumato.data.disk_arrays.TemporaryFile", full)
    with pytest.raises(OutputError, match="cannot take what does not fit in memory"):
        sf.anonymize(place, quasi=["age"], k=2, unlisted="drop", engine="duckdb")


def test_the_command_makes_and_checks_a_release_out_of_core(tmp_path, capsys):
    place = tmp_path / "people.parquet"
    pq.write_table(random_table(np.random.default_rng(1), 30), place)
    policy = tmp_path / "policy.toml"
    policy.write_text(
        'unlisted = "drop"\n[data]\npath = "people.parquet"\n'
        '[columns.age]\nrole = "quasi"\n[[require]]\nmodel = "k-anonymity"\nk = 3\n'
    )
    out = tmp_path / "release"
    engine = ["--engine", "duckdb", "--memory-limit", "100MB"]
    assert main(["anonymize", str(policy), "--out", str(out), *engine]) == 0
    assert "k = 3" in capsys.readouterr().out
    words = ["check", str(out / "data.parquet"), "--policy", str(policy), *engine]
    assert main(words) == 0


def lazy_frames():
    table = random_table(np.random.default_rng(8), 30).select(["age", "job", "ill"])
    table = table.append_column("id", pa.array(range(30)))
    relation = duckdb.from_arrow(table)
    return {"polars": pl.DataFrame(table.to_pydict()).lazy(), "duckdb": relation}


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("kind", ["polars", "duckdb"])
def test_a_lazy_frame_comes_back_as_its_own_kind(kind, engine):
    exact = {"role": "insensitive", "keep_as_is": True}
    said = {
        "data": {"key": ["id"]},
        "columns": {
            "id": {"role": "identifier"},
            "age": {"role": "quasi"},
            "job": exact,
            "ill": exact,
        },
        "unlisted": "keep",
        "require": [{"model": "k-anonymity", "k": 3}],
        "algorithm": {"name": "mondrian"},
    }
    frame = lazy_frames()[kind]
    policy = sf.Policy.model_validate(said)
    release = sf.anonymize(frame, policy, engine=engine, insecure_seed=1)
    assert type(release.data) is type(frame)
    found = release.data.collect() if kind == "polars" else release.data.fetchall()
    assert len(found) == 30


def test_a_relation_without_a_key_is_refused():
    with pytest.raises(PolicyError, match="has no order, and data"):
        sf.anonymize(lazy_frames()["duckdb"], quasi=["age"], k=2, unlisted="drop")
