"""A release is private until it is proven, and synced to disk before it gets its name."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from stat import S_IMODE

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato
from sfumato.io import read
from sfumato.io.write import write_table
from sfumato.pipeline import release as release_files
from sfumato.pipeline import write_release as release_directory

TABLE = pa.table({"age": ["31", "32", "33", "34"], "ill": ["flu", "gout"] * 2})


def mode(path: Path) -> int:
    return S_IMODE(path.stat().st_mode)


def modes(directory: Path) -> dict[str, int]:
    inside = {str(p.relative_to(directory)): mode(p) for p in directory.rglob("*")}
    return {".": mode(directory)} | inside


@pytest.fixture
def release(tmp_path):
    source = tmp_path / "people.csv"
    write_table(TABLE, source)
    return sfumato.anonymize(source, quasi=["age"], sensitive=["ill"], k=2)


@pytest.fixture
def usual_umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.mark.usefixtures("usual_umask")
@pytest.mark.parametrize(
    ("module", "part", "there"),
    [
        (release_files, "prove_files", {".", "data.csv"}),
        (release_files, "dump", {".", "private"}),  # beside the writing of data.csv
        (release_directory, "keep", {".", "private", "data.csv"}),
    ],
)
def test_nobody_else_may_read_a_release_that_is_not_in_place(
    release, tmp_path, monkeypatch, module, part, there
):
    seen: list[dict[str, int]] = []
    whole = getattr(module, part)

    def watched(*arguments, **options):
        aside = next(tmp_path.glob(".release.*"))
        seen.append(modes(aside))
        return whole(*arguments, **options)

    monkeypatch.setattr(module, part, watched)
    release.save(tmp_path / "release")
    assert seen
    assert all(there <= each.keys() for each in seen)
    directories = {each[n] for each in seen for n in (".", "private") if n in each}
    files = {m for each in seen for n, m in each.items() if n not in (".", "private")}
    assert directories == {0o700}
    assert files <= {0o600}


@pytest.mark.usefixtures("usual_umask")
def test_a_release_in_place_is_readable_and_its_private_part_is_not(release, tmp_path):
    release.save(tmp_path / "release")
    assert modes(tmp_path / "release") == {
        ".": 0o755,
        "data.csv": 0o644,
        "manifest.json": 0o644,
        "report.html": 0o644,
        "private": 0o700,
        "private/audit.json": 0o600,
        "private/report.html": 0o600,
        "private/rows.parquet": 0o600,
    }


def test_a_closed_umask_stays_closed(release, tmp_path):
    before = os.umask(0o077)
    try:
        release.save(tmp_path / "release")
    finally:
        os.umask(before)
    assert mode(tmp_path / "release") == 0o700
    assert mode(tmp_path / "release" / "data.csv") == 0o600


def test_everything_is_on_the_disk_before_it_has_its_name(
    release, tmp_path, monkeypatch
):
    done: list[Path] = []
    flush, rename = os.fsync, Path.rename

    def flushed(handle):
        done.append(Path(f"/dev/fd/{handle}").resolve())
        flush(handle)

    def renamed(self, target):
        if Path(target).name == "release":
            done.append(Path("renamed"))
        return rename(self, target)

    monkeypatch.setattr(os, "fsync", flushed)
    monkeypatch.setattr(Path, "rename", renamed)
    release.save(tmp_path / "release")
    before = done[: done.index(Path("renamed"))]
    names = [str(path.relative_to(before[-1])) for path in before]
    inside = {str(p.relative_to(tmp_path / "release")) for p in files(tmp_path)}
    assert set(names) == inside | {"."}
    assert names.index("private") > names.index("private/rows.parquet")
    assert names[-1] == "."
    assert done[-1] == tmp_path.resolve()


def files(directory: Path) -> list[Path]:
    return list((directory / "release").rglob("*"))


def test_the_private_record_holds_row_numbers_as_differences(release, tmp_path):
    release.save(tmp_path / "release")
    file = pq.ParquetFile(tmp_path / "release" / "private" / "rows.parquet")
    columns = [file.metadata.row_group(0).column(place) for place in range(3)]
    names = [column.path_in_schema for column in columns]
    assert names == ["published_row", "source_row", "group"]
    assert all("DELTA_BINARY_PACKED" in column.encodings for column in columns)
    rows = file.read().to_pylist()
    assert [row["source_row"] for row in rows] == [0, 1, 2, 3]
    assert sorted(row["published_row"] for row in rows) == [0, 1, 2, 3]
    assert sorted(row["group"] for row in rows) == [0, 0, 1, 1]


def test_the_source_hash_is_of_the_bytes_that_were_read(tmp_path, monkeypatch):
    source = tmp_path / "people.csv"
    write_table(TABLE, source)
    content = source.read_bytes()
    whole = read._bytes_of

    def replaced_once_read(path):
        found = whole(path)
        path.write_bytes(b"age,ill\n1,other\n2,other\n")
        return found

    monkeypatch.setattr(read, "_bytes_of", replaced_once_read)
    release = sfumato.anonymize(source, quasi=["age"], sensitive=["ill"], k=2)
    assert release.table.num_rows == 4
    assert release.source_sha256 == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet", "t.arrow"])
def test_hashes_are_of_the_files_themselves(tmp_path, name):
    source = tmp_path / name
    write_table(TABLE, source)
    release = sfumato.anonymize(source, quasi=["age"], sensitive=["ill"], k=2)
    made = release.save(tmp_path / "release")
    data = next((tmp_path / "release").glob("data.*"))
    audit = json.loads((tmp_path / "release/private/audit.json").read_text())
    assert audit["source_sha256"] == hashlib.sha256(source.read_bytes()).hexdigest()
    assert made["data_sha256"] == hashlib.sha256(data.read_bytes()).hexdigest()
