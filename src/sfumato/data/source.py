"""What a source table remembers of the file it was read from."""

from __future__ import annotations

import pyarrow as pa

DELIMITER = b"sfumato.delimiter"
ENCODING = b"sfumato.encoding"


def remember(table: pa.Table, *, delimiter: str, encoding: str) -> pa.Table:
    """The table with the delimiter and encoding that were taken to read it."""
    return table.replace_schema_metadata({DELIMITER: delimiter, ENCODING: encoding})


def delimiter_of(table: pa.Table) -> str:
    """The delimiter a table was read with; a comma if it came from no CSV file."""
    return _remembered(table, DELIMITER, ",")


def encoding_of(table: pa.Table) -> str:
    """The encoding a table was read with; UTF-8 if it came from no CSV file."""
    return _remembered(table, ENCODING, "utf-8")


def _remembered(table: pa.Table, key: bytes, default: str) -> str:
    found: bytes = (table.schema.metadata or {}).get(key, default.encode())
    return found.decode()
