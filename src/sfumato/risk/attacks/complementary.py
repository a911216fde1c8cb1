"""Complementary and temporal releases: intersect what several say about the same people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.data.arrays import Codes, Flags, Floats, Ints
from sfumato.data.rules import View
from sfumato.risk.attacks.base import Attack, AttackInput, AttackResult
from sfumato.risk.attacks.matching_rows import ShownTuples
from sfumato.risk.intersection import CandidateSets, ReleaseRows, candidate_sets
from sfumato.risk.table_pair import Pair


@dataclass(frozen=True, kw_only=True)
class ComplementaryRelease(Attack):
    """Learn more about people from several releases than from any one of them.

    Knows: everybody's group in each release, and who is absent from which.
    Success: the chance to pick a person among those who are in the same group of every
    release; and for each sensitive column the share of people whose value is given away:
    all these candidates share it, or it is the only value that the person's groups have
    in common.
    Baseline: the same with this release alone.
    Bound: none for releases made independently of each other. A release made with
    `--after` all of the others promises k candidates, and under l-diversity that no
    value is shared by all of them. What groups have in common besides is not promised:
    values may have changed between releases. A note counts it.
    Reference: Sweeney 2002 (complementary and temporal release); Ganta, Kasiviswanathan
    and Smith 2008.
    """

    name: ClassVar[str] = "complementary-release"
    sentence: ClassVar[str] = "Intersect the groups of several releases."
    knows: ClassVar[str] = "everybody's group in each release"

    common: bool = True
    """Whether a value counts as given away if it is the only one in common."""

    def refusal(self, scene: AttackInput) -> str | None:
        if not scene.others:
            return "no other release is given (--other)"
        if scene.pair.source_row is None:
            return "nothing says which row is whose (private/rows.parquet)"
        return None

    def run(self, scene: AttackInput) -> tuple[AttackResult, ...]:
        pairs = [scene.pair, *scene.others]
        releases = [_rows(pair) for pair in pairs]
        people = 1 + max(int(each.person.max(initial=-1)) for each in releases)
        alone = _Sets.of(scene.pair, candidate_sets(releases[:1], people))
        together = _Sets.of(scene.pair, candidate_sets(releases, people))
        found = [self._linked(scene, together, alone)]
        for view in scene.secrets:
            common = _only_common(scene, pairs, releases, view.column)
            found.append(self._disclosed(scene, view, (together, alone), common))
        return tuple(found)

    def _linked(
        self, scene: AttackInput, together: _Sets, alone: _Sets
    ) -> AttackResult:
        chances = together.chances()[scene.targets]
        return self.result(
            scene,
            chances,
            baseline=float(alone.chances()[scene.targets].mean()),
            worst=float(chances.max(initial=0.0)),
        )

    def _disclosed(
        self,
        scene: AttackInput,
        view: View,
        sets: tuple[_Sets, _Sets],
        common: Flags,
    ) -> AttackResult:
        together, alone = (each.disclosed(scene.pair, view) for each in sets)
        certain = together[scene.targets]
        more = int((common & ~certain).sum())
        certain = certain | common if self.common else certain
        return self.result(
            scene,
            certain.astype(np.float64),
            baseline=float(alone[scene.targets].mean()),
            column=view.column,
            note=f"{more} more by values in common" if more and not self.common else "",
        )


def _rows(pair: Pair) -> ReleaseRows:
    """The person behind each published row, and its group."""
    assert pair.source_row is not None
    group = pair.groups.astype(np.int64)
    if not pair.form.exact:
        group = ShownTuples(pair, pair.quasi).owner
    return ReleaseRows(pair.source_row.astype(np.int32), group)


@dataclass(frozen=True, eq=False)
class _Sets:
    """Candidate sets, and the published row of each member that has one."""

    sets: CandidateSets
    row: Ints
    """The published row of each membership, −1 for none."""
    people: int

    @classmethod
    def of(cls, pair: Pair, sets: CandidateSets) -> _Sets:
        assert pair.source_row is not None
        known = np.full(int(sets.person.max(initial=pair.rows - 1)) + 1, -1)
        known[pair.source_row] = np.arange(pair.rows_out)
        return cls(sets, known[sets.person], pair.rows)

    def chances(self) -> Floats:
        """For each person of the original the chance to be picked; 0 if not there."""
        chance = np.zeros(max(self.people, int(self.sets.person.max(initial=-1)) + 1))
        there = self.row >= 0
        sizes = self.sets.sizes()
        chance[self.sets.person[there]] = 1.0 / sizes[self.sets.owner[there]]
        return chance[: self.people]

    def disclosed(self, pair: Pair, view: View) -> Flags:
        """Which people are among candidates who all show one value."""
        column = pair.published[view.column]
        leaf = column.reading.leaf[column.codes]
        there = self.row >= 0
        owner, value = self.sets.owner[there], leaf[self.row[there]]
        low = np.full(self.sets.count, np.iinfo(np.int64).max)
        high = np.full(self.sets.count, -1, dtype=np.int64)
        np.minimum.at(low, owner, value)
        np.maximum.at(high, owner, value)
        found = np.zeros(self.people, dtype=np.bool_)
        person = self.sets.person[there]
        mine = person < self.people
        found[person[mine]] = (low == high)[owner[mine]]
        return found


def _only_common(
    scene: AttackInput, pairs: list[Pair], releases: list[ReleaseRows], name: str
) -> Flags:
    """Which targets' groups have a single value in common, over all releases that show
    the column."""
    showing = [at for at, pair in enumerate(pairs) if name in pair.published]
    targets = scene.targets
    if len(showing) < 2:
        return np.zeros(len(targets), dtype=np.bool_)
    size = pairs[0].original[name].axis.size
    possible = np.ones((len(targets), size), dtype=np.bool_)
    absent = np.ones(len(targets), dtype=np.bool_)
    for at in showing:
        values = _group_values(pairs[at], releases[at].group, name, size)
        place = np.searchsorted(targets, releases[at].person)
        place = np.minimum(place, max(len(targets) - 1, 0))
        rows = np.flatnonzero(targets[place] == releases[at].person)
        mine = np.zeros((len(targets), size), dtype=np.bool_)
        np.logical_or.at(mine, place[rows], values[releases[at].group[rows]])
        there = np.bincount(place[rows], minlength=len(targets)) > 0
        possible &= mine | ~there[:, None]
        absent &= ~there if at == 0 else True
    found: Flags = (possible.sum(axis=1) == 1) & ~absent
    return found


def _group_values(pair: Pair, group: Ints, name: str, size: int) -> Flags:
    """(groups, values): which values each group shows."""
    column = pair.published[name]
    leaf: Codes = column.reading.leaf[column.codes].astype(np.int32)
    found = np.zeros((int(group.max(initial=-1)) + 1, size), dtype=np.bool_)
    known = leaf >= 0
    found[group[known], leaf[known]] = True
    return found
