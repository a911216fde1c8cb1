"""Which published rows could be a person's, and what they say about the person.

Where the private record says which row is whose, the attacker is assumed to have found
the person's group: the rows that show the same in the known columns, or the published
or recorded group where quasi-identifiers are exact. Otherwise all rows are candidates
whose cells may stand for the person's values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.data.arrays import Codes, Counts, Flags, Floats, Ints
from sfumato.data.published_cells import distinct_tuples
from sfumato.data.rules import View
from sfumato.hierarchies.axis import Axis, CodedAxis
from sfumato.hierarchies.sensitive_axis import roll_up
from sfumato.models.base import Histogram
from sfumato.models.common.groups import build_groups, value_shares
from sfumato.risk.attacks.base import AttackInput
from sfumato.risk.table_pair import Pair

CHUNK = 1 << 23
"""Pairs of targets and cells that are compared at a time."""


@dataclass(frozen=True, eq=False)
class ShownTuples:
    """The distinct cells of some columns of a published table."""

    pair: Pair
    columns: tuple[str, ...]

    @cached_property
    def _tuples(self) -> tuple[Ints, Codes]:
        texts = [self.pair.published[name].codes for name in self.columns]
        return distinct_tuples(texts, self.pair.rows_out)

    @property
    def owner(self) -> Ints:
        """The tuple of each published row."""
        return self._tuples[0]

    @property
    def cells(self) -> Codes:
        """(tuples, columns): the text of each cell."""
        return self._tuples[1]

    @cached_property
    def sizes(self) -> Counts:
        """The rows of each tuple."""
        return np.bincount(self.owner, minlength=len(self.cells))

    def matches(
        self, leaves: Codes, only: Ints | None = None
    ) -> Iterator[tuple[slice, Flags]]:
        """(people, tuples): which tuples may be a person's, some people at a time.

        All tuples are looked at, or some of them.
        """
        cells = self.cells if only is None else self.cells[only]
        step = max(1, CHUNK // max(len(cells), 1))
        for start in range(0, len(leaves), step):
            some = slice(start, min(start + step, len(leaves)))
            fits = np.ones((some.stop - start, len(cells)), dtype=np.bool_)
            for place, name in enumerate(self.columns):
                reading = self.pair.published[name].reading
                texts, shown = np.unique(cells[:, place], return_inverse=True)
                known = reading.covers(texts[None, :], leaves[some, place][:, None])
                fits &= known[:, shown]
            yield some, fits


def distinct_people(leaves: Codes) -> tuple[Ints, Codes]:
    """The distinct values of people, and the number of each person's."""
    columns = [leaves[:, place] for place in range(leaves.shape[1])]
    return distinct_tuples(columns, len(leaves))


@dataclass(frozen=True, eq=False, kw_only=True)
class Beliefs:
    """What an attacker believes about a sensitive column, for each set of candidates."""

    histogram: Histogram
    set_of: Ints
    """The set of each target, −1 for one without candidates."""
    truth: Codes
    """The true value of each target."""
    whole: Histogram
    """The published table as one set: what anybody knows from its marginals."""

    @property
    def attacked(self) -> Flags:
        return self.set_of >= 0

    def of_targets(self, figures: Floats) -> Floats:
        """The figure of each target's set; 0 for targets without one."""
        spread = np.append(figures, 0.0)
        found: Floats = spread[self.set_of]
        return found

    def worst(self, figures: Floats) -> float:
        """The largest figure of a set that some target has."""
        used = np.unique(self.set_of[self.attacked])
        return float(figures[used].max(initial=0.0))

    @cached_property
    def entries(self) -> Ints:
        """The entry of each target's own value in its set; −1 where it has none."""
        histogram = self.histogram
        size = np.int64(max(histogram.axis.size, 1))
        keys = histogram.owners * size + histogram.codes
        wanted = self.set_of * size + self.truth
        at = np.searchsorted(keys, wanted)
        at = np.minimum(at, max(len(keys) - 1, 0))
        hit = self.attacked & (len(keys) > 0)
        if len(keys):
            hit &= keys[at] == wanted
        return np.where(hit, at, -1)

    def of_entries(self, figures: Floats) -> Floats:
        """The figure of each target's own value in its set; 0 where it has none."""
        found: Floats = np.append(figures, 0.0)[self.entries]
        return found


def beliefs(scene: AttackInput, view: View) -> Beliefs:
    """What an attacker who finds people's candidates believes of a column."""
    pair = scene.pair
    codes, known = _shown_values(pair, view.column)
    sensitive = {view.column: CodedAxis(pair.original[view.column].axis, codes)}
    if _knows_groups(scene):
        set_of, sets = _own_groups(scene)
    else:
        return _matched_beliefs(scene, view, sensitive, known)
    group_of = np.where(known, set_of, -1)
    kept, dense = np.unique(group_of[group_of >= 0], return_inverse=True)
    place = np.full(sets, -1, dtype=np.int64)
    place[kept] = np.arange(len(kept))
    group_of[group_of >= 0] = dense
    found = build_groups(
        group_of,
        len(kept),
        sensitive=sensitive,
        views=[view],
        subject=_subjects(pair),
        source_reference=_source_shares(scene, view),
    )
    mine = _published_rows(scene)
    own = np.where(mine >= 0, place[set_of[mine]], -1)
    return _beliefs(scene, view, found.histograms[view], own, sensitive, known)


def _knows_groups(scene: AttackInput) -> bool:
    return scene.pair.source_row is not None


def _published_rows(scene: AttackInput) -> Ints:
    assert scene.published_row is not None
    return scene.published_row[scene.targets]


def _own_groups(scene: AttackInput) -> tuple[Ints, int]:
    """The group of each published row, as the attacker who knows some columns sees it."""
    pair = scene.pair
    if pair.form.exact:
        return pair.groups.astype(np.int64), int(pair.groups.max(initial=-1)) + 1
    shown = ShownTuples(pair, scene.columns)
    return shown.owner, len(shown.cells)


def _shown_values(pair: Pair, name: str) -> tuple[Codes, Flags]:
    """The sensitive value that each published row shows, and whether it shows one."""
    column = pair.published[name]
    leaf = column.reading.leaf[column.codes]
    return np.maximum(leaf, 0).astype(np.int32), leaf >= 0


def _subjects(pair: Pair) -> Codes | None:
    """The person behind each published row, where that is known."""
    if pair.subject is None or pair.source_row is None:
        return None
    return pair.subject[pair.source_row]


def _source_shares(scene: AttackInput, view: View) -> dict[View, Floats] | None:
    """The distribution of the rows that the release was made from, where it counts."""
    if view.reference != "source":
        return None
    pair = scene.pair
    coded = pair.original[view.column]
    axis, to_new = roll_up(coded.axis, view.level)
    rows = np.arange(pair.rows) if scene.taken is None else np.flatnonzero(scene.taken)
    subject = None if pair.subject is None else pair.subject[rows]
    return {view: value_shares(axis, to_new[coded.codes[rows]], subject)}


def _beliefs(
    scene: AttackInput,
    view: View,
    histogram: Histogram,
    set_of: Ints,
    sensitive: dict[str, CodedAxis],
    known: Flags,
) -> Beliefs:
    coded = scene.pair.original[view.column]
    _, to_new = roll_up(coded.axis, view.level)
    everybody = np.where(known, 0, -1)
    plain = View(view.column, view.level)
    whole = build_groups(
        everybody,
        int(bool(known.any())),
        sensitive=sensitive,
        views=[plain],
        subject=_subjects(scene.pair),
    )
    return Beliefs(
        histogram=histogram,
        set_of=set_of,
        truth=to_new[coded.codes[scene.targets]].astype(np.int32),
        whole=whole.histograms[plain],
    )


def _matched_beliefs(
    scene: AttackInput,
    view: View,
    sensitive: dict[str, CodedAxis],
    known: Flags,
) -> Beliefs:
    """Beliefs where cells alone say whose a row may be."""
    shown = ShownTuples(scene.pair, scene.columns)
    axis, to_new = roll_up(sensitive[view.column].axis, view.level)
    values = to_new[sensitive[view.column].codes]
    table = _tuple_counts(scene.pair, shown, values, known, axis.size)
    person, leaves = distinct_people(scene.leaves(scene.targets))
    none = [np.zeros((0, axis.size), dtype=np.int64)]
    parts = [candidate_counts(fits, table) for _, fits in shown.matches(leaves)]
    dense = np.concatenate(none + parts)
    found = dense.sum(axis=1) > 0
    place = np.full(len(leaves), -1, dtype=np.int64)
    place[found] = np.arange(int(found.sum()))
    whole = table.sum(axis=0)
    reference = (_source_shares(scene, view) or {}).get(view)
    if reference is None:
        reference = whole / max(whole.sum(), 1.0)
    histogram = _sparse(dense[found], axis=axis, reference=reference)
    return _beliefs(scene, view, histogram, place[person], sensitive, known)


def candidate_counts(fits: Flags, table: Ints) -> Ints:
    """(people, values): how often each value occurs among each person's candidates."""
    # NumPy multiplies matrices of integers slowly; doubles count exactly up to 2**53.
    counts: Ints = (fits.astype(np.float64) @ table.astype(np.float64)).astype(np.int64)
    return counts


def _tuple_counts(
    pair: Pair, shown: ShownTuples, values: Codes, known: Flags, size: int
) -> Ints:
    """(tuples, values): how often each value goes with each tuple of cells.

    Where quasi-identifiers are exact, what a row says is what its group says.
    """
    table = np.zeros((len(shown.cells), size), dtype=np.int64)
    if not pair.form.exact:
        np.add.at(table, (shown.owner[known], values[known]), 1)
        return table
    groups = np.zeros((int(pair.groups.max(initial=-1)) + 1, size), dtype=np.int64)
    np.add.at(groups, (pair.groups[known], values[known]), 1)
    width = len(groups)
    keys, often = np.unique(shown.owner * width + pair.groups, return_counts=True)
    for start in range(0, len(keys), CHUNK // max(size, 1) + 1):
        some = slice(start, start + CHUNK // max(size, 1) + 1)
        part = groups[keys[some] % width] * often[some, None]
        np.add.at(table, keys[some] // width, part)
    return table


def _sparse(dense: Ints, *, axis: Axis, reference: Floats) -> Histogram:
    """A histogram from a table of counts."""
    owners, codes = np.nonzero(dense)
    counts = dense[owners, codes]
    starts = np.searchsorted(owners, np.arange(len(dense) + 1))
    sizes = np.add.reduceat(counts, starts[:-1]) if len(dense) else np.zeros(0, "i8")
    return Histogram(
        axis=axis,
        starts=starts,
        codes=codes.astype(np.int32),
        counts=counts,
        sizes=sizes,
        reference=reference,
    )
