"""Columns for hierarchy tests, coded here in the simplest way."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from sfumato.data.schema import Kind
from sfumato.data.table import Column

_UNIT = {Kind.DATE: "D", Kind.DATETIME: "s"}


def _number(text: str, kind: Kind) -> float:
    if kind in _UNIT:
        return float(np.datetime64(text, _UNIT[kind]).astype(np.int64))
    return float(text)


def make_column(
    cells: Sequence[object],
    kind: Kind = Kind.INTEGER,
    *,
    name: str = "x",
    missing: Sequence[str] = (),
) -> Column:
    """A column of cells; ordered categories stand in order of first occurrence."""
    texts = [str(cell) for cell in cells]
    known = list(dict.fromkeys(text for text in texts if text not in missing))
    if kind.numeric:
        known.sort(key=lambda text: _number(text, kind))
    elif kind is not Kind.ORDERED:
        known.sort()
    marks = [text for text in dict.fromkeys(texts) if text in missing]
    labels = (*known, *marks[:1])
    code = {text: place for place, text in enumerate(known)}
    code |= dict.fromkeys(marks, len(known))
    numbers = [_number(text, kind) for text in known] if kind.numeric else []
    return Column(
        name=name,
        kind=kind,
        codes=np.array([code[text] for text in texts], dtype=np.int32),
        labels=labels,
        numbers=np.array(numbers + [np.nan] * len(marks[:1])) if kind.numeric else None,
        missing=len(known) if marks else -1,
    )


@pytest.fixture(scope="session")
def column_of() -> Callable[..., Column]:
    return make_column
