"""Write a release: aside, read back, proven from its own bytes, then in place."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.data.record import dump
from sfumato.errors import GuaranteeError, OutputError
from sfumato.io.aside import (
    keep,
    keep_one,
    open_up,
    own_directory,
    own_file,
    usual_mode,
)
from sfumato.io.formats import Format, format_of
from sfumato.io.read import read_source
from sfumato.io.spreadsheet import unguarded
from sfumato.io.write import hash_bytes, write_table
from sfumato.pipeline.question import SOURCE_VALUES
from sfumato.pipeline.run import Outcome

Page = Callable[[Mapping[str, Any], Mapping[str, Any]], str]
"""Makes the report from the manifest and the facts."""


def refuse_existing(directory: Path) -> None:
    """Say so before any work if the release could not be put in its place."""
    if directory.exists():
        raise OutputError(
            f"'{directory}' exists already.",
            hint="Name another directory with --out, or move the old release away.",
        )
    parent = directory.resolve().parent
    if not parent.is_dir():
        raise OutputError(
            f"'{parent}' is not a directory.", hint="Create it, or name another place."
        )
    if not os.access(parent, os.W_OK):
        raise OutputError(
            f"'{parent}' cannot be written to.", hint="Name another directory."
        )


def write_release(
    outcome: Outcome,
    directory: Path,
    *,
    extension: str,
    delimiter: str = ",",
    page: Page,
    private: Mapping[str, Any],
) -> Mapping[str, Any]:
    """Write a release directory whole, or nothing; returns the final manifest.

    Nobody else may read it before it is proven and in its place, and it is on the disk
    before it gets its name.
    """
    refuse_existing(directory)
    aside = directory.resolve().parent / f".{directory.name}.{secrets.token_hex(6)}"
    try:
        own_directory(aside)
        mode = usual_mode(aside)
        manifest = _fill(outcome, aside, extension, delimiter, page, private)
        keep(aside)
        aside.rename(directory)
    except OSError as fault:
        raise OutputError(
            f"'{directory}' cannot be written: {fault.strerror or 'unknown reason'}.",
            hint="Free space or name another directory; nothing was left behind.",
        ) from None
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    _settle(directory, mode)
    return manifest


def _settle(directory: Path, mode: int) -> None:
    """Let others read what is published; where that fails, it stays the owner's."""
    with suppress(OSError):
        open_up(directory, mode)
        keep_one(directory.resolve().parent)


def _fill(
    outcome: Outcome,
    aside: Path,
    extension: str,
    delimiter: str,
    page: Page,
    private: Mapping[str, Any],
) -> Mapping[str, Any]:
    proven = outcome.proven
    tables = {"data": proven.table, **proven.beside}
    places = {name: aside / f"{name}.{extension}" for name in tables}
    safe = outcome.question.policy.publish.spreadsheet_safe
    for name, table in tables.items():
        write_table(
            table,
            own_file(places[name]),
            delimiter=delimiter,
            spreadsheet_safe=safe,
            categories=proven.categories,
        )
    record = {**proven.audit, **private}
    with ThreadPoolExecutor() as pool:
        kept = pool.submit(_write_private, outcome, aside / "private", record)
        hashes = prove_files(outcome, places, delimiter)
    kept.result()
    manifest = {**proven.manifest, **hashes}
    for name, text in proven.notes.items():
        _write_text(aside / name, text)
    _write_json(aside / "manifest.json", manifest)
    _write_text(aside / "report.html", page(manifest, proven.facts))
    return manifest


def prove_files(
    outcome: Outcome, places: Mapping[str, Path], delimiter: str
) -> dict[str, str]:
    """Read the files back and ask every requirement again, of their own bytes.

    Returns the hashes of the bytes that were proven.
    """
    hashed: dict[str, Future[str]] = {}
    safe = outcome.question.policy.publish.spreadsheet_safe
    with ThreadPoolExecutor() as pool:

        def read(name: str, place: Path) -> pa.Table:
            def seen(content: pa.Buffer) -> None:
                hashed[f"{name}_sha256"] = pool.submit(hash_bytes, content)

            table = read_source(place, delimiter=delimiter, seen=seen, named=True)
            guards = safe and format_of(place) is Format.CSV
            return unguarded(table) if guards else table

        back = {name: read(name, place) for name, place in places.items()}
        _prove(outcome, back)
    return {name: found.result() for name, found in hashed.items()}


def _prove(outcome: Outcome, back: Mapping[str, pa.Table]) -> None:
    proof = outcome.question.ask(back["data"], back)
    if not proof.holds or back["data"].num_rows != outcome.proven.table.num_rows:
        raise GuaranteeError(
            "The written file does not say what the draft said.",
            hint="Nothing was left behind. Please report this with the policy.",
        )


def _write_private(outcome: Outcome, place: Path, audit: Mapping[str, Any]) -> None:
    own_directory(place)
    _write_json(
        place / "audit.json",
        {**audit, "manifest": outcome.proven.manifest, "facts": outcome.proven.facts},
    )
    pq.write_table(row_record(outcome), own_file(place / "rows.parquet"))


def row_record(outcome: Outcome) -> pa.Table:
    """Published row, source row and group of every source row; private."""
    proven = outcome.proven
    rows = len(proven.group_of)
    published = np.full(rows, -1, dtype=np.int64)
    published[proven.source_rows] = np.arange(len(proven.source_rows))
    gone = published < 0
    columns = {
        "published_row": pa.array(published, mask=gone),
        "source_row": pa.array(np.arange(rows)),
        "group": pa.array(proven.group_of, mask=gone),
    }
    if proven.subject_of is not None:
        columns["subject"] = pa.array(proven.subject_of)
    counts = json.dumps(proven.source_values)
    return pa.table(columns).replace_schema_metadata({SOURCE_VALUES: counts})


def _write_json(path: Path, record: Mapping[str, Any]) -> None:
    _write_text(path, dump(record) + "\n")


def _write_text(path: Path, text: str) -> None:
    own_file(path).write_text(text, encoding="utf-8")
