"""Write what Spark publishes as a directory of Parquet parts, and prove it there."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.engines.spark_engine import SparkEngine, spark_table
from sfumato.engines.spark_files import read_files, write_parts
from sfumato.errors import DataError, GuaranteeError
from sfumato.io.batch_files import parquet_files
from sfumato.io.formats import hash_file
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
    """Let Spark write a table in parts, read them back and prove the claim.

    Returns the hash of the parts that were proven.
    """
    frame = spark.published(table, rows, spark.shown)
    write_parts(frame, place, order=order_name(spark.shown), rows=len(rows))
    files = parquet_files(place)
    before = hash_parts(files)
    back = spark_table(read_files(frame.sparkSession, files))
    if not _holds(claim, SparkEngine(back), len(rows)) or hash_parts(files) != before:
        raise GuaranteeError(
            "What was written does not match the draft.",
            hint="Nothing was left behind. Please report this with the policy.",
        )
    return {"data_sha256": before}


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
