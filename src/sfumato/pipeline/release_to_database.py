"""Put a release into a table of a database, proven before others can see it."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.data.cell_text import as_text
from sfumato.errors import DataError, OutputError
from sfumato.io.databases import (
    DatabasePlace,
    DatabaseSource,
    Session,
    opened,
    quoted,
    read_database,
    storable,
)
from sfumato.io.formats import hash_bytes

Prove = Callable[[pa.Table], None]
"""Raises an error unless a table that was read back keeps every promise."""
CELL, ROW, NOTHING = "\x1f", "\n", "\0"
"""What separates cells and rows in the text that is hashed, and what a null is there."""


@contextmanager
def new_table(address: str) -> Iterator[TableTarget]:
    """A table `URL#table` to be made in one transaction; rolled back unless committed."""
    asked = DatabaseSource.of(address)
    name = asked.table or ""
    with _no_new_file(asked.place), opened(asked.place) as session:
        if session.exists(name):
            raise OutputError(
                f"The database has a table '{name}' already.",
                hint="Name another table, or drop this one.",
            )
        yield TableTarget(session, name, asked.place)


@contextmanager
def _no_new_file(place: DatabasePlace) -> Iterator[None]:
    """Remove a database file that was made for a table which then was not written."""
    file = Path(place.uri)
    made = place.system != "postgresql" and not file.exists()
    try:
        yield
    except BaseException:
        if made:
            file.unlink(missing_ok=True)
        raise


class TableTarget:
    """A table of a database that does not exist yet."""

    def __init__(self, session: Session, name: str, place: DatabasePlace) -> None:
        self.session, self.name, self.session_place = session, name, place

    def write(self, table: pa.Table, prove: Prove) -> str:
        """Fill the table, prove what it holds, and name it; returns a hash of its rows.

        Until the transaction is committed, nobody else sees it. Afterward, its owner
        alone may read it.
        """
        *schema, _ = self.name.split(".")
        staging = ".".join([*schema, f"sfumato_{secrets.token_hex(8)}"])
        self.session.ingest(staging, storable(table))
        self.session.close_to_others(staging)
        back = self.session.fetch(f"SELECT * FROM {quoted(staging)}")
        prove(back)
        self.session.rename(staging, self.name)
        return hash_rows(back)

    def commit(self) -> None:
        self.session.commit()

    @property
    def address(self) -> str:
        """`URL#table`, wherever it is read from; private."""
        place = self.session_place
        if place.system == "postgresql":
            return f"{place.uri}#{self.name}"
        return f"{place.system}:///{Path(place.uri).resolve()}#{self.name}"


def hash_rows(table: pa.Table) -> str:
    """A hash of the rows in any order: a table of a database has none."""
    lines = _lines(table)
    ordered = lines.take(pc.sort_indices(lines)).to_pylist()
    return hash_bytes(pa.py_buffer(ROW.join([*table.column_names, *ordered]).encode()))


def read_released(address: str, sha256: object) -> pa.Table:
    """Read a release back from its table, with rows in the order of their texts."""
    table = read_database(DatabaseSource.of(address))
    if hash_rows(table) != sha256:
        raise DataError(
            "The table of the database is not the one that the manifest describes: the "
            "hashes differ.",
            hint="Make the release again, to another table.",
        )
    return table.take(pc.sort_indices(_lines(table)))


def _lines(table: pa.Table) -> Any:
    cells = [pc.fill_null(as_text(c), NOTHING) for c in table.columns]
    return pc.binary_join_element_wise(*cells, CELL)
