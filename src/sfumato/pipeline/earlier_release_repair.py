"""Change a grouping until it holds together with earlier releases.

People who share their groups in all earlier releases are one *crowd*; all who are new
are another. A published group breaks the promise where it sets a few people of a crowd
apart from the others. So groups are split by crowd, and a part that holds too few people
or too few values is merged with the nearest part of the same crowd. A crowd that cannot
hold as one group is left out whole.

Leaving people out sets them apart as well, unless they are new: their absence is known.
If too few people of a crowd are absent, those that the search left out are put back. If
others have left since, more of the crowd are left out, in random order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sfumato.algorithms.base import Algorithm, Request, Solution
from sfumato.algorithms.common.merged_groups import (
    boxes_of,
    merged,
    nearest,
    united,
)
from sfumato.data.arrays import Codes, Flags, Ints
from sfumato.data.grouping import Grouping
from sfumato.data.safe_repr import counted
from sfumato.data.seeds import Seed
from sfumato.errors import InfeasibleError, SearchError
from sfumato.pipeline.earlier_release_proof import Earlier, judged_request
from sfumato.pipeline.expand_requirements import smallest_group
from sfumato.risk.intersection import (
    ABSENT,
    CandidateSets,
    ReleaseRows,
    broken_sets,
    candidate_sets,
)

LEFT_OUT = -1
CHANGED = (
    "Groups were then changed to hold beside earlier releases, so these losses are not "
    "those of the release."
)


def solve_after(
    algorithm: Algorithm, request: Request, earlier: Earlier, source_rows: Ints
) -> Solution:
    """Group rows so that every requirement holds together with earlier releases.

    If the search and the repair together leave out too many rows, the search runs again
    without leaving out any.
    """
    person, refused = earlier.person[source_rows], None
    for spare in dict.fromkeys((request.removable, 0)):
        try:
            found = algorithm.solve(replace(request, removable=spare))
        except (InfeasibleError, SearchError):
            if refused is None:
                raise
            break
        if spare != request.removable:
            found = found.without_loss()
        solution = _repaired(request, found, earlier, person)
        gone = np.flatnonzero(~solution.grouping.kept)
        if len(gone) <= request.removable:
            return solution
        refused = refused or _too_many(gone, request, source_rows)
    assert refused is not None
    raise refused


def _repaired(
    request: Request, solution: Solution, earlier: Earlier, person: Codes
) -> Solution:
    """A solution that holds together with the earlier releases."""
    repair = Repair(request, solution.grouping, earlier, person)
    if not repair.broken().any:
        return solution
    repair.run()
    facts = {**solution.without_loss().facts, "after": repair.facts()}
    if "choice" in facts:
        facts["choice"] = [*facts["choice"], CHANGED]
    return replace(solution, grouping=repair.grouping(), facts=facts)


def _too_many(gone: Ints, request: Request, source_rows: Ints) -> InfeasibleError:
    share = np.ceil(1000 * len(gone) / request.rows) / 1000
    return InfeasibleError(
        f"Beside the earlier releases {counted(len(gone), 'row')} must be left out; "
        f"{request.removable:,} may be.",
        hint=f"Set publish.max_suppressed to {share:g} or more, or require less.",
        values=[f"source row {row + 1}" for row in source_rows[gone].tolist()],
    )


@dataclass(frozen=True, eq=False)
class Broken:
    """What breaks a requirement: parts of the grouping, and absences of crowds."""

    parts: Flags
    crowds: Flags

    @property
    def any(self) -> bool:
        return bool(self.parts.any() or self.crowds.any())


class Repair:
    """A grouping under repair; parts are numbered anew in every round."""

    def __init__(
        self, request: Request, grouping: Grouping, earlier: Earlier, person: Codes
    ) -> None:
        self.request, self.earlier, self.person = request, earlier, person
        self.start = grouping
        self.part = grouping.group_of.astype(np.int64)
        seed, members = request.seed.child("after"), [r.members for r in earlier.judged]
        crowd = _crowds(members, earlier.people, seed.child("crowds"))
        self.crowd_of_person = crowd
        self.crowd = crowd[person]
        self.crowds = int(crowd.max(initial=0)) + 1
        self.order = seed.child("order").permutation(earlier.people)
        self.returned = np.zeros(self.crowds, dtype=np.bool_)
        self.merged = 0

    def facts(self) -> dict[str, int]:
        """Counts for the report."""
        return {"merged_parts": self.merged}

    def run(self) -> None:
        """Merge and leave out until nothing is broken."""
        self._number(self.part * self.crowds + self.crowd)
        while (found := self.broken()).any:
            self._mend_parts(found.parts)
            self._mend_absences(found.crowds)
            self._number(self.part)

    def _number(self, part: Ints) -> None:
        """Number the parts from 0, without gaps."""
        kept = self.part != LEFT_OUT
        _, number = np.unique(part[kept], return_inverse=True)
        self.part = self.part.copy()
        self.part[kept] = number.ravel()

    def broken(self) -> Broken:
        """The parts and crowds whose candidates break a requirement of any release."""
        if not (self.part != LEFT_OUT).any():
            raise InfeasibleError(
                "Beside the earlier releases no row of this table can be published.",
                hint="Require less, or publish without the people of earlier releases.",
            )
        now = judged_request(self.request, self.person, self.part)
        releases = (*self.earlier.judged, now)
        sets = candidate_sets([r.members for r in releases], self.earlier.people)
        broken = broken_sets(sets, releases)
        group = sets.groups[:, -1]
        parts = np.zeros(int(self.part.max()) + 1, dtype=np.bool_)
        parts[group[broken & (group != ABSENT)]] = True
        return Broken(parts, self._set_apart(sets, broken & (group == ABSENT)))

    def _set_apart(self, sets: CandidateSets, broken: Flags) -> Flags:
        """The crowds of everybody who shared the earlier groups of broken absences."""
        _, before = np.unique(sets.groups[:, :-1], axis=0, return_inverse=True)
        found = np.bincount(before.ravel(), weights=broken) > 0
        inside = found[before.ravel()[sets.owner]]
        crowds = np.zeros(self.crowds, dtype=np.bool_)
        crowds[self.crowd_of_person[sets.person[inside]]] = True
        # New people who are left out are not missed by anybody.
        crowds[0] = False
        return crowds

    def _mend_parts(self, broken: Flags) -> None:
        """Merge each broken part with the nearest of its crowd; leave out the last."""
        kept = self.part != LEFT_OUT
        crowd = np.zeros(len(broken), dtype=np.int64)
        crowd[self.part[kept]] = self.crowd[kept]
        alone = np.bincount(crowd, minlength=self.crowds)[crowd] == 1
        boxes = boxes_of(self.request, self.part)
        joined = united(nearest(boxes, crowd, broken & ~alone))
        self.merged += len(joined) - len(np.unique(joined))
        out = kept & (broken & alone)[self.part]
        self.part[kept] = joined[self.part[kept]]
        self.part[out] = LEFT_OUT

    def _mend_absences(self, broken: Flags) -> None:
        """Put back people who were left out without need, or leave out more."""
        back = broken & ~self.returned & ~self._depleted()
        come = (self.part == LEFT_OUT) & back[self.crowd]
        fresh = int(self.part.max()) + 1
        self.part[come] = fresh + self.crowd[come]
        self.returned |= broken
        self._leave_out(broken & ~back)

    def _depleted(self) -> Flags:
        """The crowds that have people who are not in this table at all."""
        here = np.zeros(self.earlier.people, dtype=np.bool_)
        here[self.person] = True
        depleted = np.zeros(self.crowds, dtype=np.bool_)
        depleted[self.crowd_of_person[~here]] = True
        return depleted

    def _leave_out(self, crowds: Flags) -> None:
        """Leave out people of some crowds: as many as k needs, at least one."""
        if not crowds.any():
            return
        there = np.unique(self.person[(self.part != LEFT_OUT) & crowds[self.crowd]])
        there = there[np.lexsort((self.order[there], self.crowd_of_person[there]))]
        crowd = self.crowd_of_person[there]
        rank = np.arange(len(there)) - np.searchsorted(crowd, crowd)
        chosen = there[rank < self._needed()[crowd]]
        self.part[np.isin(self.person, chosen)] = LEFT_OUT

    def _needed(self) -> Ints:
        """Count how many more people of each crowd k needs absent, at least one."""
        here = np.zeros(self.earlier.people, dtype=np.bool_)
        here[self.person[self.part != LEFT_OUT]] = True
        absent = np.bincount(self.crowd_of_person[~here], minlength=self.crowds)
        return np.maximum(smallest_group(self.request.models) - absent, 1)

    def grouping(self) -> Grouping:
        """The grouping as it is now."""
        return merged(self.request, self.start, self.part)


def _crowds(earlier: list[ReleaseRows], people: int, seed: Seed) -> Ints:
    """Number people by their candidate sets in the earlier releases; 0: in none.

    The sets of a person are added up as random words, so different sets of sets get
    different sums. A collision is unlikely, and costs only detail, never the proof.
    """
    sets = candidate_sets(earlier, people)
    words = seed.words(sets.count)
    summed = np.zeros(people, dtype=np.uint64)
    np.add.at(summed, sets.person, words[sets.owner])
    named = np.append(summed, np.uint64(0))
    crowd = np.unique(named, return_inverse=True)[1].ravel()
    return np.asarray(crowd[:-1], dtype=np.int64)
