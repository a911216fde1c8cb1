"""Find cells in a table that seem to mark missing values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.data.cell_text import TextArray
from sfumato.data.coding import Values
from sfumato.data.file_labels import missing_codes
from sfumato.data.schema import Kind
from sfumato.data.values import kind_of_texts

EMPTY = ""
WORDS = ("?", "N/A", "n/a", "#N/A", "NULL", "null", "NaN", "nan")
"""Texts that always mark a missing value."""
AMONG_NUMBERS = ("NA", "None", ".", "-")
"""Texts that may be words, but mark missing values among numbers or dates."""
BELOW = ("-9", "-99", "-999", "-9999")
"""Numbers that mark missing values where all others are counts."""
ABOVE = ("999", "9999", "99999")
"""Numbers that mark missing values where all others are far smaller."""
FAR = 2
"""How many times the largest other number a mark has to be."""


def found_marks(source: pa.Table) -> tuple[str, ...]:
    """The marks of missing values, the empty cell first.

    A policy declares marks for all columns at once, so a text that is an ordinary value
    in any column is not a mark. A statistical file declares its own.
    """
    verdicts: dict[str, bool] = {}
    declared = missing_codes(source)
    codes = sorted({code for each in declared.values() for code in each})
    for name in source.column_names:
        values = Values.of(name, source.column(name))
        here = declared.get(name, ())
        said = {code: code in here for code in _among(values.present_texts, codes)}
        for mark, means in {**_verdicts(values), **said}.items():
            verdicts[mark] = verdicts.get(mark, True) and means
    known = dict.fromkeys((*WORDS, *AMONG_NUMBERS, *BELOW, *ABOVE, *codes))
    return (EMPTY, *(mark for mark in known if verdicts.get(mark)))


def _verdicts(values: Values) -> Mapping[str, bool]:
    """For each mark that occurs in a column, whether it means a missing value there."""
    texts = values.present_texts
    found = set(_among(texts, (*WORDS, *AMONG_NUMBERS, *BELOW, *ABOVE)))
    if not found:
        return {}
    others = _without(texts, (EMPTY, *WORDS, *AMONG_NUMBERS))
    kind = kind_of_texts(others)[0]
    verdicts = dict.fromkeys(found.intersection(WORDS), True)
    for mark in found.intersection(AMONG_NUMBERS):
        verdicts[mark] = bool(len(others)) and kind.numeric
    return verdicts | _numeric_verdicts(others, kind, found)


def _numeric_verdicts(
    others: TextArray, kind: Kind, found: set[str]
) -> dict[str, bool]:
    marks = found.intersection((*BELOW, *ABOVE))
    if kind not in (Kind.INTEGER, Kind.DECIMAL):
        return dict.fromkeys(marks, False)
    plain = _without(others, (*BELOW, *ABOVE))
    numbers = pc.cast(pc.utf8_trim_whitespace(plain), pa.float64()).to_numpy()
    if not len(numbers):
        return dict.fromkeys(marks, False)
    low, high = float(np.min(numbers)), float(np.max(numbers))
    return {
        mark: low >= 0 if mark in BELOW else FAR * high < float(mark) for mark in marks
    }


def _among(texts: TextArray, marks: Sequence[str]) -> list[str]:
    held = pc.is_in(texts, value_set=pa.array(marks, pa.string()))
    listed: list[str] = texts.filter(held).to_pylist()
    return listed


def _without(texts: TextArray, marks: Sequence[str]) -> TextArray:
    held = pc.is_in(texts, value_set=pa.array(marks, pa.string()))
    return texts.filter(pc.invert(held))
