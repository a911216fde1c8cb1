"""Choose where the rows of a call are counted: in memory, out of core, or on Spark."""

from __future__ import annotations

import os
import re
from importlib.util import find_spec
from typing import Any

from sfumato.engines.duckdb_engine import DuckDBEngine, refuse_small
from sfumato.engines.engine_choice import EngineChoice
from sfumato.engines.memory_engine import MemoryEngine
from sfumato.engines.spark_engine import SparkEngine, is_spark
from sfumato.errors import SfumatoError, UsageError
from sfumato.io.batch_files import batch_source
from sfumato.io.memory import free_memory
from sfumato.pipeline.given_tables import is_path

ENGINES = ("auto", "memory", "duckdb", "spark")
UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
SIZE = re.compile(r"^\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-z]*)\s*$")
MAKING, CHECKING = 8, 4
"""How often the bytes of all cells are in memory while a release is made, or checked."""
SPARE = 0.5
"""The share of free memory that is used where no limit is given."""


def choose_engine(
    data: Any,
    engine: object = None,
    memory_limit: object = None,
    *,
    copies: int = MAKING,
) -> EngineChoice:
    """The engine that a call asks for; `auto` takes `duckdb` where memory is short, and
    `spark` for its frames.

    `copies` says how often the bytes of all cells are in memory at the same time.
    """
    asked = "auto" if engine is None else engine
    if asked not in ENGINES:
        raise UsageError(
            "There is no engine of this name.", hint=f"There are: {', '.join(ENGINES)}."
        )
    limit = memory_of(memory_limit)
    threads = os.cpu_count() or 1
    if is_spark(data):
        _refuse_elsewhere(asked)
        return EngineChoice(SparkEngine.name, limit, None, threads)
    if asked == "auto":
        reason = _short(data, limit, copies)
        name = MemoryEngine.name if reason is None else DuckDBEngine.name
        return EngineChoice(name, limit, reason, threads)
    if asked == DuckDBEngine.name:
        refuse_small(limit)
    return EngineChoice(str(asked), limit, None, threads)


def _refuse_elsewhere(asked: object) -> None:
    """Refuse to count a Spark DataFrame anywhere but on Spark."""
    if asked not in ("auto", SparkEngine.name):
        raise UsageError(
            f"A Spark DataFrame is counted on Spark, not by the engine '{asked}'.",
            hint="Leave the engine out, or pass frame.toArrow(), which takes memory.",
        )


def memory_of(limit: object) -> int:
    """A number of bytes, given as a number or like `500MB`; by default half of what
    is free."""
    if limit is None:
        free = free_memory()
        return 4 * 10**9 if free is None else int(SPARE * free)
    if isinstance(limit, int) and not isinstance(limit, bool) and limit > 0:
        return limit
    found = SIZE.match(limit) if isinstance(limit, str) else None
    unit = None if found is None else UNITS.get(found[2].upper())
    if found is None or unit is None or not float(found[1]):
        raise UsageError(
            "memory_limit is not an amount of memory.",
            hint="Write a number with a unit, for example 500MB or 2GB.",
        )
    return int(float(found[1]) * unit)


def _short(data: Any, limit: int, copies: int) -> str | None:
    """Say why memory is too short for a file; None if it is not, or nobody knows."""
    if not is_path(data) or find_spec("duckdb") is None:
        return None
    try:
        needed = batch_source(data, named=True, breaks=None).bytes
    except SfumatoError:
        # Reading it will say what is wrong, or it can only be read whole.
        return None
    if needed is None or copies * needed <= limit:
        return None
    return (
        f"'{data}' takes about {_giga(copies * needed)} of memory, and "
        f"{_giga(limit)} may be used"
    )


def _giga(count: int) -> str:
    return f"{count / 1e9:,.2f} GB"
