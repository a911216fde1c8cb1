"""Groups of several releases, intersected."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data.coding import code_column
from sfumato.errors import RefusedError
from sfumato.hierarchies.build import build
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.l_diversity import LDiversity
from sfumato.risk import intersection
from sfumato.risk.intersection import (
    ABSENT,
    Judged,
    ReleaseRows,
    broken_sets,
    candidate_sets,
)
from sfumato.verify import Evidence
from tests.unit.risk import earlier_oracle as oracle
from tests.unit.risk.earlier_oracle import Row

PEOPLE = 7
rows = st.builds(
    Row, st.integers(0, PEOPLE - 1), st.integers(0, 2), st.sampled_from("xyz")
)
releases = st.lists(st.lists(rows, min_size=1, max_size=9), min_size=1, max_size=3)


def members(release) -> ReleaseRows:
    return ReleaseRows(
        np.array([row.person for row in release], dtype=np.int32),
        np.array([row.cells for row in release], dtype=np.int64),
    )


def judged(release, *, k: int, l: int) -> Judged:
    texts = pa.chunked_array([pa.array([row.value for row in release])])
    column = code_column("value", texts)
    here = members(release)
    evidence = Evidence(
        cells=(),
        sensitive={"value": build(column, "flat")},
        subject=here.person,
        rows=len(release),
    )
    models = (KAnonymity(k=k), LDiversity(l=l))
    return Judged(evidence=evidence, models=models, members=here)


@given(releases)
def test_candidate_sets_equal_their_definition(given_releases):
    sets = candidate_sets([members(r) for r in given_releases], PEOPLE)
    found = defaultdict(set)
    for person, owner in zip(sets.person.tolist(), sets.owner.tolist(), strict=True):
        choice = [None if g == ABSENT else g for g in sets.groups[owner].tolist()]
        found[tuple(choice)].add(person)
    assert found == oracle.candidates(given_releases)


@given(releases, st.integers(1, 3), st.integers(1, 3))
def test_requirements_on_candidates_equal_their_definition(given_releases, k, l):
    sets = candidate_sets([members(r) for r in given_releases], PEOPLE)
    found = broken_sets(sets, [judged(r, k=k, l=l) for r in given_releases])
    assert found.any() != oracle.holds(given_releases, k=k, l=l)


def test_absence_is_a_group():
    first = [Row(0, 0, "x"), Row(1, 0, "y"), Row(2, 0, "z")]
    second = [Row(0, 0, "x"), Row(1, 0, "y")]
    sets = candidate_sets([members(first), members(second)], 3)
    assert sorted(sets.sizes().tolist()) == [1, 2]


def test_people_in_no_release_are_nobodys_candidates():
    sets = candidate_sets([members([Row(0, 0, "x")])], 5)
    assert sets.person.tolist() == [0]


def test_too_many_rows_per_person_are_refused(monkeypatch):
    monkeypatch.setattr(intersection, "LIMIT", 3)
    one = members([Row(0, 0, "x"), Row(0, 1, "x")])
    with pytest.raises(RefusedError, match="more than 3 combinations of rows"):
        candidate_sets([one, one], 1)
