"""Intersect the groups of several releases about the same people.

An attacker who finds a person's group in every release is left with the people who
share all of these groups: the person's *candidates*. Being absent from a release is
known to the attacker too, so that all who are absent from it count as one group.

Groups are assumed to be known here. An attacker who can only tell that several groups
match a person has more candidates, never fewer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sfumato.data.arrays import Codes, Flags, Ints
from sfumato.errors import RefusedError
from sfumato.hierarchies.axis import CodedAxis
from sfumato.models.base import Groups, OutputModel, Verdict
from sfumato.models.common.groups import build_groups, packed
from sfumato.verify import Evidence, groups_of, source_references

ABSENT = -1
"""The group of everybody who is not in a release."""
LIMIT = 1 << 26
"""The most memberships in candidate sets that are looked at."""


@dataclass(frozen=True, eq=False)
class ReleaseRows:
    """The rows of one release: who is behind each, and in which group it is shown."""

    person: Codes
    group: Ints

    @classmethod
    def shown_by(cls, evidence: Evidence) -> ReleaseRows:
        """The members of the groups that a published table shows."""
        assert evidence.subject is not None
        return cls(evidence.subject, evidence.tuples[0])


@dataclass(frozen=True, eq=False, kw_only=True)
class CandidateSets:
    """Sets of people who are in the same group of every release, or absent from it.

    Somebody with several rows in a release is in one set for each way of picking one of
    their groups per release. Nobody who is absent from all releases is in a set.
    """

    person: Ints
    """The person of each membership."""
    owner: Ints
    """The set of each membership."""
    groups: Ints
    """(sets, releases): the group that the people of each set share."""

    @property
    def count(self) -> int:
        return len(self.groups)

    def sizes(self) -> Ints:
        """How many people each set has."""
        return np.bincount(self.owner, minlength=self.count)

    def rows(self, release: int, members: ReleaseRows) -> tuple[Ints, Ints]:
        """The rows of a release that its candidate sets cover, and the set of each."""
        shared = self.groups[self.owner, release]
        there = np.flatnonzero(shared != ABSENT)
        width = int(members.group.max(initial=0)) + 1
        mine = members.person.astype(np.int64) * width + members.group
        theirs = self.person[there] * width + shared[there]
        row, place = _joined(mine, theirs)
        return row, self.owner[there[place]]


def candidate_sets(releases: Sequence[ReleaseRows], people: int) -> CandidateSets:
    """Intersect the groups of several releases; persons are numbered below `people`."""
    person = np.arange(people, dtype=np.int64)
    owner = np.zeros(people, dtype=np.int64)
    groups = np.zeros((1, 0), dtype=np.int64)
    for members in releases:
        who, group = _memberships(members, people)
        pair, place = _joined(person, who)
        person, met = person[pair], group[place]
        key, _ = packed([owner[pair], met - ABSENT])
        _, first, renamed = np.unique(key, return_index=True, return_inverse=True)
        groups = np.column_stack([groups[owner[pair[first]]], met[first]])
        owner = renamed.ravel().astype(np.int64)
    return _of_somebody(person, owner, groups)


def _memberships(members: ReleaseRows, people: int) -> tuple[Ints, Ints]:
    """Each person with each of their groups once; with ABSENT where there is none."""
    width = int(members.group.max(initial=0)) + 1
    keys = np.unique(members.person.astype(np.int64) * width + members.group)
    who, group = keys // width, keys % width
    gone = np.flatnonzero(np.bincount(who, minlength=people) == 0)
    return np.append(who, gone), np.append(group, np.full(len(gone), ABSENT))


def _of_somebody(person: Ints, owner: Ints, groups: Ints) -> CandidateSets:
    """The sets, without that of people who are in no release at all."""
    somewhere = (groups != ABSENT).any(axis=1)
    keep = somewhere[owner]
    number = np.cumsum(somewhere) - 1
    return CandidateSets(
        person=person[keep], owner=number[owner[keep]], groups=groups[somewhere]
    )


def _joined(left: Ints, right: Ints) -> tuple[Ints, Ints]:
    """The places of equal keys on the left and on the right, ordered by the left."""
    order = np.argsort(right, kind="stable")
    first = np.searchsorted(right[order], left, "left")
    number = np.searchsorted(right[order], left, "right") - first
    if int(number.sum()) > LIMIT:
        raise RefusedError(
            f"The releases have more than {LIMIT:,} combinations of rows of one person.",
            hint="Keep fewer rows per person.",
        )
    shift = np.repeat(first - (np.cumsum(number) - number), number)
    places = order[np.arange(int(number.sum())) + shift]
    return np.repeat(np.arange(len(left)), number), places


@dataclass(frozen=True, eq=False, kw_only=True)
class Judged:
    """A release whose requirements are checked again, on candidates."""

    evidence: Evidence
    """Its sensitive values, with the person behind each row as the subject."""
    models: tuple[OutputModel, ...]
    members: ReleaseRows


@dataclass(frozen=True, eq=False, kw_only=True)
class CandidateVerdict:
    """What a requirement on one release found about sets of candidates."""

    release: int
    """The place of the release among those that were intersected."""
    model: OutputModel
    verdict: Verdict
    broken: Flags
    """Which of all candidate sets break it."""


def judge_candidates(
    sets: CandidateSets, releases: Sequence[Judged]
) -> tuple[CandidateVerdict, ...]:
    """Judge every requirement of every release on the candidates it leaves."""
    return tuple(
        found
        for place, release in enumerate(releases)
        for found in _judged(sets, place, release)
    )


def broken_sets(sets: CandidateSets, releases: Sequence[Judged]) -> Flags:
    """Which candidate sets break a requirement of some release."""
    broken = np.zeros(sets.count, dtype=np.bool_)
    for found in judge_candidates(sets, releases):
        broken |= found.broken
    return broken


def _judged(
    sets: CandidateSets, place: int, release: Judged
) -> tuple[CandidateVerdict, ...]:
    row, owner = sets.rows(place, release.members)
    present, number = np.unique(owner, return_inverse=True)
    if not len(present):
        return ()
    groups = _groups(release, row, number.ravel(), len(present))
    results = []
    for model in release.models:
        verdict = model.verify(groups)
        broken = np.zeros(sets.count, dtype=np.bool_)
        broken[present] = (
            not verdict.holds if verdict.broken is None else verdict.broken
        )
        results.append(
            CandidateVerdict(release=place, model=model, verdict=verdict, broken=broken)
        )
    return tuple(results)


def _groups(release: Judged, row: Ints, owner: Ints, count: int) -> Groups:
    """Candidate sets as models see groups; references stay those of the release."""
    evidence, subject = release.evidence, release.evidence.subject
    assert subject is not None
    # One group: only the distributions of the whole release are of interest.
    alone = replace(evidence, groups=np.zeros(evidence.rows, dtype=np.int32))
    whole = groups_of(alone, release.models)
    found = build_groups(
        owner,
        count,
        sensitive=_taken(evidence.sensitive, row),
        views=tuple(whole.histograms),
        subject=subject[row],
        source_reference=source_references(evidence, tuple(whole.histograms)),
    )
    histograms = {
        view: replace(histogram, reference=whole.histograms[view].reference)
        for view, histogram in found.histograms.items()
    }
    return replace(found, histograms=histograms)


def _taken(columns: Mapping[str, CodedAxis], rows: Ints) -> dict[str, CodedAxis]:
    return {n: CodedAxis(c.axis, c.codes[rows]) for n, c in columns.items()}
