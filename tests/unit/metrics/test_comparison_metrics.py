"""Metrics that compare a release with its original, on cases worked by hand."""

from __future__ import annotations

from math import log2, sqrt

import numpy as np
import pytest

from sfumato import registry
from sfumato.metrics.base import ComparisonMetric
from sfumato.metrics.common.compared_tables import ComparedColumn
from sfumato.metrics.common.spread import divergence, joint, marginal
from sfumato.metrics.non_uniform_entropy import text_bits
from tests.unit.metrics.pairs import compared, pair_of

ORIGINAL = {
    "age": ["20", "20", "40", "60"],
    "city": ["a", "a", "b", "c"],
    "illness": ["x", "y", "x", "x"],
}
TWO_GROUPS = {
    "age": ["20", "20", "[40, 60]", "[40, 60]"],
    "city": ["a", "a", "{b|c}", "b,c"],
    "illness": ["x", "y", "x", "x"],
}
ROLES = {"quasi": ["age", "city"], "sensitive": ["illness"]}


def metric(name, *args, **more):
    return registry.load("metrics", name)().compare(compared(*args, **more))


def on_two_groups(name):
    return metric(name, ORIGINAL, TWO_GROUPS, same_order=True, **ROLES)


WORKED = {
    # Two of four cells of each column are at the root of two levels.
    "precision": 0.5,
    # 6 bits per column: ages 20, 20 have one each, 40 and 60 two; a cell for two
    # values leaves one bit open.
    "non_uniform_entropy": 2 / 6,
    # Cells spread evenly give the counts of the original.
    "kl_divergence": 0.0,
    # (40, b) and (60, c) are each 1/4 before; after, all four pairs are 1/8.
    "kl_divergence_of_pairs": (0.5 + 0.0 + 0.0) / 3,
    # One row of the first group has the rarer illness.
    "classification_metric": 1 / 4,
    # Group 1 covers 0 and 1/3, group 2 covers 20/40 and 2/3.
    "q_diversity": (0 + 1 / 3 + 1 / 2 + 2 / 3) / 2,
    # 40 and 60 are shown as 50; the mean is 35.
    "squared_error": (100 + 100) / (225 + 225 + 25 + 625),
    "mean_shift": 0.0,
    "variance_shift": 1 - 225 / 275,
    "correlation_shift": 0.0,
    "suppressed_cells": 0.0,
    "suppressed_people": 0.0,
    "false_cells": 0.0,
}


def comparing():
    found = {
        name: registry.load("metrics", name) for name in registry.CATALOGUE["metrics"]
    }
    return [name for name, each in found.items() if issubclass(each, ComparisonMetric)]


@pytest.mark.parametrize("name", comparing())
def test_a_metric_equals_its_definition_on_two_groups(name):
    assert on_two_groups(name).value == pytest.approx(WORKED[name])


@pytest.mark.parametrize("name", comparing())
def test_an_exact_copy_loses_nothing(name):
    best = {"precision": 1.0, "q_diversity": 1 / 3, "classification_metric": 1 / 4}
    found = metric(name, ORIGINAL, ORIGINAL, same_order=True, **ROLES).value
    assert found == pytest.approx(best.get(name, 0.0), abs=1e-12)


def test_a_node_is_as_high_as_its_level():
    tree = {"hierarchy": {"tree": {"x": {"y": ["a"]}, "z": {"w": ["b", "c"]}}}}
    published = {"city": ["a", "w", "z", "*"]}
    original = {"city": ["a", "b", "c", "c"]}
    more = {"quasi": ["city"], "sections": {"city": tree}}
    # Heights 0, 1, 2 and 3 of 3.
    found = metric("precision", original, published, **more)
    assert found.value == pytest.approx(1 - (0 + 1 + 2 + 3) / 12)


def test_rows_left_out_are_at_the_root():
    published = {"age": ["20", "20"]}
    original = {"age": ["20", "20", "40", "60"]}
    assert metric("precision", original, published, quasi=["age"]).value == 0.5


def test_bits_are_those_of_the_rows_own_value():
    original = {"city": ["a", "a", "a", "b"]}
    published = {"city": ["a", "a", "{a|b}", "{a|b}"]}
    there = 3 * log2(4 / 3) + log2(4)
    found = metric(
        "non_uniform_entropy", original, published, quasi=["city"], same_order=True
    )
    assert found.value == pytest.approx((log2(4 / 3) + log2(4)) / there)


def test_without_rows_bits_are_those_of_an_average_row():
    original = {"city": ["a", "a", "a", "b"]}
    published = {"city": ["a", "a", "{a|b}", "{a|b}"]}
    there = 3 * log2(4 / 3) + log2(4)
    found = metric("non_uniform_entropy", original, published, quasi=["city"])
    assert found.value == pytest.approx(2 * (there / 4) / there)


def test_a_table_that_shows_nothing_loses_every_bit():
    published = {"age": ["*"] * 4, "city": ["*"] * 4, "illness": ORIGINAL["illness"]}
    found = metric("non_uniform_entropy", ORIGINAL, published, **ROLES)
    assert found.value == pytest.approx(1.0)


def test_divergence_is_that_of_evenly_spread_cells():
    original = {"age": ["20", "20", "20", "60"]}
    found = metric("kl_divergence", original, {"age": ["[20, 60]"] * 4}, quasi=["age"])
    assert found.value == pytest.approx(0.75 * log2(1.5) + 0.25 * log2(0.5))


def test_two_columns_that_lose_their_bond_diverge_by_one_bit():
    original = {"age": ["20", "20", "60", "60"], "city": ["a", "a", "b", "b"]}
    published = {"age": ["[20, 60]"] * 4, "city": ["{a|b}"] * 4}
    roles = {"quasi": ["age", "city"]}
    assert metric("kl_divergence", original, published, **roles).value == 0.0
    found = metric("kl_divergence_of_pairs", original, published, **roles)
    assert found.parts == {"age × city": pytest.approx(1.0)}


def test_a_value_without_a_chance_gets_that_of_one_more_row():
    # Three rows show a, the blank row half of each.
    found = divergence(np.array([3, 1]), np.array([1.0, 0.0]), 3)
    expected = 0.75 * log2(0.75 / (3.5 / 4)) + 0.25 * log2(0.25 / (0.5 / 4))
    assert found == pytest.approx(expected)


def test_suppressed_rows_are_classified_wrong():
    published = {"age": ["20", "20", "*", "*"], "illness": ["x", "x", "x", "x"]}
    original = {"age": ["20", "20", "40", "60"], "illness": ["x"] * 4}
    roles = {"quasi": ["age"], "sensitive": ["illness"]}
    assert metric("classification_metric", original, published, **roles).value == 0.5


def test_the_mean_of_published_numbers_moves():
    original = {"age": ["20", "20", "40", "60"]}
    found = metric("mean_shift", original, {"age": ["20", "20", "50"]}, quasi=["age"])
    assert found.value == pytest.approx(5 / sqrt(275))


def test_correlations_change():
    original = {"x": ["1", "2", "3", "4"], "y": ["1", "2", "3", "4"]}
    published = {"x": ["1", "2", "3", "4"], "y": ["2", "1", "4", "3"]}
    found = metric("correlation_shift", original, published, quasi=["x", "y"])
    # Before 1, after 3/5.
    assert found.parts == {"x × y": pytest.approx(0.4)}


def test_cells_that_tell_nothing_are_counted_by_column():
    published = {"age": ["20", "*", "*", None], "city": ["a", "a", "b", "*"]}
    found = metric("suppressed_cells", ORIGINAL, published, quasi=["age", "city"])
    assert found.parts == {"age": 0.75, "city": 0.25}


def test_suppression_is_broken_down_by_the_people_it_meets():
    published = {
        "age": ["20", "*", "40", "60"],
        "city": ["a", "*", "b", "c"],
        "illness": ["x", "y", "x", "x"],
    }
    found = metric("suppressed_people", ORIGINAL, published, same_order=True, **ROLES)
    assert found.value == 1.0
    assert found.parts["illness"] == {"x": 0.0, "y": 1.0}
    assert found.parts["city"] == {"a": 0.5, "b": 0.0, "c": 0.0}


def test_a_cell_without_its_own_value_is_false():
    published = {"age": ["20", "20", "[50, 60]", "[50, 60]"]}
    original = {"age": ["20", "20", "40", "60"]}
    more = {"quasi": ["age"], "same_order": True}
    assert metric("false_cells", original, published, **more).parts == {"age": 0.25}


def random_pair(random, rows=30):
    """A pair with intervals and sets drawn at random, some of them holes and all."""
    ages = random.integers(0, 12, rows)
    cities = random.integers(0, 6, rows)
    low, high = random.integers(0, 3, rows), random.integers(0, 4, rows)
    shown = [
        f"[{max(a - x, 0)}, {a + y}]" for a, x, y in zip(ages, low, high, strict=True)
    ]
    sets = [
        "{" + "|".join(map(str, sorted({c, *random.integers(0, 6, 2)}))) + "}"
        for c in cities
    ]
    # Every value occurs, so that every set is understood.
    original = {
        "age": [*map(str, ages), *map(str, range(12))],
        "city": [f"{c}" for c in cities] + [str(i % 6) for i in range(12)],
    }
    published = {"age": [*shown, *["*"] * 12], "city": [*sets, *["{0|5}"] * 12]}
    kinds = {"city": {"kind": "category"}, "age": {"kind": "integer"}}
    return pair_of(original, published, quasi=["age", "city"], sections=kinds)


def column(pair, name):
    each = pair.published[name]
    return ComparedColumn(
        original=pair.original[name], codes=each.codes, reading=each.reading
    )


def even(pair, name):
    """(rows, leaves): each row's cell spread evenly, by definition."""
    each = pair.published[name]
    rows = np.arange(pair.rows_out)
    size = pair.original[name].axis.size
    covered = np.array(
        [each.covers(rows, np.full(pair.rows_out, leaf)) for leaf in range(size)]
    ).T
    return covered / covered.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("seed", range(10))
def test_distributions_equal_their_definition_over_rows(seed):
    pair = random_pair(np.random.default_rng(seed))
    ages, cities = even(pair, "age"), even(pair, "city")
    rows = pair.rows_out
    left, right = column(pair, "age"), column(pair, "city")
    assert marginal(left, 0) == pytest.approx(ages.mean(axis=0))
    assert marginal(right, 0) == pytest.approx(cities.mean(axis=0))
    assert joint(left, right, 0) == pytest.approx(ages.T @ cities / rows)


@pytest.mark.parametrize("seed", range(10))
def test_open_bits_equal_the_entropy_of_the_matching_rows(seed):
    pair = random_pair(np.random.default_rng(seed))
    for name in pair.quasi:
        here = column(pair, name)
        codes = pair.original[name].codes
        for text, found in enumerate(text_bits(here)):
            rows = here.reading.covers(np.array([text]), codes)
            _, counts = np.unique(codes[rows], return_counts=True)
            shares = counts / counts.sum()
            assert found == pytest.approx(-(shares * np.log2(shares)).sum())
