"""How cells are shown, on a table small enough to read."""

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.seeds import Seed
from sfumato.errors import PolicyError


def published(columns, *, k=2, **settings):
    """Every published row as a tuple of cells, in sorted order.

    Tables this small may lose everything.
    """
    table = pa.table(columns)
    release = sf.anonymize(table, k=k, seed=Seed.guessable(1), max_loss=1, **settings)
    cells = [release.table[name].to_pylist() for name in release.table.column_names]
    return release.table.column_names, sorted(zip(*cells, strict=True), key=str)


def test_numbers_are_shown_as_closed_intervals_and_sets_in_a_fixed_order():
    names, rows = published(
        {"age": [30, 31, 60, 62], "land": ["Cuba", "India", "Peru", "Chad"]},
        quasi=["age", "land"],
    )
    assert names == ["age", "land"]
    assert (
        rows == [("[30, 31]", "{Cuba|India}")] * 2 + [("[60, 62]", "{Chad|Peru}")] * 2
    )


def test_a_value_that_all_rows_of_a_group_share_stays_as_it_was():
    _, rows = published({"zip": ["007", "007", "1.50", "1.50"]}, quasi=["zip"])
    assert rows == [("007",), ("007",), ("1.50",), ("1.50",)]


def test_numbers_as_two_bound_columns():
    names, rows = published({"age": [30, 31, 60, 62]}, quasi=["age"], numbers="bounds")
    assert names == ["age_from", "age_to"]
    assert rows == [(30, 31)] * 2 + [(60, 62)] * 2


def test_bounds_of_a_hierarchy_are_those_of_its_labels():
    _, rows = published(
        {"age": [30, 33, 60, 62]},
        quasi=["age"],
        numbers="bounds",
        hierarchies={"age": {"intervals": [5, 10]}},
    )
    assert rows == [("30", "34")] * 2 + [("60", "64")] * 2


def test_numbers_as_the_mean_of_their_group():
    names, rows = published({"age": [30, 31, 60, 62]}, quasi=["age"], numbers="mean")
    assert names == ["age"]
    assert rows == [("30.5",), ("30.5",), ("61",), ("61",)]


def test_dates_have_means_too():
    _, rows = published(
        {"day": ["2020-01-01", "2020-01-03"]}, quasi=["day"], numbers="mean"
    )
    assert rows == [("2020-01-02",)] * 2


def test_categories_as_stars():
    _, rows = published({"land": ["Cuba", "India"]}, quasi=["land"], flat="star")
    assert rows == [("*",), ("*",)]


def test_suppress_shows_a_star_where_a_group_disagrees():
    _, rows = published(
        {"age": [30, 30, 60, 62], "sex": list("FFMM")},
        quasi=["age", "sex"],
        operator="suppress",
    )
    assert rows == [("*", "M"), ("*", "M"), ("30", "F"), ("30", "F")]


def test_a_group_that_mixes_missing_and_numbers_shows_a_star():
    _, rows = published({"age": ["30", "", "31"]}, quasi=["age"], k=3)
    assert rows == [("*",)] * 3


def test_a_group_of_missing_values_shows_a_missing_cell():
    _, rows = published({"age": ["", "", "30", "30"]}, quasi=["age"])
    assert rows == [("30",), ("30",), (None,), (None,)]


def test_an_untouched_typed_column_keeps_its_type():
    table = pa.table({"n": pa.array([1, 1, 2, 2]), "x": pa.array([0.5, 1.5, 2.5, 3.5])})
    release = sf.anonymize(table, quasi=["n"], insensitive="x", keep_as_is="x", k=2)
    assert release.table.schema.types == table.schema.types


def test_more_than_64_categories_are_shown_as_sets():
    texts = [f"v{i:03}" for i in range(100)]
    _, rows = published({"c": texts}, quasi=["c"], k=100)
    assert rows == [("{" + "|".join(texts) + "}",)] * 100


def test_an_unknown_way_of_showing_numbers_is_refused_with_the_known_ones():
    with pytest.raises(PolicyError, match="numbers"):
        published({"age": [1, 2]}, quasi=["age"], numbers="median")
