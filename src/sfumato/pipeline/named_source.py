"""The source that a policy names: a file, or a table of a database."""

from __future__ import annotations

from pathlib import Path

from sfumato.errors import UsageError
from sfumato.io.databases import DatabasePlace, DatabaseSource
from sfumato.policy import Policy


def named_source(policy: Policy, base: Path) -> Path | DatabaseSource:
    """Where the data of a policy are; paths are relative to `base`."""
    said = policy.data
    if said.url is not None:
        place = DatabasePlace.of(said.url, base)
        return DatabaseSource(place=place, table=said.table, query=said.query)
    if said.path is None:
        raise UsageError(
            "The policy names no data.", hint="Add data.path or data.url to it."
        )
    return base / said.path
