"""File formats, recognized by file name extension."""

from __future__ import annotations

import hashlib
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

import pyarrow as pa

from sfumato.errors import DataError


class Format(StrEnum):
    """A file format; its text is the usual end of a file's name."""

    CSV = "csv"
    PARQUET = "parquet"
    ARROW = "arrow"


ENDINGS = MappingProxyType(
    {
        ".csv": Format.CSV,
        ".tsv": Format.CSV,
        ".txt": Format.CSV,
        ".parquet": Format.PARQUET,
        ".pq": Format.PARQUET,
        ".arrow": Format.ARROW,
        ".feather": Format.ARROW,
        ".ipc": Format.ARROW,
    }
)


def format_of(path: str | Path) -> Format:
    """The format that a file's name stands for; `.csv.gz` is CSV."""
    name = Path(path).name.lower().removesuffix(".gz")
    found = ENDINGS.get(Path(name).suffix)
    if found is None or (compressed(path) and found is not Format.CSV):
        raise DataError(
            f"'{path}' has no file ending that is known.",
            hint=f"Known endings are {', '.join(ENDINGS)} and .csv.gz.",
        )
    return found


def compressed(path: str | Path) -> bool:
    """Whether a file's name says that it is compressed with gzip."""
    return Path(path).name.lower().endswith(".gz")


def hash_bytes(content: pa.Buffer) -> str:
    """The SHA-256 of bytes, as hexadecimal text."""
    return hashlib.sha256(content).hexdigest()
