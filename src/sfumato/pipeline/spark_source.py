"""Open Parquet files, or a Spark DataFrame, as a source whose rows stay on Spark."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.types as types

from sfumato.engines.engine_choice import EngineChoice
from sfumato.engines.spark_engine import SparkTable, is_spark, spark_table
from sfumato.engines.spark_files import read_files
from sfumato.engines.spark_session import spark_session
from sfumato.engines.spark_types import quoted
from sfumato.errors import RefusedError
from sfumato.io.batch_files import batch_source, many_files, parquet_files
from sfumato.io.databases import database_source
from sfumato.io.formats import Format, format_of


def spark_source(data: Any, choice: EngineChoice) -> SparkTable:
    """Open what Spark reads; files must be Parquet, in types that Spark keeps."""
    if is_spark(data):
        return spark_table(data)
    if not isinstance(data, str | os.PathLike) or database_source(data) is not None:
        raise RefusedError(
            "Spark counts its own DataFrames and Parquet files.",
            hint="Make a DataFrame of it with spark.createDataFrame, or take another "
            "engine.",
        )
    place = Path(data)
    known = batch_source(place, breaks=None).schema
    if not many_files(place) and format_of(place) is not Format.PARQUET:
        raise RefusedError(
            f"'{data}' is no Parquet file, and Spark reads no other here.",
            hint="Turn it into Parquet, pass a Spark DataFrame from Python, or take "
            "another engine.",
        )
    return _opened(place, known, choice)


def _opened(place: Path, known: pa.Schema, choice: EngineChoice) -> SparkTable:
    several = many_files(place)
    files = parquet_files(place) if several else [place]
    top = place if several and place.is_dir() else None
    _refuse_types(known)
    frame = read_files(spark_session(choice.limit), files, top=top)
    found = spark_table(frame.select(*map(quoted, known.names)))
    _refuse_changed(known, found.schema)
    return found


def _refuse_types(known: pa.Schema) -> None:
    """Refuse, before Spark starts, types that it does not have."""
    for each in known:
        whole = types.is_unsigned_integer(each.type) or types.is_float16(each.type)
        rough = types.is_timestamp(each.type) and each.type.unit != "us"
        other = types.is_dictionary(each.type) or types.is_time(each.type)
        if whole or rough or other:
            raise _changed(each.name, each.type)


def _refuse_changed(known: pa.Schema, found: pa.Schema) -> None:
    """Refuse columns that Spark reads as another type than a table in memory has."""
    for each in known:
        kind = each.type
        if types.is_large_string(kind):
            kind = pa.string()
        if types.is_timestamp(kind) and kind.tz is not None:
            kind = pa.timestamp(kind.unit, "UTC")
        if found.field(each.name).type != kind:
            raise _changed(each.name, each.type)


def _changed(name: str, kind: Any) -> RefusedError:
    return RefusedError(
        f"Column '{name}' has the type {kind}, which Spark does not keep.",
        hint="Convert it (whole numbers with sign, text, microseconds), leave it out, "
        "or take another engine.",
    )
