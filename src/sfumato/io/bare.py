"""Tables stripped of everything that their cells do not show."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as types

from sfumato.data.beside import each
from sfumato.data.text import distinct


def bare(table: pa.Table) -> pa.Table:
    """A table without metadata, its dictionaries reduced to what occurs.

    Metadata of the source may name its rows and columns, and a dictionary lists values
    that were suppressed, in the order in which the source shows them.
    """
    columns = each(compact, table.columns)
    fields = [
        pa.field(name, column.type)
        for name, column in zip(table.column_names, columns, strict=True)
    ]
    return pa.table(columns, schema=pa.schema(fields))


def compact(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A dictionary reduced to what occurs; sorted unless its order has meaning."""
    if not types.is_dictionary(column.type):
        return column
    values, places = distinct(column)
    if types.is_string_view(values.type):
        # Arrow cannot take single values of this type.
        values = values.cast(pa.string())
    seen = np.zeros(len(values) + 1, dtype=np.bool_)
    seen[places] = True
    used = np.flatnonzero(seen[:-1])
    if not column.type.ordered and len(used):
        kept = values.take(pa.array(used))
        used = used[pc.sort_indices(kept).to_numpy()]
    new_place = np.full(len(values) + 1, -1, dtype=np.int32)
    new_place[used] = np.arange(len(used))
    codes = new_place[places]
    compacted = pa.DictionaryArray.from_arrays(
        pa.array(codes, mask=codes < 0).cast(column.type.index_type),
        values.take(pa.array(used)),
        ordered=column.type.ordered,
    )
    return pa.chunked_array([compacted])
