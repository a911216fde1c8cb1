"""Put a release into a table of a database, proven before others can see it."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.errors import DataError, OutputError
from sfumato.io.atomic_files import aside_of, keep_one, remove_leftovers
from sfumato.io.database_types import System, storable
from sfumato.io.databases import (
    DatabasePlace,
    DatabaseSource,
    Session,
    is_absent,
    opened,
    quoted,
    read_database,
)
from sfumato.pipeline.commit_journal import begin_journal
from sfumato.pipeline.source_types import other_types, recorded, with_source_types
from sfumato.pipeline.table_hashes import hash_entries, is_described, row_texts

Prove = Callable[[pa.Table], None]
"""Raises an error unless a table that was read back keeps every promise."""


class FileTakenError(OutputError):
    """Another process made the new file of a database first."""


@contextmanager
def new_table(address: str) -> Iterator[TableTarget]:
    """A table `URL#table` to be made in one transaction; rolled back unless committed."""
    source = DatabaseSource.of(address)
    name = source.table or ""
    with _working_copy(source.place) as place, opened(place) as session:
        if session.exists(name):
            raise table_exists(name)
        yield TableTarget(session, name, source.place, place)


def refuse_existing_table(address: str) -> None:
    """Refuse, before any work, a table that exists, or a database that cannot be opened."""
    source = DatabaseSource.of(address)
    name = source.table or ""
    if is_absent(source.place):
        refuse_missing_directory(source.place)
        return
    with opened(source.place) as session:
        if session.exists(name):
            raise table_exists(name)


@contextmanager
def _working_copy(place: DatabasePlace) -> Iterator[DatabasePlace]:
    """The database, or, where there is no file yet, one aside that only we see.

    A file at its final place may be somebody else's by the time that a run fails, and
    then nobody could say whether to remove it.
    """
    if place.system == "postgresql":
        yield place
        return
    file = Path(place.uri).resolve()
    refuse_missing_directory(place)
    if not is_absent(place):
        remove_leftovers(file)
        yield place
        return
    with aside_of(file) as aside:
        yield replace(place, uri=str(aside / file.name))


def refuse_missing_directory(place: DatabasePlace) -> None:
    """Refuse a new file of a database in a directory that is not there."""
    directory = Path(place.uri).resolve().parent
    if not directory.is_dir() or not os.access(directory, os.W_OK):
        raise OutputError(
            f"'{directory}' is not a directory that can be written to.",
            hint="Create it, or name another file for the database.",
        )


class TableTarget:
    """A table of a database that does not exist yet."""

    def __init__(
        self, session: Session, name: str, place: DatabasePlace, working: DatabasePlace
    ) -> None:
        self.session, self.name = session, name
        self._place, self._working = place, working
        self._token = secrets.token_hex(8)
        self._entry: dict[str, Any] = {}

    @property
    def system(self) -> System:
        """The kind of database."""
        return self._place.system

    def write(self, table: pa.Table, prove: Prove) -> dict[str, Any]:
        """Fill the table, prove what it holds, and name it.

        Returns its hash, and the types of the source that the database does not have.
        Until the transaction is committed, nobody else sees it. Afterward, its owner
        alone may read it.
        """
        *schema, _ = self.name.split(".")
        staging = ".".join([*schema, f"sfumato_{self._token}"])
        self.session.claim(self._token)
        self.session.ingest(staging, storable(table, self.system))
        self.session.close_to_others(staging)
        back = self.session.read(f"SELECT * FROM {quoted(staging)}")
        prove(back)
        self.session.rename(staging, self.name)
        hashes = hash_entries(back)
        self._entry = {
            "address": self.address,
            "token": self._token,
            "columns": back.column_names,
            "rows": back.num_rows,
            **hashes,
        }
        return {**hashes, **recorded(other_types(table, back))}

    def commit(self) -> None:
        self.session.commit()

    def publish(self, directory: Path) -> None:
        """Make the table visible, after a journal of it in the unfinished directory."""
        is_new = self._working is not self._place
        working, file = Path(self._working.uri), Path(self._place.uri)
        if is_new:
            self._entry["inode"] = working.stat().st_ino
        begin_journal(directory, self._entry)
        try:
            self.commit()
        finally:
            # Whoever rolls back opens the database anew, and must not wait for us.
            self.session.close()
        if is_new:
            _put_file_in_place(working, file)

    @property
    def address(self) -> str:
        """`URL#table`, wherever it is read from; private."""
        return DatabaseSource(place=self._place, table=self.name).address


def _put_file_in_place(working: Path, file: Path) -> None:
    """Give a complete database file its name, unless somebody else has taken it."""
    keep_one(working)
    try:
        # Not renamed: that would silently replace a file that was made meanwhile.
        os.link(working, file)
    except FileExistsError:
        raise FileTakenError(
            "Another process made the file of the database while the release was "
            "written.",
            hint="Make the release again: its table then goes into that file.",
        ) from None
    except OSError as fault:
        raise OutputError(
            f"The file of the database cannot be made: {fault.strerror}.",
            hint="Make an empty database there first, or name another file.",
        ) from None
    keep_one(file.resolve().parent)


def table_exists(name: str) -> OutputError:
    """The refusal of a name that is taken: nothing says whose table it is."""
    return OutputError(
        f"The database has a table '{name}' already.",
        hint="Name another table, or drop this one. If it is of a run that was killed, "
        "name the directory of that run again: its table is then removed.",
    )


def read_released(address: str, manifest: Mapping[str, Any]) -> pa.Table:
    """Read a release back from its table, with rows in the order of their texts."""
    table = read_database(DatabaseSource.of(address))
    if not is_described(table, manifest):
        raise DataError(
            "The table of the database is not the one that the manifest describes: the "
            "hashes differ.",
            hint="Make the release again, to another table.",
        )
    ordered = table.take(pc.sort_indices(row_texts(table)))
    return with_source_types(ordered, manifest)
