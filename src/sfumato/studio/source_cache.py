"""The source of a project in memory: a file of the folder, or a table of a database."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa

from sfumato.errors import Caller, hints_for
from sfumato.io.databases import DatabasePlace, DatabaseSource
from sfumato.pipeline.given_tables import read_table
from sfumato.pipeline.named_source import named_source
from sfumato.pipeline.source_order import in_order
from sfumato.policy import Policy
from sfumato.studio.project_folder import ProjectFolder

SYSTEMS = {"postgresql": "PostgreSQL", "sqlite": "SQLite", "duckdb": "DuckDB"}
SECRET = re.compile(r"(://[^/@\s\"']*:)[^/@\s\"']*(?=@)|(password=)[^&#\s\"']*", re.I)
HIDDEN = "•••"


@dataclass(eq=False)
class SourceCache:
    """The source as a table, read again only if the file or its settings changed."""

    _key: tuple[Any, ...] = ()
    _table: pa.Table | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def read(self, policy: Policy, folder: ProjectFolder) -> pa.Table:
        """The table that a policy names, in the order that its runs number rows in."""
        source = _source(policy, folder)
        settings = policy.data.model_dump_json(exclude={"missing", "missing_as"})
        key = (*_state(source), settings)
        with self._lock:
            if self._table is None or key != self._key:
                self._table = None
                with hints_for(Caller.PAGE):
                    table = read_table(source, policy, {})
                self._table = in_order(table, policy, origin=source)
                self._key = key
            return self._table

    @property
    def stamp(self) -> list[str]:
        """What changes when the source that was read changes."""
        return [str(part) for part in self._key]

    def forget(self) -> None:
        """Read the source again at the next look."""
        with self._lock:
            self._table, self._key = None, ()


def _source(policy: Policy, folder: ProjectFolder) -> Path | DatabaseSource:
    """A file must be in the project folder, outside what the studio keeps there."""
    source = named_source(policy, folder.root)
    return (
        source
        if isinstance(source, DatabaseSource)
        else folder.data_file(policy.data.path or "")
    )


def _state(source: Path | DatabaseSource) -> tuple[Any, ...]:
    """How old a file is; the age of a table on a server is not known."""
    place = source if isinstance(source, Path) else Path(source.place.uri)
    try:
        told = place.stat()
    except OSError:
        return (str(place),)
    return str(place), told.st_mtime_ns, told.st_size


def source_name(policy: Policy) -> str:
    """What pages call the source; of a server neither user nor password."""
    said = policy.data
    if said.url is None:
        return said.path or ""
    place = DatabasePlace.of(said.url)
    what = "a query" if said.table is None else f"table {said.table}"
    where = place.uri
    if place.system == "postgresql":
        parts = urlsplit(said.url)
        where = f"{parts.hostname or 'this machine'}{parts.path}"
    return f"{what} of {SYSTEMS[place.system]}, {where}"


def without_secrets(text: str) -> str:
    """A policy as pages show it: a password in an address is hidden."""
    return SECRET.sub(lambda m: f"{m[1] or m[2]}{HIDDEN}", text)
