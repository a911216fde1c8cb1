"""Cells as text, and the distinct values behind them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as types

from sfumato.errors import DataError

TextArray = Any
"""An Arrow array of strings; the library's own types differ between releases."""
UNITS = ("s", "ms", "us", "ns")
"""Units of points in time, the coarsest first."""
FOUR_DIGITS = r"(?!0000)\d{4}-"
"""How a date of the years 1 to 9999 begins."""
EMPTY_FRACTION = (r"(\.\d*[1-9])0+$|\.0+$", r"\1")
"""Zeros at the end of a fraction of seconds, and what stays of it."""


def as_text(values: Any, *, name: str = "") -> Any:
    """Cells as a CSV file of ours shows them; null stays null.

    Text is untouched. A number that is not a number (NaN) counts as null: written as
    `nan` it would come back as a word. Points in time are written with the precision
    that any of them needs: nanoseconds, seconds, or, if all are at midnight, as dates.
    Times of day are written with the precision that each needs, because files may store
    them in another unit.
    """
    kind = values.type
    if types.is_dictionary(kind):
        values, kind = pc.cast(values, kind.value_type), kind.value_type
    if types.is_string(kind):
        return values
    if types.is_floating(kind):
        values = pc.if_else(pc.is_nan(values), pa.scalar(None, kind), values)
    if types.is_timestamp(kind):
        values = _as_coarse_as_they_are(values)
    try:
        if types.is_date(kind) or types.is_timestamp(kind):
            _refuse_far(values, name)
        texts = pc.cast(values, pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise _shapeless(name, kind) from None
    if types.is_time(kind):
        return pc.replace_substring_regex(texts, *EMPTY_FRACTION)
    return texts


def interval_text(low: str | None, high: str | None, *, closed: bool = True) -> str:
    """The one way an interval is written; None is a side without an end.

    >>> interval_text("20", "24"), interval_text("20", "25", closed=False)
    ('[20, 24]', '[20, 25)')
    >>> interval_text("90", None), interval_text(None, "18", closed=False)
    ('>= 90', '< 18')
    """
    if low is None or high is None:
        below = "<=" if closed else "<"
        return f"{below} {high}" if low is None else f">= {low}"
    return f"[{low}, {high}]" if closed else f"[{low}, {high})"


def has_text(values: pa.ChunkedArray) -> bool:
    """Whether every cell of a column can be written as text."""
    if types.is_string(values.type) or types.is_integer(values.type):
        return True
    try:
        as_text(distinct(values)[0])
    except DataError:
        return False
    return True


def _as_coarse_as_they_are(moments: Any) -> Any:
    """Convert timestamps to the coarsest unit that represents all of them."""
    zone = moments.type.tz
    for unit in UNITS[: UNITS.index(moments.type.unit)]:
        try:
            moments = pc.cast(moments, pa.timestamp(unit, tz=zone))
            break
        except pa.ArrowInvalid:
            continue
    if zone is None and moments.type.unit == "s":
        days = pc.cast(moments, pa.date32())
        if pc.cast(days, moments.type).equals(moments):
            return days
    return moments


def _refuse_far(moments: Any, name: str) -> None:
    """Refuse years that are not four digits: Arrow would not write them as dates."""
    ends = pc.min_max(moments)
    texts = [pc.cast(ends[end], pa.string()).as_py() for end in ("min", "max")]
    if not all(text is None or re.match(FOUR_DIGITS, text) for text in texts):
        raise DataError(
            f"Column '{name}' has dates outside of the years 1 to 9999.",
            hint="Make them missing (null), or leave the column out.",
        )


def _shapeless(name: str, kind: Any) -> DataError:
    return DataError(
        f"Column '{name}' has the type {kind}, which cannot be written as text.",
        hint="Split it into plain columns, or leave it out.",
    )


def distinct(
    values: pa.ChunkedArray, *, name: str = ""
) -> tuple[Any, npt.NDArray[np.int32]]:
    """The values behind a column and the place of each cell's value; −1 for null."""
    if types.is_dictionary(values.type):
        encoded = _united(values)
    else:
        encoded = _encoded(values, name)
    chunks = [chunk for chunk in encoded.chunks if len(chunk)]
    if not chunks:
        return pa.array([], pa.string()), np.empty(0, dtype=np.int32)
    places = [_places(chunk) for chunk in chunks]
    whole = places[0] if len(places) == 1 else np.concatenate(places)
    return chunks[0].dictionary, whole


def _encoded(values: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    try:
        return values.dictionary_encode()
    except pa.ArrowNotImplementedError:
        raise _shapeless(name, values.type) from None


def _united(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return one dictionary for all chunks; Arrow cannot merge those with nulls."""
    if any(chunk.dictionary.null_count for chunk in values.chunks):
        values = pa.chunked_array([_without_null(chunk) for chunk in values.chunks])
    return values.unify_dictionaries()


def _without_null(chunk: Any) -> Any:
    """Return the same cells, with nulls in the indices only."""
    named = chunk.dictionary.is_valid().to_numpy(zero_copy_only=False)
    place_of = np.append(np.where(named, np.cumsum(named) - 1, -1), -1)
    places = place_of[_places(chunk)].astype(np.int32)
    return pa.DictionaryArray.from_arrays(
        pa.array(places, mask=places < 0),
        chunk.dictionary.drop_null(),
        ordered=chunk.type.ordered,
    )


def _places(chunk: Any) -> npt.NDArray[np.int32]:
    indices = chunk.indices.cast(pa.int32())
    if indices.null_count:
        indices = indices.fill_null(-1)
    places: npt.NDArray[np.int32] = indices.to_numpy(zero_copy_only=False)
    return places
