"""`check` compares a published table with the hash that its manifest has of it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as parquet

import sfumato as sf
from sfumato.cli import main

PEOPLE = {
    "age": ["20", "21", "22", "40", "41", "42"],
    "ill": ["flu", "gout", "flu", "flu", "gout", "gout"],
}
POLICY = """
version = 1
[columns.age]
role = "quasi"
[columns.ill]
role = "sensitive"
[[require]]
model = "k-anonymity"
k = 3
[algorithm]
name = "mondrian"
"""


def released(place: Path, *, more: str = "") -> Path:
    """A written release, with its policy beside it."""
    text = POLICY + more
    if "anatomize" in more:
        text = text.replace("k-anonymity", "group-size")
    (place / "policy.toml").write_text(text)
    policy = sf.Policy.load(place / "policy.toml")
    sf.anonymize(pa.table(PEOPLE), policy, insecure_seed=1).save(place / "out")
    return place / "out"


def check(out: Path, *words: str, data: str = "data.csv") -> int:
    policy, manifest = str(out.parent / "policy.toml"), str(out / "manifest.json")
    asked = ["--policy", policy, "--manifest", manifest, *words]
    return main(["check", str(out / data), *asked])


def test_a_release_as_it_was_written_is_the_one_of_its_manifest(tmp_path, capsys):
    out = released(tmp_path)
    policy = tmp_path / "policy.toml"
    found = sf.check(out / "data.csv", policy, manifest=out / "manifest.json")
    assert found.same_as_manifest is True
    assert check(out) == 0
    assert "✓ This is the table that the manifest describes" in capsys.readouterr().out


def test_a_changed_file_fails_though_every_requirement_holds(tmp_path, capsys):
    out = released(tmp_path)
    data = out / "data.csv"
    header, *lines = data.read_text().splitlines()
    data.write_text("\n".join([header, *reversed(lines)]) + "\n")
    assert check(out) == 1
    said = capsys.readouterr().out
    assert "✗ This is not the table that the manifest describes; its SHA-256" in said
    assert said.splitlines()[-1].startswith("The check fails: every requirement holds")
    assert check(out, "--json") == 1
    told = capsys.readouterr()
    found = json.loads(told.out)
    assert (found["holds"], found["same_as_manifest"]) == (False, False)
    assert [each["holds"] for each in found["requirements"]] == [True]
    assert "data.csv: this is not the table that the manifest describes" in told.err


def test_why_a_requirement_fails_is_in_the_log_when_json_goes_to_a_file(
    tmp_path, capsys
):
    out = released(tmp_path)
    assert check(out, "--json", "--require", "model=k-anonymity,k=4") == 1
    told = capsys.readouterr()
    json.loads(told.out)
    assert (
        "data.csv: k-anonymity (k = 4) does not hold: measured k = 3, broken by 2 "
        "groups (6 rows).\n" in told.err
    )


def test_both_files_of_an_anatomized_release_are_compared(tmp_path):
    more = '[[require]]\nmodel = "l-diversity"\nl = 2\n'
    more += '[publish]\noperator = "anatomize"\n'
    out = released(tmp_path, more=more)
    words = ["--groups", str(out / "private" / "rows.parquet")]
    assert check(out, *words) == 0
    second = out / "sensitive.csv"
    second.write_text(second.read_text() + "\n")
    assert check(out, *words) == 1


def test_a_table_of_a_database_is_compared_by_its_rows(tmp_path):
    import sqlite3

    (tmp_path / "policy.toml").write_text(POLICY)
    policy = sf.Policy.load(tmp_path / "policy.toml")
    release = sf.anonymize(pa.table(PEOPLE), policy, insecure_seed=1)
    address = f"sqlite:///{tmp_path / 'base.db'}#people"
    release.save(tmp_path / "out", to=address)
    manifest = tmp_path / "out" / "manifest.json"
    asked = {"policy": policy, "manifest": manifest}
    assert sf.check(address, **asked).same_as_manifest is True
    with sqlite3.connect(tmp_path / "base.db") as base:
        base.execute("UPDATE people SET ill = 'other'")
    changed = sf.check(address, **asked)
    assert (changed.same_as_manifest, changed.holds) == (False, False)


def test_rows_that_are_counted_out_of_memory_are_compared_too(tmp_path):
    out = released(tmp_path)
    assert check(out, "--engine", "duckdb") == 0
    (out / "data.csv").write_text((out / "data.csv").read_text().replace("flu", "flu2"))
    assert check(out, "--engine", "duckdb") == 1


def test_parts_that_spark_wrote_are_compared_by_their_names_and_hashes(tmp_path):
    parts = tmp_path / "data.parquet"
    parts.mkdir()
    rows = pa.table({"age": ["[20, 22]"] * 3, "ill": ["flu", "gout", "flu"]})
    lines = ""
    for name in ("part-00000.parquet", "part-00001.parquet"):
        parquet.write_table(rows, parts / name)
        found = hashlib.sha256((parts / name).read_bytes()).hexdigest()
        lines += f"{found}  {name}\n"
    told = {"kinds": {}, "data_sha256": hashlib.sha256(lines.encode()).hexdigest()}
    manifest = tmp_path / "manifest.json"
    manifest.write_text(json.dumps(told))
    asked = {"quasi": "age", "sensitive": "ill", "k": 3, "manifest": manifest}
    assert sf.check(parts, **asked).same_as_manifest is True
    (parts / "part-00001.parquet").rename(parts / "part-00002.parquet")
    assert sf.check(parts, **asked).same_as_manifest is False


def test_what_has_no_hash_is_not_compared(tmp_path):
    out = released(tmp_path)
    policy, manifest = sf.Policy.load(tmp_path / "policy.toml"), out / "manifest.json"
    frame = pa.table({"age": ["[20, 22]"] * 3, "ill": ["flu"] * 3})
    assert sf.check(frame, policy, manifest=manifest).same_as_manifest is None
    assert sf.check(out / "data.csv", policy).same_as_manifest is None
    told = json.loads(manifest.read_text())
    del told["data_sha256"]
    manifest.write_text(json.dumps(told))
    found = sf.check(out / "data.csv", policy, manifest=manifest)
    assert (found.same_as_manifest, found.holds) == (None, True)
