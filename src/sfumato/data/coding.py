"""Turn cells into codes: type the distinct values, sort them by meaning, number them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as types

from sfumato.data.arrays import Codes, Ints
from sfumato.data.cell_text import TextArray, as_text, distinct
from sfumato.data.number_grid import Ends, NumberGrid, step_text
from sfumato.data.schema import DateOrder, Kind
from sfumato.data.table import Column
from sfumato.data.values import (
    Meaning,
    exact_numbers,
    kind_of_texts,
    kind_of_type,
    meaning,
    numbers,
)
from sfumato.data.vocabularies import in_order
from sfumato.errors import DataError

Order = Sequence[str] | None
"""Values from low to high; a text alone is the name of an order of words (`month`)."""


def code_column(
    name: str,
    values: pa.ChunkedArray,
    *,
    kind: Kind | None = None,
    missing: Sequence[str] = (),
    order: Order = None,
    dates: DateOrder | None = None,
) -> Column:
    """Code a column: every cell becomes the rank of its value.

    Nulls, numbers that are not numbers (NaN) and the marks in `missing` share one
    code, the last. Texts that are the same number or moment share one code and are
    shown by the shortest of them, so that nobody stands out by formatting. A number
    beyond 1e300 is an error: no interval could hold it. Without `kind`, it is inferred
    from the values, and so is the order in which dates are written.
    """
    return _coded(Values.of(name, values, missing), kind, order, dates)


def code_alike(
    name: str,
    values: pa.ChunkedArray,
    *,
    kind: Kind | None = None,
    missing: Sequence[str] = (),
    order: Order = None,
    grid: NumberGrid | None = None,
) -> tuple[Column, pa.ChunkedArray]:
    """Code a column, and make cells that share a code look alike, in their own type.

    `0.0` and `-0.0`, moments a nanosecond apart and decimals that one float stands for
    have one code, and a row that is shown exactly must not stand out among them. On a
    grid, values are its steps, and no cell is shown exactly.
    """
    found = Values.of(name, values, missing)
    column = _coded(found, kind, order, None, grid)
    return column, values if grid is not None else found.alike(column, values)


def _coded(
    found: Values,
    kind: Kind | None,
    order: Order,
    dates: DateOrder | None,
    grid: NumberGrid | None = None,
) -> Column:
    kind = kind or found.kind()[0]
    if kind is Kind.ORDERED:
        order = found.own_order() if order is None else found.spelled_order(order)
    if grid is None:
        ranked = _ranked(found, kind, order, dates)
    else:
        ranked = _on_grid(found, kind, grid)
    return Column(
        name=found.name,
        kind=kind,
        codes=found.codes(ranked),
        labels=(*ranked.labels, *found.missing_label),
        numbers=_with_missing(ranked.numbers, found),
        missing=len(ranked.labels) if found.missing_label else -1,
        dates=ranked.dates,
        steps=_with_missing_step(ranked.steps, found),
    )


def infer_kind(
    values: pa.ChunkedArray, *, missing: Sequence[str] = ()
) -> tuple[Kind, str]:
    """The kind of a column's values and the reason for it."""
    return Values.of("", values, missing).kind()


@dataclass(frozen=True, eq=False)
class Values:
    """The distinct values of a column as text, and where they occur."""

    name: str
    arrow_type: Any
    cells: Any
    """Every value in its own type, also those that no cell has."""
    texts: TextArray
    """The same as text."""
    places: Codes
    """Per cell the index of its value; −1 for null."""
    missing: tuple[str, ...]

    @classmethod
    def of(
        cls, name: str, values: pa.ChunkedArray, missing: Sequence[str] = ()
    ) -> Values:
        dictionary, places = distinct(values, name=name)
        texts = as_text(dictionary, name=name)
        return cls(name, values.type, dictionary, texts, places, tuple(missing))

    @cached_property
    def counts(self) -> npt.NDArray[np.int64]:
        """How many cells have each value."""
        present = self.places[self.places >= 0] if self._nulls else self.places
        return np.bincount(present, minlength=len(self.texts))

    @cached_property
    def occurring(self) -> npt.NDArray[np.bool_]:
        """Which values a cell has; only a dictionary that was given may list others."""
        if types.is_dictionary(self.arrow_type):
            return self.counts > 0
        return np.ones(len(self.texts), dtype=np.bool_)

    @cached_property
    def absent(self) -> npt.NDArray[np.bool_]:
        """Which values stand for a missing one."""
        marks = pa.array(self.missing, pa.string())
        marked = pc.or_(pc.is_null(self.texts), pc.is_in(self.texts, value_set=marks))
        return np.asarray(marked.to_numpy(zero_copy_only=False), dtype=np.bool_)

    @cached_property
    def present(self) -> npt.NDArray[np.int64]:
        """The places of the values that occur and are not missing."""
        return np.flatnonzero(~self.absent & self.occurring)

    @cached_property
    def present_texts(self) -> TextArray:
        return self.texts.take(pa.array(self.present))

    @cached_property
    def missing_label(self) -> tuple[str, ...]:
        """The text that stands for all missing values; nothing if there are none."""
        gone = self.absent & self.occurring
        if not (self._nulls or gone.any()):
            return ()
        shown = set(self.texts.filter(pa.array(gone)).to_pylist())
        return (next((mark for mark in self.missing if mark in shown), ""),)

    def kind(self) -> tuple[Kind, str]:
        """What the values are, and why."""
        texts = self.present_texts
        return kind_of_type(self.arrow_type, texts) or kind_of_texts(texts)

    def own_order(self) -> tuple[str, ...]:
        """Return the order of a column that is an ordered category."""
        if types.is_dictionary(self.arrow_type) and self.arrow_type.ordered:
            return tuple(text for text in self.texts.to_pylist() if text is not None)
        raise DataError(
            f"Column '{self.name}' is an ordered category without an order.",
            hint="List its values from low to high in 'order'.",
        )

    def spelled_order(self, order: Sequence[str]) -> Sequence[str]:
        """The values from low to high, where the name of an order may stand for them."""
        if not isinstance(order, str):
            return order
        spelled = in_order(order, self.present_texts.to_pylist())
        strange = ~np.asarray(
            pc.is_in(self.present_texts, value_set=pa.array(spelled, pa.string()))
        )
        self.refuse(
            strange,
            f"have a value that the order '{order}' does not know",
            "List the values from low to high in 'order', or declare them in 'missing'.",
        )
        return spelled

    def codes(self, ranked: Ranked) -> Codes:
        """The rank of each cell's value; missing ones come last."""
        # One more entry than values, so that index −1 (null) finds the last.
        rank_of = np.full(len(self.texts) + 1, len(ranked.labels), dtype=np.int32)
        rank_of[self.present] = ranked.ranks
        return np.take(rank_of, self.places, mode="wrap" if self._nulls else "clip")

    def alike(self, column: Column, values: pa.ChunkedArray) -> pa.ChunkedArray:
        """The cells; where values share a code, all of them show the code's label."""
        if int(self.occurring.sum()) + self._nulls == column.size:
            return values
        shown = pc.index_in(pa.array(column.labels, pa.string()), value_set=self.texts)
        places = shown.take(pa.array(column.codes))
        if not types.is_dictionary(self.arrow_type):
            return pa.chunked_array([self.cells.take(places)], self.arrow_type)
        cells = pa.DictionaryArray.from_arrays(
            places.cast(self.arrow_type.index_type),
            self.cells,
            ordered=self.arrow_type.ordered,
        )
        return pa.chunked_array([cells])

    def refuse(self, bad: npt.NDArray[np.bool_], what: str, hint: str) -> None:
        """Raise an error for the cells whose values are `bad`, if any."""
        if not bad.any():
            return
        cells = int(self.counts[self.present][bad].sum())
        raise DataError(
            f"Column '{self.name}': {cells:,} of {len(self.places):,} cells {what}.",
            hint=hint,
            values=self.present_texts.filter(pa.array(bad)).to_pylist(),
        )

    @cached_property
    def _nulls(self) -> bool:
        return bool(len(self.places)) and int(self.places.min()) < 0


@dataclass(frozen=True, eq=False)
class Ranked:
    """The rank of each value that is present, and what each rank shows."""

    ranks: Ints
    labels: tuple[str, ...]
    numbers: npt.NDArray[np.float64] | None = None
    dates: DateOrder | None = None
    steps: tuple[Ends, ...] | None = None


def _ranked(found: Values, kind: Kind, order: Order, dates: DateOrder | None) -> Ranked:
    if kind.numeric:
        return _by_meaning(found, kind, dates)
    if kind is Kind.ORDERED:
        return _by_order(found, order or ())
    return _by_text(found.present_texts)


def _by_text(texts: TextArray) -> Ranked:
    by_rank = pc.sort_indices(texts)
    ranks = np.empty(len(texts), dtype=np.int64)
    ranks[by_rank.to_numpy()] = np.arange(len(texts))
    return Ranked(ranks, tuple(texts.take(by_rank).to_pylist()))


def _by_order(found: Values, order: Sequence[str]) -> Ranked:
    declared = pa.array(order, pa.string())
    place = pc.index_in(found.present_texts, value_set=declared)
    found.refuse(
        np.asarray(pc.is_null(place).to_numpy(zero_copy_only=False)),
        f"have a value that is not among the {len(order)} of 'order'",
        "Add the values to 'order', or declare them in 'missing'.",
    )
    occurring, ranks = np.unique(place.to_numpy(), return_inverse=True)
    return Ranked(ranks, tuple(order[int(at)] for at in occurring))


def _by_meaning(found: Values, kind: Kind, dates: DateOrder | None) -> Ranked:
    read, keys, ranks, shown = _meanings(found, kind, dates)
    return Ranked(ranks, tuple(shown.to_pylist()), numbers(kind, keys), read.dates)


def _meanings(
    found: Values, kind: Kind, dates: DateOrder | None
) -> tuple[Meaning, npt.NDArray[Any], Ints, TextArray]:
    """What values mean: the keys in order, the rank of each value, a text per key."""
    texts = found.present_texts
    read = meaning(kind, texts, dates=dates)
    found.refuse(read.bad, _misfit(kind, read.note), _KIND_HINT)
    keys, ranks = np.unique(read.keys, return_inverse=True)
    return read, keys, ranks, _shortest(texts, ranks, len(keys))


def _on_grid(found: Values, kind: Kind, grid: NumberGrid) -> Ranked:
    """Values as steps of a grid; there may be millions, so few become Python texts."""
    if kind not in (Kind.INTEGER, Kind.DECIMAL):
        raise DataError(
            f"Column '{found.name}' has a resolution, and its kind is {kind}.",
            hint="Only numbers are put on a grid; leave out 'resolution'.",
        )

    _, keys, ranks, shown = _meanings(found, kind, None)
    floats = numbers(kind, keys)

    def exact(places: Ints) -> list[Fraction]:
        texts = shown.take(pa.array(places)).to_pylist()
        return exact_numbers(kind, texts, floats[places])

    steps = grid.steps(floats, exact)
    occurring, place = np.unique(steps, return_inverse=True)
    ends = tuple(grid.ends(step) for step in occurring.tolist())
    return Ranked(
        np.asarray(place[ranks], dtype=np.int64),
        tuple(step_text(each, each) for each in ends),
        np.array([grid.middle(step) for step in occurring.tolist()], dtype=np.float64),
        steps=ends,
    )


def _with_missing_step(
    steps: tuple[Ends, ...] | None, found: Values
) -> tuple[Ends, ...] | None:
    if steps is None or not found.missing_label:
        return steps
    return (*steps, (found.missing_label[0],) * 2)


def _misfit(kind: Kind, note: str) -> str:
    article = "an" if kind is Kind.INTEGER else "a"
    return f"are not {article} {kind}" + (f" ({note})" if note else "")


_KIND_HINT = (
    "Declare the marks for missing values in 'missing', or another 'kind' for the "
    "column. Dates are read as YYYY-MM-DD, decimals with a point."
)


def _shortest(texts: TextArray, ranks: Ints, count: int) -> TextArray:
    """One text for each rank: the shortest, ties by text."""
    if count == len(texts):
        return texts.take(pa.array(np.argsort(ranks)))
    lengths = pc.utf8_length(texts).to_numpy()
    alphabetic = _by_text(texts).ranks
    order = np.lexsort((alphabetic, lengths, ranks))
    first = np.searchsorted(ranks[order], np.arange(count))
    return texts.take(pa.array(order[first]))


def _with_missing(
    values: npt.NDArray[np.float64] | None, found: Values
) -> npt.NDArray[np.float64] | None:
    if values is None or not found.missing_label:
        return values
    return np.append(values, np.nan)
