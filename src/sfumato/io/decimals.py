"""Convert numbers written with a decimal comma to numbers with a point."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as types

from sfumato.data.cell_text import distinct

NUMBER = r"^\s*[+-]?[0-9]*,[0-9]+\s*$"
THOUSANDS = r"^\s*[+-]?[0-9]{1,3},[0-9]{3}\s*$"


def with_points(table: pa.Table) -> pa.Table:
    """Return a table with decimal points, in columns with commas only in numbers."""
    for place, name in enumerate(table.column_names):
        column = table.column(place)
        values = _values(column)
        if values is not None and _all_numbers(values):
            pointed = pc.replace_substring(values, ",", ".")
            _, places = distinct(column, name=name)
            cells = pointed.take(pa.array(places, mask=places < 0))
            table = table.set_column(place, name, cells)
    return table


def pointed(table: pa.Table) -> tuple[pa.Table, str]:
    """Return a table with decimal points, and the decimal mark it seems to have had."""
    return (with_points(table), ",") if has_commas(table) else (table, ".")


def has_commas(table: pa.Table) -> bool:
    """Whether a column seems to have decimal commas, and not thousands in parts."""
    found = (_values(column) for column in table.columns)
    return any(v is not None and _all_numbers(v) and not _parted(v) for v in found)


def _values(column: pa.ChunkedArray) -> Any:
    """The distinct texts of a column; None if it has no texts."""
    if not types.is_string(column.type):
        return None
    return distinct(column)[0]


def _all_numbers(values: Any) -> bool:
    """Whether there are commas, and each is the one comma of a number."""
    commas = values.filter(pc.match_substring(values, ","))
    return bool(len(commas)) and _all(commas, NUMBER)


def _parted(values: Any) -> bool:
    return _all(values.filter(pc.match_substring(values, ",")), THOUSANDS)


def _all(texts: Any, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(texts, pattern)).as_py())
