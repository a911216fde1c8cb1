"""Keep a table that does not fit in memory on disk, and count it with an engine."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.data.batch_source import BatchSource, table_batches
from sfumato.data.disk_arrays import DiskArrays
from sfumato.data.schema import Role
from sfumato.engines.base import Engine
from sfumato.engines.engine_choice import EngineChoice
from sfumato.engines.spark_engine import SparkTable, spark_table
from sfumato.errors import RefusedError
from sfumato.io.mapped_source import mapped_table, refuse_types
from sfumato.pipeline.spark_rows import SparkRows
from sfumato.pipeline.split_engine import SplitEngine
from sfumato.policy import Policy
from sfumato.publish.base import Form


@dataclass(frozen=True, eq=False, kw_only=True)
class OutOfCore:
    """Where the rows of a run are while they are not in memory."""

    choice: EngineChoice
    disk: DiskArrays = field(default_factory=DiskArrays)
    plain_texts: frozenset[str] = frozenset()
    """Columns of plain text, which are kept as dictionaries."""

    spark: SparkRows | None = None
    """The rows that stay on Spark."""

    def engine(self, table: pa.Table, rows: npt.NDArray[np.int64]) -> Engine:
        """An engine on a table that is mapped from disk; for a `with` block.

        `rows` are the source rows of its rows.
        """
        near = self.choice.open(table_batches(table))
        spark = self.spark
        if spark is None or not spark.carried:
            return near

        def far() -> SparkTable:
            return spark_table(spark.published(table, rows, table.column_names))

        whole = spark.source if len(rows) == len(spark.hashes) else None
        return SplitEngine(near, far, spark.carried, source=whole)


def refuse_whole(policy: Policy, *, after: bool) -> None:
    """Refuse, before any work, what needs all rows in memory at once."""
    reasons = {
        "a process requirement": bool(policy.process_models()),
        "an earlier release (--after)": after,
        "a subject column": bool(policy.names(Role.SUBJECT)),
        "privacy.link_key": policy.privacy.link_key is not None,
        "publish.trim": policy.publish.trim,
        'missing_as = "any"': policy.data.missing_as == "any",
        "an operator that does not publish cells": (
            policy.operator_instance().form is not Form.CELLS
        ),
    }
    for what, asked in reasons.items():
        if asked:
            raise RefusedError(
                f"A run with {what} needs all rows in memory.",
                hint="Take --engine memory, on a machine with enough of it.",
            )


def open_source(
    source: BatchSource,
    policy: Policy,
    choice: EngineChoice,
    *,
    carried: Collection[str] = (),
) -> tuple[pa.Table, OutOfCore]:
    """Put the rows of a source on disk, but for columns that are `carried` elsewhere."""
    unread = unread_columns(policy, source) | frozenset(carried)
    refuse_types(source, unread)
    held = OutOfCore(
        choice=choice,
        plain_texts=frozenset(
            each.name
            for each in source.schema
            if pa.types.is_string(each.type) or pa.types.is_large_string(each.type)
        ),
    )
    table = mapped_table(source, held.disk, unread=unread, limit=choice.limit)
    held.disk.release()
    return table, held


def unread_columns(policy: Policy, source: BatchSource) -> frozenset[str]:
    """Columns whose cells no release shows and no search looks at."""
    shown = policy.pseudonymized()
    roles = {name: policy.role(name) for name in source.names}
    return frozenset(
        name
        for name, role in roles.items()
        if name not in shown and role in (None, Role.IDENTIFIER)
    )
