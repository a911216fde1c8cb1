"""Put a release into a table of a database, proven before others can see it."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.data.cell_text import as_text
from sfumato.errors import OutputError
from sfumato.io.databases import DatabaseSource, Session, opened, quoted, storable
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
    with opened(asked.place) as session:
        if session.exists(name):
            raise OutputError(
                f"The database has a table '{name}' already.",
                hint="Name another table, or drop this one.",
            )
        yield TableTarget(session, name)


class TableTarget:
    """A table of a database that does not exist yet."""

    def __init__(self, session: Session, name: str) -> None:
        self.session, self.name = session, name

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


def hash_rows(table: pa.Table) -> str:
    """A hash of the rows in any order: a table of a database has none."""
    cells = [pc.fill_null(as_text(c), NOTHING) for c in table.columns]
    lines = pc.binary_join_element_wise(*cells, CELL)
    ordered = lines.take(pc.sort_indices(lines)).to_pylist()
    return hash_bytes(pa.py_buffer(ROW.join([*table.column_names, *ordered]).encode()))
