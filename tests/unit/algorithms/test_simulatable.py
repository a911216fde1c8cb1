"""Cuts that do not depend on who has which sensitive value."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.algorithms.partition.simulatable import Simulatable, _least_parts
from sfumato.algorithms.request import Request
from sfumato.data.coding import code_column
from sfumato.data.seeds import Seed
from sfumato.errors import InfeasibleError, RefusedError
from sfumato.hierarchies.axis import CodedAxis
from sfumato.hierarchies.build import build
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.l_diversity import LDiversity
from sfumato.models.theta_diversity import ThetaDiversity
from sfumato.risk.possible_worlds import Published, canonical, exact_posteriors

MODELS = [
    LDiversity(l=2),
    LDiversity(l=3),
    LDiversity(l=1.8, kind="entropy"),
    LDiversity(l=2, kind="recursive", c=2.0),
    ThetaDiversity(theta=0.6),
]
people = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 3), st.sampled_from("xyz")),
    min_size=2,
    max_size=8,
)


def coded(name, values, hierarchy) -> CodedAxis:
    texts = pa.chunked_array([pa.array([str(value) for value in values])])
    return build(code_column(name, texts), hierarchy)


def request_of(rows, model, *, k=2) -> Request:
    age, town, ill = zip(*rows, strict=True)
    return Request(
        quasi=(
            coded("age", age, "free"),
            coded("town", map("abcd".__getitem__, town), "flat"),
        ),
        models=(KAnonymity(k=k), model),
        sensitive={"ill": coded("ill", ill, "flat")},
        seed=Seed.guessable(1),
    )


def remade(request: Request):
    """The algorithm on other values of the sensitive column."""
    axis = request.sensitive["ill"].axis

    def remake(values, seed):
        other = {"ill": CodedAxis(axis, values.astype(np.int32))}
        found = Simulatable().solve(replace(request, sensitive=other, seed=seed))
        return found.grouping

    return remake


@pytest.mark.parametrize("model", MODELS, ids=str)
@settings(max_examples=25)
@given(rows=people)
def test_exchanging_values_within_groups_leaves_the_groups_as_they_are(model, rows):
    request = request_of(rows, model)
    try:
        group = Simulatable().solve(request).grouping.group_of
    except InfeasibleError:
        return
    values, remake = request.sensitive["ill"].codes, remade(request)
    for left, right in combinations(range(len(rows)), 2):
        if group[left] == group[right]:
            swapped = values.copy()
            swapped[[left, right]] = values[[right, left]]
            again = remake(swapped, request.seed).group_of
            assert canonical(again).tolist() == canonical(group).tolist()


@settings(max_examples=25)
@given(rows=people)
def test_who_knows_the_algorithm_knows_no_more_than_the_groups_say(rows):
    request = request_of(rows, LDiversity(l=2))
    try:
        grouping = Simulatable().solve(request).grouping
    except InfeasibleError:
        return
    seen = Published(grouping, request.sensitive["ill"].codes)
    if seen.worlds() <= 500:
        found = exact_posteriors(seen, remade(request), request.seed)
        assert found == pytest.approx(seen.shares())


@pytest.mark.parametrize("model", MODELS, ids=str)
@settings(max_examples=25)
@given(rows=people)
def test_so_many_rows_meet_the_requirement_whichever_they_are(model, rows):
    """Brute force over all subsets of rows of one group."""
    request = request_of(rows, model, k=1)
    values = request.sensitive["ill"].codes
    whole = np.zeros(len(rows), dtype=np.int64)
    if not holds(request, values):
        return
    fits = [
        all(
            holds(request, values[list(some)])
            for some in combinations(range(len(rows)), n)
        )
        for n in range(1, len(rows) + 1)
    ]
    assert _least_parts(request, whole).tolist() == [fits.index(True) + 1]


def holds(request: Request, values) -> bool:
    """Whether rows with these values, as one group, meet the last requirement."""
    axis = request.sensitive["ill"].axis
    part = Request(
        quasi=tuple(CodedAxis(q.axis, q.codes[: len(values)]) for q in request.quasi),
        models=request.models,
        sensitive={"ill": CodedAxis(axis, values)},
    )
    return request.models[-1].verify(part.as_one_group()).holds


def test_a_group_is_cut_where_no_half_can_have_one_value():
    """Four values of two rows each; then halves of four values, of which any two differ."""
    rows = [(number, 0, "wxyz"[number % 4]) for number in range(8)]
    found = Simulatable().solve(request_of(rows, LDiversity(l=2)))
    assert found.grouping.group_of.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


def test_two_values_of_which_one_is_common_are_not_cut():
    rows = [(number, 0, "xxxxxxyy"[number]) for number in range(8)]
    found = Simulatable().solve(request_of(rows, LDiversity(l=2)))
    assert found.grouping.count == 1


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"t": 0.9}, "t-closeness asks for more"),
        ({"l": 2, "subject": "who"}, "counts rows"),
        ({"l": 2, "algorithm": {"name": "simulatable", "refine": True}}, "refined"),
    ],
)
def test_what_depends_on_which_value_is_refused(asked, why):
    table = pa.table({"who": list("abcd"), "age": [1, 2, 3, 4], "ill": list("xyxy")})
    asked = {"algorithm": "simulatable", "k": 2, "unlisted": "drop"} | asked
    with pytest.raises(RefusedError, match=why):
        sf.anonymize(table, quasi="age", sensitive="ill", **asked)
