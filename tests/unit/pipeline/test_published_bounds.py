"""Bounds of a column's figures follow from its published cells, or are refused."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import DataError, RefusedError, UsageError


def asked(**settings) -> sf.Policy:
    return sf.Policy.build(**{"quasi": "x", "k": 2, **settings})


def bounds_of(cells, *, column="x", **settings):
    """The bounds that some published cells give, under a policy."""
    ends = settings.pop("ends", None)
    table = pa.table({column: cells})
    return sf.bounds(table, column, asked(**settings), ends=ends)


NUMBERS = {"kinds": {"x": "integer"}}


def test_bands_of_a_sensitive_column_bound_its_mean(tmp_path):
    costs = pa.table({"age": [30] * 10, "cost": list(range(500, 5500, 500))})
    policy = sf.Policy.build(
        quasi="age", sensitive="cost", bands={"cost": 1000}, k=5, l=2
    )
    manifest = sf.anonymize(costs, policy).save(tmp_path / "release")
    assert manifest["kinds"]["cost"]["kind"] == "ordered"
    mean = sf.bounds(tmp_path / "release", "cost").mean
    assert float(mean.low) <= 2750 <= float(mean.high)


def test_an_interval_bounds_mean_quantiles_and_shares():
    bounds = bounds_of(["[20, 24]", "[20, 24]", "[30, 34]", "40"], **NUMBERS)
    assert bounds.mean == ((20 + 20 + 30 + 40) / 4, (24 + 24 + 34 + 40) / 4)
    assert bounds.quantile(0.5) == (20, 34)
    assert bounds.quantile(0) == (20, 24)
    assert bounds.share_between(20, 29) == (0.5, 0.5)
    assert bounds.share_between(22, 32) == (0, 0.75)
    assert bounds.share(40) == (0.25, 0.25)
    assert bounds.share(21) == (0, 0.5)


def test_rows_with_an_open_end_are_counted_and_not_bounded():
    bounds = bounds_of(["1", "3", ">= 60", "*"], **NUMBERS)
    assert (bounds.covered, bounds.rows, bounds.missing) == (2, 4, 0)
    assert bounds.mean == (2, 2)
    assert bounds.text().splitlines()[0] == "In the rows covered, the mean of x is 2"
    assert "2 of 4 published rows (50.0%)" in bounds.coverage
    assert "not covered, as an end is not shown: 2" in bounds.coverage


def test_ends_that_are_given_close_open_cells():
    cells = ["10", "10", ">= 60", "*"]
    bounds = bounds_of(cells, ends=(0, 100), **NUMBERS)
    assert bounds.covered == 4
    assert bounds.mean == ((10 + 10 + 60 + 0) / 4, (10 + 10 + 100 + 100) / 4)
    assert bounds_of(cells, ends=(None, 100), **NUMBERS).covered == 3


def test_the_domain_of_the_policy_gives_the_ends():
    domain = {"x": {"low": 0, "high": 100}}
    bounds = bounds_of(["10", "<= 5"], domains=domain, **NUMBERS)
    assert bounds.mean == (5, 7.5)


def test_the_values_of_a_hierarchy_give_the_ends_and_the_meaning_of_labels():
    tree = {"tree": {"low": [1, 2, 3], "high": [7, 9]}}
    bounds = bounds_of(["low", "*"], hierarchies={"x": tree}, missing_as="drop")
    assert bounds.mean == (1, 6)


def test_cells_beyond_the_ends_are_refused_without_a_value():
    with pytest.raises(DataError, match="2 published rows of 'x'") as fault:
        bounds_of(["777", "888", "5"], ends=(0, 10), **NUMBERS)
    assert not re.search("777|888", str(fault.value))


def test_sets_bound_shares_from_certain_to_possible_cells():
    bounds = bounds_of(["{a|b}", "a", "c", "*"], missing_as="drop")
    assert bounds.share("a") == (0.25, 0.75)
    assert bounds.share("a", "b") == (0.5, 0.75)
    assert bounds.share("d") == (0, 0.25)


def test_a_star_may_hide_a_missing_value_unless_such_rows_were_dropped():
    assert bounds_of(["a", "*"]).share("a") == (0.5, 1)
    assert bounds_of(["a", "b", "*", "*"]).share("a") == (0.25, 0.75)
    bounds = bounds_of(["1", "5", "*"], ends=(0, 9), **NUMBERS)
    assert bounds.mean == (2, 5)


def test_sets_of_numbers_are_read_by_their_lowest_and_highest():
    bounds = bounds_of(["{1|2|9}", "4"], hierarchies={"x": "flat"}, **NUMBERS)
    assert bounds.mean == (2.5, 6.5)


def test_missing_cells_count_for_nothing_and_are_told():
    bounds = bounds_of(["4", None, "", "6"], **NUMBERS)
    assert (bounds.mean, bounds.missing, bounds.covered) == ((5, 5), 2, 2)
    assert "without a value, so not counted: 2" in bounds.coverage


def test_masks_and_names_of_groups_of_words_may_be_any_value_that_fits():
    bounds = bounds_of(["12*", "135"], kinds={"x": "code"}, hierarchies={"x": "auto"})
    assert bounds.share("120") == (0, 0.5)
    assert bounds.share("135") == (0.5, 0.5)
    words = {"x": {"vocabulary": "country"}}
    bounds = bounds_of(["Western Europe", "Peru"], hierarchies=words, missing_as="drop")
    assert bounds.share("France") == (0, 0.5)
    assert bounds.share("Peru") == (0.5, 0.5)


def test_dates_are_bounded_by_dates():
    calendar = {"x": {"calendar": ["month", "year"]}}
    bounds = bounds_of(["2020-02", "2021"], hierarchies=calendar)
    assert bounds.mean == ("2020-07-17", "2021-01-30")
    assert bounds.share_between("2021-01-01", "2021-12-31") == (0.5, 0.5)


def test_a_date_under_a_calendar_is_every_moment_of_its_day():
    calendar = {"x": {"calendar": ["day", "year"]}}
    bounds = bounds_of(["2020-02-01"], hierarchies=calendar, kinds={"x": "datetime"})
    assert bounds.mean == ("2020-02-01T00:00:00", "2020-02-02T00:00:00")


def test_means_of_groups_bound_the_mean_alone():
    bounds = bounds_of(
        ["10", "10", "20", "20"],
        operator="microaggregate",
        missing_as="drop",
        **NUMBERS,
    )
    assert bounds.mean == pytest.approx((15, 15))
    for figure in (lambda: bounds.quantile(0.5), lambda: bounds.share(10)):
        with pytest.raises(RefusedError, match="means of groups"):
            figure()


def test_rows_without_a_value_may_take_part_in_the_mean_of_a_group():
    bounds = bounds_of(["10", "10", "20", "20"], numbers="mean", **NUMBERS)
    assert bounds.mean == pytest.approx((40 / 3, 50 / 3))


REFUSED = {
    "median": (
        {"operator": "microaggregate", "numbers": "median"},
        "the middle or the most",
    ),
    "noise": (
        {"require": [{"model": "differential-privacy", "epsilon": 1}]},
        "sampled",
    ),
    "pseudonym": ({"quasi": [], "identifier": "x"}, "pseudonyms"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_nothing_follows_about_is_refused(name):
    settings, text = REFUSED[name]
    with pytest.raises(RefusedError, match=text):
        bounds_of(["1", "2"], **NUMBERS, **settings)


def test_modes_of_categories_are_refused():
    with pytest.raises(RefusedError, match="the most frequent value of each group"):
        bounds_of(["a", "b"], operator="microaggregate")


def test_labels_of_a_hierarchy_that_is_not_at_hand_are_refused():
    policy = sf.Policy.build(quasi="x", hierarchies={"x": "file"}, k=2)
    with pytest.raises(RefusedError, match="the manifest does not publish"):
        sf.bounds(pa.table({"x": ["a"]}), "x", policy)


@pytest.mark.parametrize(
    ("call", "fault", "text"),
    [
        (lambda b: b.mean, RefusedError, "holds categories"),
        (lambda b: b.quantile(0.5), RefusedError, "holds categories"),
        (lambda b: b.quantile(2), UsageError, "a share from 0 to 1"),
    ],
)
def test_a_figure_that_categories_do_not_have_is_refused(call, fault, text):
    with pytest.raises(fault, match=text):
        call(bounds_of(["a", "b"]))


@pytest.mark.parametrize("ends", [(5, 1), (1,), "01", ("a", "b"), 7])
def test_ends_that_are_no_pair_are_refused(ends):
    with pytest.raises(UsageError, match="'ends' are not the lowest"):
        bounds_of(["1"], ends=ends, **NUMBERS)


@pytest.mark.parametrize(
    ("cells", "text"),
    [([None, None], "No published row of 'x' has a value"), (["*"], "shows both ends")],
)
def test_a_column_without_a_row_to_bound_is_refused(cells, text):
    with pytest.raises(RefusedError, match=text):
        bounds_of(cells, **NUMBERS)


def test_a_table_that_nobody_describes_is_refused():
    with pytest.raises(UsageError, match="Nothing says how the cells"):
        sf.bounds(pa.table({"x": ["1"]}), "x")


def test_a_column_that_is_not_published_is_named():
    with pytest.raises(DataError, match="no column 'y'"):
        sf.bounds(pa.table({"x": ["1"]}), "y", asked())


PEOPLE = pa.table(
    {
        "age": [*range(20, 60), 99],
        "ill": ["u" if i % 3 else "v" for i in range(41)],
        "pay": [100 * i for i in range(41)],
    }
)
ROLES = {"quasi": "age", "sensitive": ["ill", "pay"], "k": 5, "insecure_seed": 1}


@pytest.fixture(scope="module")
def release():
    """A release that leaves some rows out."""
    hierarchies = {"age": {"intervals": [10], "top": 90}}
    settings = {"hierarchies": hierarchies, "max_suppressed": 0.1}
    return sf.anonymize(PEOPLE, **ROLES, **settings, algorithm="datafly")


def test_bounds_hold_for_the_source_if_number_and_ends_are_declared(release):
    assert release.manifest["rows_suppressed"] == 1
    with pytest.raises(RefusedError, match="leaves out 1 row of the source"):
        sf.bounds(release, "age", of="source")
    bounds = sf.bounds(release, "age", of="source", ends=(0, 120))
    low, high = map(float, bounds.mean)
    assert low <= sum(PEOPLE["age"].to_pylist()) / 41 <= high
    assert (bounds.rows, bounds.left_out) == (41, 1)
    assert float(sf.bounds(release, "ill", of="source").share("u").high) <= 27 / 40


def test_the_source_is_refused_where_nobody_says_what_was_left_out(release):
    with pytest.raises(RefusedError, match="how many rows of the source"):
        sf.bounds(release.data, "ill", release.claim.policy, of="source")


def test_a_release_its_directory_and_its_file_say_the_same(release, tmp_path):
    place = tmp_path / "release"
    release.save(place)
    told = sf.bounds(release, "age").record()
    assert sf.bounds(place, "age").record() == told
    data, manifest = place / "data.csv", place / "manifest.json"
    assert sf.bounds(data, "age", manifest=manifest).record() == told
    assert told["mean"] == list(sf.bounds(release, "age").mean)


@pytest.mark.parametrize("operator", ["swap", "anatomize"])
def test_swapped_and_separate_values_are_bounded_exactly(operator):
    settings = ROLES | {"k": None, "require": [{"model": "group-size", "k": 5}]}
    release = sf.anonymize(PEOPLE, **settings, operator=operator)
    assert sf.bounds(release, "pay").mean == (2000, 2000)
    assert sf.bounds(release, "ill", of="source").share("v") == pytest.approx(
        (14 / 41, 14 / 41)
    )


def test_what_is_printed_holds_no_name_and_no_cell(release):
    bounds = sf.bounds(release, "age")
    assert repr(bounds) == "<Bounds: 40 of 40 rows covered>"
    assert not re.search(r"\bage\b", bounds._repr_html_())
    assert "mean" in bounds._repr_html_()
