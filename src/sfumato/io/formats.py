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
    SPSS = "sav"
    STATA = "dta"
    SAS = "xpt"
    SAS_NATIVE = "sas7bdat"
    EXCEL = "xlsx"

    @property
    def statistical(self) -> bool:
        """Whether files of this format are read through pyreadstat."""
        return self in STATISTICAL


STATISTICAL = frozenset(
    {Format.SPSS, Format.STATA, Format.SAS, Format.SAS_NATIVE},
)
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
        ".sav": Format.SPSS,
        ".zsav": Format.SPSS,
        ".dta": Format.STATA,
        ".xpt": Format.SAS,
        ".sas7bdat": Format.SAS_NATIVE,
        ".xlsx": Format.EXCEL,
    }
)
PACKED = MappingProxyType({".gz": "gzip", ".zst": "zstd"})
"""How CSV files may be compressed, by the end of their names."""
STREAM = "-"
"""The path that stands for standard input."""


def format_of(path: str | Path) -> Format:
    """The format that a file's name stands for; `.csv.gz` is CSV, and so is `-`."""
    if is_stream(path):
        return Format.CSV
    name = Path(path).name.lower()
    packed = compression_of(path) is not None
    name = Path(name).stem if packed else name
    found = ENDINGS.get(Path(name).suffix)
    if found is None or (packed and found is not Format.CSV):
        raise DataError(
            f"'{path}' has no file ending that is known.",
            hint=f"Known endings are {', '.join(ENDINGS)}, .csv.gz and .csv.zst.",
        )
    return found


def compression_of(path: str | Path) -> str | None:
    """How a file is compressed, as its name says; None: it is not."""
    return PACKED.get(Path(path).suffix.lower())


def is_stream(path: str | Path) -> bool:
    """Return whether a path stands for standard input or output."""
    return str(path) == STREAM


def sibling(path: Path, name: str) -> Path:
    """A file in the same directory, with the same ending and another name."""
    packed = compression_of(path) is not None
    ending = "".join(path.suffixes[-2:]) if packed else path.suffix
    return path.with_name(name + ending)


def written_as(format: Format) -> str:
    """The format in which a release of such a source is written by default."""
    return Format.SAS if format is Format.SAS_NATIVE else format


def hash_file(path: str | Path) -> str:
    """The SHA-256 of a file, which is never in memory as a whole."""
    with Path(path).open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def hash_bytes(content: pa.Buffer) -> str:
    """The SHA-256 of bytes, as hexadecimal text."""
    return hashlib.sha256(content).hexdigest()
