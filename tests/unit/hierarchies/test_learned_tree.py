"""Learned trees join values that go along with the same values in other columns."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.schema import Kind
from sfumato.data.table import Column
from sfumato.errors import HierarchyError
from sfumato.hierarchies.build import build
from sfumato.hierarchies.learned_tree import learned_table, nested_clusters

CITIES = ("Graz", "Linz", "Narni", "Rome", "Wien")
COUNTRY = {"Graz": "AT", "Linz": "AT", "Wien": "AT", "Narni": "IT", "Rome": "IT"}


def column(name: str, texts: list[str], kind: Kind = Kind.CATEGORY) -> Column:
    labels, codes = np.unique(texts, return_inverse=True)
    return Column(
        name=name,
        kind=kind,
        codes=codes.astype(np.int32),
        labels=tuple(str(label) for label in labels),
    )


def cities(rows: int = 200) -> tuple[Column, Column]:
    numbers = np.random.default_rng(5)
    drawn = [CITIES[i] for i in numbers.integers(0, 5, rows)]
    return column("city", drawn), column("country", [COUNTRY[c] for c in drawn])


def test_values_with_equal_company_are_joined_first():
    city, country = cities()
    axis = build(city, "learned", others=[country]).axis
    two = axis.levels[-2]
    members = {
        frozenset(axis.labels[leaf] for leaf in np.flatnonzero(two == node))
        for node in set(two.tolist())
    }
    assert members == {
        frozenset({"Graz", "Linz", "Wien"}),
        frozenset({"Narni", "Rome"}),
    }


def test_labels_list_the_values_of_a_cluster():
    city, country = cities()
    table = learned_table(city, [country])
    assert table.leaves == CITIES
    assert set(table.levels[-2]) == {"{Graz|Linz|Wien}", "{Narni|Rome}"}
    assert set(table.levels[-1]) == {"*"}


def test_each_level_is_nested_in_the_next_and_has_half_of_its_clusters():
    numbers = np.random.default_rng(9)
    found = list(nested_clusters(numbers.random((20, 3)), np.ones(20)))
    assert [len(set(level.tolist())) for level in found] == [10, 5, 3, 2]
    for finer, coarser in itertools.pairwise(found):
        pairs = {(int(a), int(b)) for a, b in zip(finer, coarser, strict=True)}
        assert len(pairs) == len(set(finer.tolist()))


def test_very_many_values_are_first_put_into_runs(monkeypatch):
    monkeypatch.setattr("sfumato.hierarchies.learned_tree.MOST_MERGED", 8)
    numbers = np.random.default_rng(2)
    found = list(nested_clusters(numbers.random((40, 2)), np.ones(40)))
    assert [len(set(level.tolist())) for level in found] == [8, 4, 2]


def test_the_order_of_rows_does_not_matter():
    city, country = cities()
    turned = np.random.default_rng(1).permutation(200)
    again = [
        Column(name=c.name, kind=c.kind, codes=c.codes[turned], labels=c.labels)
        for c in (city, country)
    ]
    assert learned_table(again[0], again[1:]) == learned_table(city, [country])


def test_missing_values_have_a_place_of_their_own():
    city, country = cities()
    holed = Column(
        name="city",
        kind=Kind.CATEGORY,
        codes=np.where(np.arange(200) < 5, 5, city.codes).astype(np.int32),
        labels=(*city.labels, ""),
        missing=5,
    )
    axis = build(holed, "learned", others=[country]).axis
    assert axis.labels[axis.missing] == ""
    assert len(set(axis.levels[-2].tolist())) == 3


def test_a_learned_tree_counts_as_fitted_to_the_data():
    city, country = cities()
    assert build(city, "learned", others=[country]).axis.fitted


def test_numbers_are_not_learned():
    age = column("age", ["30", "40"], Kind.INTEGER)
    with pytest.raises(HierarchyError, match="'age' cannot be learned: its kind is"):
        build(age, "learned", others=[age])


def test_a_tree_needs_another_quasi_identifier():
    city, _ = cities()
    with pytest.raises(HierarchyError, match="no other quasi-identifier to learn from"):
        build(city, "learned")


def test_labels_that_would_list_hundreds_are_refused():
    many = column("name", [f"v{i}" for i in range(1001)])
    with pytest.raises(HierarchyError, match="it has 1,001 values; at most 1,000 can"):
        build(many, "learned", others=[many])


@pytest.mark.parametrize("values", [1, 2, 3])
def test_few_values_have_few_levels(values):
    texts = [str(i % values) for i in range(12)]
    axis = build(column("a", texts), "learned", others=[column("b", texts)]).axis
    assert axis.height == (3 if values == 3 else 2)


@pytest.mark.parametrize("spec", ["learned", {"vocabulary": "education"}])
def test_a_column_without_any_value_has_a_missing_cell_under_the_root(spec):
    empty = replace(column("a", ["", ""]), missing=0)
    other = column("b", ["0", "1"])
    axis = build(empty, spec, others=[empty, other]).axis
    assert (axis.size, axis.height) == (1, 2)


def test_a_table_with_a_learned_column_without_any_value_is_released():
    people = pa.table({"a": pa.nulls(6, pa.string()), "b": ["0", "1"] * 3})
    levels = {"a": "learned"}
    release = sf.anonymize(people, quasi=["a", "b"], k=2, hierarchies=levels)
    assert release.table.num_rows == 6
