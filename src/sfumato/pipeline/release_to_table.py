"""Write a release into a table of a database, proven before others can see it."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.call_arguments import path_of
from sfumato.data.cell_text import as_text
from sfumato.errors import OutputError, RefusedError, UsageError
from sfumato.io.databases import DatabasePlace, Session, opened, storable
from sfumato.io.formats import hash_bytes
from sfumato.pipeline.prove_written_files import prove_tables
from sfumato.pipeline.release import Release, fill
from sfumato.pipeline.write_release import refuse_existing, write_directory


def save_to_table(
    release: Release, directory: str | os.PathLike[str], address: str
) -> Mapping[str, Any]:
    """Write the release to `URL#table`, and all but its data to a directory.

    One transaction makes a table, fills it, reads it back and proves it, lets its owner
    alone read it, gives it its name, and is committed after the directory is in place.
    If anything fails, neither the table nor the directory stays.
    """
    url, table = split_address(address)
    place = path_of(directory, what="A release's place")
    _refuse_pairs(release)
    with opened(DatabasePlace.of(url)) as session:
        refuse_table(session, table)
        refuse_existing(place)
        prove = partial(_write_and_prove, session, table)
        manifest = write_directory(place, partial(fill, release, write=prove), force=False)
        try:
            session.commit()
        except BaseException:
            shutil.rmtree(place, ignore_errors=True)
            raise
    return manifest


def split_address(address: str) -> tuple[str, str]:
    """The database and the table of `URL#table`."""
    url, found, table = address.rpartition("#")
    if not found or not table:
        raise UsageError(
            "--to names no table.", hint="Write the address as URL#table."
        )
    return url, table


def refuse_table(session: Session, table: str) -> None:
    """Refuse a table that exists: whose it is, nobody can tell."""
    if session.exists(table):
        raise OutputError(
            f"The database has a table '{table}' already.",
            hint="Name another table, or drop this one.",
        )


def _refuse_pairs(release: Release) -> None:
    if release.beside:
        raise RefusedError(
            "An anatomized release has two tables and cannot be written to one.",
            hint="Leave --to out, or use another operator.",
        )


def _write_and_prove(
    session: Session, table: str, release: Release, aside: Path
) -> dict[str, str]:
    *schema, _ = table.split(".")
    staging = ".".join([*schema, f"sfumato_{secrets.token_hex(8)}"])
    session.ingest(staging, storable(release.table))
    session.close_to_others(staging)
    back = session.fetch(_select(staging))
    prove_tables(release, {"data": back})
    session.rename(staging, table)
    return {"data_sha256": hash_rows(back)}


def _select(table: str) -> str:
    from sfumato.io.databases import quoted

    return f"SELECT * FROM {quoted(table)}"


def hash_rows(table: pa.Table) -> str:
    """A hash of the rows as a set: a table of a database has no order."""
    cells = [_told(table.column(name), name) for name in table.column_names]
    lines = pc.binary_join_element_wise(*cells, "\x1f")
    ordered = lines.take(pc.sort_indices(lines))
    content = "\n".join([*table.column_names, *ordered.to_pylist()])
    return hash_bytes(pa.py_buffer(content.encode()))


def _told(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    return pc.fill_null(as_text(column, name=name), "\x00")
