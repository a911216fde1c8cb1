"""Answers on originals and on every form of release, against plain definitions."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.coding import code_column
from sfumato.data.schema import Kind
from sfumato.errors import DataError, UsageError
from sfumato.hierarchies.build import build
from sfumato.workload.answers import CollapsedTable, blocks
from sfumato.workload.queries import Bound, Condition, Query
from sfumato.workload.queryable_tables import original, published

PEOPLE = {
    "age": [21, 22, 24, 30, 35, 35, 41, 60],
    "sex": ["f", "m", "f", "m", "f", "f", "m", "m"],
    "job": ["a", "b", "a", "c", "b", "a", "c", "c"],
}


def axes_of(table, **hierarchies):
    columns = [code_column(name, table.column(name)) for name in table.column_names]
    return {c.name: build(c, hierarchies.get(c.name)) for c in columns}


def answers(source, release, query, *, beside=None, **hierarchies):
    """The answer of a release, cell by cell; the last cell of a key is 'others'."""
    coded = axes_of(source, **hierarchies)
    axes = {name: each.axis for name, each in coded.items()}
    used = {name: axes[name] for name in {*query.columns, *query.keys}}
    shown = (
        original(coded, source.num_rows)
        if release is None
        else published(release, beside or {}, used, missing=("",))
    )
    (block,) = blocks([query], axes)
    return CollapsedTable(shown).answer(block)[0]


def where(**conditions):
    return tuple(
        Condition(column=name, values=tuple(value))
        if isinstance(value, list)
        else Condition(
            column=name, bounds=(Bound(">=", value[0]), Bound("<=", value[1]))
        )
        for name, value in conditions.items()
    )


def test_a_count_on_the_original_is_the_number_of_rows():
    query = Query(where=where(age=(22, 35), sex=["f"]))
    assert answers(pa.table(PEOPLE), None, query).tolist() == [3.0]


def test_open_ends_do_not_belong():
    ends = (Bound(">", 22), Bound("<", 35))
    query = Query(where=(Condition(column="age", bounds=ends),))
    assert answers(pa.table(PEOPLE), None, query).tolist() == [2.0]


def test_a_histogram_counts_each_value():
    query = Query(where=where(age=(20, 40)), histogram="job")
    assert answers(pa.table(PEOPLE), None, query).tolist() == [3.0, 2.0, 1.0, 0.0]


def test_a_group_by_breaks_a_histogram_down():
    query = Query(histogram="job", group_by=("sex",))
    cells = answers(pa.table(PEOPLE), None, query).reshape(4, 3)
    assert cells[:3, :2].tolist() == [[3.0, 0.0], [1.0, 1.0], [0.0, 3.0]]


@pytest.mark.parametrize("seed", range(5))
def test_answers_of_an_original_equal_row_by_row_counting(seed):
    random = np.random.default_rng(seed)
    source = pa.table(
        {
            "a": random.integers(0, 9, 200),
            "b": random.choice(list("uvwxyz"), 200),
            "s": random.choice(list("pqr"), 200),
        }
    )
    low, high = sorted(random.integers(0, 9, 2).tolist())
    listed = random.choice(list("uvwxyz"), 3, replace=False).tolist()
    query = Query(where=where(a=(low, high), b=listed), histogram="s")
    rows = source.to_pylist()
    expected = [
        sum(low <= r["a"] <= high and r["b"] in listed and r["s"] == v for r in rows)
        for v in "pqr"
    ]
    assert answers(source, None, query).tolist() == [*expected, 0.0]


def test_the_worked_query_of_loukides_and_shao():
    # Table 1, third group: [10-30] × [NW20-30] three times; Q1 asks age > 25 and
    # NW25 … NW30, so p = 5/21 × 6/11 by counting whole years and districts.
    source = pa.table({"age": [*range(10, 31)], "code": [*range(10, 31)]})
    cells = {
        "age": ["[10, 25]"] * 6 + ["[10, 30]"] * 3,
        "code": ["[10, 30]"] * 3 + ["[10, 25]"] * 3 + ["[20, 30]"] * 3,
    }
    query = Query(
        where=(
            Condition(column="age", bounds=(Bound(">", 25),)),
            *where(code=(25, 30)),
        )
    )
    found = answers(source, pa.table(cells), query)
    assert found[0] == pytest.approx(3 * 5 / 21 * 6 / 11)


@pytest.mark.parametrize(
    ("cell", "share"),
    [
        ("[20, 29]", 0.5),
        ("[20, 30)", 0.5),
        ("20-29", 0.5),
        ("<= 24", 0.0),
        (">= 25", 10 / 36),  # the column ends at 60
        ("*", 10 / 40),  # … and begins at 21
        ("{24|30}", 0.5),
        ("30", 1.0),
        ("30.4", 1.0),
        ("34.5", 0.0),
        ("[70, 79]", 0.0),
    ],
)
def test_the_share_of_a_number_cell_that_a_range_takes(cell, share):
    query = Query(where=where(age=(25, 34)))
    found = answers(pa.table(PEOPLE), pa.table({"age": [cell]}), query)
    assert found[0] == pytest.approx(share)


def test_decimals_are_measured_by_length():
    source = pa.table({"x": [0.0, 0.5, 2.5, 4.0]})
    query = Query(where=where(x=(1.0, 2.0)))
    found = answers(source, pa.table({"x": ["[0.5, 2.5]"]}), query)
    assert found[0] == pytest.approx(0.5)


def test_a_list_of_numbers_takes_its_share_of_an_interval():
    query = Query(where=where(age=["21", "24", "60"]))
    found = answers(pa.table(PEOPLE), pa.table({"age": ["[21, 30]"]}), query)
    assert found[0] == pytest.approx(2 / 10)


def test_a_tree_node_stands_for_its_leaves():
    tree = {"tree": {"*": {"low": ["a", "b"], "high": ["c"]}}}
    query = Query(where=where(job=["a", "c"]))
    cells = pa.table({"job": ["low", "high", "*", "c"]})
    found = answers(pa.table(PEOPLE), cells, query, job=tree)
    assert found[0] == pytest.approx(1 / 2 + 1 + 2 / 3 + 1)


def test_bounds_in_two_columns_read_as_intervals():
    cells = {"age_from": ["20", "30"], "age_to": ["29", "30"]}
    query = Query(where=where(age=(25, 34)))
    found = answers(pa.table(PEOPLE), pa.table(cells), query)
    assert found[0] == pytest.approx(0.5 + 1.0)


def test_a_generalized_breakdown_is_spread_evenly():
    cells = pa.table({"sex": ["{f|m}", "f"], "job": ["a", "z"]})
    by_sex = answers(pa.table(PEOPLE), cells, Query(histogram="sex"))
    by_job = answers(pa.table(PEOPLE), cells, Query(histogram="job"))
    assert by_sex.tolist() == [1.5, 0.5, 0.0]
    assert by_job.tolist() == [1.0, 0.0, 0.0, 1.0]  # z is no value of the original


def test_a_missing_cell_is_no_number():
    source = pa.table({"age": ["20", "", "30"]})
    column = code_column("age", source.column("age"), missing=("",))
    coded = {"age": build(column, None)}
    query = Query(where=where(age=(0, 99)))
    (block,) = blocks([query], {"age": coded["age"].axis})
    shown = published(source, {}, {"age": coded["age"].axis}, missing=("",))
    assert CollapsedTable(original(coded, 3)).answer(block)[0].tolist() == [2.0]
    assert CollapsedTable(shown).answer(block)[0].tolist() == [2.0]


def test_an_anatomy_answers_with_the_shares_of_its_groups():
    people = pa.table({"age": [21, 22, 24, 30], "group": [7, 7, 3, 3]})
    values = pa.table({"group": [7, 7, 3], "job": ["a", "b", "c"], "count": [1, 1, 2]})
    query = Query(where=where(age=(22, 30)), histogram="job")
    found = answers(pa.table(PEOPLE), people, query, beside={"sensitive": values})
    assert found.tolist() == [0.5, 0.5, 2.0, 0.0]


def test_an_anatomy_is_the_mean_of_all_swaps():
    jobs = ["a", "b", "b"]
    ages = [21, 22, 24]
    query = Query(where=where(age=(22, 24)), histogram="job")
    swaps = [
        answers(pa.table(PEOPLE), pa.table({"age": ages, "job": list(order)}), query)
        for order in itertools.permutations(jobs)
    ]
    people = pa.table({"age": ages, "group": [0, 0, 0]})
    values = pa.table({"group": [0, 0], "job": ["a", "b"], "count": [1, 2]})
    found = answers(pa.table(PEOPLE), people, query, beside={"sensitive": values})
    assert found == pytest.approx(np.mean(swaps, axis=0))


def test_an_anatomy_answers_about_people_alone():
    people = pa.table({"age": [21, 22], "group": [0, 0]})
    values = pa.table({"group": [0], "job": ["a"], "count": [2]})
    query = Query(where=where(age=(22, 30)))
    found = answers(pa.table(PEOPLE), people, query, beside={"sensitive": values})
    assert found.tolist() == [1.0]


def test_many_queries_are_answered_as_one_by_one():
    random = np.random.default_rng(0)
    source = pa.table(
        {"a": random.integers(0, 40, 500), "s": random.choice(list("pq"), 500)}
    )
    coded = axes_of(source)
    axes = {name: each.axis for name, each in coded.items()}
    queries = [
        Query(where=where(a=(i % 30, i % 30 + 5)), histogram="s") for i in range(600)
    ]
    asked = CollapsedTable(original(coded, 500))
    together = np.zeros((600, 3))
    for block in blocks(queries, axes):
        together[block.places] = asked.answer(block)
    alone = [answers(source, None, query) for query in queries[:40]]
    assert together[:40].tolist() == [each.tolist() for each in alone]


def test_an_ordered_category_has_ranges():
    order = ("low", "middle", "high")
    source = pa.table({"level": ["high", "low", "middle", "low"]})
    column = code_column(
        "level", source.column("level"), kind=Kind.ORDERED, order=order
    )
    coded = {"level": build(column, None)}
    bounds = (Bound(">=", "middle"),)
    query = Query(where=(Condition(column="level", bounds=bounds),))
    (block,) = blocks([query], {"level": coded["level"].axis})
    assert CollapsedTable(original(coded, 4)).answer(block)[0].tolist() == [2.0]


def test_a_range_on_plain_categories_is_refused():
    query = Query(where=where(job=("a", "b")))
    with pytest.raises(UsageError, match="range on 'job', which is a category"):
        answers(pa.table(PEOPLE), None, query)


def test_a_list_without_any_value_of_the_column_is_refused():
    query = Query(where=where(job=["nurse"]))
    with pytest.raises(UsageError, match="lists 1 values of 'job'") as caught:
        answers(pa.table(PEOPLE), None, query)
    assert "nurse" not in str(caught.value)


def test_a_column_that_is_not_published_is_named():
    query = Query(histogram="job")
    with pytest.raises(DataError, match="asks for 'job', which the release does not"):
        answers(pa.table(PEOPLE), pa.table({"age": ["1"]}), query)


def test_an_unchanged_table_has_no_error():
    source = pa.table(PEOPLE)
    workload = sf.Workload(queries=(Query(where=where(sex=["f"]), histogram="job"),))
    found = sf.workload_error(source, source, workload)
    assert found.chi2.tolist() == [0.0]
    assert found.actual.tolist() == found.estimated.tolist() == [4.0]
