"""Write what Spark publishes as a directory of Parquet parts, and prove it there."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.data.batch_source import BatchSource
from sfumato.engines.spark_engine import SparkEngine, SparkTable, spark_table
from sfumato.engines.spark_files import read_files, write_parts
from sfumato.engines.spark_hashes import hashed_beginnings, hashed_rows
from sfumato.errors import DataError
from sfumato.io.batch_files import batch_source, parquet_files
from sfumato.io.formats import Format, hash_file
from sfumato.pipeline.compare_with_draft import ComparedSource, Drafted, unlike
from sfumato.pipeline.counted_proof import proof_rows, prove_on_engine
from sfumato.pipeline.spark_rows import SparkRows, order_name
from sfumato.pipeline.verification import Claim


def write_and_prove(
    table: pa.Table,
    rows: npt.NDArray[np.int64],
    place: Path,
    *,
    spark: SparkRows,
    claim: Claim,
) -> dict[str, str]:
    """Let Spark write a table in parts, read them back, compare them with what was to be
    written, and prove the claim.

    Returns the hash of the parts that were proven.
    """
    frame = spark.published(table, rows, spark.shown)
    write_parts(frame, place, order=order_name(spark.shown), rows=len(rows))
    files = parquet_files(place)
    before = hash_parts(files)
    back = spark_table(read_files(frame.sparkSession, files))
    _compare(back, spark_table(frame.drop(order_name(spark.shown))), place.name)
    own = [name for name in table.column_names if name not in spark.carried]
    _compare_own(place, table.select(own))
    if not _holds(claim, SparkEngine(back), len(rows)) or hash_parts(files) != before:
        raise unlike(place.name)
    return {"data_sha256": before}


def _compare(back: SparkTable, draft: SparkTable, name: str) -> None:
    """Raise an error unless parts that were read back have the rows of a draft."""
    if back.names != draft.names:
        raise unlike(name)
    for column in draft.names:
        if back.schema.field(column).type != draft.schema.field(column).type:
            raise unlike(name, column)
    if hashed_rows(back) == hashed_rows(draft):
        return
    counts = range(1, len(draft.names) + 1)
    sides = zip(
        hashed_beginnings(back, counts), hashed_beginnings(draft, counts), strict=True
    )
    same = [one == other for one, other in sides]
    raise unlike(name, draft.names[same.index(False)])


def _compare_own(place: Path, table: pa.Table) -> None:
    """Compare the columns that the driver decided with the parts, row by row.

    Spark's own draft of them came through a file.
    """
    source = batch_source(place)
    own = BatchSource(
        schema=pa.schema([source.schema.field(name) for name in table.column_names]),
        read=source.read,
    )
    draft = Drafted(name=place.name, table=table, form=Format.PARQUET)
    for _ in ComparedSource(draft, own, own.schema).source.read(()):
        pass


def published_frame(
    table: pa.Table, rows: npt.NDArray[np.int64], spark: SparkRows
) -> Any:
    """A published table as a Spark DataFrame."""
    frame = spark.published(table, rows, spark.shown)
    return frame.drop(order_name(spark.shown))


def _holds(claim: Claim, engine: SparkEngine, rows: int) -> bool:
    try:
        proof = prove_on_engine(claim, engine)
    except DataError:
        # In files that we wrote, this is our bug, not an error in the source.
        return False
    return proof.holds and proof_rows(proof) == rows


def hash_parts(files: list[Path]) -> str:
    """One hash of several files: that of their names and hashes, line by line."""
    lines = [f"{hash_file(file)}  {file.name}\n" for file in files]
    return hashlib.sha256("".join(lines).encode()).hexdigest()
