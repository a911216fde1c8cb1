"""Compare a published table with the hash that its manifest has of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.errors import DataError
from sfumato.io.batch_files import many_files, parquet_files
from sfumato.io.databases import database_source
from sfumato.io.formats import hash_file, is_stream, sibling
from sfumato.pipeline.check_result import CheckResult
from sfumato.pipeline.column_kinds import published_hashes, read_manifest
from sfumato.pipeline.given_tables import is_path
from sfumato.pipeline.spark_release import hash_parts
from sfumato.pipeline.table_hashes import is_described


def compared(
    result: CheckResult, data: Any, manifest: Path | None, table: pa.Table | None = None
) -> CheckResult:
    """The result of a check that also says whether the table is that of a manifest."""
    return replace(result, same_as_manifest=same_as_manifest(data, manifest, table))


def same_as_manifest(
    data: Any, manifest: Path | None, table: pa.Table | None = None
) -> bool | None:
    """Return whether a table is the one that a manifest describes.

    `table` has the rows of a database, as they were read. Returns None where nothing can be
    compared: a frame, standard input, a database that is not read as a whole, or a
    manifest without a hash.
    """
    if manifest is None:
        return None
    known = published_hashes(manifest)
    if "data" not in known:
        return None
    if database_source(data) is not None:
        return None if table is None else is_described(table, read_manifest(manifest))
    if not is_path(data) or is_stream(data):
        return None
    found = {"data": _hash(Path(data))}
    if "sensitive" in known:
        found["sensitive"] = _hash(sibling(Path(data), "sensitive"))
    return found == known


def _hash(place: Path) -> str:
    try:
        several = many_files(place)
        return hash_parts(parquet_files(place)) if several else hash_file(place)
    except OSError as fault:
        raise DataError(
            f"'{place}' cannot be read: {fault.strerror}.",
            hint="Look at its permissions.",
        ) from None
