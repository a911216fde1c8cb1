"""The groups of a table as models see them, from coded rows. No compiled code.

One packed 64-bit key per row holds group and value. Where group × values is not much
larger than the table, keys are counted in place; otherwise they are hashed and
counted. Keys that do not fit 64 bits are ranked first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Counts, Floats
from sfumato.data.distinct_keys import counted_keys, ranked_keys
from sfumato.data.rules import SUBJECT, View
from sfumato.hierarchies.axis import Axis, CodedAxis
from sfumato.hierarchies.sensitive_axis import roll_up
from sfumato.models.base import Groups, Histogram

AnyCodes = npt.NDArray[np.integer[Any]]

WORD = 2**63 - 1
"""The largest packed key."""

DENSE = 4
"""Keys are counted in place while there are at most this many per row."""


def build_groups(
    group_of: AnyCodes,
    count: int,
    *,
    sensitive: Mapping[str, CodedAxis],
    views: Sequence[View],
    subject: AnyCodes | None = None,
    source_reference: Mapping[View, Floats] | None = None,
    cells: npt.NDArray[np.int32] | None = None,
    population: Counts | None = None,
    population_outside: int = 0,
    weights: Floats | None = None,
    missing_any: bool = False,
    times: Counts | None = None,
) -> Groups:
    """Sizes and histograms of `count` groups, none empty; group −1 is left out.

    `views` are those of the models to be judged. A view whose reference is the source
    is compared with all rows, those left out included, unless `source_reference`
    gives its shares. `population` is per group, `weights` per row. With `times`, each
    row stands for so many equal ones.
    """
    rows = _Rows.of(group_of, count, subject, times)
    counted: dict[View, Histogram] = {}
    histograms = {}
    for view in views:
        if view != SUBJECT:
            plain = replace(view, reference="published")
            if plain not in counted:
                counted[plain] = _histogram(rows, plain, sensitive, missing_any)
            given = (source_reference or {}).get(view)
            histograms[view] = _referred(counted[plain], view, rows, sensitive, given)
    return Groups(
        sizes=rows.sizes,
        rows=rows.numbers,
        histograms=histograms,
        cells=cells,
        population=population,
        population_outside=population_outside,
        weights=None if weights is None else _summed(rows, weights),
        sensitive=tuple(sensitive),
        total=rows.everybody,
    )


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows that are kept, and all rows, for references to the source."""

    kept: npt.NDArray[np.bool_] | None
    group: Counts
    count: int
    subject: AnyCodes | None
    numbers: Counts
    sizes: Counts
    every_times: Counts | None = None
    """How many equal rows each row stands for, kept or not; None: one."""

    @classmethod
    def of(
        cls,
        group_of: AnyCodes,
        count: int,
        subject: AnyCodes | None,
        times: Counts | None = None,
    ) -> _Rows:
        kept = group_of >= 0
        everything = bool(kept.all())
        group = (group_of if everything else group_of[kept]).astype(np.int64)
        counted = times if times is None or everything else times[kept]
        numbers = total_times(group, counted, count)
        if len(numbers) > count or (count and numbers.min() == 0):
            raise ValueError(f"Groups must be 0 … {count - 1}, none of them empty.")
        persons = numbers
        if subject is not None:
            key, _ = packed([group, subject if everything else subject[kept]])
            persons = np.bincount(_first_rows(key, group), minlength=count)
        mask = None if everything else kept
        return cls(mask, group, count, subject, numbers, persons, times)

    @property
    def times(self) -> Counts | None:
        """How many equal rows each row that is kept stands for; None: one."""
        if self.every_times is None or self.kept is None:
            return self.every_times
        return self.every_times[self.kept]

    @property
    def everybody(self) -> int:
        """How many rows, or different persons, are kept."""
        if self.subject is None:
            return int(self.numbers.sum())
        return len(np.unique(self.of_kept(self.subject)))

    def of_kept(self, codes: AnyCodes) -> AnyCodes:
        """Return the codes of the rows that are kept."""
        return codes if self.kept is None else codes[self.kept]


def packed(
    columns: Sequence[AnyCodes], sizes: Sequence[int] | None = None, *, word: int = WORD
) -> tuple[Counts, int]:
    """One key per row that orders rows by the columns, and its number of keys.

    `sizes` are one more than each column's highest code. Where the next column would
    not fit the word, the key so far is replaced by its rank.
    """
    sizes = sizes or [int(column.max(initial=0)) + 1 for column in columns]
    key, number = columns[0].astype(np.int64), sizes[0]
    for column, size in zip(columns[1:], sizes[1:], strict=True):
        if number * size > word:
            _, key = ranked_keys(key)
            number = int(key.max(initial=0)) + 1
        # In place, because new arrays would be new pages; `astype` made a copy.
        key *= size
        key += column
        number *= size
    return key, number


def total_times(places: AnyCodes, times: Counts | None, number: int) -> Counts:
    """How many rows are at each place; with `times`, a row stands for several."""
    if times is None:
        return np.bincount(places, minlength=number)
    # Sums of whole numbers are exact in floats up to 2^53.
    return np.bincount(places, weights=times, minlength=number).astype(np.int64)


def run_lengths(
    key: Counts, number: int, times: Counts | None = None
) -> tuple[Counts, Counts]:
    """The distinct keys, ascending, and how often each occurs."""
    if times is not None:
        found, place = ranked_keys(key)
        return found, total_times(place, times, len(found))
    if number <= DENSE * len(key):
        dense = np.bincount(key, minlength=number)
        found = np.flatnonzero(dense)
        return found, dense[found]
    return counted_keys(key)


def _first_rows(key: Counts, values: AnyCodes) -> AnyCodes:
    """The value beside the first of each distinct key."""
    _, first = np.unique(key, return_index=True)
    return values[first]


def _histogram(
    rows: _Rows, view: View, sensitive: Mapping[str, CodedAxis], missing_any: bool
) -> Histogram:
    axis, codes = _rolled(sensitive[view.column], view.level)
    kept = rows.of_kept(codes)
    split, groups, sizes = rows.group, None, rows.sizes
    if view.others_known:
        split, groups, sizes = _split(rows, view.column, sensitive)
    size = max(axis.size, 1)
    key, number = packed([split, kept], [len(sizes), size])
    persons, times = None, rows.times
    if rows.subject is not None:
        key, persons = once_per_person(key, rows.of_kept(rows.subject))
        times = None
    found, counts = run_lengths(key, number, times)
    values = (found % size).astype(np.int32)
    return Histogram(
        axis=axis,
        starts=np.searchsorted(found, np.arange(len(sizes) + 1) * size),
        codes=values,
        counts=counts,
        sizes=sizes,
        reference=_published(rows, axis, kept, values, counts, missing_any),
        groups=groups,
        missing_any=missing_any,
        persons=persons,
    )


def _published(
    rows: _Rows,
    axis: Axis,
    kept: AnyCodes,
    values: AnyCodes,
    counts: Counts,
    missing_any: bool,
) -> Floats:
    """Return the distribution of the kept rows, taken from the entries if possible."""
    if rows.subject is not None:
        subject = rows.of_kept(rows.subject)
        return value_shares(axis, kept, subject, missing_any=missing_any)
    summed = np.bincount(values, weights=counts, minlength=axis.size)
    return normalized(axis, summed, missing_any=missing_any)


def _rolled(column: CodedAxis, level: int) -> tuple[Axis, AnyCodes]:
    axis, to_new = roll_up(column.axis, level)
    return axis, column.codes if level == 0 else to_new[column.codes]


def _split(
    rows: _Rows, column: str, sensitive: Mapping[str, CodedAxis]
) -> tuple[Counts, Counts, Counts]:
    """Groups split by all other sensitive columns: of rows, their group, their size."""
    others = [rows.of_kept(c.codes) for n, c in sensitive.items() if n != column]
    key, _ = packed([rows.group, *others])
    found, first, split = np.unique(key, return_index=True, return_inverse=True)
    sizes = total_times(split, rows.times, len(found))
    if rows.subject is not None:
        pairs, _ = packed([split, rows.of_kept(rows.subject)])
        sizes = np.bincount(_first_rows(pairs, split), minlength=len(found))
    return split, rows.group[first], sizes


def once_per_person(key: Counts, persons: AnyCodes) -> tuple[Counts, AnyCodes]:
    """The keys, each once per person who has it, ascending; and those persons."""
    pairs, _ = packed([key, persons])
    _, first = np.unique(pairs, return_index=True)
    return key[first], persons[first]


def value_shares(
    axis: Axis,
    codes: AnyCodes,
    subject: AnyCodes | None,
    *,
    missing_any: bool = False,
    times: Counts | None = None,
) -> Floats:
    """The distribution of a column: of rows, or of persons, each once per value.

    With `missing_any` it is that of the known cells alone, if there are any. With
    `times`, each row stands for so many.
    """
    if subject is not None:
        pairs, _ = packed([codes, subject])
        codes, times = _first_rows(pairs, codes), None
    counts = total_times(codes, times, axis.size)
    return normalized(axis, counts, missing_any=missing_any)


def normalized(axis: Axis, counts: npt.NDArray[Any], *, missing_any: bool) -> Floats:
    """Counts of values as shares; the known ones alone with `missing_any`, if any."""
    shares = counts.astype(np.float64)
    if missing_any and axis.missing >= 0 and shares.sum() > shares[axis.missing]:
        shares[axis.missing] = 0.0
    result: Floats = shares / max(shares.sum(), 1.0)
    return result


def _referred(
    histogram: Histogram,
    view: View,
    rows: _Rows,
    sensitive: Mapping[str, CodedAxis],
    given: Floats | None,
) -> Histogram:
    """The histogram beside the reference that its view asks for."""
    if view.reference != "source":
        return histogram
    if given is None:
        axis, codes = _rolled(sensitive[view.column], view.level)
        given = value_shares(
            axis,
            codes,
            rows.subject,
            missing_any=histogram.missing_any,
            times=rows.every_times,
        )
    return replace(histogram, reference=given)


def _summed(rows: _Rows, weights: Floats) -> Floats:
    kept = weights if rows.kept is None else weights[rows.kept]
    kept = kept if rows.times is None else kept * rows.times
    summed = np.bincount(rows.group, weights=kept, minlength=rows.count)
    return np.asarray(summed, dtype=np.float64)
