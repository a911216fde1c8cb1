"""Read written files back and prove them from their own bytes.

Every cell is the one that was to be written, and every requirement holds again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.data.batch_source import BatchSource
from sfumato.data.source import has_line_breaks
from sfumato.engines.base import Engine
from sfumato.errors import DataError
from sfumato.io.batch_files import batch_source
from sfumato.io.csv_grammar import ALLOWED, LineBreaks
from sfumato.io.formats import Format, format_of, hash_file
from sfumato.io.read import read_source
from sfumato.io.spreadsheet import unguarded
from sfumato.io.write import hash_bytes
from sfumato.pipeline.column_kinds import MULTILINE
from sfumato.pipeline.compare_with_draft import (
    ComparedSource,
    Drafted,
    DraftedRows,
    unlike,
)
from sfumato.pipeline.counted_proof import proof_rows, prove_on_engine
from sfumato.pipeline.earlier_release_proof import CandidateClaim
from sfumato.pipeline.out_of_core import OutOfCore
from sfumato.pipeline.source_types import other_types, recorded, with_source_types
from sfumato.pipeline.verification import Claim


def prove_files(
    paths: Mapping[str, Path],
    drafts: Mapping[str, pa.Table],
    claim: Claim,
    together: CandidateClaim | None,
    *,
    categories: Collection[str],
    delimiter: str,
) -> dict[str, Any]:
    """Read the files back, compare them with the drafts, and prove the claims again.

    Returns the hashes of the bytes that were proven, whether cells have line breaks, and
    the types of the source that the files do not have.
    """
    hashed: dict[str, Future[str]] = {}
    several = False
    safe = claim.policy.publish.spreadsheet_safe
    with ThreadPoolExecutor() as pool:

        def read(name: str, path: Path) -> pa.Table:
            def seen(content: pa.Buffer) -> None:
                hashed[f"{name}_sha256"] = pool.submit(hash_bytes, content)

            nonlocal several
            # Never `coded`: what proves a release is not to share a parser with what
            # read its source, so that a fault of one of them shows.
            table = read_source(
                path, delimiter=delimiter, seen=seen, named=True, breaks=ALLOWED
            )
            several = several or has_line_breaks(table)
            guards = safe and format_of(path) is Format.CSV
            return unguarded(table) if guards else table

        back: dict[str, pa.Table] = {}
        kinds: dict[str, str] = {}
        for name, path in paths.items():
            draft = _drafted(path, drafts[name], categories)
            back[name] = read(name, path)
            draft.compare(back[name])
            kinds |= other_types(draft.table, back[name])
        types_entry = recorded(kinds)
        _insist(
            {
                name: with_source_types(table, types_entry)
                for name, table in back.items()
            },
            claim,
            together,
        )
    hashes = {name: digest.result() for name, digest in hashed.items()}
    return hashes | _line_breaks(several=several) | types_entry


def _line_breaks(*, several: bool) -> dict[str, Any]:
    """What a manifest says of a CSV file whose cells have several lines."""
    return {MULTILINE: True} if several else {}


def _drafted(path: Path, table: pa.Table, categories: Collection[str]) -> Drafted:
    return Drafted(
        name=path.name, table=table, form=format_of(path), categories=categories
    )


def prove_counted(
    path: Path,
    draft: pa.Table,
    claim: Claim,
    held: OutOfCore,
    *,
    categories: Collection[str],
    delimiter: str,
) -> dict[str, Any]:
    """Read a large file back in batches, compare them with the draft on disk, and prove
    the claim by counts of an engine.

    Returns the hash of the file that was proven, and whether cells have line breaks.
    """
    safe = claim.policy.publish.spreadsheet_safe
    drafted = replace(_drafted(path, draft, categories), arrays=held.disk)

    def opened(*, numbered: bool, breaks: LineBreaks | None) -> BatchSource:
        return batch_source(
            path,
            delimiter=delimiter,
            named=True,
            safe=safe,
            numbered=numbered,
            breaks=breaks,
        )

    with ThreadPoolExecutor() as pool:
        hashed = pool.submit(hash_file, path)
        # Numbered texts do not show whether the file has categories.
        schema = opened(numbered=False, breaks=None).schema
        source = opened(numbered=True, breaks=ALLOWED)
        compared = ComparedSource(drafted, source, schema)
        with held.choice.open(compared.source) as engine:
            holds = _counts_hold(claim, engine, draft.num_rows)
        if not (holds and compared.finished):
            raise unlike(drafted.name)
        several = has_line_breaks(source.schema.empty_table())
        return {"data_sha256": hashed.result()} | _line_breaks(several=several)


def _counts_hold(claim: Claim, engine: Engine, rows: int) -> bool:
    try:
        proof = prove_on_engine(claim, engine)
    except DataError:
        # In a file that we wrote, this is our bug, not an error in the source.
        return False
    return proof.holds and proof_rows(proof) == rows


def prove_tables(
    back: pa.Table,
    draft: DraftedRows,
    claim: Claim,
    together: CandidateClaim | None,
) -> None:
    """Compare a table that was read back from a database, and prove the claims on it."""
    draft.compare(back)
    types_entry = recorded(other_types(draft.table, back))
    _insist({"data": with_source_types(back, types_entry)}, claim, together)


def _insist(
    back: Mapping[str, pa.Table], claim: Claim, together: CandidateClaim | None
) -> None:
    """Prove the claims on tables that were read back, and compared with the draft."""
    if not _holds(back, claim, together):
        raise unlike("data")


def _holds(
    back: Mapping[str, pa.Table], claim: Claim, together: CandidateClaim | None
) -> bool:
    try:
        holds = claim.verify(back["data"], back).holds
        if holds and together is not None:
            holds = together.verify(back["data"]).holds
    except DataError:
        # In a file that we wrote, this is our bug, not an error in the source.
        return False
    return holds
