"""A policy that names a database is walked like one that names a file."""

from __future__ import annotations

from pathlib import Path

import adbc_driver_sqlite.dbapi as sqlite
import duckdb
import pyarrow as pa
import pytest

from sfumato.policy import Policy
from sfumato.studio.before_and_after import before_and_after
from sfumato.studio.source_cache import source_name
from tests.running_studio import confirm_roles, running_studio

ROWS = pa.table(
    {
        "id": [(7 * row) % 60 for row in range(60)],
        "age": [20 + (7 * row) % 60 for row in range(60)],
        "ill": ["flu", "cold", "gout"] * 20,
    }
)
POLICY = """
version = 1
[data]
url = "{system}:///people.db"
{source}
key = ["id"]
[columns.id]
role = "identifier"
[columns.age]
role = "quasi"
[columns.ill]
role = "sensitive"
[[require]]
model = "k-anonymity"
k = 5
[compare]
algorithms = ["mondrian"]
"""
TABLE, QUERY = 'table = "people"', 'query = "SELECT * FROM people WHERE age > 0"'


def fill(system: str, place: Path, rows: pa.Table = ROWS) -> None:
    """A database with a table of people."""
    if system == "duckdb":
        with duckdb.connect(str(place)) as made:
            made.register("rows", rows)
            made.execute("CREATE TABLE people AS SELECT * FROM rows")
        return
    with sqlite.connect(str(place)) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("people", rows, mode="create")
        connection.commit()


def project(tmp_path, system: str, text: str):
    """A project folder with a database and the policy that names it."""
    folder = tmp_path / "project"
    folder.mkdir(mode=0o700)
    fill(system, folder / "people.db")
    (folder / "policy.toml").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(params=[("sqlite", TABLE), ("duckdb", QUERY)], ids=["sqlite", "duckdb"])
def people(request, tmp_path):
    """A studio on a policy whose source is a database."""
    system, source = request.param
    folder = project(tmp_path, system, POLICY.format(system=system, source=source))
    with running_studio(tmp_path, folder / "policy.toml") as studio:
        studio.enter()
        yield studio


def ages(studio) -> list[tuple[str, str]]:
    """The age of every record before and after, as the first candidate has them."""
    policy = studio.space.require_policy()
    place, table = studio.space.folder.candidates / "1", studio.space.source(policy)
    pages = [
        before_and_after(place, table, policy, page=page, shown=True)
        for page in range(1, 7)
    ]
    found = [
        row[each["columns"].index("age")] for each in pages for row in each["rows"]
    ]
    assert len(found) == ROWS.num_rows
    return [(before, after) for before, after, _ in found]


def test_the_table_of_a_database_is_shown_in_the_order_of_its_key(people):
    text = people.ask("/data").text
    assert "people.db: 60 rows, 3 columns" in text
    table = people.space.source(people.space.require_policy())
    assert table.column("id").to_pylist() == list(range(60))


def test_the_table_of_a_database_is_compared_attacked_and_released(people):
    people.send("/columns/look")
    people.wait()
    assert "different values" in people.ask("/columns").text
    confirm_roles(people)
    people.send("/compare/run")
    people.wait()
    people.send("/compare/choose", number=1)
    people.wait()
    for before, after in ages(people):
        low, _, high = after.strip("[]").partition(", ")
        assert int(low) <= int(before) <= int(high or low)
    people.send("/attacks/run", known=["age"], sample=60, attack=["linkage"])
    people.wait()
    assert "Every promised bound holds." in people.ask("/attacks").text
    people.send("/release/sign", approver="Ada Example")
    people.wait()
    assert "Proven again from the written file" in people.ask("/release").text
    manifest = (people.root / "release" / "manifest.json").read_text("utf-8")
    assert "people.db" not in manifest


def test_a_table_without_a_key_is_mended_in_the_studio(tmp_path):
    text = POLICY.format(system="sqlite", source=TABLE).replace('key = ["id"]\n', "")
    folder = project(tmp_path, "sqlite", text)
    with running_studio(tmp_path, folder / "policy.toml") as studio:
        studio.enter()
        assert "has no order" in studio.ask("/data").text
        assert studio.send("/data/reading", key="id", missing_as="value").status == 303
        assert "60 rows" in studio.ask("/data").text


def test_a_changed_table_is_read_again(people):
    people.ask("/data")
    place = people.root / "people.db"
    place.unlink()
    system = "duckdb" if "duckdb" in people.space.read_text() else "sqlite"
    fill(system, place, ROWS.slice(0, 30))
    people.send("/data/again")
    assert "30 rows" in people.ask("/data").text


def test_a_database_outside_the_folder_is_refused(tmp_path):
    fill("sqlite", tmp_path / "other.db")
    text = POLICY.format(system="sqlite", source=TABLE)
    text = text.replace("///people.db", "///../other.db")
    folder = project(tmp_path, "sqlite", text)
    with running_studio(tmp_path, folder / "policy.toml") as studio:
        studio.enter()
        page = studio.ask("/data").text
        assert "leads out of the project folder" in page
        assert "flu" not in page


def test_a_password_in_an_address_is_refused_and_never_shown(tmp_path):
    text = POLICY.format(system="sqlite", source=TABLE)
    secret = "postgresql://ada:pass%20word@db.example/people?password=s3cret"
    text = text.replace("sqlite:///people.db", secret)
    folder = project(tmp_path, "sqlite", text)
    with running_studio(tmp_path, folder / "policy.toml") as studio:
        studio.enter()
        for path in ("/data", "/columns", "/compare", "/release"):
            page = studio.ask(path).text
            assert "has a password in it" in page
            assert "pass%20word" not in page
            assert "s3cret" not in page


def test_a_server_is_named_without_its_user():
    text = POLICY.format(system="sqlite", source='table = "care.people"')
    text = text.replace("sqlite:///people.db", "postgresql://ada@db.example/hospital")
    told = source_name(Policy.parse(text))
    assert told == "table care.people of PostgreSQL, db.example/hospital"
