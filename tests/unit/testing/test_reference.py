"""The oracles, against figures worked out by hand."""

from __future__ import annotations

import pytest

from sfumato.testing.cell_reference import (
    QuasiDomain,
    average_class_size,
    calendar,
    cell_loss,
    cell_ncp,
    covered,
    discernibility,
    distinct_l_of,
    generalized_loss,
    k_of,
    members,
    ncp,
    number,
    smallest_cell,
    smallest_node,
)

PLACES = {
    "Rome": ["Rome", "Italy", "Europe", "*"],
    "Turin": ["Turin", "Italy", "Europe", "*"],
    "Oslo": ["Oslo", "Norway", "Europe", "*"],
    "Cairo": ["Cairo", "Egypt", "Africa", "*"],
}
TOWN = QuasiDomain(values=frozenset(PLACES), paths=PLACES)
AGE = QuasiDomain(values=frozenset({"20", "24", "30", "40"}), numeric=True)
FLAT = QuasiDomain(values=frozenset("ABCD"))


@pytest.mark.parametrize(
    ("cell", "expected"),
    [("Rome", 0.0), ("Norway", 0.0), ("Italy", 0.5), ("Europe", 0.75), ("*", 1.0)],
)
def test_ncp_of_a_node_is_its_share_of_the_leaves(cell, expected):
    assert cell_ncp(cell, TOWN) == expected


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("20", 0.0),
        ("[20, 24]", 0.2),
        ("[20, 25)", 0.25),
        ("[0, 100]", 1.0),
        (">= 30", 0.5),
    ],
)
def test_ncp_of_an_interval_is_its_clipped_share_of_the_range(cell, expected):
    assert cell_ncp(cell, AGE) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("cell", "expected"), [("A", 0.0), ("{A|B}", 0.5), ("{A|B|C|D}", 1.0)]
)
def test_ncp_of_a_set_is_its_share_of_the_values(cell, expected):
    assert cell_ncp(cell, FLAT) == expected


@pytest.mark.parametrize(
    ("cell", "domain", "expected"),
    [
        ("Italy", TOWN, 1 / 3),
        ("Europe", TOWN, 2 / 3),
        ("[20, 30]", AGE, 0.5),
        ("{A|B|C}", FLAT, 2 / 3),
        ("*", FLAT, 1.0),
    ],
)
def test_generalized_loss_counts_leaves_beyond_the_first(cell, domain, expected):
    assert cell_loss(cell, domain) == pytest.approx(expected)


def test_every_step_of_a_whole_number_is_a_leaf_of_its_hierarchy():
    ages = ["20", "24", "30", "40"]
    paths = {a: [a, "[20, 29]" if a < "30" else "[30, 39]", "*"] for a in ages}
    domain = QuasiDomain(values=frozenset(paths), paths=paths, numeric=True, steps=True)
    assert cell_loss("[20, 29]", domain) == pytest.approx(9 / 20)
    assert cell_ncp("[20, 29]", domain) == pytest.approx(9 / 20)


def test_every_cell_of_a_suppressed_row_costs_one():
    rows = [("Italy", "20"), ("Italy", "20")]
    assert ncp(rows, [TOWN, AGE], suppressed=2) == pytest.approx((0.5 * 2 + 4) / 8)
    assert generalized_loss(rows, [TOWN, AGE], suppressed=2) == pytest.approx(
        (2 / 3 + 4) / 8
    )


def test_discernibility_charges_a_suppressed_row_the_whole_table():
    rows = [("a",)] * 3 + [("b",)] * 2
    assert discernibility(rows, suppressed=1) == 9 + 4 + 6


def test_average_class_size_is_in_units_of_k():
    assert average_class_size([("a",)] * 3 + [("b",)] * 5, k=2) == 2.0


def test_k_counts_rows_or_persons():
    rows = [("a",)] * 3 + [("b",)] * 2
    assert k_of(rows) == 2
    assert k_of(rows, ["p", "p", "q", "r", "r"]) == 1


def test_distinct_l_is_that_of_the_poorest_group():
    assert distinct_l_of([("a",)] * 2 + [("b",)] * 2, ["x", "y", "x", "x"]) == 1


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["Rome"], "Rome"),
        (["Rome", "Turin"], "Italy"),
        (["Rome", "Oslo"], "Europe"),
        (["Oslo", "Cairo"], "*"),
    ],
)
def test_the_smallest_node_covers_all_values(values, expected):
    assert smallest_node(values, PLACES) == expected


def test_a_free_group_that_mixes_missing_and_numbers_shows_a_star():
    domain = QuasiDomain(values=AGE.values | {"?"}, numeric=True, missing="?")
    assert smallest_cell(["20", "?"], domain) == "*"
    assert smallest_cell(["24", "20"], domain) == "[20, 24]"
    assert smallest_cell(["?"], domain) == "?"


def test_a_flat_group_shows_its_values_in_a_fixed_order():
    assert smallest_cell(["B", "A", "B"], FLAT) == "{A|B}"


@pytest.mark.parametrize(
    ("cell", "domain", "expected"),
    [
        ("*", FLAT, "ABCD"),
        ("{A|C}", FLAT, "AC"),
        ("[20, 24]", AGE, ("20", "24")),
        ("[20, 24)", AGE, ("20",)),
        (">= 30", AGE, ("30", "40")),
        ("< 24", AGE, ("20",)),
        ("<= 24", AGE, ("20", "24")),
        ("Italy", TOWN, ("Rome", "Turin")),
        ("Oslo", TOWN, ("Oslo",)),
    ],
)
def test_a_cell_stands_for_the_values_it_covers(cell, domain, expected):
    assert covered(cell, domain) == frozenset(expected)


def test_a_quoted_member_of_a_set_may_hold_the_separator():
    assert members('{"a|b"|c}') == ["a|b", "c"]


def test_dates_are_days_and_instants_seconds():
    assert number("1970-01-11") == 10.0
    assert number("1970-01-01T00:01:00") == 60.0


@pytest.mark.parametrize(
    ("cell", "first", "last"),
    [
        ("1970-02", "1970-02-01", "1970-02-28"),
        ("1971-Q4", "1971-10-01", "1971-12-31"),
        ("1972", "1972-01-01", "1972-12-31"),
        ("1970s", "1970-01-01", "1979-12-31"),
    ],
)
def test_a_calendar_label_runs_from_its_first_to_its_last_day(cell, first, last):
    assert calendar(cell) == (number(first), number(last))
