"""Cut the blanks at the end of texts, which some formats do not keep."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as types

BLANK = " "


def trimmed(table: pa.Table) -> pa.Table:
    """The table with texts that do not end with blanks; categories stay categories."""
    for place, field in enumerate(table.schema):
        column = _trimmed(table.column(place))
        if column is not table.column(place):
            table = table.set_column(place, field, column)
    return table


def _trimmed(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    if types.is_dictionary(kind):
        return _trimmed_dictionary(column)
    if not (types.is_string(kind) or types.is_large_string(kind)):
        return column
    if not pc.any(pc.ends_with(column, BLANK)).as_py():
        return column
    return pc.utf8_rtrim(column, BLANK)


def _trimmed_dictionary(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A dictionary of shorter texts, in which two may have become one."""
    kind = column.type
    values = [pa.chunked_array([chunk.dictionary]) for chunk in column.chunks]
    if all(_trimmed(each) is each for each in values):
        return column
    texts = _trimmed(column.cast(kind.value_type))
    return texts.dictionary_encode().cast(kind)
