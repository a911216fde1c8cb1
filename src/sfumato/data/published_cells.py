"""Published cells as codes: what a recipient sees, compared as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.data.arrays import Codes, Flags, Ints
from sfumato.data.cell_text import as_text, distinct, interval_text
from sfumato.data.distinct_keys import first_rows, ranked_keys
from sfumato.data.parallel import each

CellTexts = tuple[str | None, ...]
KEY_LIMIT = 2**63


@dataclass(frozen=True, eq=False)
class Cells:
    """A published column: a code per row, and the text behind each code."""

    codes: Codes
    texts: CellTexts
    """None is a missing cell. Each mark of a missing value has a code of its own: to a
    recipient they are different cells."""
    ends: tuple[CellTexts, ...] = ()
    """Of two columns that are judged as one: the texts of each, by code."""

    @property
    def columns(self) -> tuple[CellTexts, ...]:
        """The texts behind each code, column by column."""
        return self.ends or (self.texts,)

    @property
    def missing(self) -> npt.NDArray[np.bool_]:
        """Which codes are missing cells."""
        return np.array([text is None for text in self.texts], dtype=np.bool_)


def coded_cells(
    table: pa.Table, names: Sequence[str], missing: Sequence[str]
) -> tuple[Cells, ...]:
    """Published cells as codes of their texts."""
    return tuple(each(lambda name: _coded(table, name, missing), names))


def distinct_tuples(cells: Sequence[Codes], rows: int) -> tuple[Ints, Codes]:
    """Number the distinct tuples: the number of each row, and each one's cells."""
    _, owner = ranked_keys(packed_key(cells, rows))
    return owner, tuples_of(owner, cells)


def tuples_of(owner: Ints, cells: Sequence[Codes]) -> Codes:
    """The cells of each tuple; `owner` is the number of each row's tuple."""
    first = first_rows(owner, int(owner.max(initial=-1)) + 1)
    columns = [codes[first] for codes in cells]
    if not columns:
        return np.zeros((len(first), 0), dtype=np.int32)
    return np.column_stack(columns).astype(np.int32)


def packed_key(cells: Sequence[Codes], rows: int) -> Ints:
    """One 64-bit number per row, equal exactly where all cells are equal.

    Mixed-radix while the product of cardinalities fits; where it would not, what has
    been packed so far is replaced by its rank, which is below the number of rows.
    """
    key = np.zeros(rows, dtype=np.int64)
    span = 1
    for codes in cells:
        size = int(codes.max(initial=0)) + 1
        if span * size >= KEY_LIMIT:
            distinct, key = ranked_keys(key)
            span = len(distinct)
        key *= size
        key += codes
        span *= size
    return key


def _coded(table: pa.Table, name: str, missing: Sequence[str]) -> Cells:
    column = table.column(name)
    if pa.types.is_timestamp(column.type):
        column = as_text(column, name=name)
    given = pa.types.is_dictionary(column.type)
    values, codes = distinct(column if given else pc.cast(column, pa.string()))
    texts = [*pc.cast(values, pa.string()).to_pylist(), None]
    occurs = np.ones(len(texts), dtype=np.bool_)
    occurs[-1] = int(codes.min(initial=0)) < 0
    if given:
        known = codes[codes >= 0] if occurs[-1] else codes
        occurs[:-1] = np.bincount(known, minlength=len(values)) > 0
    return _merged(codes, texts, occurs, set(missing))


def _merged(
    codes: Codes, texts: Sequence[str | None], occurs: Flags, missing: set[str]
) -> Cells:
    """Give equal texts the same code; marks of missing values stay distinct.

    Code −1 stands for the last text.
    """
    known: dict[str | None, int] = {}
    target = np.arange(len(texts), dtype=np.int32)
    for code in np.flatnonzero(occurs):
        target[code] = known.setdefault(texts[code], len(known))
    shown = tuple(None if text in missing else text for text in known)
    if occurs[-1] or (target[occurs] != np.flatnonzero(occurs)).any():
        codes = target.take(codes, mode="wrap")
    return Cells(codes, shown)


def as_intervals(low: Cells, high: Cells) -> Cells:
    """Two columns of bounds as the one column of intervals that they stand for."""
    owner, pairs = distinct_tuples([low.codes, high.codes], len(low.codes))
    lows = tuple(low.texts[a] for a, _ in pairs)
    highs = tuple(high.texts[b] for _, b in pairs)
    texts = tuple(map(_interval, lows, highs))
    return Cells(owner.astype(np.int32), texts, (lows, highs))


def _interval(low: str | None, high: str | None) -> str | None:
    return low if low == high else interval_text(low, high)
