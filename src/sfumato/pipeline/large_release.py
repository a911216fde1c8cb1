"""Make a release of a table that does not fit in memory.

The rows are put on disk, and the path of a run is the usual one: the same groups, the
same bytes. What would take all rows in memory is counted by the engine instead.
"""

from __future__ import annotations

import os
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.algorithms.base import Progress
from sfumato.data.batch_source import BatchSource
from sfumato.data.seeds import Seed
from sfumato.data.source import delimiter_of
from sfumato.engines.engine_choice import EngineChoice
from sfumato.engines.spark_engine import SparkTable
from sfumato.errors import RefusedError
from sfumato.io.batch_files import many_files
from sfumato.io.formats import Format, hash_file
from sfumato.pipeline.asked_policy import base_of
from sfumato.pipeline.explained_release import explained_release
from sfumato.pipeline.given_tables import is_path, source_batches
from sfumato.pipeline.open_on_spark import open_on_spark, refuse_ambiguous
from sfumato.pipeline.out_of_core import OutOfCore, open_source, refuse_whole
from sfumato.pipeline.release import Release
from sfumato.pipeline.run import Run
from sfumato.pipeline.source_order import refuse_orderless
from sfumato.policy import Policy

WRITTEN = (Format.CSV, Format.PARQUET, Format.ARROW)
"""The formats that are written in parts."""


def large_release(
    data: Any,
    policy: Policy,
    choice: EngineChoice,
    *,
    after: tuple[Path, ...],
    seed: Seed,
    progress: Progress,
    base: str | os.PathLike[str] | None,
) -> Release:
    """Make a release of a source that is read in batches, and prove it."""
    refuse_whole(policy, after=bool(after))
    if not policy.data.key:
        refuse_orderless(data, on_spark=choice.on_spark)
    _refuse_format(policy, choice)
    source = source_batches(data, policy, choice=choice)
    policy.check_columns(source.names)
    with ThreadPoolExecutor() as aside:
        hashed = _hashed(aside, data)
        progress("read", 0.0)
        table, held = _opened(source, policy, choice, seed)
        run = Run(
            policy=policy,
            source=table,
            base=base_of(base, policy),
            seed=seed,
            threads=choice.threads,
            progress=progress,
            out_of_core=held,
        )
        release = explained_release(run)
        progress("done", 1.0)
    return replace(
        _without_carried(release),
        origin=data,
        delimiter=delimiter_of(table) or ",",
        source_sha256=None if hashed is None else hashed.result(),
    )


def _hashed(aside: ThreadPoolExecutor, data: Any) -> Future[str] | None:
    if not is_path(data) or many_files(data):
        return None
    return aside.submit(hash_file, data)


def _opened(
    source: BatchSource, policy: Policy, choice: EngineChoice, seed: Seed
) -> tuple[pa.Table, OutOfCore]:
    """Put the rows on disk, in the order of the policy's key if it names one."""
    key = policy.data.key
    if not key:
        return open_source(source, policy, choice)
    _refuse_key(source, policy)
    if isinstance(source, SparkTable):
        return open_on_spark(source, policy, choice, seed)
    with choice.open(source) as engine:
        ordered = open_source(engine.ordered(key), policy, choice)
        rows = ordered[0].num_rows
        refuse_ambiguous(engine, policy, rows)
        return ordered


def _refuse_key(source: BatchSource, policy: Policy) -> None:
    for name in policy.data.key:
        if name not in source.names:
            raise policy.fault(
                ("data", "key"),
                f"names the column '{name}', which the data do not have.",
                hint="Name columns of the data.",
            )
        if pa.types.is_floating(source.schema.field(name).type):
            raise policy.fault(
                ("data", "key"),
                f"names the column '{name}', which holds floats: they are not sorted "
                "out of memory.",
                hint="Name columns of whole numbers or texts.",
            )


def _without_carried(release: Release) -> Release:
    """A release whose table has no columns but the driver's own."""
    held = release.out_of_core
    if held is None or held.spark is None:
        return release
    spark = replace(held.spark, shown=tuple(release.table.column_names))
    return replace(
        release,
        table=release.table.drop_columns(list(spark.carried)),
        out_of_core=replace(held, spark=spark),
    )


def _refuse_format(policy: Policy, choice: EngineChoice) -> None:
    asked = policy.publish.format
    if choice.on_spark and asked not in (None, Format.PARQUET):
        raise RefusedError(
            f"Spark writes Parquet files, and the policy asks for {asked}.",
            hint="Publish as parquet, or take another engine.",
        )
    if asked is not None and asked.split(".")[0] not in WRITTEN:
        raise RefusedError(
            f"A file of the format {asked} is written from memory.",
            hint="Publish as parquet, csv or arrow, or take --engine memory.",
        )
