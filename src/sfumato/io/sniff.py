"""Detect the encoding and the delimiter of a CSV file."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from sfumato.data.csv_syntax import line_number
from sfumato.data.source import WINDOWS, encoding_fault, probable_encoding
from sfumato.errors import DataError, SettingHint

BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
DELIMITERS = (",", ";", "\t", "|")
OTHER_FILES = (
    (b"PAR1", "Parquet", ".parquet"),
    (b"ARROW1", "Arrow", ".arrow"),
    (b"PK\x03\x04", "a spreadsheet or a zip archive", ".csv after exporting it"),
    (b"\x1f\x8b", "gzip", ".csv.gz"),
)
HEAD_BYTES = 1 << 12
SAMPLE_BYTES = 1 << 16
PIECE_BYTES = 1 << 20
SAMPLE_ROWS = 100
CELL = r'(?:"([^"]*+(?:""[^"]*+)*+)"?+)?+([^{0}\r\n]*+)(\r\n?|\n|{0}|\Z)'
"""A cell that may break the grammar: quoted text, bare text, and what ends it."""


@dataclass(frozen=True, eq=False)
class Utf8Content:
    """The content of a CSV file as UTF-8 without a mark at its start."""

    buffer: pa.Buffer
    encoding: str
    """The encoding it came in."""

    @property
    def content(self) -> bytes:
        """A copy of all of it."""
        return bytes(memoryview(self.buffer))

    @property
    def blank(self) -> bool:
        return all(piece.isspace() for piece in self._pieces())

    def has(self, byte: bytes) -> bool:
        return any(byte in piece for piece in self._pieces())

    @property
    def sample(self) -> str:
        """Return the first lines, the last one complete."""
        end = min(SAMPLE_BYTES, self.buffer.size)
        for piece in self._pieces(end):
            found = piece.find(b"\n") + 1
            end += found or len(piece)
            if found:
                break
        return str(memoryview(self.buffer)[:end], "utf-8", errors="replace")

    def _pieces(self, start: int = 0) -> Iterator[bytes]:
        """All bytes from a place on, copied a piece at a time."""
        view = memoryview(self.buffer)
        for at in range(start, len(view), PIECE_BYTES):
            yield bytes(view[at : at + PIECE_BYTES])

    def _decodes(self) -> bool:
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            for piece in self._pieces():
                decoder.decode(piece)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
        return True

    def check_decodes(self, path: Path) -> None:
        """Raise for the first byte that is no UTF-8."""
        if self._decodes():
            return
        content = self.content
        try:
            content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise undecodable(content, error, path) from None


def plain_text(buffer: pa.Buffer, encoding: str | None, path: Path) -> Utf8Content:
    """Decode a CSV file, by declaration or by what its bytes prove.

    UTF-8 is taken unless a mark at the start, or the zero bytes of UTF-16, prove
    another. The old one-byte encodings cannot be proven from bytes (one byte is `ê` in
    one and `ę` in the next), so they are read only when declared.
    """
    head = bytes(memoryview(buffer)[:HEAD_BYTES])
    for magic, what, ending in OTHER_FILES:
        if head.startswith(magic):
            raise DataError(
                f"'{path}' is named like a text file, but it is {what}.",
                hint=f"Name it {ending}.",
            )
    chosen = _known(encoding, path) if encoding else proven_encoding(head)
    if chosen in ("utf-8", "utf-8-sig"):
        marked = head.startswith(codecs.BOM_UTF8)
        return Utf8Content(
            buffer.slice(len(codecs.BOM_UTF8)) if marked else buffer, chosen
        )
    text = _decoded(bytes(memoryview(buffer)), chosen, path)
    return Utf8Content(pa.py_buffer(text.encode("utf-8")), chosen)


def proven_encoding(head: bytes) -> str:
    """The encoding that the first bytes of a file prove, or else UTF-8."""
    for mark, name in BOMS:
        if head.startswith(mark):
            return name
    found = np.frombuffer(head, dtype=np.uint8)
    for first, name in ((1, "utf-16-le"), (0, "utf-16-be")):
        zeros, others = found[first::2] == 0, found[1 - first :: 2] == 0
        if len(found) > 3 and zeros.mean() > 0.9 and others.mean() < 0.1:
            return name
    return "utf-8"


def _known(encoding: str, path: Path) -> str:
    fault = encoding_fault(encoding)
    if fault is None:
        return codecs.lookup(encoding).name
    raise DataError(
        f"'{path}' cannot be read: the encoding '{encoding}' {fault}.",
        hint="Common ones are utf-8, utf-16, cp1252 and latin-1.",
    )


def _decoded(content: bytes, encoding: str, path: Path) -> str:
    try:
        return content.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise undecodable(content, error, path) from None
    except UnicodeError:
        raise DataError(
            f"'{path}' is not {encoding} text.", setting=_encoding_hint(content)
        ) from None


def undecodable(content: bytes, error: UnicodeDecodeError, path: Path) -> DataError:
    """The error for bytes that are no text in the encoding they were read in."""
    if _ends_within_character(error):
        return DataError(
            f"'{path}' ends in the middle of a character.",
            hint="It seems to be cut off: copy or export it again.",
        )
    line = line_number(memoryview(content), error.start)
    return DataError(
        f"'{path}', line {line}: the byte at offset {error.start} is not "
        f"{error.encoding} text.",
        setting=_encoding_hint(content),
    )


def _ends_within_character(error: UnicodeDecodeError) -> bool:
    """Whether UTF-8 is cut off; a single byte of old encodings looks the same."""
    last = len(error.object) - error.start
    others = last > 1 or not error.object[: error.start].isascii()
    return "unexpected end" in error.reason and error.encoding == "utf-8" and others


def _encoding_hint(content: bytes) -> SettingHint:
    """Suggest cp1252, which most files that are not UTF-8 have, or else latin-1."""
    value = probable_encoding(content)
    reason = "It is probably cp1252: if so"
    if value != WINDOWS:
        reason = f"It is not cp1252 either: if {value}"
    return SettingHint(key="encoding", value=value, reason=reason)


def find_delimiter(sample: str) -> str:
    """Find the delimiter that splits most rows into as many cells as the header has."""
    scores = [_score(sample, delimiter) for delimiter in DELIMITERS]
    best = max(scores)
    return DELIMITERS[scores.index(best)] if best > (0.0, 0) else ","


def header(sample: str, delimiter: str) -> list[str]:
    """The cells of the first row."""
    return next(iter(first_rows(sample, delimiter)), [])


def _score(sample: str, delimiter: str) -> tuple[float, int]:
    rows = first_rows(sample, delimiter)
    width = len(rows[0]) if rows else 0
    if width < 2:
        return (0.0, 0)
    alike = sum(len(row) == width for row in rows) / len(rows)
    return (alike, width)


def first_rows(sample: str, delimiter: str) -> list[list[str]]:
    """Return the first rows, as far as they can be recognized before parsing.

    They are those of Python's `csv`, which would refuse long cells.
    """
    rows: list[list[str]] = []
    row: list[str] = []
    for cell in re.finditer(CELL.format(re.escape(delimiter)), sample):
        quoted, bare, end = cell.groups(default="")
        if row or cell.end(2) > cell.start():
            row.append(quoted.replace('""', '"') + bare)
        elif end == delimiter:
            row.append("")
        if row and end != delimiter:
            rows.append(row)
            row = []
        if len(rows) == SAMPLE_ROWS:
            break
    return rows
