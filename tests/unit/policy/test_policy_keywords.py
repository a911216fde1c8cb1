"""Keyword arguments build the same policy as a file."""

from __future__ import annotations

import pytest

from sfumato.data.schema import Role
from sfumato.errors import PolicyError, UsageError
from sfumato.policy import Policy


def test_keywords_and_a_file_make_the_same_policy():
    built = Policy.build(
        columns=["name", "age", "zip", "diagnosis"],
        identifier="name",
        quasi=["age", "zip"],
        sensitive=["diagnosis"],
        hierarchies={"age": {"intervals": [5, 10]}, "zip": "auto"},
        kinds={"zip": "code"},
        weights={"age": 2.0},
        k=5,
        l=3,
        missing=["", "?"],
        max_suppressed=0.05,
        algorithm="mondrian",
        unlisted="drop",
    )
    assert built == Policy.parse(
        """
        unlisted = "drop"
        [data]
        missing = ["", "?"]
        [columns.name]
        role = "identifier"
        [columns.age]
        role = "quasi"
        hierarchy = { intervals = [5, 10] }
        weight = 2.0
        [columns.zip]
        role = "quasi"
        kind = "code"
        hierarchy = "auto"
        [columns.diagnosis]
        role = "sensitive"
        [[require]]
        model = "k-anonymity"
        k = 5
        [[require]]
        model = "l-diversity"
        l = 3
        [algorithm]
        name = "mondrian"
        [publish]
        max_suppressed = 0.05
        """
    )


def test_columns_follow_the_order_of_the_table():
    built = Policy.build(columns=["b", "a"], quasi=["a", "b"], k=2)
    assert built.names(Role.QUASI) == ("b", "a")


def test_settings_that_are_none_are_left_out():
    assert Policy.build(quasi="a", k=2, l=None) == Policy.build(quasi="a", k=2)


def test_further_requirements_are_added():
    table = {"model": "l-diversity", "l": 2, "on": "d"}
    built = Policy.build(quasi="a", sensitive="d", k=2, require=[table])
    assert [model.name for model in built.models()] == ["k-anonymity", "l-diversity"]


def test_tuples_are_lists():
    built = Policy.build(
        quasi=("a",),
        missing=("?",),
        orders={"a": ("x", "y")},
        kinds={"a": "ordered"},
        k=2,
    )
    assert built.column("a").order == ("x", "y")
    assert built.data.missing == ("?",)


def test_identifiers_can_be_hashed():
    built = Policy.build(identifier="id", pseudonymize="id", quasi="a", k=2)
    assert built.pseudonymized() == {"id"}


def test_columns_can_be_dropped():
    assert Policy.build(quasi="a", drop=["b"], k=2).role("b") is None


def test_an_unknown_setting_is_a_usage_error():
    with pytest.raises(UsageError, match="no setting 'quais'") as error:
        Policy.build(quais=["a"], k=2)
    assert error.value.hint == "Did you mean 'quasi'?"


def test_a_column_has_one_role():
    with pytest.raises(PolicyError, match="'a' is given more than one role"):
        Policy.build(quasi="a", sensitive="a", k=2)


def test_a_hierarchy_needs_a_role():
    with pytest.raises(PolicyError, match="'hierarchies' names the column 'b'"):
        Policy.build(quasi="a", hierarchies={"b": "auto"}, k=2)


def test_wrong_values_are_named_by_key():
    with pytest.raises(PolicyError, match=r"the settings: require\[0\]\.k is a text"):
        Policy.build(quasi="a", k="five")


def test_a_key_is_one_name_or_several():
    one = Policy.build(identifier="id", quasi="age", key="id")
    several = Policy.build(identifier="id", quasi="age", key=["id"])
    assert one.data.key == several.data.key == ("id",)
