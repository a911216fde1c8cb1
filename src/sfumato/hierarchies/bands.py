"""Bands: how numbers and dates that are no quasi-identifiers are coded and published.

The intervals and tails are those of a quasi-identifier's hierarchy, and so are their
texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.data.arrays import Flags, Ints
from sfumato.data.cell_text import TextArray, as_text, distinct
from sfumato.data.coding import code_column, infer_kind
from sfumato.data.schema import Kind
from sfumato.data.table import Column
from sfumato.errors import DataError, HierarchyError
from sfumato.hierarchies.exact_numbers import nearest
from sfumato.hierarchies.intervals import interval_levels, tail_labels
from sfumato.hierarchies.labels import Exact, parse_span, value_text

LINES = (Kind.INTEGER, Kind.DECIMAL, Kind.DATE, Kind.DATETIME)
SPAN = r"^(\[|[<>]=? )"
"""How the text of an interval or a tail begins."""


@dataclass(frozen=True, kw_only=True)
class Bands:
    """How a column is coded: intervals of one width, tails, or both."""

    width: object = None
    """None: values between the tails stay exact."""
    bottom: object = None
    top: object = None

    def labels(self, column: Column) -> list[str]:
        """What each value of a column without missing cells is published as."""
        ends = {"bottom": self.bottom, "top": self.top}
        if self.width is None:
            pairs = zip(tail_labels(column, **ends), column.labels, strict=True)
            return [own if tail is None else tail for tail, own in pairs]
        (level,) = interval_levels(column, [self.width], **ends).inner_levels
        return [level.labels[node] for node in level.nodes.tolist()]


@dataclass(frozen=True, eq=False, kw_only=True)
class BandedColumn:
    """The cells of a column in bands, and the bands in their order."""

    cells: pa.ChunkedArray
    """A dictionary of texts; missing cells are as they were."""
    order: tuple[str, ...]


def banded_column(
    name: str,
    cells: pa.ChunkedArray,
    bands: Bands,
    *,
    kind: Kind | None = None,
    missing: Sequence[str] = (),
) -> BandedColumn:
    """Code the cells of a column; a cell that is such a band already stays."""
    values, places = _occurring(cells, name)
    texts = as_text(values, name=name)
    present = _present(texts, missing)
    if _spans(texts).any():
        kind = _kind_of(name, texts, bands, kind, missing)
        values = _points(texts, kind)
    column = _coded(name, values, present, kind)
    shown = _labels(column, bands)
    published = texts.to_pylist()
    for row, code in zip(np.flatnonzero(present), column.codes, strict=True):
        published[row] = shown[code]
    return BandedColumn(
        cells=_dictionary(published, places), order=tuple(dict.fromkeys(shown))
    )


def exact_values(
    name: str,
    values: TextArray,
    bands: Bands,
    *,
    kind: Kind | None = None,
    missing: Sequence[str] = (),
) -> Flags:
    """Which published values are neither missing nor what `bands` publishes.

    Without a kind, the one that fits most of them decides.
    """
    texts = as_text(values, name=name)
    return _fit(name, texts, bands, _possible(kind), missing)[1]


def in_order(
    name: str, values: TextArray, missing: Sequence[str] = ()
) -> tuple[str, ...]:
    """Published texts from the lowest to the highest: bands, tails and exact values."""
    texts = as_text(values, name=name).unique()
    present = texts.filter(pa.array(_present(texts, missing)))
    starts = [_start(text) for text in present.to_pylist()]
    exact = ~_spans(present)
    column = _coded(name, present, exact, None)
    if column.numbers is not None:
        codes = column.codes.tolist()
        keys = zip(column.numbers[codes].tolist(), codes, strict=True)
        for row, key in zip(np.flatnonzero(exact).tolist(), keys, strict=True):
            starts[row] = key
    pairs = zip(starts, present.to_pylist(), strict=True)
    return tuple(text for _, text in sorted(pairs))


def _occurring(cells: pa.ChunkedArray, name: str) -> tuple[TextArray, Ints]:
    """The values that a cell has, and the place of each cell's; −1 for null."""
    values, places = distinct(cells, name=name)
    there, index = np.unique(places, return_inverse=True)
    nulls = int(len(there) > 0 and there[0] < 0)
    return values.take(pa.array(there[nulls:])), index - nulls


def _dictionary(texts: Sequence[str | None], places: Ints) -> pa.ChunkedArray:
    """Cells by the place of their text; −1 is null, and so is a text that is None."""
    coded = pa.array(texts, pa.string()).dictionary_encode()
    # Index −1 finds the last place.
    index = pa.concat_arrays([coded.indices, pa.nulls(1, pa.int32())])
    at = pa.array(np.where(places < 0, len(texts), places))
    return pa.chunked_array(
        [pa.DictionaryArray.from_arrays(index.take(at), coded.dictionary)]
    )


def _coded(name: str, values: TextArray, present: Flags, kind: Kind | None) -> Column:
    """Code those of the values that are present."""
    return code_column(
        name, pa.chunked_array([values.filter(pa.array(present))]), kind=kind
    )


def _labels(column: Column, bands: Bands) -> list[str]:
    if not column.size:
        return []
    if not column.kind.numeric:
        raise HierarchyError(
            f"Column '{column.name}' has kind '{column.kind}'; bands need numbers or "
            "dates.",
            hint="Leave out 'bands', 'bottom' and 'top', or declare another kind for "
            "the column and the marks of missing values.",
        )
    return bands.labels(column)


def _present(texts: TextArray, missing: Sequence[str]) -> Flags:
    """Which texts are not missing."""
    marks = pa.array(missing, pa.string())
    absent = pc.or_(pc.is_null(texts), pc.is_in(texts, value_set=marks))
    return ~np.asarray(absent.to_numpy(zero_copy_only=False), dtype=np.bool_)


def _spans(texts: TextArray) -> Flags:
    """Which texts are written like an interval or a tail."""
    matched = pc.match_substring_regex(texts, SPAN).fill_null(False)
    return np.asarray(matched.to_numpy(zero_copy_only=False), dtype=np.bool_)


def _possible(kind: Kind | None) -> tuple[Kind, ...]:
    return LINES if kind is None else (kind,)


def _kind_of(
    name: str,
    texts: TextArray,
    bands: Bands,
    kind: Kind | None,
    missing: Sequence[str],
) -> Kind:
    """The kind of a column that has bands already; refuse bands that are not ours."""
    exact, spans = _present(texts, missing) & ~_spans(texts), _spans(texts)
    kinds = _possible(kind)
    if kind is None and exact.any():
        # Decimals of which all are whole look like integers; their tails do not.
        inferred = infer_kind(pa.chunked_array([texts.filter(pa.array(exact))]))[0]
        kinds = (inferred, *(one for one in kinds if one is not inferred))
    kind, unlike = _fit(name, texts, bands, kinds, missing)
    others = int(unlike[spans].sum())
    if others:
        raise DataError(
            f"Column '{name}': {others:,} of {len(texts):,} values are intervals with "
            "other ends than those that the policy publishes.",
            hint="Give the numbers or dates themselves, or the settings that the column "
            "was made with.",
        )
    return kind


def _fit(
    name: str,
    texts: TextArray,
    bands: Bands,
    kinds: Sequence[Kind],
    missing: Sequence[str],
) -> tuple[Kind, Flags]:
    """The kind that fits most texts, and the texts that bands of it do not publish."""
    tried = []
    for kind in kinds:
        try:
            tried.append((kind, _unlike(name, texts, bands, kind, missing)))
        except (DataError, HierarchyError):
            tried.append((kind, _present(texts, missing)))
    return min(tried, key=lambda pair: int(pair[1].sum()))


def _unlike(
    name: str, texts: TextArray, bands: Bands, kind: Kind, missing: Sequence[str]
) -> Flags:
    """Which texts are neither missing nor published by bands of a kind."""
    points, spans = _points(texts, kind), _spans(texts)
    unlike = _present(texts, missing)
    present = unlike & _present(points, ())
    if bands.width is not None:
        # Only a band can be what is published.
        present &= spans
    column = _coded(name, points, present, kind)
    shown = _labels(column, bands)
    own = zip(texts.filter(pa.array(present)).to_pylist(), spans[present], strict=True)
    unlike[present] = [
        shown[code] != (text if span else column.labels[code])
        for code, (text, span) in zip(column.codes, own, strict=True)
    ]
    return unlike


def _points(texts: TextArray, kind: Kind) -> TextArray:
    """The same texts, with a value that lies in it for each band; None where none does."""
    points = texts.to_pylist()
    for row in np.flatnonzero(_spans(texts)):
        points[row] = _inside(points[row], kind)
    return pa.array(points, pa.string())


def _inside(text: str, kind: Kind) -> str | None:
    span = parse_span(text, kind=kind)
    if span is None:
        return None
    if span.low is not None:
        return value_text(span.low, kind=kind)
    return None if span.high is None else value_text(span.high - 1, kind=kind)


def _start(text: str) -> tuple[float, Exact]:
    """Where a band begins: the float that is nearest, and the number itself."""
    for kind in (Kind.DECIMAL, Kind.DATETIME):
        span = parse_span(text, kind=kind)
        if span is not None:
            return (-inf, 0) if span.low is None else (nearest(span.low), span.low)
    return inf, 0
