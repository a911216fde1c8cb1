"""Values are grouped, moved and renamed, and what comes out is still a hierarchy."""

from __future__ import annotations

import pytest

from sfumato.errors import HierarchyError
from sfumato.studio.hierarchy_edits import (
    csv_text,
    grouped,
    renamed,
    with_level,
    with_other,
)

FLAT = [("a", "*"), ("b", "*"), ("c", "*")]
TREE = [
    ("a", "ab", "left", "*"),
    ("b", "ab", "left", "*"),
    ("c", "c", "right", "*"),
    ("d", "d", "right", "*"),
]


def test_a_flat_hierarchy_gets_a_level_of_groups():
    assert grouped(FLAT, {"a", "c"}, "ac", 1) == [
        ("a", "ac", "*"),
        ("b", "b", "*"),
        ("c", "ac", "*"),
    ]


def test_a_value_moves_to_a_group_and_under_its_parents():
    assert grouped(TREE, {"c"}, "ab", 1)[2] == ("c", "ab", "left", "*")


def test_a_group_at_a_higher_level_takes_the_place_of_those_below():
    assert grouped(TREE, {"a", "b"}, "right", 2)[:2] == [
        ("a", "right", "right", "*"),
        ("b", "right", "right", "*"),
    ]


def test_every_edit_leaves_each_label_one_parent():
    for rows in (grouped(TREE, {"a", "d"}, "new", 1), renamed(TREE, 2, "left", "west")):
        for level in range(1, 3):
            parents = {(row[level], row[level + 1]) for row in rows}
            assert len(parents) == len({label for label, _ in parents})


def test_a_group_is_renamed_wherever_it_stands():
    assert renamed(TREE, 1, "ab", "both")[:2] == [
        ("a", "both", "left", "*"),
        ("b", "both", "left", "*"),
    ]


def test_a_leaf_keeps_its_value_when_its_group_of_one_is_renamed():
    assert renamed(with_level(FLAT), 1, "a", "first")[0] == ("a", "first", "*")


def test_two_groups_of_a_level_cannot_have_one_name():
    with pytest.raises(HierarchyError, match="There is a group of this name"):
        renamed(TREE, 2, "left", "right")


def test_uncovered_values_come_under_other():
    assert with_other(TREE, ["x", "y"])[4:] == [
        ("x", "Other", "Other", "*"),
        ("y", "Other", "Other", "*"),
    ]


@pytest.mark.parametrize(
    ("leaves", "label", "level", "text"),
    [
        (set(), "new", 1, "No value is chosen"),
        ({"a"}, " ", 1, "A group needs a name"),
        ({"a"}, "*", 1, "name of the root"),
        ({"a"}, "new", 3, "Level 3 has no groups to change"),
        ({"z"}, "new", 1, "The values are not in it"),
    ],
)
def test_what_cannot_be_done_is_said(leaves, label, level, text):
    with pytest.raises(HierarchyError, match=text):
        grouped(TREE, leaves, label, level)


def test_labels_with_the_delimiter_are_quoted():
    assert csv_text([("a;b", "*")]) == '"a;b";*\n'
