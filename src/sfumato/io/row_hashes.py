"""Hash the rows of a table in whatever order they come.

Each row becomes bytes in one way only: every cell with its length before it, and a mark
where a cell is missing. Each row's bytes become a number of 2,048 bits, and the numbers
are added up modulo 2^2048 (AdHash: Bellare and Micciancio 1997). The digest is the
SHA-256 of the columns' names and kinds, the number of rows and the sum. The kinds tell
apart what has the same text: 1 and "1", true and "true", a date and its text.

A sum counts how often a row occurs; XOR would lose every pair of equal rows. It is this
long because rows that add up to a wanted sum can be searched for (Wagner 2002): that
takes about 2^(2√bits) steps, which are 2^90 here and would be 2^32 for 256 bits.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as types

from sfumato.errors import DataError

SUM_BYTES = 256
BATCH_ROWS = 1 << 16
BYTES = pa.large_binary()
MISSING = pa.scalar(b"-", BYTES)
"""Stands for a missing cell, where other cells have their length."""
FRACTION_ZEROS = (r"(\.\d*[1-9])0+(Z|[+-]\d+)?$|\.0+(Z|[+-]\d+)?$", r"\1\2\3")
"""Zeros at the end of a fraction of seconds: files may store another unit."""


class RowHashes:
    """Adds up the hashes of rows, whatever their order and their batches.

    >>> first, second = RowHashes(["a"]), RowHashes(["a"])
    >>> first.add(pa.table({"a": ["x", None]}))
    >>> second.add(pa.table({"a": [None, "x"]}))
    >>> first.hexdigest() == second.hexdigest()
    True
    """

    def __init__(self, names: Iterable[str], *, typed: bool = True) -> None:
        """Without `typed`, kinds do not count: the form of older manifests."""
        self._names, self._typed = tuple(names), typed
        self._kinds: tuple[str, ...] = ()
        self._rows = 0
        self._sum = 0

    def add(self, rows: pa.Table | pa.RecordBatch) -> None:
        """Add rows with columns of these names, in this order."""
        if tuple(rows.schema.names) != self._names:
            raise ValueError("The columns are not those that are hashed.")
        kinds = tuple(map(_kind, rows.schema.types)) if self._typed else ()
        if self._kinds not in ((), kinds):
            raise ValueError("The columns have other kinds than those before.")
        self._kinds = kinds
        for start in range(0, rows.num_rows, BATCH_ROWS):
            part = rows.slice(start, BATCH_ROWS)
            self._rows += part.num_rows
            self._sum += _sum_of(part)

    def hexdigest(self) -> str:
        """The hash of all rows added so far, as 64 hexadecimal digits."""
        texts = (*self._names, *self._kinds)
        framed = [text.encode("utf-8", "surrogatepass") for text in texts]
        header = b"".join(b"%d:%s" % (len(text), text) for text in framed)
        total = (self._sum % (1 << 8 * SUM_BYTES)).to_bytes(SUM_BYTES, "little")
        return hashlib.sha256(
            b"%d;%s%d;%s" % (len(self._names), header, self._rows, total)
        ).hexdigest()


def _kind(kind: Any) -> str:
    """What the values of a type are, however they are stored.

    The text of a duration has no unit, and that of a short float fewer digits.
    """
    if types.is_dictionary(kind):
        return _kind(kind.value_type)
    if types.is_timestamp(kind):
        return "moment" if kind.tz is None else "moment with a zone"
    named = (name for name, is_one in _KINDS.items() if is_one(kind))
    return next(named, str(kind))


_KINDS: Mapping[str, Callable[[Any], bool]] = MappingProxyType(
    {
        "text": lambda kind: types.is_string(kind) or types.is_large_string(kind),
        "bytes": lambda kind: (
            types.is_binary(kind)
            or types.is_large_binary(kind)
            or types.is_fixed_size_binary(kind)
        ),
        "integer": types.is_integer,
        "date": types.is_date,
        "time": types.is_time,
        "decimal": types.is_decimal,
    }
)


def _sum_of(part: Any) -> int:
    """The sum of the hashes of all rows; equal rows are hashed once."""
    if not part.num_columns:
        return 0
    cells = [_framed(name, part.column(name)) for name in part.schema.names]
    rows = pc.binary_join_element_wise(*cells, pa.scalar(b"", BYTES))
    counts = pc.value_counts(rows)
    distinct, times = (counts.field(index).to_pylist() for index in (0, 1))
    pairs = zip(distinct, times, strict=True)
    return sum(_number(row) * count for row, count in pairs)


def _number(row: bytes) -> int:
    return int.from_bytes(hashlib.shake_128(row).digest(SUM_BYTES), "little")


def _framed(name: str, cells: Any) -> Any:
    """Each cell as bytes after its length, so that no two rows share their bytes."""
    if isinstance(cells, pa.ChunkedArray):
        cells = cells.combine_chunks()
    if types.is_dictionary(cells.type):
        # Twice: an index may be missing, and so may an entry of the dictionary.
        framed = _framed(name, cells.dictionary).take(cells.indices)
        return pc.fill_null(framed, MISSING)
    content = _content(name, cells)
    lengths = pc.cast(pc.cast(pc.binary_length(content), pa.large_string()), BYTES)
    framed = pc.binary_join_element_wise(lengths, content, pa.scalar(b":", BYTES))
    return pc.fill_null(framed, MISSING)


def _content(name: str, cells: Any) -> Any:
    """The cells as bytes; numbers as their shortest exact text."""
    kind = cells.type
    if types.is_binary(kind) or types.is_large_binary(kind):
        return pc.cast(cells, BYTES)
    try:
        texts = cells if types.is_string(kind) else pc.cast(cells, pa.large_string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise DataError(
            f"Column '{name}' has the type {kind}, whose cells cannot be hashed.",
            hint="Split it into plain columns, or leave it out.",
        ) from None
    if types.is_timestamp(kind) or types.is_time(kind):
        texts = pc.replace_substring_regex(texts, *FRACTION_ZEROS)
    return pc.cast(texts, BYTES)


def hash_table(table: pa.Table, *, typed: bool = True) -> str:
    """The hash of all rows of a table, in any order; `typed` as for `RowHashes`."""
    hashes = RowHashes(table.column_names, typed=typed)
    hashes.add(table)
    return hashes.hexdigest()
