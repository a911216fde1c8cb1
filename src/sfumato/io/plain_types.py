"""Convert columns to the types that all parts of Sfumato work on."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import Any
from uuid import UUID

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as types


def plain_types(table: pa.Table) -> pa.Table:
    """The same cells in types that can be sorted, encoded and picked from.

    Views become plain texts, runs become cells, small decimals wider ones, and
    well-known extension types become what they stand for. A type that has no
    plain form (a list, a map, a period) stays; code that needs its cells refuses it.
    """
    for place, field in enumerate(table.schema):
        if _strange(field.type):
            column = plain_column(table.column(place))
            table = table.set_column(place, pa.field(field.name, column.type), column)
    return table


def plain_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """One column in a plain type."""
    kind = column.type
    if types.is_run_end_encoded(kind):
        decoded = [pc.run_end_decode(chunk) for chunk in column.chunks]
        return plain_column(pa.chunked_array(decoded, kind.value_type))
    if isinstance(kind, pa.BaseExtensionType):
        return _known_extension(column)
    if types.is_dictionary(kind):
        return _plain_dictionary(column)
    target = _plain_type(kind)
    return column if target is None else _cast(column, target)


def _strange(kind: Any) -> bool:
    if types.is_dictionary(kind):
        return _strange(kind.value_type) or types.is_nested(kind.value_type)
    extended = isinstance(kind, pa.BaseExtensionType)
    return extended or types.is_run_end_encoded(kind) or _plain_type(kind) is not None


def _plain_type(kind: Any) -> Any:
    """The type to cast to; None where it is plain, or a cast cannot make it so."""
    if types.is_string_view(kind):
        return pa.string()
    if types.is_binary_view(kind):
        return pa.binary()
    if types.is_decimal(kind) and kind.bit_width < 128:
        return pa.decimal128(kind.precision, kind.scale)
    if types.is_list(kind) or types.is_large_list(kind):
        inner = _plain_type(kind.value_type)
        return None if inner is None else pa.large_list(inner)
    return _plain_struct(kind) if types.is_struct(kind) else None


def _plain_struct(kind: Any) -> Any:
    inner = [_plain_type(field.type) for field in kind]
    if not any(inner):
        return None
    pairs = zip(kind, inner, strict=True)
    return pa.struct([pa.field(f.name, found or f.type) for f, found in pairs])


def _cast(column: pa.ChunkedArray, target: Any) -> pa.ChunkedArray:
    """Cast to the target type; texts of more than 2 GB to its large form."""
    try:
        return column.cast(target)
    except pa.ArrowNotImplementedError:
        return column
    except pa.ArrowInvalid:
        large = pa.large_string() if types.is_string(target) else pa.large_binary()
        return column.cast(large)


def _plain_dictionary(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A dictionary of plain values; of values that cannot be listed, the cells."""
    kind = column.type
    target = _plain_type(kind.value_type)
    if types.is_nested(kind.value_type) or target is None:
        cells = [chunk.dictionary.take(chunk.indices) for chunk in column.chunks]
        return plain_column(pa.chunked_array(cells, kind.value_type))
    chunks = [
        pa.DictionaryArray.from_arrays(
            chunk.indices, chunk.dictionary.cast(target), ordered=kind.ordered
        )
        for chunk in column.chunks
    ]
    return pa.chunked_array(
        chunks, pa.dictionary(kind.index_type, target, ordered=kind.ordered)
    )


def _known_extension(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    known = _EXTENSIONS.get(kind.extension_name)
    if known is None:
        return column
    storage = pa.chunked_array(
        [chunk.storage for chunk in column.chunks], kind.storage_type
    )
    return known(storage)


def _uuid_texts(storage: pa.ChunkedArray) -> pa.ChunkedArray:
    """The usual text of each UUID; made once for each that occurs."""
    encoded = storage.combine_chunks().dictionary_encode()
    texts = [
        None if value is None else str(UUID(bytes=value))
        for value in encoded.dictionary.to_pylist()
    ]
    return pa.chunked_array([pa.array(texts, pa.string()).take(encoded.indices)])


def _truths(storage: pa.ChunkedArray) -> pa.ChunkedArray:
    return storage.cast(pa.bool_())


_EXTENSIONS: MappingProxyType[str, Callable[[pa.ChunkedArray], pa.ChunkedArray]] = (
    MappingProxyType(
        {"arrow.uuid": _uuid_texts, "arrow.json": plain_column, "arrow.bool8": _truths}
    )
)
