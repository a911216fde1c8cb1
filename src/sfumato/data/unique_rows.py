"""Count rows that a column identifies: values that occur once, alone or combined."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as types

from sfumato.data.arrays import Ints
from sfumato.data.cell_text import distinct
from sfumato.data.distinct_keys import counted_keys, ranked_keys

MOST = 0.05
"""If a larger share of rows has a unique value, a column gives people away."""
MOST_TOGETHER = 0.2
"""If exact columns together make a larger share of rows unique beside the
quasi-identifiers, they undo what k promises. In groups of 5, a column of two values
makes 3 to 13% unique."""
FEW = 8
"""Pairs are counted in a table if it has at most this many cells per row."""
LARGEST = 1 << 62
"""Combinations are packed into numbers up to this before they are numbered."""
BETWEEN = pa.scalar(b"\x1f")


def value_places(column: pa.ChunkedArray, missing: Sequence[str] = ()) -> Ints:
    """A number for each cell's value, from 0; −1 for cells that have none."""
    values, places = distinct(_flat(column))
    if missing and len(values) and types.is_string(values.type):
        gone = pc.is_in(values, value_set=pa.array(missing, pa.string()))
        if pc.any(gone).as_py():
            marked = np.append(gone.to_numpy(zero_copy_only=False), True)
            places = np.where(marked[places], -1, places)
    return places.astype(np.int64)


def alone(places: Ints) -> int:
    """Count the rows whose value no other row has."""
    known = places if int(places.min(initial=0)) >= 0 else places[places >= 0]
    return int((np.bincount(known) == 1).sum())


def alone_together(known: Ints, places: Ints) -> int:
    """Count the rows whose pair of values no other row has; −1 in `places` is no value."""
    if int(places.min(initial=0)) < 0:
        there = places >= 0
        known, places = known[there], places[there]
    return int((_counts(known, places) == 1).sum())


def _counts(first: Ints, second: Ints) -> Ints:
    """How many rows have each pair of numbers."""
    size = int(second.max(initial=-1)) + 1
    keys = first * size
    keys += second
    if int(first.max(initial=-1) + 1) * size > FEW * max(len(keys), 1):
        return counted_keys(keys)[1]
    return np.bincount(keys)


def joined(parts: Iterable[Ints], rows: int) -> Ints:
    """A number for each combination of values; a value that is missing is one.

    Numbers are in the order of the combinations, without gaps.
    """
    together, span = np.zeros(rows, dtype=np.int64), 1
    for places in parts:
        size = int(places.max(initial=-1)) + 2
        if span * size > LARGEST:
            together = _dense(together)
            span = int(together.max(initial=0)) + 1
        together *= size
        together += places
        together += 1
        span *= size
    return _dense(together)


def _dense(keys: Ints) -> Ints:
    """The same distinctions, numbered without gaps."""
    largest = int(keys.max(initial=0)) + 1
    if largest > FEW * max(len(keys), 1):
        return ranked_keys(keys)[1]
    seen = np.zeros(largest, dtype=np.bool_)
    seen[keys] = True
    return (np.cumsum(seen) - 1)[keys]


def _flat(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of nested cells as bytes that differ where the cells do."""
    kind = column.type
    if not (types.is_nested(kind) or isinstance(kind, pa.BaseExtensionType)):
        return column
    return pa.chunked_array([_bytes(chunk) for chunk in column.chunks], pa.binary())


def _bytes(array: Any) -> Any:
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return _bytes(array.storage)
    if types.is_struct(kind):
        parts = [_marked(part) for part in array.flatten()]
        return pc.binary_join_element_wise(*parts, BETWEEN) if parts else _blank(array)
    if types.is_nested(kind) and not types.is_dictionary(kind):
        return _listed(array)
    if types.is_dictionary(kind):
        return _bytes(array.cast(kind.value_type))
    if types.is_binary(kind):
        return array
    return array.cast(pa.string()).cast(pa.binary())


def _listed(array: Any) -> Any:
    """Lists and maps: their elements, one after the other."""
    lengths = pc.list_value_length(array) if not types.is_map(array.type) else None
    if lengths is None:
        pairs = pa.list_(pa.struct([array.type.key_field, array.type.item_field]))
        return _listed(array.cast(pairs))
    ends = np.cumsum(np.append(0, lengths.fill_null(0).to_numpy()))
    elements = _marked(array.flatten())
    lists = pa.ListArray.from_arrays(pa.array(ends, pa.int32()), elements)
    texts = pc.binary_join(lists, BETWEEN)
    counted = lengths.cast(pa.string()).cast(pa.binary())
    return pc.binary_join_element_wise(counted, texts, BETWEEN)


def _marked(array: Any) -> Any:
    """Return cells as bytes, with a separate mark for null."""
    return pc.fill_null(_bytes(array), b"\x00")


def _blank(array: Any) -> Any:
    return pa.array([b""] * len(array), pa.binary())
