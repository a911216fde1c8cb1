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
from sfumato.io.memory import require_memory

PIECE_BYTES = 1 << 26
GZIP_LEVEL = 6
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
    """Decompress while it fits in memory: a small file may expand endlessly."""
    pieces, size = [], 0
    while piece := archive.read(PIECE_BYTES):
        size += len(piece)
        require_memory(size, path, what=f"unpacks to more than {size:,} bytes")
        pieces.append(piece)
    return pa.py_buffer(b"".join(pieces))


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
