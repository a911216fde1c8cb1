"""Releases of tables in which cells are missing: one mark, both meanings, no promise
that does not hold."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.data.seeds import Seed
from sfumato.errors import InfeasibleError, RefusedError, SearchError
from sfumato.report.html import render
from sfumato.report.number_text import measured

NO_PROMISE = (RefusedError, InfeasibleError, SearchError)


def release_of(columns, **asked):
    asked = {"seed": Seed.guessable(1), **asked}
    return sf.anonymize(pa.table(columns), **asked)


def test_several_marks_leave_as_one():
    release = release_of(
        {"age": ["30", "30", "30"], "zip": ["?", "", "n/a"]},
        quasi=["age", "zip"],
        missing=["?", "", "n/a"],
        k=3,
    )
    assert len(set(release.table["zip"].to_pylist())) == 1


def test_marks_among_typed_numbers_leave_as_one():
    columns = {"age": pa.array([30, 30, 999, None, -1, 30], pa.int64())}
    release = release_of(columns, quasi=["age"], missing=["999", "-1"], k=3)
    assert release.table.schema.field("age").type == pa.int64()
    assert sorted(release.table["age"].to_pylist()) == [30] * 3 + [999] * 3


def test_numbers_that_are_none_and_both_zeros_are_one_cell_each():
    columns = {"x": pa.array([0.0, -0.0, float("nan"), None], pa.float64())}
    release = release_of(columns, quasi=["x"], k=2)
    assert sorted(map(str, release.table["x"].to_pylist())) == [
        "0.0",
        "0.0",
        "None",
        "None",
    ]


def test_check_tells_marks_apart(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("age,zip\n30,?\n30,\n")
    result = sf.check(file, quasi=["age", "zip"], missing=["?", ""], k=2)
    assert not result.holds
    assert result.verdicts[0]["measured"] == 1


def test_check_reports_both_meanings_of_a_missing_cell(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("x,y\na,b\n" + "a,\n" * 5)
    result = sf.check(file, quasi=["x", "y"], missing_as="any", k=5)
    (verdict,) = result.verdicts
    assert not result.holds
    assert verdict["measured"] == 1
    assert verdict["missing_as"]["value"]["measured"] == 1
    assert verdict["missing_as"]["any"]["measured"] == 5
    assert measured(verdict) == "k = 1 (missing as value: 1, as any: 5)"


def test_the_manifest_and_the_report_tell_both_meanings():
    release = release_of(
        {"x": ["a", "a", "", ""], "y": ["c", "c", "c", "c"]},
        quasi=["x", "y"],
        missing_as="any",
        k=2,
    )
    (verdict,) = release.manifest["requirements"]
    assert verdict["missing_as"]["any"]["measured"] == 2
    page = render(release.manifest, release.facts)
    assert "missing as value: 2, as any: 2" in page


def test_a_distribution_with_missing_values_is_met_both_ways():
    # Known values are alike in all groups; the missing ones are in one group alone.
    columns = {
        "x": ["a"] * 4 + ["b"] * 4,
        "ill": ["flu", "", "", ""] + ["flu"] * 4,
    }
    release = release_of(
        columns,
        quasi=["x"],
        sensitive=["ill"],
        missing_as="any",
        require=[{"model": "t-closeness", "t": 0.1}],
        max_loss=1,
    )
    verdict = release.manifest["requirements"][-1]
    assert verdict["missing_as"]["value"]["measured"] <= 0.1
    assert len(set(release.table["x"].to_pylist())) == 1


def test_what_groups_may_break_together_is_refused_before_any_work():
    columns = {"x": ["a", "a", "", ""], "age": ["1", "2", "3", "4"]}
    with pytest.raises(RefusedError, match="range-disclosure cannot be promised"):
        release_of(
            columns,
            quasi=["x"],
            sensitive=["age"],
            missing_as="any",
            require=[{"model": "range-disclosure", "r": 0.5, "at_most": 0.9}],
        )


def test_shares_of_persons_with_rows_in_several_groups_are_refused():
    columns = {
        "who": ["1", "2", "1", "2"],
        "x": ["a", "a", "", ""],
        "ill": ["f", "g", "g", "f"],
    }
    asked = {"quasi": ["x"], "sensitive": ["ill"], "subject": "who"}
    theta = {"model": "theta-diversity", "theta": 0.6}
    with pytest.raises(RefusedError, match="persons have rows"):
        release_of(columns, missing_as="any", require=[theta], **asked)
    release_of(columns, missing_as="any", k=2, **asked)


MODELS = [
    ("k-anonymity", {"k": 2}),
    ("l-diversity", {"l": 2}),
    ("l-diversity", {"l": 1.5, "kind": "entropy"}),
    ("l-diversity", {"l": 2, "kind": "recursive", "c": 3.0}),
    ("t-closeness", {"t": 0.3}),
    ("n-t-closeness", {"n": 4, "t": 0.3}),
    ("theta-diversity", {"theta": 0.7}),
    ("alpha-k", {"alpha": 0.7, "k": 2}),
    ("beta-likeness", {"beta": 1.0}),
    ("delta-disclosure", {"delta": 2.0}),
    ("lkc", {"l": 1, "k": 2, "c": 0.8}),
    ("average-risk", {"at_most": 0.5}),
    ("uniqueness", {"at_most": 0.2}),
    ("range-disclosure", {"r": 0.3, "at_most": 0.9}),
]


@st.composite
def gappy(draw):
    """A small table with gaps everywhere, and what is asked of it."""
    rows = draw(st.integers(4, 14))
    cell = st.sampled_from(["a", "b", "c", "", "?"])
    number = st.sampled_from(["1", "2", "7", "30", "", "?"])
    columns = {
        "x": draw(st.lists(cell, min_size=rows, max_size=rows)),
        "n": draw(st.lists(number, min_size=rows, max_size=rows)),
        "s": draw(st.lists(number, min_size=rows, max_size=rows)),
    }
    subjects = draw(st.booleans())
    if subjects:
        people = st.integers(1, rows)
        columns["who"] = draw(st.lists(people, min_size=rows, max_size=rows))
    return columns, {"subject": "who"} if subjects else {}


@pytest.mark.parametrize("algorithm", ["mondrian", "optimal", "datafly", "k-member"])
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(
    table=gappy(),
    asked=st.lists(st.sampled_from(MODELS), min_size=1, max_size=2),
    spare=st.sampled_from([0.0, 0.3]),
)
def test_what_is_searched_for_is_also_proven(algorithm, table, asked, spare):
    columns, subject = table
    try:
        release = release_of(
            columns,
            quasi=["x", "n"],
            sensitive=["s"],
            missing=["", "?"],
            missing_as="any",
            algorithm=algorithm,
            max_suppressed=spare,
            require=[{"model": name, **given} for name, given in asked],
            **subject,
        )
    except NO_PROMISE:
        return
    assert all(verdict["holds"] for verdict in release.verdicts)
    assert all("any" in verdict["missing_as"] for verdict in release.verdicts)
    assert release.table.num_rows <= len(columns["x"])
    assert np.isfinite(release.risk["prosecutor_max"])
