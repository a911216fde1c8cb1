"""A vocabulary makes a hierarchy of a column's own values."""

from __future__ import annotations

import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.data.coding import code_column
from sfumato.errors import HierarchyError
from sfumato.hierarchies.build import build
from sfumato.hierarchies.vocabulary import vocabulary_table

COUNTRIES = ["France", "Germany", "Italy", "Japan", "China", "Atlantis", ""]


def column(values, name="country"):
    return code_column(name, pa.chunked_array([values]), missing=("",))


def test_values_go_under_narrow_and_broad_groups_or_stay_alone():
    table = vocabulary_table(column(COUNTRIES), "country")
    assert sorted(zip(*table.levels, strict=True)) == [
        ("Atlantis", "Atlantis", "Atlantis", "*"),
        ("China", "Eastern Asia", "Eastern Asia", "*"),
        ("France", "Western Europe", "Europe", "*"),
        ("Germany", "Western Europe", "Europe", "*"),
        ("Italy", "Italy", "Europe", "*"),
        ("Japan", "Eastern Asia", "Eastern Asia", "*"),
    ]


def test_the_axis_has_a_level_for_each():
    axis = build(column(COUNTRIES), {"vocabulary": "country"}).axis
    assert axis.height == 4
    assert {"Europe", "Western Europe"} <= set(axis.node_labels)


def test_a_group_never_takes_the_name_of_a_value():
    values = ["Never married", "single", "Divorced", "Widowed", "Married"]
    table = vocabulary_table(column(values), "marital")
    assert "Never married (group)" in table.levels[1]


def test_an_unknown_vocabulary_is_refused_with_the_known_ones():
    with pytest.raises(HierarchyError, match="names no known vocabulary") as error:
        build(column(COUNTRIES), {"vocabulary": "planets"})
    assert "country, us_state" in str(error.value.hint)


def test_a_release_shows_groups_of_the_vocabulary():
    table = pa.table({"country": ["France", "Germany", "Japan", "China"] * 2})
    release = sf.anonymize(
        table,
        quasi=["country"],
        hierarchies={"country": {"vocabulary": "country"}},
        k=4,
    )
    assert set(release.table["country"].to_pylist()) == {
        "Western Europe",
        "Eastern Asia",
    }
