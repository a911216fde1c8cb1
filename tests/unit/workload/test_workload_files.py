"""Workload files, SQL, and queries drawn at random."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest

from sfumato.data.coding import code_column
from sfumato.errors import UsageError
from sfumato.hierarchies.build import build
from sfumato.workload.queries import (
    Bound,
    Condition,
    Query,
    RandomQueries,
    Workload,
    split,
)
from sfumato.workload.random_queries import draw
from sfumato.workload.sql import parse_sql
from sfumato.workload.workload_files import dump_workload, load_workload, parse_workload

FIGURE_7 = """
SELECT occupation , COUNT(*) as total
FROM adult
WHERE education IN ("E1" , "E8") AND sex in ("S1") AND age > 20 AND age < 40
GROUP BY occupation ;
"""
TOML = """
sql = ["SELECT COUNT(*) FROM t WHERE sex = 'f'"]

[[query]]
name = "young"
histogram = "job"
group_by = ["sex"]
where = {education = ["a", "b"], age = {from = 20, below = 30.5}, sex = "f"}

[[random]]
count = 3
seed = 7
histogram = "job"
selectivity = {education = 2, age = 0.5}
"""


def axes():
    table = pa.table(
        {"age": list(range(17, 91)), "education": [f"e{i % 16:02}" for i in range(74)]}
    )
    columns = [code_column(name, table.column(name)) for name in table.column_names]
    return {c.name: build(c, None).axis for c in columns}


def test_the_query_format_of_boger_is_read():
    (query,) = parse_sql(FIGURE_7)
    assert query.keys == ("occupation",)
    assert query.where == (
        Condition(column="age", bounds=(Bound(">", 20.0), Bound("<", 40.0))),
        Condition(column="education", values=("E1", "E8")),
        Condition(column="sex", values=("S1",)),
    )


def test_between_and_turned_comparisons_are_read():
    (query,) = parse_sql("SELECT COUNT(*) FROM t WHERE a BETWEEN 1 AND 2 AND -3 <= b")
    assert query.where == (
        Condition(column="a", bounds=(Bound(">=", 1.0), Bound("<=", 2.0))),
        Condition(column="b", bounds=(Bound(">=", -3.0),)),
    )


def test_a_date_stays_a_text():
    (query,) = parse_sql("SELECT COUNT(*) FROM t WHERE d >= '2020-03-01'")
    assert query.where[0].bounds == (Bound(">=", "2020-03-01"),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("DELETE FROM t", "statement 1 is not a SELECT"),
        ("SELECT SUM(a) FROM t", "an expression where a column is expected"),
        ("SELECT a FROM t GROUP BY a", r"has 0 COUNT\(\*\), not one"),
        ("SELECT a, COUNT(*) FROM t", "selects a column that it does not group by"),
        ("SELECT COUNT(*) FROM t WHERE a = 1 OR b = 2", "not read .OR."),
        ("SELECT COUNT(*) FROM t WHERE NOT a = 1", "not read .NOT."),
        ("SELECT COUNT(*) FROM t WHERE a = b", "not a plain value"),
        ("SELECT COUNT(*) FROM t LIMIT 3", "a part that is not read .'limit'."),
        ("SELECT COUNT(*) FROM t, u", "a part that is not read .'joins'."),
        ("SELECT COUNT(*) FROM t HAVING a > 1", "a part that is not read .'having'."),
        ("SELECT COUNT(* FROM", "The workload is not SQL"),
    ],
)
def test_other_sql_is_refused_with_its_reason(text, message):
    with pytest.raises(UsageError, match=message):
        parse_sql(text)


def test_a_file_holds_written_random_and_sql_queries():
    found = parse_workload(TOML)
    assert found.queries[0] == Query(
        name="young",
        histogram="job",
        group_by=("sex",),
        where=(
            Condition(column="education", values=("a", "b")),
            Condition(column="age", bounds=(Bound(">=", 20), Bound("<", 30.5))),
            Condition(column="sex", values=("f",)),
        ),
    )
    assert found.queries[1].where == (Condition(column="sex", values=("f",)),)
    assert len(found) == 5
    assert found.columns == ("age", "education", "job", "sex")


def test_what_is_dumped_is_read_back():
    found = parse_workload(TOML)
    assert parse_workload(dump_workload(found)) == found


def test_json_says_the_same_as_toml(tmp_path):
    place = tmp_path / "w.json"
    place.write_text(json.dumps({"query": [{"where": {"age": {"to": 3}}}]}))
    (query,) = load_workload(place).queries
    assert query.where == (Condition(column="age", bounds=(Bound("<=", 3),)),)


def test_a_sql_file_is_read(tmp_path):
    place = tmp_path / "w.sql"
    place.write_text(FIGURE_7)
    assert load_workload(place).columns == ("age", "education", "occupation", "sex")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no query"),
        ("querry = []", "unknown key 'querry'"),
        ("[[query]]\nwher = {}", "Query 1 has the unknown key 'wher'"),
        ("[[query]]\nwhere = {a = []}", "needs a list of values for 'a'"),
        ("[[random]]\ncount = 2", "needs 'selectivity' per column"),
        ("[[random]]\ncount = 0\nselectivity = {a = 1}", "has 0 queries"),
        ("[[random]]\ncount = 1\nselectivity = {a = 1.5}", "selectivity of 'a' is 1.5"),
        ("[[query", "is not TOML"),
    ],
)
def test_a_faulty_file_says_what_is_wrong(text, message):
    with pytest.raises(UsageError, match=message):
        parse_workload(text)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UsageError, match=r"There is no workload '.*absent\.toml'"):
        load_workload(tmp_path / "absent.toml")


def test_random_queries_take_as_many_values_as_asked():
    part = RandomQueries(count=50, selectivity={"education": 0.5, "age": 35})
    for query in draw(part, axes()):
        age, education = query.where
        assert len(set(education.values)) == 8
        low, high = (int(bound.value) for bound in age.bounds)
        assert high - low == 34
        assert low >= 17
        assert high <= 90


def test_random_windows_begin_everywhere_equally_often():
    # 40 places × 100 expected: χ² with 39 degrees of freedom exceeds 72 once in 1,000.
    part = RandomQueries(count=4000, selectivity={"age": 35}, seed=5)
    starts = [int(query.where[0].bounds[0].value) for query in draw(part, axes())]
    counts = np.bincount(np.array(starts) - 17, minlength=40)
    assert len(counts) == 40
    assert ((counts - 100) ** 2 / 100).sum() < 72


def test_the_seed_decides_the_queries():
    parts = [
        RandomQueries(count=5, selectivity={"age": 0.2}, seed=seed)
        for seed in (1, 1, 2)
    ]
    one, same, other = (draw(part, axes()) for part in parts)
    assert one == same
    assert one != other


def test_one_share_of_all_rows_is_spread_over_columns():
    (part,) = parse_workload(
        '[[random]]\ncount = 1\nselectivity = 0.01\ncolumns = ["a", "b"]'
    ).random
    assert part.selectivity == pytest.approx({"a": 0.1, "b": 0.1})


def test_a_split_keeps_equal_queries_on_one_side():
    queries = [
        Query(where=(Condition(column="a", values=(str(i % 10),)),), name=str(i))
        for i in range(40)
    ]
    parts = split(queries, share=0.5, seed=0)
    assert len(parts.train) == len(parts.held_out) == 5
    assert not set(parts.train) & set(parts.held_out)


def test_too_few_queries_are_not_split():
    with pytest.raises(
        UsageError, match=r"A train share of .* leaves one part without queries"
    ):
        split([Query(), Query()], share=0.5, seed=0)


def test_an_empty_workload_has_no_columns():
    assert Workload().columns == ()


def test_conditions_on_one_column_hold_together():
    query = Query(
        where=(
            Condition(column="b", values=("x", "y")),
            Condition(column="a", values=("p",)),
            Condition(column="b", values=("y", "z")),
        )
    )
    assert query.columns == ("a", "b")
    assert query.condition("b").values == ("y",)
