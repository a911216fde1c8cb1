"""Read written files back and prove every requirement again, from their own bytes."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.data.source import has_line_breaks
from sfumato.engines.base import Engine
from sfumato.engines.engine_choice import EngineChoice
from sfumato.errors import DataError, GuaranteeError
from sfumato.io.batch_files import batch_source
from sfumato.io.csv_grammar import ALLOWED
from sfumato.io.formats import Format, format_of, hash_file
from sfumato.io.read import read_source
from sfumato.io.spreadsheet import unguarded
from sfumato.io.write import hash_bytes
from sfumato.pipeline.column_kinds import MULTILINE
from sfumato.pipeline.counted_proof import proof_rows, prove_on_engine
from sfumato.pipeline.earlier_release_proof import CandidateClaim
from sfumato.pipeline.verification import Claim


def prove_files(
    places: Mapping[str, Path],
    claim: Claim,
    together: CandidateClaim | None,
    *,
    rows: int,
    delimiter: str,
) -> dict[str, Any]:
    """Read the files back and prove the claims and the number of rows again.

    Returns the hashes of the bytes that were proven.
    """
    hashed: dict[str, Future[str]] = {}
    safe = claim.policy.publish.spreadsheet_safe
    with ThreadPoolExecutor() as pool:

        def read(name: str, place: Path) -> pa.Table:
            def seen(content: pa.Buffer) -> None:
                hashed[f"{name}_sha256"] = pool.submit(hash_bytes, content)

            # Never `coded`: what proves a release is not to share a parser with what
            # read its source, so that a fault of one of them shows.
            table = read_source(
                place, delimiter=delimiter, seen=seen, named=True, breaks=ALLOWED
            )
            guards = safe and format_of(place) is Format.CSV
            return unguarded(table) if guards else table

        back = {name: read(name, place) for name, place in places.items()}
        prove_tables(back, claim, together, rows=rows)
    hashes = {name: found.result() for name, found in hashed.items()}
    return hashes | _line_breaks(any(map(has_line_breaks, back.values())))


def _line_breaks(several: bool) -> dict[str, Any]:
    """What a manifest says of a CSV file whose cells have several lines."""
    return {MULTILINE: True} if several else {}


def prove_counted(
    place: Path, claim: Claim, choice: EngineChoice, *, rows: int, delimiter: str
) -> dict[str, Any]:
    """Read a large file back in batches, and prove the claim by counts of an engine.

    Returns the hash of the file that was proven.
    """
    safe = claim.policy.publish.spreadsheet_safe
    with ThreadPoolExecutor() as pool:
        hashed = pool.submit(hash_file, place)
        source = batch_source(
            place,
            delimiter=delimiter,
            named=True,
            safe=safe,
            numbered=True,
            breaks=ALLOWED,
        )
        with choice.open(source) as engine:
            if not _counts_hold(claim, engine, rows):
                raise _unlike()
        several = has_line_breaks(source.schema.empty_table())
        return {"data_sha256": hashed.result()} | _line_breaks(several)


def _counts_hold(claim: Claim, engine: Engine, rows: int) -> bool:
    try:
        proof = prove_on_engine(claim, engine)
    except DataError:
        # In a file that we wrote, this is our bug, not an error in the source.
        return False
    return proof.holds and proof_rows(proof) == rows


def _unlike() -> GuaranteeError:
    return GuaranteeError(
        "What was written does not match the draft.",
        hint="Nothing was left behind. Please report this with the policy.",
    )


def prove_tables(
    back: Mapping[str, pa.Table],
    claim: Claim,
    together: CandidateClaim | None,
    *,
    rows: int,
) -> None:
    """Prove the claims and the number of rows on tables that were read back."""
    if back["data"].num_rows != rows or not _holds(back, claim, together):
        raise _unlike()


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
