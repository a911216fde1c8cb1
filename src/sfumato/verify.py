"""Re-prove a published table from its cells alone.

NumPy and Arrow, without algorithms, operators or compiled code: it judges what a recipient
sees. Groups are the distinct published tuples of the quasi-identifiers, compared as
text. With `missing_any` a missing cell may also stand for any value: a requirement then
has to hold both for the groups and for the candidates of every person (see
`models/common/candidates.py`), at the worst way of filling in their missing cells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sfumato.data.arrays import Codes, Flags, Ints
from sfumato.data.distinct_keys import counted_keys, ranked_keys, repeat
from sfumato.data.published_cells import (
    KEY_LIMIT,
    Cells,
    distinct_tuples,
    packed_key,
    tuples_of,
)
from sfumato.data.rules import View
from sfumato.errors import DataError, RefusedError
from sfumato.hierarchies.axis import Axis, CodedAxis
from sfumato.hierarchies.cell_leaves import cover_matrix
from sfumato.hierarchies.sensitive_axis import roll_up
from sfumato.models.base import (
    Candidates,
    Groups,
    Histogram,
    Matching,
    OutputModel,
    Scope,
    Target,
    Verdict,
)
from sfumato.models.common.candidates import (
    LIMIT,
    TooManyFillingsError,
    agreeing,
    fillings,
    with_nobody,
)
from sfumato.models.common.groups import build_groups, normalized, total_times

TakenArray = TypeVar("TakenArray", Codes, Ints)
CHUNK = 2**24
"""Group × tuple pairs compared at a time."""
ROWS = 2**26
"""The most candidates, counted once for each person they are candidates of."""


@dataclass(frozen=True, eq=False)
class Population:
    """A second table that the attacker knows, as distinct tuples of leaves."""

    axes: tuple[Axis, ...]
    tuples: Codes
    """(tuples, quasi-identifiers): leaf codes."""
    counts: Ints

    @classmethod
    def of(cls, columns: Sequence[CodedAxis], rows: int) -> Population:
        """Collapse a population table to its distinct tuples."""
        owner, tuples = distinct_tuples([c.codes for c in columns], rows)
        counts = np.bincount(owner, minlength=len(tuples))
        return cls(tuple(c.axis for c in columns), tuples, counts)


@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence:
    """A published table in codes: the input of the models."""

    cells: tuple[Cells, ...]
    """One per published quasi-identifier column."""
    sensitive: Mapping[str, CodedAxis] = field(default_factory=dict)
    subject: Codes | None = None
    weights: npt.NDArray[np.float64] | None = None
    groups: Codes | None = None
    """The private group of each row, where cells do not show it (swapped tables)."""
    population: Population | None = None
    source_counts: Mapping[str, Ints] = field(default_factory=dict)
    """How often each sensitive value occurs in the source, where it is known."""
    missing_any: bool = False
    rows: int = 0
    shown: Mapping[str, Cells] = field(default_factory=dict)
    """The published columns that requirements count values of, by name."""
    times: Ints | None = None
    """How many equal rows of the published table each row stands for; None: one."""

    @cached_property
    def key(self) -> Ints:
        """One number per row, equal exactly where all cells are equal."""
        return packed_key([c.codes for c in self.cells], self.rows)

    @cached_property
    def group_of(self) -> Ints:
        """Return the group of each row, numbered in the order of the keys."""
        if self.groups is not None:
            return self.groups.astype(np.int64)
        return ranked_keys(self.key)[1]

    @cached_property
    def tuples(self) -> tuple[Ints, Codes]:
        """Return the group of each row, and the cells of each group."""
        if self.groups is not None:
            return self.group_of, np.zeros((0, 0), dtype=np.int32)
        return self.group_of, tuples_of(self.group_of, [c.codes for c in self.cells])


@dataclass(frozen=True, eq=False)
class Proof:
    """The verdict of every requirement, and the groups they were reached on."""

    verdicts: tuple[Verdict, ...]
    groups: Groups
    sensitive: Mapping[str, CodedAxis] = field(default_factory=dict)
    """The sensitive columns, as they were read."""
    evidence: Evidence | None = field(default=None, repr=False)

    def offenders(self, verdict: Verdict) -> dict[str, int]:
        """Count the rows, and persons where known, that fail a requirement."""
        broken = verdict.broken
        if broken is None or verdict.holds or self.evidence is None:
            return {}
        subject = self.evidence.subject
        found = {"rows": int(self.groups.rows[broken].sum())}
        if subject is not None:
            inside = broken[self.evidence.tuples[0]]
            found["persons"] = len(np.unique(subject[inside]))
        return found

    @property
    def holds(self) -> bool:
        return all(verdict.holds for verdict in self.verdicts)


def prove(evidence: Evidence, models: Sequence[OutputModel]) -> Proof:
    """Ask every model about a published table."""
    if evidence.missing_any and evidence.times is not None:
        evidence = _row_by_row(evidence, evidence.times)
    # Not copied without need: what was computed of it stays with it.
    closed = replace(evidence, missing_any=False) if evidence.missing_any else evidence
    groups = _with_matching(groups_of(closed, models), evidence, models)
    verdicts = tuple(model.verify(groups) for model in models)
    if evidence.missing_any:
        opened = OpenMissingCells(evidence, models)
        verdicts = tuple(
            _both(model, verdict, opened.verdict(model))
            for model, verdict in zip(models, verdicts, strict=True)
        )
    return Proof(verdicts, groups, evidence.sensitive, evidence)


def _row_by_row(evidence: Evidence, times: Ints) -> Evidence:
    """Repeat each row as often as it stands for: candidates are counted one by one."""
    rows = np.repeat(np.arange(evidence.rows), times)
    return replace(
        evidence,
        cells=tuple(replace(c, codes=c.codes[rows]) for c in evidence.cells),
        sensitive={
            name: CodedAxis(s.axis, s.codes[rows])
            for name, s in evidence.sensitive.items()
        },
        subject=_taken(evidence.subject, rows),
        weights=None if evidence.weights is None else evidence.weights[rows],
        shown={n: replace(c, codes=c.codes[rows]) for n, c in evidence.shown.items()},
        rows=len(rows),
        times=None,
    )


def _with_matching(
    groups: Groups, evidence: Evidence, models: Sequence[OutputModel]
) -> Groups:
    asked = [target for model in models for target in model.targets()]
    if not asked:
        return groups
    found = {target: _matching(evidence, target) for target in asked}
    return replace(groups, matching=found)


def _both(model: OutputModel, value: Verdict, opened: Verdict) -> Verdict:
    """Return a verdict that holds only if both readings of a missing cell hold."""
    worse = opened if _worse(model, opened, value) else value
    parts = [v.broken for v in (value, opened) if v.broken is not None]
    broken = np.logical_or.reduce(parts) if parts else None
    return Verdict(
        value.holds and opened.holds,
        worse.measured,
        max(value.offending, opened.offending) if broken is None else int(broken.sum()),
        worse.details,
        broken=broken,
        readings={"value": value, "any": opened},
        broken_limits={**value.broken_limits, **opened.broken_limits},
    )


def _worse(model: OutputModel, one: Verdict, other: Verdict) -> bool:
    """Return whether one verdict is worse than the other."""
    if one.holds != other.holds:
        return not one.holds
    if one.measured is None or other.measured is None:
        return one.measured is None
    if model.more_is_safer:
        return one.measured < other.measured
    return one.measured > other.measured


class OpenMissingCells:
    """A published table in which a missing cell may stand for any value."""

    def __init__(self, evidence: Evidence, models: Sequence[OutputModel]) -> None:
        self.evidence = evidence
        self.models = models

    def verdict(self, model: OutputModel) -> Verdict:
        """Ask a model about the candidates of every person, worst first.

        Candidates are whole groups of rows. Where there are too many ways of filling
        in, a model that merging groups cannot break judges the groups alone: their
        unions are at least as good.
        """
        needs_values = bool(model.views(tuple(self.evidence.sensitive)))
        try:
            found = self._lifted(model, needs_values)
        except TooManyFillingsError:
            if not (model.monotone_generalization and self._shown.apart):
                raise RefusedError(
                    f'{model.name} cannot be judged with missing_as = "any": there '
                    f"are more than {LIMIT:,} ways to fill in the missing cells.",
                    hint='Set missing_as to "value" or "drop".',
                ) from None
            found = model.verify(self._shown)
            return replace(found, details={**found.details, "bound": True})
        return found

    def _lifted(self, model: OutputModel, needs_values: bool) -> Verdict:
        """Express a verdict on sets of candidates in terms of published groups."""
        if self.evidence.groups is not None or not self._opens:
            return model.verify(self._shown)
        if not (needs_values or model.holds_for_unions) and self._blank.any():
            raise RefusedError(
                f'{model.name} cannot be judged with missing_as = "any" where '
                "quasi-identifiers are missing.",
                hint='Set missing_as to "value" or "drop".',
            )
        groups = self._every_filling if needs_values else self._fewest
        found = model.verify(groups)
        about = groups.candidates
        if found.broken is None or about is None or len(found.broken) != groups.count:
            return found
        count = about.published.count
        broken = np.bincount(about.owner[found.broken], minlength=count) > 0
        return replace(found, offending=int(broken.sum()), broken=broken)

    @cached_property
    def _shown(self) -> Groups:
        """Return the published groups, with missing sensitive values as any value."""
        found = groups_of(self.evidence, self.models)
        return _with_matching(found, self.evidence, self.models)

    @property
    def _opens(self) -> bool:
        """Return whether cells are missing, here or in the population."""
        return self.evidence.population is not None or bool(self._blank.any())

    @cached_property
    def _blank(self) -> npt.NDArray[np.bool_]:
        _, cells = self.evidence.tuples
        columns = [
            column.missing[cells[:, j]] for j, column in enumerate(self.evidence.cells)
        ]
        shape = (len(cells), 0)
        return np.column_stack(columns) if columns else np.zeros(shape, dtype=np.bool_)

    @cached_property
    def _fewest(self) -> Groups:
        """Return the fewest candidates that the people of each group can have."""
        _, cells = self.evidence.tuples
        filled = with_nobody(cells, self._blank)
        return self._candidates(np.arange(len(cells)), filled)

    @cached_property
    def _every_filling(self) -> Groups:
        _, cells = self.evidence.tuples
        return self._candidates(*fillings(cells, self._blank))

    def _candidates(self, owner: Ints, filled: Codes) -> Groups:
        group_of, cells = self.evidence.tuples
        sets, members = agreeing(filled, cells, self._blank)
        rows, of_set = _rows_of(group_of, sets, members, self._shown.rows)
        views = tuple(self._shown.histograms)
        found = build_groups(
            of_set,
            len(filled),
            sensitive={
                name: CodedAxis(s.axis, s.codes[rows])
                for name, s in self.evidence.sensitive.items()
            },
            views=views,
            subject=_taken(self.evidence.subject, rows),
            source_reference=source_references(self.evidence, views),
            population=_people_matching(self.evidence, filled),
            missing_any=True,
        )
        return self._completed(found, owner, filled)

    def _completed(self, found: Groups, owner: Ints, filled: Codes) -> Groups:
        """Add the figures of the whole table, which stay the same, to candidates."""
        shown = self._shown
        return replace(
            found,
            histograms={
                view: replace(h, reference=shown.histograms[view].reference)
                for view, h in found.histograms.items()
            },
            total=shown.everybody,
            matching=shown.matching,
            population_outside=shown.population_outside,
            candidates=Candidates(
                published=shown, owner=owner, blank=self._blank, filled=filled
            ),
        )


def _rows_of(
    group_of: Ints, sets: Ints, members: Ints, sizes: Ints
) -> tuple[Ints, Ints]:
    """Return the rows of the groups in each set, and the set of each row."""
    number = sizes[members]
    if int(number.sum()) > ROWS:
        raise TooManyFillingsError
    order = np.argsort(group_of, kind="stable")
    first = (np.cumsum(sizes) - sizes)[members]
    shift = np.repeat(first - (np.cumsum(number) - number), number)
    return order[np.arange(int(number.sum())) + shift], np.repeat(sets, number)


def _taken(codes: TakenArray | None, rows: Ints | Flags) -> TakenArray | None:
    return None if codes is None else codes[rows]


def _matching(evidence: Evidence, target: Target) -> Matching:
    """Count the rows of each group whose published texts are exactly a target's."""
    group_of, _ = evidence.tuples
    found = np.ones(evidence.rows, dtype=np.bool_)
    for name, value in target:
        column = evidence.shown[name]
        same = np.array([text == value for text in column.texts], dtype=np.bool_)
        found &= same[column.codes]
    count = int(group_of.max(initial=-1)) + 1
    times = evidence.times
    shown = total_times(group_of[found], _taken(times, found), count)
    return Matching(shown, rows=evidence.rows if times is None else int(times.sum()))


def groups_of(evidence: Evidence, models: Sequence[OutputModel]) -> Groups:
    """Return the groups that a recipient sees, with the histograms the models need."""
    names = tuple(evidence.sensitive)
    views = sorted({view for model in models for view in model.views(names)})
    if _plain(evidence, models, views):
        return _counted_groups(evidence, views)
    group_of, cells = evidence.tuples
    inside, outside = _population_counts(evidence, cells)
    return build_groups(
        group_of,
        int(group_of.max(initial=-1)) + 1,
        sensitive=evidence.sensitive,
        views=views,
        source_reference=source_references(evidence, views),
        subject=evidence.subject,
        cells=cells if len(cells) else None,
        population=inside,
        population_outside=outside,
        weights=evidence.weights,
        missing_any=evidence.missing_any,
        times=evidence.times,
    )


def _plain(
    evidence: Evidence, models: Sequence[OutputModel], views: Sequence[View]
) -> bool:
    """Return whether sizes and histograms describe everything, row by row."""
    private = evidence.subject is not None or evidence.groups is not None
    special = evidence.missing_any or any(view.others_known for view in views)
    whole = any(model.scope is not Scope.GROUP for model in models)
    special = special or evidence.times is not None
    return not (private or special or whole or evidence.weights is not None)


def _counted_groups(evidence: Evidence, views: Sequence[View]) -> Groups:
    """Build groups by counting keys, without a number per row."""
    key = evidence.key
    references = source_references(evidence, views)
    histograms = {
        view: _counted_histogram(
            key, evidence.sensitive[view.column], view, references.get(view)
        )
        for view in views
    }
    if histograms:
        sizes = next(iter(histograms.values())).sizes
    elif repeat(key):
        # Numbered once, because figures of a release ask for the group of each row.
        sizes = np.bincount(evidence.group_of)
    else:
        _, sizes = counted_keys(key)
    return Groups(
        sizes=sizes,
        rows=sizes,
        histograms=histograms,
        sensitive=tuple(evidence.sensitive),
    )


def source_references(
    evidence: Evidence, views: Sequence[View]
) -> dict[View, npt.NDArray[np.float64]]:
    """Return the source's distribution, for the views that compare with it."""
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
    return normalized(axis, summed, missing_any=evidence.missing_any)


def _counted_histogram(
    key: Ints,
    coded: CodedAxis,
    view: View,
    reference: npt.NDArray[np.float64] | None,
) -> Histogram:
    axis, to_new = roll_up(coded.axis, view.level)
    values = coded.codes if view.level == 0 else to_new[coded.codes]
    if (int(key.max(initial=0)) + 1) * axis.size >= KEY_LIMIT:
        _, key = ranked_keys(key)
    both, counts = counted_keys(key * axis.size + values)
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


def _population_counts(evidence: Evidence, cells: Codes) -> tuple[Ints | None, int]:
    """Count the population rows that match each group, and those that match none."""
    population = evidence.population
    if population is None:
        return None, 0
    inside, matched = _matched(evidence, cells, _covers(evidence, population))
    return inside, int(population.counts[~matched].sum())


def _people_matching(evidence: Evidence, filled: Codes) -> Ints | None:
    """Count the fewest population rows that match people with missing cells.

    A missing cell of the population matches every value. A value that nobody shows
    matches only such cells.
    """
    population = evidence.population
    if population is None:
        return None
    covers = []
    found = _covers(evidence, population)
    for axis, (place, cover) in zip(population.axes, found, strict=True):
        nobody = np.zeros((1, axis.size), dtype=np.bool_)
        both = np.concatenate([cover, nobody])
        if axis.missing >= 0:
            both[:, axis.missing] = True
        covers.append((place, both))
    return _matched(evidence, filled, covers)[0]


def _covers(evidence: Evidence, population: Population) -> list[tuple[int, Flags]]:
    """Return which leaves of each population axis the cells in a place stand for."""
    columns = [(j, t) for j, cells in enumerate(evidence.cells) for t in cells.columns]
    return [
        (place, cover_matrix(axis, texts))
        for axis, (place, texts) in zip(population.axes, columns, strict=True)
    ]


def _matched(
    evidence: Evidence, cells: Codes, covers: Sequence[tuple[int, Flags]]
) -> tuple[Ints, Flags]:
    """Count the population rows that match each tuple; flag those that match any."""
    population = evidence.population
    assert population is not None
    inside = np.zeros(len(cells), dtype=np.int64)
    matched = np.zeros(len(population.tuples), dtype=np.bool_)
    step = max(1, CHUNK // max(1, len(population.tuples)))
    for start in range(0, len(cells), step):
        part = cells[start : start + step]
        fits = np.ones((len(part), len(population.tuples)), dtype=np.bool_)
        for j, (place, cover) in enumerate(covers):
            fits &= cover[part[:, place]][:, population.tuples[:, j]]
        inside[start : start + step] = fits @ population.counts
        matched |= fits.any(axis=0)
    return inside, matched


def require_columns(table: pa.Table, names: Sequence[str], *, what: str) -> None:
    """Refuse a table that lacks columns needed to judge it."""
    present = set(table.column_names)
    absent = [name for name in names if name not in present]
    if absent:
        listed = ", ".join(f"'{name}'" for name in absent)
        raise DataError(
            f"{what} has no column {listed}.",
            hint="Name the columns as they are in the file's header.",
        )
