"""Keep spreadsheets from running CSV cells as formulas.

A text that begins with `=`, `+`, `-` or `@` and is no number gets an apostrophe in front.
So does one that begins with apostrophes and one of these signs: taking one apostrophe
off every such cell then gives back exactly what was written.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as types

from sfumato.data.cell_text import as_text, distinct

MARK = "'"
SIGNS = b"=+-@"
FORMULA = r"^[=+\-@]"
MARKED = r"^'+[=+\-@]"
NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"


def guarded(table: pa.Table) -> pa.Table:
    """The table with a mark before every cell and name that could be a formula."""
    columns = [_guarded(name, table[name]) for name in table.column_names]
    return pa.table(columns, names=_changed(table.column_names, _marked))


def unguarded(table: pa.Table) -> pa.Table:
    """The table of a CSV file without the marks that `guarded` puts."""
    columns = [_unmarked(table[name]) for name in table.column_names]
    names = _changed(table.column_names, _unmarked)
    return pa.table(columns, names=names).replace_schema_metadata(table.schema.metadata)


def formulas(table: pa.Table) -> int:
    """How many cells and names could be formulas."""
    named = _formula(pa.array(table.column_names, pa.string()))
    found = int(pc.sum(named).as_py() or 0)
    return found + sum(_formulas(name, table[name]) for name in table.column_names)


def _guarded(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    if types.is_integer(column.type) or types.is_boolean(column.type):
        return column
    if not types.is_dictionary(column.type):
        return _marked(as_text(column, name=name))
    values, places = distinct(column, name=name)
    codes = pa.array(places, mask=places < 0)
    texts = _marked(as_text(values, name=name))
    return pa.chunked_array([pa.DictionaryArray.from_arrays(codes, texts)])


def _formulas(name: str, column: pa.ChunkedArray) -> int:
    if not types.is_dictionary(column.type):
        text = types.is_string(column.type) or types.is_large_string(column.type)
        if not text:
            return 0
        likely = column.filter(_begins_like_one(column))
        return int(pc.sum(_formula(likely)).as_py() or 0)
    values, places = distinct(column, name=name)
    found = pc.fill_null(_formula(as_text(values, name=name)), False)
    flags = np.append(found.to_numpy(zero_copy_only=False), False)
    return int(flags[places].sum()) if flags.any() else 0


def _begins_like_one(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Whether the first byte of each text is one that formulas begin with."""
    parts = [pa.array(_has_sign(chunk), pa.bool_()) for chunk in column.chunks]
    return pa.chunked_array(parts, pa.bool_())


def _has_sign(chunk: Any) -> npt.NDArray[np.bool_]:
    _, offsets, data = chunk.buffers()
    if data is None or not data.size:
        return np.zeros(len(chunk), dtype=np.bool_)
    wide = types.is_large_string(chunk.type)
    ends: npt.NDArray[np.signedinteger[Any]] = np.frombuffer(
        offsets, np.int64 if wide else np.int32
    )
    starts = ends[chunk.offset : chunk.offset + len(chunk)]
    signs = np.zeros(256, dtype=np.bool_)
    signs[list(SIGNS)] = True
    # An empty text at the end begins behind the data; what it seems to begin with
    # does not matter.
    found: npt.NDArray[np.bool_] = signs[
        np.frombuffer(data, np.uint8).take(starts, mode="clip")
    ]
    return found


def _formula(texts: Any) -> Any:
    begins = pc.match_substring_regex(texts, FORMULA)
    return pc.and_not(begins, pc.match_substring_regex(texts, NUMBER))


def _marked(texts: Any) -> Any:
    needed = pc.or_(_formula(texts), pc.match_substring_regex(texts, MARKED))
    if not pc.any(needed).as_py():
        return texts
    return pc.if_else(needed, pc.binary_join_element_wise(MARK, texts, ""), texts)


def _unmarked(texts: Any) -> Any:
    needed = pc.match_substring_regex(texts, MARKED)
    if not pc.any(needed).as_py():
        return texts
    return pc.if_else(needed, pc.utf8_slice_codeunits(texts, start=1), texts)


def _changed(names: list[str], change: Any) -> list[str]:
    changed: list[str] = change(pa.array(names, pa.string())).to_pylist()
    return changed
