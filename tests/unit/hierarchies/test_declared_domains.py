"""Axes from what is declared: the same whatever the cells hold."""

from __future__ import annotations

import pyarrow as pa
import pytest

from sfumato.data.schema import Kind
from sfumato.errors import DataError, PolicyError, RefusedError
from sfumato.hierarchies.declared_domain import Declared, declared_axis

AGES = {"intervals": [5, 10], "bottom": 20, "top": 40}
INCOMES = {"intervals": [0.5, 1], "bottom": 0.3, "top": 2.2}
TREE = {"tree": {"A": ["x", "y"], "B": ["z"]}}


def column(*cells) -> pa.ChunkedArray:
    return pa.chunked_array([pa.array(list(cells))])


def shown(declared: Declared, *cells, level: int = 0) -> list[str]:
    coded = declared_axis(declared, column(*cells))
    nodes = coded.axis.levels[level][coded.codes]
    return [coded.axis.node_labels[node] for node in nodes]


def age(**changes) -> Declared:
    settings = {"name": "age", "kind": Kind.INTEGER, "hierarchy": AGES} | changes
    return Declared(**settings)


def test_values_beyond_the_tails_show_the_tails():
    assert shown(age(), 7, 20, 21, 39, 40, 99) == [
        "<= 20",
        "<= 20",
        "21",
        "39",
        ">= 40",
        ">= 40",
    ]


def test_decimals_show_their_finest_interval():
    income = Declared(name="income", kind=Kind.DECIMAL, hierarchy=INCOMES)
    assert shown(income, -4.0, 0.3, 0.5, 2.19, 2.2) == [
        "< 0.3",
        "[0.3, 0.5)",
        "[0.5, 1)",
        "[2, 2.2)",
        ">= 2.2",
    ]


@pytest.mark.parametrize("cells", [(21,), (39, 22, None), tuple(range(100))])
def test_the_axis_does_not_depend_on_the_cells(cells):
    one = declared_axis(age(), column(30)).axis
    other = declared_axis(age(), column(*cells)).axis
    assert one.labels == other.labels
    assert one.node_labels == other.node_labels
    assert one.levels.tolist() == other.levels.tolist()
    assert one.node_ncp.tolist() == other.node_ncp.tolist()


def test_every_leaf_of_a_tree_has_a_code_occurring_or_not():
    coded = declared_axis(Declared(name="city", hierarchy=TREE), column("z"))
    assert coded.axis.labels == ("x", "y", "z", "")


def test_a_missing_value_is_part_of_the_domain_whether_it_occurs_or_not():
    coded = declared_axis(Declared(name="city", hierarchy=TREE), column("x"))
    assert coded.axis.missing == 3


def test_without_missing_values_the_domain_has_none():
    declared = Declared(name="city", hierarchy=TREE, with_missing=False)
    assert declared_axis(declared, column("x")).axis.missing == -1


def test_a_listed_domain_serves_prefixes():
    zips = Declared(
        name="zip",
        kind=Kind.CODE,
        hierarchy={"prefix": [2]},
        domain=["123", "124", "200"],
    )
    assert shown(zips, "124", "200", level=1) == ["12*", "20*"]


def test_a_range_of_dates_serves_calendars():
    day = Declared(
        name="day",
        kind=Kind.DATE,
        hierarchy={"calendar": ["month"]},
        domain={"low": "2020-01-01", "high": "2020-03-31"},
    )
    assert shown(day, "2020-02-29", level=1) == ["2020-02"]


def test_the_leaves_of_a_file_are_its_domain(tmp_path):
    (tmp_path / "h.csv").write_text("x;A;*\ny;A;*\nz;B;*\n")
    declared = Declared(name="city", hierarchy="h.csv", base=tmp_path)
    assert declared_axis(declared, column("y")).axis.labels == ("x", "y", "z", "")


def test_a_value_outside_the_domain_is_counted_not_shown():
    with pytest.raises(DataError, match="2 of 3 cells have a value that") as caught:
        declared_axis(Declared(name="city", hierarchy=TREE), column("x", "Q1", "Q2"))
    assert "Q1" not in str(caught.value)
    assert sorted(caught.value.values) == ["Q1", "Q2"]


@pytest.mark.parametrize("spec", [None, "auto", "flat", "free", {"quantiles": [4, 2]}])
def test_hierarchies_that_the_data_shapes_are_refused(spec):
    with pytest.raises(RefusedError, match="may not depend on the data"):
        declared_axis(age(hierarchy=spec), column(30))


def test_intervals_without_ends_are_refused():
    with pytest.raises(
        RefusedError, match="values that 'age' may have are not declared"
    ):
        declared_axis(age(hierarchy={"intervals": [5]}), column(30))


def test_intervals_without_a_kind_are_refused():
    with pytest.raises(PolicyError, match="'age' has no declared kind"):
        declared_axis(age(kind=None), column(30))


def test_many_whole_numbers_show_their_finest_interval():
    prices = {"intervals": [500, 1000], "bottom": 100, "top": 3000}
    assert shown(age(hierarchy=prices), 7, 100, 101, 499, 500, 2999, 3000) == [
        "<= 100",
        "<= 100",
        "[101, 499]",
        "[101, 499]",
        "[500, 999]",
        "[2500, 2999]",
        ">= 3000",
    ]


def test_a_domain_too_large_to_count_is_refused():
    wide = {"intervals": [10], "bottom": 0, "top": 90_000_000}
    with pytest.raises(RefusedError, match="100,000 can be counted with noise"):
        declared_axis(age(hierarchy=wide), column(30))
