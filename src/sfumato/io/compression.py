"""Compress and decompress CSV files with gzip and zstd."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

import pyarrow as pa

from sfumato.errors import DataError
from sfumato.io.formats import compression_of
from sfumato.io.memory import free_memory

PIECE_BYTES = 1 << 26
GZIP_LEVEL = 6
RUN_COPIES = 8
"""What a whole run takes at most, as a multiple of the bytes that a file unpacks to."""
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
    most = None if free is None else free // RUN_COPIES
    pieces, size = [], 0
    while piece := archive.read(PIECE_BYTES):
        size += len(piece)
        if most is not None and size > most:
            raise _too_large(path, size, most)
        pieces.append(piece)
    return pa.py_buffer(b"".join(pieces))


def _too_large(path: Path, size: int, most: int) -> DataError:
    return DataError(
        f"'{path}' unpacks to more than {size:,} bytes; a compressed file may have "
        f"{most:,}, one part in {RUN_COPIES} of the memory that is free.",
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
