"""Compress and decompress CSV files with gzip and zstd."""

from __future__ import annotations

import gzip
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

import pyarrow as pa

from sfumato.errors import DataError
from sfumato.io.formats import compression_of
from sfumato.io.memory import free_memory, giga

PIECE_BYTES = 1 << 26
GZIP_LEVEL = 6
RUN_BYTES, RUN_LINE_BYTES = 10, 900
"""What a whole run takes for each byte that a file unpacks to, and for each line.

More than was measured for files of 1 to 60 columns and 2 to 200 bytes in a line: 285 bytes
for each line where values repeat, 975 where a million values of three columns are all
different, 1,950 for thirty quasi-identifiers of one digit among sixty columns.
"""
_DAMAGED = (gzip.BadGzipFile, EOFError, zlib.error, pa.ArrowException, OSError)


def unpacked(content: pa.Buffer, path: Path) -> pa.Buffer:
    """The plain bytes of a file that its name says is compressed."""
    kind = compression_of(path)
    if kind is None:
        return content
    try:
        with _READERS[kind](content) as archive:
            return _inflated(archive, path)
    except DataError:
        raise
    except _DAMAGED:
        raise DataError(
            f"'{path}' is not a whole {kind} file.",
            hint=f"Copy it again, or drop the ending {path.suffix} if it is plain text.",
        ) from None


def _inflated(archive: Any, path: Path) -> pa.Buffer:
    """Decompress a part of what fits in memory: a small file may expand endlessly."""
    free = free_memory()
    pieces, size, ends = [], 0, Counter[bytes]()
    while piece := archive.read(PIECE_BYTES):
        size += len(piece)
        ends.update({end: piece.count(end) for end in (b"\n", b"\r")})
        lines = max(ends.values())
        if free is not None and run_memory(size, lines) > free:
            raise _too_large(path, size, lines, free)
        pieces.append(piece)
    return pa.py_buffer(b"".join(pieces))


def run_memory(size: int, lines: int) -> int:
    """What a run takes at most with a file of so many bytes and lines."""
    return RUN_BYTES * size + RUN_LINE_BYTES * lines


def _too_large(path: Path, size: int, lines: int, free: int) -> DataError:
    return DataError(
        f"'{path}' unpacks to {size:,} bytes in {lines:,} lines or more; a run with them "
        f"may take {giga(run_memory(size, lines))} of memory, and {giga(free)} are free.",
        hint="If its size is right, unpack it: other files are read as far as they fit, "
        "and in batches with --engine duckdb.",
    )


def _read_gzip(content: pa.Buffer) -> Any:
    return gzip.GzipFile(fileobj=pa.BufferReader(content))


def _read_zstd(content: pa.Buffer) -> Any:
    return pa.CompressedInputStream(pa.BufferReader(content), "zstd")


_READERS: dict[str, Callable[[pa.Buffer], Any]] = {
    "gzip": _read_gzip,
    "zstd": _read_zstd,
}


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to, compressed as its name says.

    An archive has no file name and no time in it, so the same table gives the same
    bytes.
    """
    kind = compression_of(path)
    with path.open("wb") as file:
        if kind is None:
            yield file
        elif kind == "gzip":
            with gzip.GzipFile("", "wb", GZIP_LEVEL, file, mtime=0) as archive:
                yield cast("IO[bytes]", archive)
        else:
            with pa.CompressedOutputStream(file, "zstd") as archive:
                yield archive
