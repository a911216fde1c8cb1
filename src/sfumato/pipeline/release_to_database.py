"""Put a release into a table of a database, proven before others can see it."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

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
from sfumato.pipeline.table_hashes import hash_entries, is_described, row_texts

Prove = Callable[[pa.Table], None]
"""Raises an error unless a table that was read back keeps every promise."""


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

    def write(self, table: pa.Table, prove: Prove) -> dict[str, str]:
        """Fill the table, prove what it holds, and name it; returns the hash of its
        rows as the manifest has it.

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
        return hash_entries(back)

    def commit(self) -> None:
        self.session.commit()

    @property
    def address(self) -> str:
        """`URL#table`, wherever it is read from; private."""
        place = self.session_place
        if place.system == "postgresql":
            return f"{place.uri}#{self.name}"
        return f"{place.system}:///{Path(place.uri).resolve()}#{self.name}"


def read_released(address: str, manifest: Mapping[str, Any]) -> pa.Table:
    """Read a release back from its table, with rows in the order of their texts."""
    table = read_database(DatabaseSource.of(address))
    if not is_described(table, manifest):
        raise DataError(
            "The table of the database is not the one that the manifest describes: the "
            "hashes differ.",
            hint="Make the release again, to another table.",
        )
    return table.take(pc.sort_indices(row_texts(table)))
