"""Read and write directories of Parquet files with Spark."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sfumato.engines.spark_engine import explained
from sfumato.engines.spark_types import quoted

GLOB = re.compile(r"([\\*?\[\]{}])")
"""What Spark takes for a pattern in the name of a file."""
PART = re.compile(r"part-([0-9]+)-.*\.parquet")
ROWS_PER_PART = 1 << 20
TIMES = "spark.sql.parquet.outputTimestampType"


def read_files(session: Any, files: Sequence[Path], *, top: Path | None = None) -> Any:
    """A frame of Parquet files; names such as `year=2024` below `top` are columns."""
    reader = session.read
    if top is not None:
        reader = reader.option("basePath", address(top))
    with explained():
        return reader.parquet(*(GLOB.sub(r"\\\1", address(file)) for file in files))


def address(place: Path) -> str:
    """A place on a disk that all workers see, as Spark names it."""
    return f"file://{place.absolute()}"


def write_parts(frame: Any, place: Path, *, order: str, rows: int) -> None:
    """Write a frame as a directory of parts, in the order of a column that counts rows.

    That column, which counts from 0, is not written.
    """
    parts = max(1, -(-rows // ROWS_PER_PART))
    with explained():
        placed = _in_parts(frame, order, parts, -(-rows // parts))
        kept = [name for name in frame.columns if name != order]
        shown = placed.select(
            *(placed[quoted(name)].alias(name, metadata={}) for name in kept)
        )
        with _microseconds(frame.sparkSession):
            shown.write.option("compression", "zstd").parquet(address(place))
    _tidy(place)


@contextmanager
def _microseconds(session: Any) -> Iterator[None]:
    """Write points in time as others read them, and not as Spark did long ago."""
    before = session.conf.get(TIMES)
    session.conf.set(TIMES, "TIMESTAMP_MICROS")
    try:
        yield
    finally:
        session.conf.set(TIMES, before)


def _in_parts(frame: Any, order: str, parts: int, size: int) -> Any:
    """Rows in as many parts as asked, the first rows in the first."""
    if hasattr(frame, "repartitionById"):
        part = (frame[quoted(order)] / max(size, 1)).cast("int")
        placed = frame.repartitionById(parts, part)
    else:
        placed = frame.repartitionByRange(parts, quoted(order))
    return placed.sortWithinPartitions(quoted(order))


def _tidy(place: Path) -> None:
    """Keep the parts alone, named by their numbers."""
    for file in list(place.iterdir()):
        found = PART.fullmatch(file.name)
        if found:
            file.rename(place / f"part-{int(found[1]):05d}.parquet")
        else:
            file.unlink()
