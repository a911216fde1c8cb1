"""Write a release: aside, read back, proven from its own bytes, then in place."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sfumato.data.json_records import dump
from sfumato.errors import DataError, GuaranteeError, OutputError
from sfumato.io.atomic_files import (
    aside_of,
    exchange,
    keep,
    keep_one,
    open_up,
    own_directory,
    own_file,
    put_in_place,
    usual_mode,
)
from sfumato.io.formats import Format, format_of
from sfumato.io.read import read_source
from sfumato.io.spreadsheet import unguarded
from sfumato.io.write import hash_bytes, write_table
from sfumato.pipeline.run import Outcome
from sfumato.pipeline.verification import SOURCE_VALUES

SHA256 = re.compile("[0-9a-f]{64}")
PREVIOUS = "previous-"
"""Before the hash of an older release, whose private part is kept under this name."""
Page = Callable[[Mapping[str, Any], Mapping[str, Any]], str]
"""Makes the report from the manifest and the facts."""


def refuse_existing(directory: Path, *, force: bool = False) -> None:
    """Say so before any work if the release could not be put in its place.

    With `force` an older release may be there, and nothing else.
    """
    if directory.is_symlink() and not directory.exists():
        raise OutputError(
            f"'{directory}' is a link to a place that does not exist.",
            hint="Remove the link, or name another directory with --out.",
        )
    if directory.exists() and not force:
        raise OutputError(
            f"'{directory}' exists already.",
            hint="Name another directory with --out, move the old release away, or "
            "replace it with --force.",
        )
    if directory.exists():
        hash_of_release(directory)
    parent = directory.resolve().parent
    if not parent.is_dir():
        raise OutputError(
            f"'{parent}' is not a directory.", hint="Create it, or name another place."
        )
    if not os.access(parent, os.W_OK):
        raise OutputError(
            f"'{parent}' cannot be written to.", hint="Name another directory."
        )


def hash_of_release(directory: Path) -> str:
    """The `data_sha256` of a release; what is none of ours must not be replaced."""
    try:
        text = (directory / "manifest.json").read_text(encoding="utf-8")
        found = json.loads(text)["data_sha256"]
    except (OSError, ValueError, LookupError, TypeError):
        found = None
    if not isinstance(found, str) or not SHA256.fullmatch(found):
        raise OutputError(
            f"'{directory}' is no release of ours, so that --force does not replace it.",
            hint="Name another directory with --out, or move this one away.",
        )
    return found


def write_release(
    outcome: Outcome,
    directory: Path,
    *,
    extension: str,
    delimiter: str = ",",
    page: Page,
    private: Mapping[str, Any],
    force: bool = False,
) -> Mapping[str, Any]:
    """Write a release directory whole, or nothing; returns the final manifest.

    Nobody else may read it before it is proven and in its place, and it is on the disk
    before it gets its name. With `force` it takes the place of an older release, which
    stays until then, and keeps what that one held in `private/`.
    """
    refuse_existing(directory, force=force)
    target = directory.resolve()
    try:
        with aside_of(target) as aside:
            mode = usual_mode(aside)
            manifest = _fill(outcome, aside, extension, delimiter, page, private)
            _put(aside, target)
    except OSError as fault:
        raise OutputError(
            f"'{directory}' cannot be written: {fault.strerror or 'unknown reason'}.",
            hint="Free space or name another directory; nothing was left behind.",
        ) from None
    _settle(directory, mode)
    return manifest


def _put(aside: Path, target: Path) -> None:
    """Bring a complete release to the disk and give it its name."""
    if not target.exists():
        keep(aside)
        put_in_place(aside, target)
        return
    _keep_previous(target, aside / "private")
    keep(aside)
    exchange(aside, target)


def _keep_previous(old: Path, private: Path) -> None:
    """Take over what an older release kept in private, and what that took over."""
    before = old / "private"
    earlier = [p.name for p in before.glob(f"{PREVIOUS}*") if p.is_dir()]
    latest = private / f"{PREVIOUS}{hash_of_release(old)}"
    if before.is_dir():
        _copy_private(before, latest, leave_out=earlier)
    for name in earlier:
        if not (private / name).exists():
            _copy_private(before / name, private / name)


def _copy_private(source: Path, target: Path, *, leave_out: Sequence[str] = ()) -> None:
    own_directory(target)
    for file in source.iterdir():
        if file.name not in leave_out and file.is_file():
            shutil.copyfile(file, own_file(target / file.name))


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
    try:
        holds = outcome.question.ask(back["data"], back).holds
    except DataError:
        # Of a file of ours this is our fault, not that of the source.
        holds = False
    if not holds or back["data"].num_rows != outcome.proven.table.num_rows:
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
    # Opened here, for Arrow takes no path whose name is not UTF-8.
    with own_file(place / "rows.parquet").open("wb") as sink:
        pq.write_table(row_record(outcome), sink)


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
