"""Re-prove a published table from its cells alone.

Pure NumPy, without algorithms, operators or compiled code: what a recipient sees is
what is judged. Groups are the distinct published tuples of the quasi-identifiers,
compared as text. With `missing_any` a missing cell may stand for any value: a group is then
judged by the rows that match it whatever the missing cells stand for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.data.beside import each
from sfumato.data.rules import View
from sfumato.data.text import as_text
from sfumato.errors import DataError
from sfumato.hierarchies.axis import Axis, CodedAxis
from sfumato.hierarchies.cover import cover_matrix
from sfumato.hierarchies.rollup import roll_up
from sfumato.models.base import (
    Groups,
    Histogram,
    Matching,
    OutputModel,
    Scope,
    Target,
    Verdict,
)
from sfumato.models.groups import build_groups

Codes = npt.NDArray[np.int32]
Rows = npt.NDArray[np.int64]
KEY_LIMIT = 2**63
CHUNK = 2**24
"""Group × tuple pairs compared at a time."""


@dataclass(frozen=True, eq=False)
class Cells:
    """A published column: a code per row, and the text behind each code."""

    codes: Codes
    texts: tuple[str | None, ...]
    """None is the missing cell, whatever its mark."""

    @property
    def missing(self) -> int:
        """The code of the missing cell, or −1."""
        return self.texts.index(None) if None in self.texts else -1


@dataclass(frozen=True, eq=False)
class Population:
    """A second table that is known to the attacker, as distinct tuples of leaves."""

    axes: tuple[Axis, ...]
    tuples: Codes
    """(tuples, quasi-identifiers): leaf codes."""
    counts: Rows

    @classmethod
    def of(cls, columns: Sequence[CodedAxis], rows: int) -> Population:
        """Collapse a population table to its distinct tuples."""
        owner, tuples = distinct_tuples([c.codes for c in columns], rows)
        counts = np.bincount(owner, minlength=len(tuples))
        return cls(tuple(c.axis for c in columns), tuples, counts)


@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence:
    """A published table in codes: what the models are asked about."""

    cells: tuple[Cells, ...]
    """One per published quasi-identifier column."""
    sensitive: Mapping[str, CodedAxis] = field(default_factory=dict)
    subject: Codes | None = None
    weights: npt.NDArray[np.float64] | None = None
    groups: Codes | None = None
    """The private group of each row, where cells do not show it (swapped tables)."""
    population: Population | None = None
    source_counts: Mapping[str, Rows] = field(default_factory=dict)
    """How often each sensitive value occurs in the source, where it is known."""
    missing_any: bool = False
    rows: int = 0
    shown: Mapping[str, Cells] = field(default_factory=dict)
    """The published columns that requirements count values of, by name."""

    @cached_property
    def tuples(self) -> tuple[Rows, Codes]:
        """The group of each row, and the cells of each group."""
        if self.groups is not None:
            return self.groups.astype(np.int64), np.zeros((0, 0), dtype=np.int32)
        return distinct_tuples([c.codes for c in self.cells], self.rows)


@dataclass(frozen=True, eq=False)
class Proof:
    """The verdict of every requirement, and the groups they were reached on."""

    verdicts: tuple[Verdict, ...]
    groups: Groups

    @property
    def holds(self) -> bool:
        return all(verdict.holds for verdict in self.verdicts)


def prove(evidence: Evidence, models: Sequence[OutputModel]) -> Proof:
    """Ask every model about a published table."""
    groups = groups_of(evidence, models)
    asked = [target for model in models for target in model.targets()]
    if asked:
        found = {target: _matching(evidence, target) for target in asked}
        groups = replace(groups, matching=found)
    return Proof(tuple(model.verify(groups) for model in models), groups)


def _matching(evidence: Evidence, target: Target) -> Matching:
    """The rows of each group whose published texts are exactly those of a target."""
    group_of, _ = evidence.tuples
    found = np.ones(evidence.rows, dtype=np.bool_)
    for name, value in target:
        column = evidence.shown[name]
        same = np.array([text == value for text in column.texts], dtype=np.bool_)
        found &= same[column.codes]
    count = int(group_of.max(initial=-1)) + 1
    shown = np.bincount(group_of[found], minlength=count)
    return Matching(shown, rows=evidence.rows)


def groups_of(evidence: Evidence, models: Sequence[OutputModel]) -> Groups:
    """The groups that a recipient sees, with the histograms the models need."""
    names = tuple(evidence.sensitive)
    views = sorted({view for model in models for view in model.views(names)})
    if _plain(evidence, models, views):
        return _sorted_groups(evidence, views)
    group_of, cells = evidence.tuples
    count = int(group_of.max(initial=-1)) + 1
    rows = np.arange(evidence.rows)
    if evidence.missing_any and evidence.groups is None:
        marks = [column.missing for column in evidence.cells]
        rows, group_of = _with_wildcards(group_of, cells, marks)
    inside, outside = _population_counts(evidence, cells)
    return build_groups(
        group_of,
        count,
        sensitive={n: _taken(s, rows) for n, s in evidence.sensitive.items()},
        views=views,
        source_reference=source_references(evidence, views),
        subject=None if evidence.subject is None else evidence.subject[rows],
        cells=cells if len(cells) else None,
        population=inside,
        population_outside=outside,
        weights=None if evidence.weights is None else evidence.weights[rows],
        missing_any=evidence.missing_any,
    )


def _plain(
    evidence: Evidence, models: Sequence[OutputModel], views: Sequence[View]
) -> bool:
    """Whether sizes and histograms are all there is to know, row by row."""
    private = evidence.subject is not None or evidence.groups is not None
    special = evidence.missing_any or any(view.others_known for view in views)
    whole = any(model.scope is not Scope.GROUP for model in models)
    return not (private or special or whole or evidence.weights is not None)


def _sorted_groups(evidence: Evidence, views: Sequence[View]) -> Groups:
    """Groups from sorted keys: no number per row is ever needed, only run lengths."""
    key = packed_key([c.codes for c in evidence.cells], evidence.rows)
    references = source_references(evidence, views)
    histograms = {
        view: _sorted_histogram(
            key, evidence.sensitive[view.column], view, references.get(view)
        )
        for view in views
    }
    if histograms:
        sizes = next(iter(histograms.values())).sizes
    else:
        _, sizes = _runs(np.sort(key))
    return Groups(
        sizes=sizes,
        rows=sizes,
        histograms=histograms,
        sensitive=tuple(evidence.sensitive),
    )


def source_references(
    evidence: Evidence, views: Sequence[View]
) -> dict[View, npt.NDArray[np.float64]]:
    """The source's distribution, for the views that compare with it."""
    found = {}
    for view in views:
        if view.reference == "source":
            found[view] = _source_reference(evidence, view)
    return found


def _source_reference(evidence: Evidence, view: View) -> npt.NDArray[np.float64]:
    counts = evidence.source_counts.get(view.column)
    if counts is None:
        raise DataError(
            f"A requirement compares '{view.column}' with the source, "
            "which the published table does not show.",
            hint="Give the private record: --groups private/rows.parquet.",
        )
    axis, to_new = roll_up(evidence.sensitive[view.column].axis, view.level)
    summed = np.bincount(to_new, weights=counts, minlength=axis.size)
    if evidence.missing_any and axis.missing >= 0:
        summed[axis.missing] = 0.0
    return np.asarray(summed / max(summed.sum(), 1.0))


def _sorted_histogram(
    key: Rows,
    coded: CodedAxis,
    view: View,
    reference: npt.NDArray[np.float64] | None,
) -> Histogram:
    axis, to_new = roll_up(coded.axis, view.level)
    values = coded.codes if view.level == 0 else to_new[coded.codes]
    if (int(key.max(initial=0)) + 1) * axis.size >= KEY_LIMIT:
        key = np.unique(key, return_inverse=True)[1].astype(np.int64)
    both, counts = _runs(np.sort(key * axis.size + values))
    owners, codes = np.divmod(both, axis.size)
    first = np.flatnonzero(np.diff(owners, prepend=-1))
    return Histogram(
        axis=axis,
        starts=np.append(first, len(both)).astype(np.int64),
        codes=codes.astype(np.int32),
        counts=counts,
        sizes=np.add.reduceat(counts, first),
        reference=np.bincount(values, minlength=axis.size) / len(values)
        if reference is None
        else reference,
    )


def _runs(ordered: Rows) -> tuple[Rows, Rows]:
    """The distinct values of a sorted array, and how often each occurs."""
    first = np.flatnonzero(np.diff(ordered, prepend=ordered[0] - 1))
    return ordered[first], np.diff(np.append(first, len(ordered)))


def coded_cells(
    table: pa.Table, names: Sequence[str], missing: Sequence[str]
) -> tuple[Cells, ...]:
    """Published cells as codes of their texts."""
    return tuple(each(lambda name: _coded(table, name, missing), names))


def distinct_tuples(cells: Sequence[Codes], rows: int) -> tuple[Rows, Codes]:
    """Number the distinct tuples: the number of each row, and each one's cells."""
    key = packed_key(cells, rows)
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    columns = [codes[first] for codes in cells]
    shape = (len(first), 0)
    return (
        inverse.astype(np.int64),
        np.column_stack(columns).astype(np.int32) if columns else np.zeros(shape, "i4"),
    )


def packed_key(cells: Sequence[Codes], rows: int) -> Rows:
    """One 64-bit number per row, equal exactly where all cells are equal.

    Mixed-radix while the product of cardinalities fits; where it would not, what has
    been packed so far is replaced by its rank, which is below the number of rows.
    """
    key = np.zeros(rows, dtype=np.int64)
    span = 1
    for codes in cells:
        size = int(codes.max(initial=0)) + 1
        if span * size >= KEY_LIMIT:
            distinct, ranks = np.unique(key, return_inverse=True)
            key, span = ranks.astype(np.int64), len(distinct)
        key *= size
        key += codes
        span *= size
    return key


def _coded(table: pa.Table, name: str, missing: Sequence[str]) -> Cells:
    column = table.column(name).combine_chunks()
    if pa.types.is_timestamp(column.type):
        column = as_text(column, name=name)
    if not pa.types.is_dictionary(column.type):
        column = pc.cast(column, pa.string()).dictionary_encode()
    texts = pc.cast(column.dictionary, pa.string()).to_pylist()
    codes = pc.fill_null(column.indices, len(texts)).to_numpy(zero_copy_only=False)
    return _merged(codes.astype(np.int32), [*texts, None], set(missing))


def _merged(codes: Codes, texts: Sequence[str | None], missing: set[str]) -> Cells:
    """Equal texts share a code, and so do all marks of a missing value."""
    known: dict[str | None, int] = {}
    target = np.empty(len(texts), dtype=np.int32)
    occurs = np.bincount(codes, minlength=len(texts)) > 0
    for code in np.flatnonzero(occurs):
        text = None if texts[code] in missing else texts[code]
        target[code] = known.setdefault(text, len(known))
    return Cells(target[codes], tuple(known))


def _population_counts(
    evidence: Evidence, cells: Codes
) -> tuple[npt.NDArray[np.int64] | None, int]:
    """Population rows that match each group's cells, and those that match none."""
    population = evidence.population
    if population is None:
        return None, 0
    covers = [
        cover_matrix(axis, column.texts)
        for axis, column in zip(population.axes, evidence.cells, strict=True)
    ]
    inside = np.zeros(len(cells), dtype=np.int64)
    matched = np.zeros(len(population.tuples), dtype=np.bool_)
    step = max(1, CHUNK // max(1, len(population.tuples)))
    for start in range(0, len(cells), step):
        part = cells[start : start + step]
        fits = np.ones((len(part), len(population.tuples)), dtype=np.bool_)
        for j, cover in enumerate(covers):
            fits &= cover[part[:, j]][:, population.tuples[:, j]]
        inside[start : start + step] = fits @ population.counts
        matched |= fits.any(axis=0)
    return inside, int(population.counts[~matched].sum())


def _taken(coded: CodedAxis, rows: Rows) -> CodedAxis:
    if len(rows) == len(coded.codes):
        return coded
    return CodedAxis(coded.axis, coded.codes[rows])


def _with_wildcards(
    group_of: Rows, cells: Codes, missing: Sequence[int]
) -> tuple[Rows, Rows]:
    """Rows and groups, each row also counted for the groups it matches as a wildcard.

    A row matches a group for certain if it agrees with it in every cell that the row
    does not miss; a cell that the group misses, the row must miss too.
    """
    blank = cells == np.array(missing, dtype=np.int32)[None, :]
    members = _members(group_of, len(cells))
    rows, groups = [np.arange(len(group_of))], [group_of]
    for pattern in np.unique(blank, axis=0):
        for giver, taker in _matches(cells, blank, pattern):
            rows.append(members[giver])
            groups.append(np.full(len(members[giver]), taker, dtype=np.int64))
    return np.concatenate(rows), np.concatenate(groups)


def _matches(
    cells: Codes, blank: npt.NDArray[np.bool_], pattern: npt.NDArray[np.bool_]
) -> list[tuple[int, int]]:
    """Pairs (giver, taker) where the giver misses exactly the cells of `pattern`."""
    if not pattern.any():
        return []
    givers = np.flatnonzero((blank == pattern).all(axis=1))
    inside = (blank <= pattern).all(axis=1) & (blank != pattern).any(axis=1)
    by_rest: dict[bytes, list[int]] = {}
    for taker in np.flatnonzero(inside):
        by_rest.setdefault(cells[taker, ~pattern].tobytes(), []).append(int(taker))
    return [
        (int(giver), taker)
        for giver in givers
        for taker in by_rest.get(cells[giver, ~pattern].tobytes(), [])
    ]


def _members(group_of: Rows, count: int) -> list[Rows]:
    order = np.argsort(group_of, kind="stable")
    return np.split(order, np.cumsum(np.bincount(group_of, minlength=count))[:-1])


def require_columns(table: pa.Table, names: Sequence[str], *, what: str) -> None:
    """Refuse a table that lacks columns it is to be judged by."""
    absent = [name for name in names if name not in table.column_names]
    if absent:
        listed = ", ".join(f"'{name}'" for name in absent)
        raise DataError(
            f"{what} has no column {listed}.",
            hint="Name the columns as they are in the file's header.",
        )
