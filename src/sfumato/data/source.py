"""What a source table remembers of the file it was read from."""

from __future__ import annotations

import codecs
from collections.abc import Collection, Sequence

import pyarrow as pa
import pyarrow.types as types

from sfumato.data.cell_text import as_text

DELIMITER = b"sfumato.delimiter"
ENCODING = b"sfumato.encoding"
MULTILINE = b"sfumato.multiline"
ROW_NUMBERS = b"sfumato.row_numbers"
YES = b"yes"
CODED = b"sfumato.coded"
"""Marks a column of plain text that its reader made a dictionary of."""
WINDOWS = "cp1252"
"""The encoding of Western European files that Windows programs write."""
NO_DELIMITERS = frozenset('"\n\r\0')
NO_TEXT = frozenset(
    {"idna", "punycode", "undefined", "unicode-escape", "raw-unicode-escape"}
)
"""Python codecs that decode to text but are not file encodings."""


def remember(
    table: pa.Table,
    *,
    delimiter: str,
    encoding: str,
    multiline: bool = False,
) -> pa.Table:
    """Store how a table was read from a CSV file, and what its file had."""
    facts = {**(table.schema.metadata or {}), DELIMITER: delimiter, ENCODING: encoding}
    facts |= {MULTILINE: YES} if multiline else {}
    return table.replace_schema_metadata(facts)


def unnamed_first(names: Sequence[object]) -> bool:
    """Whether the first column has no name, as pandas and R write row numbers."""
    first = names[0] if len(names) > 1 else None
    return isinstance(first, str) and not first.strip()


def without_row_numbers(table: pa.Table) -> pa.Table:
    """A table without its first column, if that has no name."""
    return without_first(table) if unnamed_first(table.column_names) else table


def without_first(table: pa.Table) -> pa.Table:
    """A table without its first column, which has row numbers and no name."""
    facts = {**(table.schema.metadata or {}), ROW_NUMBERS: YES}
    return table.remove_column(0).replace_schema_metadata(facts)


def has_line_breaks(table: pa.Table) -> bool:
    """Whether a cell of the CSV file has several lines."""
    return _remembered(table, MULTILINE, "") != ""


def has_row_numbers(table: pa.Table) -> bool:
    """Whether the file has a first column without a name, which was left out."""
    return _remembered(table, ROW_NUMBERS, "") != ""


def delimiter_of(table: pa.Table) -> str:
    """The delimiter a table was read with; a comma if it came from no CSV file."""
    return _remembered(table, DELIMITER, ",")


def encoding_of(table: pa.Table) -> str:
    """The encoding a table was read with; UTF-8 if it came from no CSV file."""
    return _remembered(table, ENCODING, "utf-8")


def coded_field(name: str, kind: pa.DataType) -> pa.Field:
    """A column of plain text that comes as a dictionary only because it was coded."""
    return pa.field(name, kind, metadata={CODED: YES})


def coded_texts(table: pa.Table) -> frozenset[str]:
    """The columns of plain text that come as dictionaries."""
    return frozenset(
        each.name
        for each in table.schema
        if types.is_dictionary(each.type) and CODED in (each.metadata or {})
    )


def with_texts(table: pa.Table, *, but: Collection[str] = ()) -> pa.Table:
    """The same table with texts in place of codes, but for some columns."""
    for name in coded_texts(table).difference(but):
        place = table.column_names.index(name)
        table = table.set_column(place, name, as_text(table.column(name)))
    return table


def _remembered(table: pa.Table, key: bytes, default: str) -> str:
    found: bytes = (table.schema.metadata or {}).get(key, default.encode())
    return found.decode()


def delimiter_fault(text: str) -> str | None:
    """What is wrong with a delimiter of a CSV file, if anything."""
    if len(text) == 1 and text.isascii() and text not in NO_DELIMITERS:
        return None
    return "must be one ASCII character, and no quotation mark or line end"


def probable_encoding(content: bytes) -> str:
    """The encoding that bytes probably have if they are not UTF-8."""
    try:
        content.decode(WINDOWS)
    except UnicodeDecodeError:
        return "latin-1"
    return WINDOWS


def encoding_fault(name: str) -> str | None:
    """What is wrong with the name of a text encoding, if anything."""
    try:
        found = codecs.lookup(name)
    except (LookupError, ValueError, UnicodeError):
        return "is no encoding that is known"
    text = getattr(found, "_is_text_encoding", True)
    return None if text and found.name not in NO_TEXT else "is no encoding of text"
