"""Count out of core: DuckDB scans batches and spills to disk under a memory limit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from sfumato.data.batch_source import Batches, BatchSource
from sfumato.data.disk_arrays import full_disk
from sfumato.data.growing_dictionary import GrowingDictionary
from sfumato.data.io_faults import FileFault, file_fault
from sfumato.engines.base import CountedLines, Engine
from sfumato.engines.counted_types import carried, carrier, plain_of, restored
from sfumato.engines.spill_directory import close_to_others, spill_directory
from sfumato.errors import DataError, InstallationError, OutputError

FEWEST_BYTES = 64 * 10**6
"""Below this limit DuckDB cannot even hold the batches that it works on."""
ROWS = "sfumato_rows"
BATCH_ROWS = 1 << 16


class DuckDBEngine(Engine):
    """Counts rows that need not fit in memory."""

    name: ClassVar[str] = "duckdb"

    def __init__(
        self, source: BatchSource, *, memory_limit: int, threads: int = 1
    ) -> None:
        self.source = source
        refuse_small(memory_limit)
        self._limit, self._threads = memory_limit, threads
        self._open = ExitStack()
        self._connection: Any = None
        self._spill: Path | None = None

    def __enter__(self) -> DuckDBEngine:
        self._spill = self._open.enter_context(spill_directory())
        self._connection = self._open.enter_context(
            _library().connect(
                config={
                    "memory_limit": f"{self._limit}B",
                    "temp_directory": str(self._spill),
                    "threads": self._threads,
                    "preserve_insertion_order": False,
                }
            )
        )
        return self

    def __exit__(self, *_fault: object) -> None:
        """Close the database and remove what it spilled."""
        self._open.close()

    def count(self, columns: Sequence[str]) -> CountedLines:
        """Count the rows of each distinct combination of cells.

        Texts are numbered before they are counted, which takes less memory and time.
        """
        names = _places(len(columns))
        text = f"SELECT {_listed(names)}, count(*) FROM {ROWS} GROUP BY ALL"
        kinds = [self._kind(name) for name in columns]
        texts = {
            place: GrowingDictionary(_value_type(kind))
            for place, kind in enumerate(kinds)
            if _textual(kind)
        }
        lines: list[list[Any]] = [[] for _ in columns]
        times = [np.zeros(0, np.int64)]
        for batch in self._answer(text, columns, texts):
            for place, part in enumerate(lines):
                part.append(batch.column(place))
            times.append(batch.column(len(lines)).to_numpy().astype(np.int64))
        cells = [
            _counted_cells(lines[place], kind, texts.get(place))
            for place, kind in enumerate(kinds)
        ]
        return CountedLines(pa.table(cells, list(columns)), np.concatenate(times))

    def alone(
        self, column: str, beside: Sequence[str], missing: Sequence[str] | None
    ) -> int:
        """Count the rows whose combination of cells no other row has."""
        names = _places(1 + len(beside))
        known = "true" if missing is None else f"{names[0]} IS NOT NULL"
        if missing and carrier(column, self._kind(column)) == pa.string():
            known += f" AND {names[0]} NOT IN ({_listed(map(_quoted, missing))})"
        inner = (
            f"SELECT 1 FROM {ROWS} WHERE {known} GROUP BY {_listed(names)} "
            "HAVING count(*) = 1"
        )
        (batch,) = self._answer(f"SELECT count(*) FROM ({inner})", [column, *beside])
        return int(batch.column(0)[0].as_py())

    def ordered(self, key: Sequence[str]) -> BatchSource:
        """The same rows in the order of the key."""
        names = self.source.names

        def read(asked: Sequence[str]) -> Batches:
            taken = list(dict.fromkeys([*asked, *key]))
            by = _listed(f"c{taken.index(name)}" for name in key)
            shown = _listed(_places(len(asked)))
            text = f"SELECT {shown} FROM {ROWS} ORDER BY {by}"
            schema = pa.schema([self.source.schema.field(name) for name in asked])
            for batch in self._answer(text, taken):
                cells = [
                    _plain(restored(cells, field.type), field.type)
                    for cells, field in zip(batch.columns, schema, strict=True)
                ]
                yield pa.RecordBatch.from_arrays(cells, schema=schema)

        for name in names:
            carrier(name, self._kind(name))
        return BatchSource(
            schema=self.source.schema, read=read, bytes=self.source.bytes
        )

    def _kind(self, column: str) -> Any:
        return self.source.schema.field(column).type

    def _answer(
        self,
        text: str,
        columns: Sequence[str],
        texts: Mapping[int, GrowingDictionary] = MappingProxyType({}),
    ) -> Iterator[Any]:
        """Run a query on some columns, named c0, c1, … there; `texts` are numbered."""
        names = _places(len(columns))
        kinds = [
            pa.int32() if place in texts else carrier(name, self._kind(name))
            for place, name in enumerate(columns)
        ]
        schema = pa.schema(list(zip(names, kinds, strict=True)))

        def cells(batch: Any) -> Any:
            close_to_others(self._spill)
            carry = [
                pa.array(texts[place].add(part))
                if place in texts
                else carried(part, columns[place])
                for place, part in enumerate(batch.columns)
            ]
            return pa.RecordBatch.from_arrays(carry, schema=schema)

        reading = _Reading(map(cells, self.source.read(columns)))
        reader = pa.RecordBatchReader.from_batches(schema, reading.batches())
        with _explained(self._limit), reading, self._connection.cursor() as cursor:
            cursor.register(ROWS, reader)
            for answer in cursor.sql(text).to_arrow_reader(BATCH_ROWS):
                close_to_others(self._spill)
                yield answer


class _Reading:
    """Batches that a database takes; a fault of their source is raised as it was.

    The database would tell it in words of its own, which quote it.
    """

    def __init__(self, found: Iterator[Any]) -> None:
        self._found = found
        self._fault: BaseException | None = None

    def batches(self) -> Iterator[Any]:
        """The batches, one after the other."""
        try:
            yield from self._found
        except BaseException as fault:
            self._fault = fault
            raise

    def __enter__(self) -> None:
        """Nothing has to be opened."""

    def __exit__(self, *_fault: object) -> None:
        """Raise the fault of the source, if there was one."""
        if self._fault is not None:
            raise self._fault from None


def _counted_cells(parts: list[Any], kind: Any, texts: GrowingDictionary | None) -> Any:
    """A column of lines in its own type; text as a dictionary."""
    if texts is None:
        cells = [restored(part, kind) for part in parts]
        return pa.chunked_array(cells, plain_of(kind))
    found = [part.to_numpy() for part in parts]
    places = np.concatenate([np.zeros(0, np.int32), *found])
    indices = pa.array(places, mask=places < 0)
    return pa.DictionaryArray.from_arrays(indices, texts.values)


def _value_type(kind: Any) -> Any:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _textual(kind: Any) -> bool:
    if pa.types.is_dictionary(kind):
        return _textual(kind.value_type)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _plain(cells: Any, kind: Any) -> Any:
    """Text as the type of its column, which may be one of categories."""
    return cells if cells.type == kind else cells.cast(kind)


def refuse_small(limit: int) -> None:
    """Refuse a memory limit that no query can work under."""
    if limit < FEWEST_BYTES:
        raise DataError(
            f"The memory limit is {limit / 1e6:,.0f} MB; counting out of memory needs "
            f"{FEWEST_BYTES / 1e6:,.0f} MB.",
            hint="Raise --memory-limit.",
        )


@contextmanager
def _explained(limit: int) -> Iterator[None]:
    """Turn faults of the database into errors that quote no cell."""
    library = _library()
    try:
        yield
    except library.OutOfMemoryException as fault:
        if re.search("No space left|failed to offload|max_temp", str(fault)):
            raise full_disk() from None
        raise DataError(
            f"The memory limit of {limit / 1e6:,.0f} MB is too small for this table.",
            hint="Raise --memory-limit; nothing was left behind.",
        ) from None
    except library.IOException as fault:
        raise _spill_fault(str(fault)) from None


def _spill_fault(text: str) -> OutputError:
    """Why the directory for temporary files cannot be used."""
    cause = file_fault(text)
    if cause is FileFault.FULL:
        return full_disk()
    why = "what it holds cannot be used" if cause is None else f"it is {cause.value}"
    return OutputError(
        f"The directory for temporary files failed while it was used: {why}.",
        hint="Look at it, or name another place in TMPDIR; nothing was left behind.",
    )


def _library() -> Any:
    try:
        import duckdb
    except ImportError:
        raise InstallationError(
            "Counting out of memory needs duckdb, which is not installed.",
            hint="pip install 'sfumato[duckdb]'",
        ) from None
    return duckdb


def _places(count: int) -> list[str]:
    return [f"c{place}" for place in range(count)]


def _listed(parts: Any) -> str:
    return ", ".join(parts)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
