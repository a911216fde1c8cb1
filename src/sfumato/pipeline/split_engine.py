"""Count a table whose columns are in two places: on the driver, and on Spark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property
from typing import ClassVar

from sfumato.data.batch_source import BatchSource
from sfumato.engines.base import CountedLines, Engine
from sfumato.engines.spark_engine import SparkEngine, SparkTable


class SplitEngine(Engine):
    """Counts the driver's columns there; what takes others is counted on Spark.

    `source` is the source, if all of its rows are in the table: columns that are
    published as they are can be counted there.
    """

    name: ClassVar[str] = SparkEngine.name

    def __init__(
        self,
        near: Engine,
        far: Callable[[], SparkTable],
        carried: Sequence[str],
        *,
        source: SparkTable | None,
    ) -> None:
        self.source = near.source
        self._near, self._open, self._carried = near, far, frozenset(carried)
        self._source, self._kept = source, False

    def __enter__(self) -> SplitEngine:
        self._near.__enter__()
        return self

    def __exit__(self, *fault: object) -> None:
        """Close the driver's part, and let Spark forget what it kept."""
        self._near.__exit__(*fault)  # type: ignore[arg-type]
        if self._kept:
            with suppress(Exception):
                self._far.source.frame.unpersist()

    @cached_property
    def _far(self) -> SparkEngine:
        found = self._open()
        # Several columns are counted one after the other.
        found.frame.persist()
        self._kept = True
        return SparkEngine(found)

    def _of(self, columns: Sequence[str]) -> Engine:
        if self._carried.isdisjoint(columns):
            return self._near
        if self._source is not None and self._carried.issuperset(columns):
            return SparkEngine(self._source)
        return self._far

    def count(self, columns: Sequence[str]) -> CountedLines:
        """Count the rows of each distinct combination of cells."""
        return self._of(columns).count(columns)

    def alone(
        self, column: str, beside: Sequence[str], missing: Sequence[str] | None
    ) -> int:
        """Count the rows whose combination of cells no other row has."""
        return self._of([column, *beside]).alone(column, beside, missing)

    def ordered(self, key: Sequence[str]) -> BatchSource:
        """The same rows in the order of the key."""
        return self._of(key).ordered(key)
