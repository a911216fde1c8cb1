"""Prove a release together with the earlier releases of the same people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato.algorithms.base import Request
from sfumato.data.arrays import Codes, Ints
from sfumato.data.safe_repr import SafeRepr, counted
from sfumato.errors import GuaranteeError, InfeasibleError
from sfumato.pipeline.earlier_releases import (
    EarlierRelease,
    asked_of_people,
    numbered,
    read_earlier,
)
from sfumato.pipeline.expand_requirements import persons_with
from sfumato.pipeline.linked_persons import LinkedPersons
from sfumato.pipeline.run import Run
from sfumato.pipeline.verification import Claim
from sfumato.risk.intersection import (
    CandidateVerdict,
    Judged,
    ReleaseRows,
    broken_sets,
    candidate_sets,
    judge_candidates,
)
from sfumato.verify import Evidence


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Earlier(SafeRepr):
    """The earlier releases of the people of a run."""

    releases: tuple[EarlierRelease, ...]
    judged: tuple[Judged, ...]
    """Each with persons numbered below `people`."""
    person: Codes
    """The person behind each source row."""
    people: int

    def _summary(self) -> str:
        return counted(len(self.releases), "release")

    def refuse_broken(self) -> None:
        """Stop if the earlier releases alone leave too few candidates."""
        members = [each.members for each in self.judged]
        sets = candidate_sets(members, self.people)
        broken = broken_sets(sets, self.judged)
        if broken.any():
            people = np.unique(sets.person[broken[sets.owner]])
            raise InfeasibleError(
                "The earlier releases already break the requirements for "
                f"{counted(len(people), 'person')}: no further release can mend that.",
                hint="Require no more than the earlier releases did, or leave out of "
                "--after what was never handed on.",
                values=_named(self.rows_of(people)),
            )

    def rows_of(self, people: Sequence[int] | Codes) -> list[int]:
        """The source rows of some people."""
        found: list[int] = np.flatnonzero(np.isin(self.person, people)).tolist()
        return found


def open_earlier(run: Run, persons: LinkedPersons | None) -> Earlier | None:
    """Read the earlier releases that a run names; None if it names none."""
    if not run.after or persons is None:
        return None
    releases = read_earlier(run, persons)
    parts = [persons.hashes, *(each.persons for each in releases)]
    names, codes = np.unique(np.concatenate(parts), return_inverse=True)
    ends = np.cumsum([len(part) for part in parts])[:-1]
    person, *others = np.split(codes.ravel().astype(np.int32), ends)
    models, policy = run.policy.models(), run.policy
    judged = tuple(
        numbered(each.judged(models, policy, run.base), of)
        for each, of in zip(releases, others, strict=True)
    )
    found = Earlier(releases=releases, judged=judged, person=person, people=len(names))
    found.refuse_broken()
    return found


def judged_request(request: Request, person: Codes, group: Ints) -> Judged:
    """The rows of a request that have a group, as they would be published."""
    rows = np.flatnonzero(group >= 0)
    part = request.only(rows)
    evidence = Evidence(
        cells=(),
        sensitive=part.sensitive,
        subject=person[rows],
        source_counts=_source_counts(request),
        rows=len(rows),
    )
    members = ReleaseRows(person[rows], group[rows].astype(np.int64))
    asked = asked_of_people(request.models)
    return Judged(evidence=evidence, models=asked, members=members)


def _source_counts(request: Request) -> dict[str, Any]:
    """How often each sensitive value occurs in the source."""
    return {
        name: persons_with(coded.codes, request.subject, size=coded.axis.size)
        for name, coded in request.sensitive.items()
    }


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CandidateClaim(SafeRepr):
    """What a published table must prove together with earlier releases."""

    earlier: Earlier
    claim: Claim
    """What it must prove alone; it knows the person behind each published row."""

    def verify(self, table: pa.Table) -> CandidateProof:
        """Judge the candidates that a published table and the earlier ones leave."""
        evidence = self.claim.evidence(table)
        now = Judged(
            evidence=evidence,
            models=asked_of_people(self.claim.models),
            members=ReleaseRows.shown_by(evidence),
        )
        releases = (*self.earlier.judged, now)
        sets = candidate_sets([each.members for each in releases], self.earlier.people)
        return CandidateProof(self, judge_candidates(sets, releases))


@dataclass(frozen=True, eq=False)
class CandidateProof:
    """The verdicts of all releases' requirements on the remaining candidates."""

    claim: CandidateClaim
    verdicts: tuple[CandidateVerdict, ...]

    @property
    def holds(self) -> bool:
        return all(each.verdict.holds for each in self.verdicts)

    def insist(self) -> None:
        """Stop unless the table is proven together with the earlier ones."""
        for each in self.verdicts:
            if not each.verdict.holds:
                raise GuaranteeError(
                    f"Beside the earlier releases the draft does not meet {each.model}.",
                    hint="Nothing was written. Please report this with the policy.",
                )

    def record(self) -> dict[str, Any]:
        """The manifest's entry about earlier releases."""
        releases = self.claim.earlier.releases
        mine = [each for each in self.verdicts if each.release == len(releases)]
        return {
            "releases": [each.data_sha256 for each in releases],
            "requirements": [
                {
                    "model": each.model.name,
                    "holds": each.verdict.holds,
                    "measured": each.verdict.measured,
                }
                for each in mine
            ],
        }


def candidate_claim(claim: Claim, earlier: Earlier, rows: Ints) -> CandidateClaim:
    """The claim of a draft that shows these source rows, in their order."""
    private = replace(claim.private, subject=earlier.person[rows])
    return CandidateClaim(earlier=earlier, claim=replace(claim, private=private))


def _named(rows: Sequence[int]) -> list[str]:
    """Name source rows by number, for the data steward only."""
    return [f"source row {row + 1}" for row in rows]
