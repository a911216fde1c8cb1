"""An engine that was chosen, and how to open it."""

from __future__ import annotations

from dataclasses import dataclass

from sfumato.data.batch_source import BatchSource
from sfumato.engines.base import Engine
from sfumato.engines.duckdb_engine import DuckDBEngine
from sfumato.engines.memory_engine import MemoryEngine
from sfumato.engines.spark_engine import SparkEngine


@dataclass(frozen=True)
class EngineChoice:
    """An engine, the memory that it may use, and why it was taken."""

    name: str
    limit: int
    """Bytes."""
    reason: str | None = None
    """Why `auto` took it, in words; None where it was asked for or nothing is special."""
    threads: int = 1

    @property
    def in_memory(self) -> bool:
        """Whether the whole table is held in memory."""
        return self.name == MemoryEngine.name

    @property
    def on_spark(self) -> bool:
        """Whether rows stay on Spark."""
        return self.name == SparkEngine.name

    def open(self, source: BatchSource) -> Engine:
        """The engine on a source; to be used in a `with` block."""
        if self.in_memory:
            return MemoryEngine(source)
        if self.on_spark:
            return SparkEngine(source)
        return DuckDBEngine(source, memory_limit=self.limit, threads=self.threads)
