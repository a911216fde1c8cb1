"""Read cells as the values of the source where a file has them in another type.

Files of statistical programs have 1 and 0 for truths, and doubles for short floats. That
loses nothing, but the texts of such cells are others: `1` for `true`, and
0.10000000149011612 for 0.1. A manifest names the columns, so that a release is always
judged by the values of its source.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sfumato.pipeline.written_cells import is_number, value_type

SOURCE_TYPES = "source_types"
"""The key of a manifest whose file has columns in another type than the source."""
RESTORED = MappingProxyType({"bool": pa.bool_(), "float": pa.float32()})
"""The types whose values are told apart in a file that has only numbers for them."""


def other_types(draft: pa.Table, back: pa.Table) -> dict[str, str]:
    """The columns of a draft that came back in another type, each with its own."""
    drafted = {field.name: str(value_type(field.type)) for field in draft.schema}
    return {
        field.name: drafted[field.name]
        for field in back.schema
        if drafted[field.name] in RESTORED
        and is_number(field.type)
        and str(field.type) != drafted[field.name]
    }


def recorded(kinds: Mapping[str, str]) -> dict[str, Any]:
    """What a manifest says of columns in another type; nothing if there are none."""
    return {SOURCE_TYPES: dict(kinds)} if kinds else {}


def with_source_types(table: pa.Table, manifest: Mapping[str, Any]) -> pa.Table:
    """The same cells in the types that a manifest names.

    A column that has other numbers than such a type stays as it is.
    """
    kinds = manifest.get(SOURCE_TYPES)
    if not isinstance(kinds, Mapping):
        return table
    for name in kinds.keys() & set(table.column_names):
        kind = RESTORED.get(str(kinds[name]))
        if kind is not None:
            index = table.schema.get_field_index(name)
            column = _restored(table.column(name), kind)
            table = table.set_column(index, name, column)
    return table


def _restored(column: pa.ChunkedArray, kind: Any) -> pa.ChunkedArray:
    if not is_number(column.type):
        return column
    cells = column.cast(kind, safe=False)
    back = cells.cast(column.type, safe=False)
    # NaN is no truth, and it equals nothing.
    same = pc.or_(pc.equal(back, column), pc.and_(pc.is_nan(back), pc.is_nan(column)))
    return cells if pc.all(same).as_py() is not False else column
