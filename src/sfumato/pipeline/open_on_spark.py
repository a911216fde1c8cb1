"""Bring what search and models look at from Spark to the driver's disk."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from sfumato.data.disk_arrays import DiskArrays, DiskColumn
from sfumato.data.seeds import Seed
from sfumato.engines.base import Engine
from sfumato.engines.duckdb_engine import DuckDBEngine
from sfumato.engines.engine_choice import EngineChoice
from sfumato.engines.spark_engine import SparkEngine, SparkTable
from sfumato.errors import DataError, GuaranteeError
from sfumato.pipeline.out_of_core import OutOfCore, open_source, unread_columns
from sfumato.pipeline.spark_rows import (
    SparkRows,
    StagedRows,
    carried_columns,
    salt_of,
)
from sfumato.policy import Policy

ATTEMPTS = 4
"""How often another salt is tried if two rows have the same hash."""


def open_on_spark(
    source: SparkTable, policy: Policy, choice: EngineChoice, seed: Seed
) -> tuple[pa.Table, OutOfCore]:
    """The driver's columns on disk, in the order of the key, and where the rows are."""
    for attempt in range(ATTEMPTS):
        table, held, spark = _staged(source, policy, choice, salt_of(seed, attempt))
        if len(np.unique(spark.hashes)) == len(spark.hashes):
            return table, replace(held, spark=spark)
        refuse_ambiguous(SparkEngine(source), policy, table.num_rows)
    raise GuaranteeError(
        f"Rows with different keys had the same hash in {ATTEMPTS} attempts.",
        hint="Nothing was written. Please report this.",
    )


def _staged(
    source: SparkTable, policy: Policy, choice: EngineChoice, salt: int
) -> tuple[pa.Table, OutOfCore, SparkRows]:
    carried = carried_columns(policy, source.names)
    staged = StagedRows(
        source=source,
        key=policy.data.key,
        salt=salt,
        unread=unread_columns(policy, source) | frozenset(carried),
        hashes=DiskColumn(DiskArrays()),
    )
    # What the driver holds is counted there.
    near = replace(choice, name=DuckDBEngine.name)
    with staged.opened() as rows:
        table, held = open_source(rows, policy, near, carried=carried)
    if not table.num_rows:
        raise DataError("The table has no rows.", hint="There is nothing to publish.")
    spark = SparkRows(
        source=source,
        key=policy.data.key,
        salt=salt,
        carried=carried,
        hashes=staged.hashes.array(np.int64),
    )
    return table, held, spark


def refuse_ambiguous(engine: Engine, policy: Policy, rows: int) -> None:
    """Refuse a key that does not identify rows."""
    key = policy.data.key
    if engine.alone(key[0], key[1:], ()) < rows:
        raise policy.fault(
            ("data", "key"),
            f"does not identify each of {rows:,} rows.",
            hint="Name columns that together identify each row.",
        )
