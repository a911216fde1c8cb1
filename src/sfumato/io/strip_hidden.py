"""Strip everything from a table that its cells do not show.

An Arrow array may hold more than it shows: dictionary values that no cell points to,
bytes before and after a slice, values behind nulls, elements of lists that are null,
and metadata of every field, at any depth. So every column is built anew.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as types

from sfumato.data.arrays import Codes, Flags, Ints
from sfumato.data.disk_arrays import IN_MEMORY, MemoryArrays
from sfumato.data.parallel import each
from sfumato.errors import DataError

Array = Any
"""An Arrow array; the library's own types differ between releases."""
UNABLE = (pa.ArrowNotImplementedError, pa.ArrowInvalid, pa.ArrowCapacityError)
SILENT = frozenset(
    {"arrow.uuid", "arrow.bool8", "arrow.json", "pandas.period", "pandas.interval"}
)
"""Types of others whose parameters cannot hold a cell."""


def bare(table: pa.Table, arrays: MemoryArrays = IN_MEMORY) -> pa.Table:
    """A table of the same cells, with nothing that they do not show.

    Metadata of the source may name its rows and columns, and a dictionary lists values
    that were suppressed, in the order in which the source shows them.
    """
    refuse_opaque(table)

    def kept(column: pa.ChunkedArray) -> pa.ChunkedArray:
        found = arrays.keep_cells(compact(column))
        arrays.release()
        return found

    columns = each(kept, table.columns)
    fields = [
        pa.field(name, column.type)
        for name, column in zip(table.column_names, columns, strict=True)
    ]
    return pa.table(columns, schema=pa.schema(fields))


def refuse_opaque(table: pa.Table) -> None:
    """Refuse columns of types whose hidden content cannot be removed."""
    for field in table.schema:
        if _opaque(field.type):
            raise DataError(
                f"Column '{field.name}' has the type {field.type}, which may carry more "
                "than its cells show.",
                hint="Turn it into a plain column, or leave it out.",
            )


def _opaque(kind: Any) -> bool:
    """Whether Arrow can neither pick single cells of a type nor blank them out."""
    if types.is_union(kind) or types.is_run_end_encoded(kind):
        return True
    if isinstance(kind, pa.BaseExtensionType):
        return _opaque(kind.storage_type)
    if types.is_dictionary(kind):
        return _opaque(kind.value_type)
    return any(_opaque(kind.field(at).type) for at in range(kind.num_fields))


def compact(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of the same cells; in one piece where Arrow can hold it so."""
    parts = [bare_array(part) for part in column.chunks or [pa.nulls(0, column.type)]]
    try:
        whole = [bare_array(pa.concat_arrays(parts))] if len(parts) > 1 else parts
    except UNABLE:
        whole = parts
    return pa.chunked_array(whole)


def bare_array(array: Array) -> Array:
    """Rebuild an array from the cells that it shows."""
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return _bare_extension(array)
    for told, build in BUILDERS:
        if told(kind):
            return build(array)
    return _bare_fixed(array)


def _bare_extension(array: Array) -> Array:
    """Keep the type if its parameters reveal nothing; else return its storage."""
    kind, stored = array.type, bare_array(array.storage)
    plain = kind.extension_name in SILENT and stored.type == kind.storage_type
    return pa.ExtensionArray.from_storage(kind, stored) if plain else stored


def _bare_null(array: Array) -> Array:
    return pa.nulls(len(array))


def _bare_bool(array: Array) -> Array:
    shown = array.fill_null(False).to_numpy(zero_copy_only=False)
    return pa.array(shown, mask=~_valid(array))


def _bare_fixed(array: Array) -> Array:
    """Cells of a fixed width: their bytes, and zeros behind nulls."""
    kind, rows, width = array.type, len(array), array.type.bit_width // 8
    data = array.buffers()[1]
    if data is None:
        return pa.nulls(rows, kind)
    if not (array.offset or array.null_count) and data.size == rows * width:
        return array
    start = array.offset * width
    cells = np.frombuffer(data, np.uint8)[start : start + rows * width]
    cells = cells.reshape(rows, width).copy()
    cells[~_valid(array)] = 0
    return pa.Array.from_buffers(kind, rows, [_bitmap(array), pa.py_buffer(cells)])


def _bare_bytes(array: Array) -> Array:
    """Texts and bytes: those of valid cells, one after the other."""
    return array if _is_tight(array) else array.take(_numbered(len(array)))


def _is_tight(array: Array) -> bool:
    if array.offset or array.null_count or not len(array):
        return False
    _, offsets, data = array.buffers()
    wide = types.is_large_string(array.type) or types.is_large_binary(array.type)
    ends = np.frombuffer(offsets, np.int64 if wide else np.int32)
    used = 0 if data is None else data.size
    return len(ends) == len(array) + 1 and ends[0] == 0 and int(ends[-1]) == used


def _bare_view(array: Array) -> Array:
    kind = array.type
    text = types.is_string_view(kind)
    plain = array.cast(pa.large_string() if text else pa.large_binary())
    return _bare_bytes(plain).cast(kind)


def _bare_dictionary(array: Array) -> Array:
    """A dictionary of what occurs; sorted unless its order has meaning."""
    kind, values = array.type, array.dictionary
    ordered = kind.ordered
    if types.is_string_view(values.type):
        # Arrow cannot take single values of this type.
        values = values.cast(pa.string())
    places = _places(array)
    seen = _seen(places, len(values))
    shown = np.flatnonzero(seen[:-1])
    kept = bare_array(_taken(values, shown))
    order = np.arange(len(shown)) if ordered else _order(kept, shown, places)
    new_place = np.full(len(values) + 1, -1, dtype=np.int32)
    new_place[shown[order]] = np.arange(len(shown))
    codes = new_place[places]
    return pa.DictionaryArray.from_arrays(
        pa.array(codes, mask=codes < 0 if seen[-1] else None).cast(kind.index_type),
        bare_array(_taken(kept, order)),
        ordered=ordered,
    )


def _seen(places: Codes, size: int) -> Flags:
    """Which places occur; the last flag is that of −1, which stands for null."""
    null = int(places.min(initial=0)) < 0
    # Counting places is faster than flagging each of them.
    known = places[places >= 0] if null else places
    return np.append(np.bincount(known, minlength=size) > 0, null)


def _places(array: Array) -> Codes:
    """The place of each cell's value in the dictionary; −1 for null."""
    indices = array.indices.cast(pa.int32())
    if indices.null_count:
        indices = indices.fill_null(-1)
    places: Codes = indices.to_numpy(zero_copy_only=False)
    if not array.dictionary.null_count:
        return places
    named = np.append(_valid(array.dictionary), False)
    return np.where(named[places], places, -1).astype(np.int32)


def _order(values: Array, shown: Ints, places: Codes) -> Ints:
    """Order by value; values without an order come as the cells first show them."""
    try:
        order: Ints = pc.sort_indices(values).to_numpy().astype(np.int64)
    except UNABLE:
        found, first = np.unique(places, return_index=True)
        return np.argsort(first[np.searchsorted(found, shown)])
    return order


def _bare_list(array: Array) -> Array:
    kind = array.type
    large = types.is_large_list(kind) or types.is_large_list_view(kind)
    offsets, lengths = _offsets(array, pa.int64() if large else pa.int32())
    values = bare_array(array.flatten())
    field, mask = _bare_field(kind.value_field, values), _mask(array)
    if _is_list_view(kind):
        views = pa.LargeListViewArray if large else pa.ListViewArray
        named = pa.large_list_view(field) if large else pa.list_view(field)
        return views.from_arrays(offsets[:-1], lengths, values, type=named, mask=mask)
    lists = pa.LargeListArray if large else pa.ListArray
    named = pa.large_list(field) if large else pa.list_(field)
    return lists.from_arrays(offsets, values, type=named, mask=mask)


def _offsets(array: Array, kind: Any) -> tuple[Array, Array]:
    """Where each list starts when all are put together, and how long it is."""
    lengths = pc.list_value_length(array).fill_null(0).cast(kind)
    ends = np.cumsum(np.append(0, lengths.to_numpy(zero_copy_only=False)))
    return pa.array(ends).cast(kind), lengths


def _bare_map(array: Array) -> Array:
    """As a list of pairs, and back."""
    pairs = pa.StructArray.from_arrays([array.keys, array.items], ["key", "value"])
    as_list = pa.Array.from_buffers(
        pa.list_(pairs.type),
        len(array),
        array.buffers()[:2],
        offset=array.offset,
        children=[pairs],
    )
    offsets, _ = _offsets(as_list, pa.int32())
    key, value = bare_array(as_list.flatten()).flatten()
    kind = pa.map_(key.type, value.type, keys_sorted=array.type.keys_sorted)
    return pa.MapArray.from_arrays(offsets, key, value, type=kind, mask=_mask(array))


def _bare_fixed_list(array: Array) -> Array:
    """Lists of one length; those that are null hold nulls."""
    size, rows = array.type.list_size, len(array)
    places = np.arange(rows * size) + array.offset * size
    hidden = np.repeat(~_valid(array), size)
    values = bare_array(_taken(array.values, places, hidden))
    kind = pa.list_(_bare_field(array.type.value_field, values), size)
    return pa.FixedSizeListArray.from_arrays(values, type=kind, mask=_mask(array))


def _bare_struct(array: Array) -> Array:
    parts = [bare_array(part) for part in array.flatten()]
    fields = [_bare_field(f, part) for f, part in zip(array.type, parts, strict=True)]
    return pa.StructArray.from_arrays(parts, fields=fields, mask=_mask(array))


def _taken(
    values: Array, places: Ints, hidden: npt.NDArray[np.bool_] | None = None
) -> Array:
    """Some values of an array, null where they are hidden."""
    kind = values.type
    if types.is_string_view(kind) or types.is_binary_view(kind):
        text = types.is_string_view(kind)
        plain = values.cast(pa.large_string() if text else pa.large_binary())
        return _taken(plain, places, hidden).cast(kind)
    return values.take(pa.array(places, pa.int64(), mask=hidden))


def _bare_field(field: pa.Field, values: Array) -> pa.Field:
    return pa.field(field.name, values.type, nullable=field.nullable)


def _valid(array: Array) -> npt.NDArray[np.bool_]:
    valid: npt.NDArray[np.bool_] = array.is_valid().to_numpy(zero_copy_only=False)
    return valid


def _mask(array: Array) -> Array | None:
    return array.is_null() if array.null_count else None


def _bitmap(array: Array) -> pa.Buffer | None:
    # The bits of a boolean column are laid out as those of a bitmap are.
    return pa.array(_valid(array)).buffers()[1] if array.null_count else None


def _numbered(rows: int) -> Array:
    return pa.array(np.arange(rows))


Told = Callable[[Any], bool]
Builder = Callable[[Array], Array]


def _is_view(kind: Any) -> bool:
    return bool(types.is_string_view(kind) or types.is_binary_view(kind))


def _is_bytes(kind: Any) -> bool:
    small = types.is_string(kind) or types.is_binary(kind)
    return bool(small or types.is_large_string(kind) or types.is_large_binary(kind))


def _is_list_view(kind: Any) -> bool:
    return bool(types.is_list_view(kind) or types.is_large_list_view(kind))


def _is_list(kind: Any) -> bool:
    return bool(types.is_list(kind) or types.is_large_list(kind) or _is_list_view(kind))


BUILDERS: tuple[tuple[Told, Builder], ...] = (
    (types.is_null, _bare_null),
    (types.is_boolean, _bare_bool),
    (types.is_dictionary, _bare_dictionary),
    (types.is_map, _bare_map),
    (types.is_fixed_size_list, _bare_fixed_list),
    (types.is_struct, _bare_struct),
    (_is_list, _bare_list),
    (_is_view, _bare_view),
    (_is_bytes, _bare_bytes),
)
