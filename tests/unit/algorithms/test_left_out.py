"""What is called infeasible is so, by trying everything; and hints help."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato import registry
from sfumato.algorithms.common.rows_to_remove import rows_to_keep
from sfumato.algorithms.partition.mondrian import Mondrian
from sfumato.data.grouping import Grouping
from sfumato.data.schema import Kind, Role
from sfumato.errors import InfeasibleError, RefusedError, SearchError
from sfumato.models.alpha_k import AlphaK
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.l_diversity import LDiversity
from sfumato.models.lkc import Lkc
from sfumato.models.n_t_closeness import NTCloseness
from sfumato.models.p_sensitive import PSensitive
from sfumato.models.range_disclosure import RangeDisclosure
from sfumato.models.theta_diversity import ThetaDiversity
from sfumato.testing.awkward_tables import Awkward, request_for
from sfumato.testing.conformance_check import CALM
from sfumato.testing.model_definitions import holds_by_definition

SHARES = st.sampled_from([0.25, 0.34, 0.5, 0.6, 0.75])
ASKED = st.one_of(
    st.builds(ThetaDiversity, theta=SHARES),
    st.builds(AlphaK, alpha=SHARES, k=st.integers(1, 4)),
    st.builds(KAnonymity, k=st.integers(1, 5)),
    st.builds(LDiversity, l=st.integers(1, 4)),
    st.builds(PSensitive, p=st.integers(1, 3), k=st.integers(3, 4)),
    st.builds(LDiversity, l=st.sampled_from([1.5, 2, 2.6, 3]), kind=st.just("entropy")),
    st.builds(
        LDiversity,
        l=st.integers(2, 3),
        kind=st.just("recursive"),
        c=st.sampled_from([0.5, 1.0, 2.0, 3.0]),
    ),
)
"""Requirements that one group of all rows meets if any grouping does."""


def table_of(columns, persons=None):
    cells = {"q": list(range(len(columns[0])))}
    cells |= {f"s{j}": list(column) for j, column in enumerate(columns)}
    roles = dict.fromkeys(cells, Role.SENSITIVE) | {"q": Role.QUASI}
    kinds = dict.fromkeys(cells, Kind.CATEGORY) | {"q": Kind.INTEGER}
    if persons is not None:
        cells["person"] = list(persons)
        roles["person"], kinds["person"] = Role.SUBJECT, Kind.CATEGORY
    return Awkward("drawn", pa.table(cells), roles, kinds)


@st.composite
def cases(draw, *, most_rows, persons=False):
    """A tiny table, one or two sensitive columns, one to three requirements."""
    rows = draw(st.integers(1, most_rows))
    cell = st.sampled_from("xxxyz")
    column = st.lists(cell, min_size=rows, max_size=rows)
    columns = draw(st.lists(column, min_size=1, max_size=2))
    who = st.lists(st.sampled_from("abcd"), min_size=rows, max_size=rows)
    table = table_of(columns, draw(who) if persons else None)
    names = [f"s{j}" for j in range(len(columns))]
    models = [
        replace(model, on=draw(st.sampled_from([None, *names])))
        if hasattr(model, "on")
        else model
        for model in draw(st.lists(ASKED, min_size=1, max_size=3))
    ]
    return request_for(table, models, removable=draw(st.integers(0, rows - 1)))


def remainders(request):
    for count in range(request.removable + 1):
        for gone in combinations(range(request.rows), count):
            kept = [row for row in range(request.rows) if row not in gone]
            if kept:
                yield kept


def meets(request, parts):
    group_of = np.full(request.rows, -1, dtype=np.int32)
    for number, rows in enumerate(parts):
        group_of[rows] = number
    grouping = Grouping(group_of, len(parts))
    return all(holds_by_definition(m, request, grouping) for m in request.models)


def partitions(rows):
    if not rows:
        yield []
        return
    for parts in partitions(rows[1:]):
        yield [[rows[0]], *parts]
        for at in range(len(parts)):
            yield [*parts[:at], [rows[0], *parts[at]], *parts[at + 1 :]]


@settings(CALM, max_examples=250)
@given(cases(most_rows=7))
def test_infeasible_is_what_no_choice_of_rows_meets(request_):
    possible = any(meets(request_, [kept]) for kept in remainders(request_))
    try:
        kept = rows_to_keep(request_)
    except InfeasibleError:
        assert not possible
    else:
        assert possible
        assert request_.rows - len(kept) <= request_.removable
        assert meets(request_, [kept.tolist()])


@settings(CALM, max_examples=120)
@given(cases(most_rows=5, persons=True))
def test_with_persons_infeasible_is_what_no_grouping_of_any_rows_meets(request_):
    try:
        rows_to_keep(request_)
    except InfeasibleError:
        assert not any(
            meets(request_, parts)
            for kept in remainders(request_)
            for parts in partitions(kept)
        )
    except SearchError:
        return  # it says that whether there is one is not known


@settings(CALM, max_examples=120)
@given(cases(most_rows=6, persons=True))
def test_with_persons_what_one_group_meets_is_found(request_):
    if any(meets(request_, [kept]) for kept in remainders(request_)):
        kept = rows_to_keep(request_)
        assert meets(request_, [kept.tolist()])


def test_rows_that_serve_two_requirements_are_left_out_once():
    models = [ThetaDiversity(theta=0.5), AlphaK(alpha=0.5, k=2)]
    request = request_for(table_of(["xxxxyz"]), models, removable=2)
    kept = Mondrian().solve(request).grouping.kept
    assert int(kept.sum()) == 4


def test_rows_with_two_common_values_go_before_rows_with_one():
    """Four rows have x; two of them also have p: these two serve both columns."""
    table = table_of(["xxxxyz", "ppqrpp"])
    models = [ThetaDiversity(theta=0.5)]
    kept = rows_to_keep(request_for(table, models, removable=2))
    assert kept.tolist() == [2, 3, 4, 5]


def test_a_person_goes_with_all_rows_of_the_value():
    """Persons a to d have x, a with two rows; y and z are of others: one x must go."""
    table = table_of(["xxxxxyzw"], persons="aabcdefg")
    kept = rows_to_keep(request_for(table, [ThetaDiversity(theta=0.5)], removable=1))
    assert 0 in kept
    assert 1 in kept
    assert len(kept) == 7


def test_requirements_that_only_fail_together_are_called_infeasible():
    models = [ThetaDiversity(theta=0.5), KAnonymity(k=6)]
    request = request_for(table_of(["xxxxyz"]), models, removable=2)
    with pytest.raises(InfeasibleError, match="at most 2 of 6 rows") as caught:
        rows_to_keep(request)
    assert "k-anonymity" in caught.value.message
    assert "max_suppressed" in caught.value.hint


def test_values_that_must_occur_get_their_share_by_leaving_out_others():
    model = LDiversity(
        l=2,
        kind="negative-positive-recursive",
        c1=9.0,
        c2=0.3,
        must_occur=("y", "z"),
    )
    request = request_for(table_of(["xxxxyz"]), [model], removable=3)
    kept = rows_to_keep(request)
    assert kept[-2:].tolist() == [4, 5]
    assert len(kept) == 3


# Hints, followed.

HINTED = st.one_of(
    st.builds(ThetaDiversity, theta=SHARES),
    st.builds(AlphaK, alpha=SHARES, k=st.integers(1, 9)),
    st.builds(Lkc, l=st.just(1), k=st.integers(1, 9), c=SHARES),
    st.builds(KAnonymity, k=st.integers(1, 9)),
    st.builds(NTCloseness, n=st.integers(1, 9), t=SHARES),
    st.builds(PSensitive, p=st.integers(1, 4), k=st.integers(4, 9)),
    st.builds(LDiversity, l=st.integers(1, 5)),
    st.builds(LDiversity, l=st.sampled_from([2.2, 3.3]), kind=st.just("entropy")),
    st.builds(
        LDiversity,
        l=st.integers(2, 3),
        kind=st.just("recursive"),
        c=st.sampled_from([0.1, 0.5, 1.0, 2.0]),
    ),
    st.builds(
        RangeDisclosure,
        r=st.sampled_from([0.0, 0.3, 1.0]),
        at_most=st.sampled_from([0.0, 0.2, 0.4]),
    ),
    st.builds(
        LDiversity,
        l=st.integers(2, 3),
        kind=st.just("negative-positive-recursive"),
        c1=st.sampled_from([0.25, 1.0, 9.0]),
        c2=st.sampled_from([0.2, 0.5, 1.0]),
        must_occur=st.sampled_from([("y",), ("x", "y")]),
    ),
)


CHANGE = re.compile(r"(?:[Rr]aise|[Ll]ower) (\w+) to ([\d.]*\d)")


def followed(model, hint):
    """The models that a hint names, one for each of its ways out."""
    for way in hint.split(", or "):
        changes = {
            name: int(value) if "." not in value else float(value)
            for name, value in CHANGE.findall(way)
        }
        if changes:
            yield replace(model, **changes)


@st.composite
def some_columns(draw):
    """The cells of one or two sensitive columns."""
    rows = draw(st.integers(1, 8))
    cell = st.sampled_from("xxxyz")
    column = st.lists(cell, min_size=rows, max_size=rows)
    return draw(st.lists(column, min_size=1, max_size=2))


@settings(CALM, max_examples=300)
@given(some_columns(), HINTED, st.data())
def test_a_setting_that_a_hint_names_is_no_longer_infeasible(columns, model, data):
    removable = data.draw(st.integers(0, len(columns[0]) - 1))
    request = request_for(table_of(columns), [model], removable=removable)
    try:
        rows_to_keep(request)
    except InfeasibleError as error:
        for changed in followed(model, error.hint):
            rows_to_keep(replace(request, models=(changed,)))


@settings(CALM, max_examples=150)
@given(some_columns(), HINTED, st.data())
def test_with_persons_a_setting_that_a_hint_names_can_be_met(columns, model, data):
    rows = len(columns[0])
    who = data.draw(st.lists(st.sampled_from("abc"), min_size=rows, max_size=rows))
    request = request_for(table_of(columns, who), [model], removable=0)
    try:
        rows_to_keep(request)
    except InfeasibleError as error:
        for changed in followed(model, error.hint):
            if not isinstance(changed, Lkc):  # refused where persons have several rows
                rows_to_keep(replace(request, models=(changed,)))
    except SearchError:
        return  # it says that whether there is one is not known


@settings(CALM, max_examples=150)
@given(some_columns(), HINTED)
def test_as_many_rows_as_a_hint_allows_are_enough(columns, model):
    request = request_for(table_of(columns), [model], removable=0)
    try:
        rows_to_keep(request)
    except InfeasibleError as error:
        allowed = re.search(r"allow (\d+) rows", error.hint)
        if allowed:
            rows_to_keep(replace(request, removable=int(allowed[1])))


def test_a_hint_helps_every_sensitive_column():
    table = table_of(["xxxxyz", "pppppq"])
    request = request_for(table, [ThetaDiversity(theta=0.5)], removable=0)
    with pytest.raises(InfeasibleError) as caught:
        rows_to_keep(request)
    assert caught.value.hint.startswith("Raise theta to 0.8334, or allow more rows")
    rows_to_keep(replace(request, models=(ThetaDiversity(theta=0.8334),)))


def test_rows_that_help_one_of_two_limits_are_not_said_to_be_enough():
    """Without x or y the ratio is met, but then one of the two does not occur."""
    model = LDiversity(
        l=2,
        kind="negative-positive-recursive",
        c1=0.25,
        c2=1.0,
        may_disclose=("x",),
        must_occur=("x", "y"),
    )
    request = request_for(table_of(["xy"]), [model], removable=0)
    with pytest.raises(InfeasibleError) as caught:
        rows_to_keep(request)
    assert "allow 1 rows" not in caught.value.hint


@pytest.mark.parametrize(
    "asked",
    [
        {"model": "theta-diversity", "theta": 0.2},
        {"model": "l-diversity", "l": 5},
        {"model": "l-diversity", "l": 4.5, "kind": "entropy"},
        {"model": "l-diversity", "l": 2, "kind": "recursive", "c": 0.1},
        {"model": "alpha-k", "alpha": 0.2, "k": 2},
        {"model": "lkc", "l": 1, "k": 2, "c": 0.2},
        {"model": "p-sensitive", "p": 5, "k": 5},
    ],
    ids=str,
)
@pytest.mark.parametrize("spare", [0.0, 0.34])
def test_a_hint_helps_where_a_missing_value_may_be_any(asked, spare):
    """Two x, a y, a z and two missing values, which may all be x."""
    table = pa.table({"q": list("abcdef"), "s": ["x", "x", "y", "z", None, None]})
    settings = {"quasi": "q", "sensitive": "s", "missing_as": "any", "max_loss": 1}
    settings |= {"algorithm": "mondrian", "max_suppressed": spare}
    try:
        sf.anonymize(table, require=[asked], **settings)
    except InfeasibleError as error:
        ways = [dict(CHANGE.findall(way)) for way in error.hint.split(", or ")]
        named = [{n: float(v) for n, v in way.items()} for way in ways if way]
        assert named
        for way in named:
            counts = {n: int(v) if v.is_integer() else v for n, v in way.items()}
            sf.anonymize(table, require=[asked | counts], **settings)


@pytest.mark.parametrize("algorithm", ["mondrian", "optimal", "k-member"])
def test_lkc_is_met_where_leaving_rows_out_makes_it_so(algorithm):
    """Three ones must go: then no value has more than the share of 0.6."""
    table = pa.table({"age": [2, 3, 2, 3, 3, 3, 3, 1], "s": [5, 1, 1, 1, 1, 1, 5, 1]})
    release = sf.anonymize(
        table,
        quasi="age",
        sensitive="s",
        require=[{"model": "lkc", "l": 2, "k": 3, "c": 0.6}],
        algorithm=algorithm,
        max_suppressed=0.4,
        max_loss=1,
    )
    assert release.table.num_rows == 5


def test_a_hint_names_the_share_of_the_rows_that_are_left_when_some_are_dropped():
    """One of six rows is dropped, and one of the other five is in excess: a fifth."""
    cells = {"q": ["a", "b", "b", None, "c", "b"], "s": list("xyzuvz")}
    asked = {"model": "lkc", "l": 2, "k": 2, "c": 0.3}
    settings = {"quasi": "q", "sensitive": "s", "missing_as": "drop", "max_loss": 1}
    settings |= {"algorithm": "mondrian", "require": [asked]}
    with pytest.raises(InfeasibleError) as caught:
        sf.anonymize(pa.table(cells), **settings)
    assert "allow 1 rows to be left out (publish.max_suppressed = 0.2)" in (
        caught.value.hint
    )
    release = sf.anonymize(pa.table(cells), max_suppressed=0.2, **settings)
    assert release.table.num_rows == 4


@pytest.mark.parametrize("name", registry.names("algorithms"))
def test_rows_that_remain_are_compared_with_the_whole_source(name):
    table = pa.table({"day": ["1", "2", "1", "2"], "illness": ["x", "-", "y", "x"]})
    asked = {"model": "t-closeness", "t": 0.05, "reference": "source"}
    with pytest.raises((InfeasibleError, RefusedError)):
        sf.anonymize(
            table,
            quasi=["day"],
            sensitive="illness",
            missing=["-"],
            missing_as="any",
            require=[{**asked, "distance": "ordered"}],
            algorithm=name,
            publish={"max_loss": 1, "max_suppressed": 0.3},
        )
