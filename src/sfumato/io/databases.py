"""Connect to PostgreSQL, SQLite and DuckDB, and read tables from them.

How a release is written and proven there is in `pipeline/release_to_database.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl, urlsplit

import pyarrow as pa

from sfumato.errors import DataError, UsageError
from sfumato.io.database_faults import calling
from sfumato.io.database_types import (
    AS_IT_IS,
    ColumnQuery,
    System,
    column_names,
    duckdb_readings,
    exact_table,
    is_zoned,
    postgres_readings,
    selected,
    sqlite_classes,
    sqlite_query,
    sqlite_readings,
    wrapped,
)
from sfumato.io.extras import library
from sfumato.io.memory import require_memory

SCHEMES: dict[str, System] = {
    "postgresql": "postgresql",
    "postgres": "postgresql",
    "sqlite": "sqlite",
    "duckdb": "duckdb",
}
DRIVERS = {
    "postgresql": ("adbc_driver_postgresql.dbapi", "postgres", "A PostgreSQL database"),
    "sqlite": ("adbc_driver_sqlite.dbapi", "sqlite", "An SQLite database"),
    "duckdb": ("duckdb", "duckdb", "A DuckDB database"),
}
SECRETS = re.compile("pass(word|wd)|secret|token|scram_", re.IGNORECASE)
"""Words in the names of parameters that hold a secret. `passfile` names a file."""
SHOWN_ALIKE = (
    "DateStyle = 'ISO, YMD'",
    "IntervalStyle = 'postgres'",
    "TimeZone = 'UTC'",
    "bytea_output = 'hex'",
    "extra_float_digits = 1",
)
"""Settings under which PostgreSQL shows the same cell as the same text everywhere."""


@dataclass(frozen=True, kw_only=True)
class DatabasePlace:
    """A database: which system, and where."""

    system: System
    uri: str

    @classmethod
    def of(cls, url: str, base: Path | None = None) -> DatabasePlace:
        """Parse a URL; files are relative to `base`, and passwords are refused."""
        parts = urlsplit(url)
        system = SCHEMES.get(parts.scheme)
        if system is None:
            raise UsageError(
                "The address of the database does not begin with a known system.",
                hint="Known are postgresql://, sqlite:/// and duckdb:///.",
            )
        _refuse_secrets(parts)
        if system == "postgresql":
            return cls(system=system, uri=url)
        path = Path(url.split("://", 1)[1].removeprefix("/"))
        return cls(system=system, uri=str((base or Path()) / path))


def _refuse_secrets(parts: SplitResult) -> None:
    """Refuse an address with a password in it: addresses are kept."""
    named = [name for name, _ in parse_qsl(parts.query) if SECRETS.search(name)]
    if parts.password or named:
        where = f" ('{named[0]}')" if named else ""
        raise UsageError(
            f"The address of the database has a password in it{where}.",
            hint="Set PGPASSWORD or use a password file, and leave it out.",
        )


def is_database(text: str) -> bool:
    """Return whether a text is the address of a database."""
    scheme, found, _ = text.partition("://")
    return bool(found) and scheme in SCHEMES


@dataclass(frozen=True, kw_only=True, repr=False)
class DatabaseSource:
    """A table, or the result of a query, in a database."""

    place: DatabasePlace
    table: str | None = None
    query: str | None = None

    @classmethod
    def of(cls, address: str) -> DatabaseSource:
        """Parse `URL#table`."""
        url, found, table = address.rpartition("#")
        if not found or not table:
            raise UsageError(
                "The address of the database names no table.",
                hint="Write it as URL#table.",
            )
        return cls(place=DatabasePlace.of(url), table=table)

    @property
    def address(self) -> str:
        """`URL#table`, the same from wherever it is read; private."""
        place = self.place
        if place.system == "postgresql":
            return f"{place.uri}#{self.table}"
        return f"{place.system}:///{Path(place.uri).resolve()}#{self.table}"


def database_source(data: Any) -> DatabaseSource | None:
    """The database that a source stands for, as an object or as `URL#table`."""
    if isinstance(data, DatabaseSource):
        return data
    address = isinstance(data, str) and is_database(data)
    return DatabaseSource.of(data) if address else None


def read_database(source: DatabaseSource) -> pa.Table:
    """Read a table or the result of a query; types of the database are kept."""
    place, table, query = source.place, source.table, source.query
    _require_file(place)
    with opened(place) as session:
        text = query if query is not None else f"SELECT * FROM {quoted(table or '')}"
        found = session.read(text)
    if not found.num_rows:
        raise DataError(
            "The table of the database has no rows.",
            hint="A table needs at least one row.",
        )
    return found


def is_absent(place: DatabasePlace) -> bool:
    """Return whether there is no file of a database that is a file."""
    return place.system != "postgresql" and not Path(place.uri).exists()


def _require_file(place: DatabasePlace) -> None:
    # The drivers would make an empty database instead.
    if place.system != "postgresql" and not Path(place.uri).is_file():
        raise DataError(
            "There is no file at the address of the database.",
            hint="A relative path starts from the current directory; in a policy, from "
            "the policy file.",
        )


def quoted(name: str) -> str:
    """A table's name in SQL; a point separates the schema from the table."""
    parts = name.split(".")
    if not all(part.strip() for part in parts) or "\0" in name:
        raise UsageError(
            "The name of the table in the database is empty or has an empty part.",
            hint="Write table, or schema.table.",
        )
    return ".".join('"' + part.replace('"', '""') + '"' for part in parts)


@contextmanager
def opened(place: DatabasePlace) -> Iterator[Session]:
    """A connection with one transaction; what is not committed is rolled back."""
    module, extra, purpose = DRIVERS[place.system]
    driver = library(module, extra=extra, purpose=purpose)
    session = _SESSIONS[place.system](driver, calling(driver.connect, place.uri))
    try:
        yield session
    finally:
        session.close()


class Session:
    """One transaction of a database, through ADBC."""

    system: System = "sqlite"

    def __init__(self, driver: Any, connection: Any) -> None:
        self.connection = connection
        self.cursor = connection.cursor()
        self.begin()

    def begin(self) -> None:
        """Begin the transaction; ADBC does that by itself."""

    def run(self, text: str) -> None:
        calling(self.cursor.execute, text)

    def fetch(self, text: str) -> pa.Table:
        """The result of a query, while it fits in memory."""
        self.run(text)
        return calling(self._gathered)

    def _gathered(self) -> pa.Table:
        return _gathered(self.cursor.fetch_record_batch())

    def read(self, query: str) -> pa.Table:
        """The result of a query, with every cell exact, or refused by its column."""
        columns = self.fetch(column_names(query)).column_names
        classes = self.fetch(wrapped(query, len(columns), sqlite_classes(len(columns))))
        answers = [column[0].as_py() for column in classes.columns]
        readings = sqlite_readings(columns, answers)
        rows = self.fetch(sqlite_query(query, readings)).slice(1)
        return exact_table(rows, columns, readings)

    def ingest(self, name: str, table: pa.Table) -> None:
        """Make a new table and fill it."""
        self._ingest(name, table, mode="create")

    def _ingest(self, name: str, table: pa.Table, *, mode: str) -> None:
        *schema, own = name.split(".")
        options = {"db_schema_name": schema[0]} if schema else {}
        calling(self.cursor.adbc_ingest, own, table, mode=mode, **options)

    def exists(self, name: str) -> bool:
        """Return whether there is a table or view of this name."""
        *_, own = name.split(".")
        listed = self.fetch("SELECT name FROM sqlite_master")
        return own in listed.column(0).to_pylist()

    def close_to_others(self, name: str) -> None:
        """Let nobody but the owner read a table; files have no such rights."""

    def claim(self, token: str) -> None:
        """Wait until no other transaction has claimed a token; files are locked whole."""

    def lock(self, name: str) -> None:
        """Let nobody change a table until the transaction ends."""

    def rename(self, old: str, new: str) -> None:
        """Rename a table within its schema."""
        *_, own = new.split(".")
        self.run(f"ALTER TABLE {quoted(old)} RENAME TO {quoted(own)}")

    def commit(self) -> None:
        calling(self.connection.commit)

    def close(self) -> None:
        """Roll back what is not committed, and close."""
        with suppress(Exception):
            self.connection.rollback()
        with suppress(Exception):
            self.cursor.close()
        with suppress(Exception):
            self.connection.close()


class _Postgres(Session):
    system = "postgresql"

    def read(self, query: str) -> pa.Table:
        schema = calling(self.cursor.adbc_execute_schema, query)
        readings = postgres_readings(schema)
        for setting in SHOWN_ALIKE:
            self.run(f"SET LOCAL {setting}")
        return exact_table(self._rows(query, readings), schema.names, readings)

    def _rows(self, query: str, readings: Sequence[ColumnQuery]) -> pa.Table:
        if all(reading == AS_IT_IS for reading in readings):
            return self.fetch(query)
        return self.fetch(wrapped(query, len(readings), selected(readings)))

    def ingest(self, name: str, table: pa.Table) -> None:
        """Make a new table and fill it; numbers keep the zeros behind their points."""
        super().ingest(name, table.slice(0, 0))
        for field in table.schema:
            if pa.types.is_decimal(field.type):
                column = quoted_column(field.name)
                kind = f"numeric({field.type.precision}, {field.type.scale})"
                self.run(
                    f"ALTER TABLE {quoted(name)} ALTER COLUMN {column} TYPE {kind}"
                )
        self._ingest(name, table, mode="append")

    def exists(self, name: str) -> bool:
        text = quoted(name).replace("'", "''")
        found = self.fetch(f"SELECT to_regclass('{text}')::text AS found")
        return found.column(0)[0].as_py() is not None

    def claim(self, token: str) -> None:
        """A server may still commit what a killed process sent: wait for it."""
        key = int(token[:15], 16)
        self.run(f"DO $$ BEGIN PERFORM pg_advisory_xact_lock({key}); END $$")

    def lock(self, name: str) -> None:
        self.run(f"LOCK TABLE {quoted(name)} IN ACCESS EXCLUSIVE MODE")

    def close_to_others(self, name: str) -> None:
        """Revoke what default privileges grant to others."""
        text = quoted(name).replace("'", "''")
        grants = self.fetch(
            "SELECT DISTINCT CASE grantee WHEN 0 THEN 'PUBLIC' ELSE "
            "quote_ident(pg_get_userbyid(grantee)) END AS grantee "
            "FROM pg_class, aclexplode(relacl) "
            f"WHERE oid = '{text}'::regclass AND grantee <> relowner"
        )
        for grantee in grants.column(0).to_pylist():
            self.run(f"REVOKE ALL ON {quoted(name)} FROM {grantee}")


class _DuckDB(Session):
    system = "duckdb"

    def begin(self) -> None:
        self.run("BEGIN TRANSACTION")

    def read(self, query: str) -> pa.Table:
        relation = calling(self.cursor.sql, query)
        if relation is None:
            raise no_rows()
        names, kinds = list(relation.columns), [str(kind) for kind in relation.types]
        readings = duckdb_readings(kinds)
        if any(is_zoned(kind) for kind in kinds):
            self.run("SET TimeZone = 'UTC'")
        rows = self.fetch(wrapped(query, len(names), selected(readings)))
        return exact_table(rows, names, readings)

    def fetch(self, text: str) -> pa.Table:
        return calling(self._gathered_from, text)

    def _gathered_from(self, text: str) -> pa.Table:
        # As a relation: a cursor would copy the rows, and warn with a path of its own.
        return _gathered(self.cursor.sql(text).to_arrow_reader())

    def ingest(self, name: str, table: pa.Table) -> None:
        self.cursor.register("sfumato_rows", table)
        self.run(f"CREATE TABLE {quoted(name)} AS SELECT * FROM sfumato_rows")
        self.cursor.unregister("sfumato_rows")

    def exists(self, name: str) -> bool:
        *_, own = name.split(".")
        listed = self.fetch("SELECT table_name FROM information_schema.tables")
        return own in listed.column(0).to_pylist()

    def commit(self) -> None:
        self.run("COMMIT")

    def close(self) -> None:
        with suppress(Exception):
            self.cursor.execute("ROLLBACK")
        # Both: the file is complete and unlocked when its last connection is closed.
        for handle in (self.cursor, self.connection):
            with suppress(Exception):
                handle.close()


_SESSIONS: dict[System, type[Session]] = {
    "postgresql": _Postgres,
    "sqlite": Session,
    "duckdb": _DuckDB,
}


def quoted_column(name: str) -> str:
    """A column's name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def no_rows() -> DataError:
    """The refusal of a statement that is no query."""
    return DataError(
        "data.query gives no table.", hint="Write a query that begins with SELECT."
    )


def _gathered(batches: Iterable[pa.RecordBatch]) -> pa.Table:
    """Collect all batches while they fit in memory."""
    found, size = [], 0
    schema = batches.schema  # type: ignore[attr-defined]
    for batch in batches:
        size += batch.nbytes
        what = f"has more than {size:,} bytes of cells"
        require_memory(size, Path("the table"), what=what)
        found.append(batch)
    return pa.Table.from_batches(found, schema)
