"""What makes a hierarchy unfit for its column."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sfumato.data.schema import Kind
from sfumato.data.table import Column
from sfumato.errors import HierarchyError
from sfumato.hierarchies.build import build
from sfumato.hierarchies.hierarchy_files import LabelTable
from sfumato.hierarchies.tree import table_levels
from sfumato.hierarchies.validate import refuse_reserved

Columns = Callable[..., Column]


def table(*rows: str) -> LabelTable:
    cells = [row.split(",") for row in rows]
    return LabelTable(name="h.csv", levels=tuple(zip(*cells, strict=True)))


def refused(column: Column, *rows: str) -> HierarchyError:
    with pytest.raises(HierarchyError) as info:
        table_levels(column, table(*rows))
    return info.value


def test_a_label_under_two_parents_is_refused(column_of: Columns) -> None:
    column = column_of(["a", "b"], Kind.CATEGORY, name="c")
    error = refused(column, "a,Other,Europe,*", "b,Other,Asia,*")
    assert error.message == (
        "Hierarchy 'h.csv' of column 'c' puts 1 labels of level 1 under more than one "
        "label of level 2."
    )
    assert error.values == ("Other",)


def test_a_leaf_that_occurs_twice_is_refused(column_of: Columns) -> None:
    error = refused(column_of(["a"], Kind.CATEGORY), "a,x,*", "b,x,*", "a,x,*")
    assert "1 leaves that occur more than once" in error.message
    assert error.values == ("a",)


@pytest.mark.parametrize("trust", [False, True])
def test_spellings_of_a_number_under_different_labels_are_refused(
    column_of: Columns, trust: bool
) -> None:
    column = column_of(["1.00", "1", "2.5"], Kind.DECIMAL)
    rows = table("1.00,low,*", "1,high,*", "2.5,high,*")
    with pytest.raises(HierarchyError) as info:
        table_levels(column, rows, trust=trust)
    assert "has other labels for 1 values than for the same numbers" in str(info.value)
    assert info.value.values == ("1",)


def test_spellings_of_a_number_under_one_label_are_fine(column_of: Columns) -> None:
    column = column_of(["1.00", "1", "2.5"], Kind.DECIMAL)
    table_levels(column, table("1.00,low,*", "1,low,*", "2.5,high,*"))


def test_values_without_a_leaf_are_counted_and_not_told(column_of: Columns) -> None:
    column = column_of(["apple", "pear", "secret"], Kind.CATEGORY)
    error = refused(column, "apple,*")
    assert "has no leaf for 2 of 3 values" in error.message
    assert error.values == ("pear", "secret")
    assert "secret" not in str(error)


def test_an_empty_label_above_a_value_is_refused(column_of: Columns) -> None:
    error = refused(column_of(["a", "b"], Kind.CATEGORY), "a,,*", "b,y,*")
    assert "1 empty labels at level 1" in error.message


def test_an_empty_missing_mark_may_repeat_upward(column_of: Columns) -> None:
    column = column_of(["a", ""], Kind.CATEGORY, missing=[""])
    assert len(table_levels(column, table("a,x,*", ",,*")).inner_levels) == 1


def test_a_number_outside_its_interval_is_refused(column_of: Columns) -> None:
    rows = ["19,15~19,*", "20,15~19,*", "21,20~24,*", "25,20~24,*"]
    error = refused(column_of([19, 20, 21], name="age"), *rows)
    assert error.message == (
        "Hierarchy 'h.csv' of column 'age' puts 2 of 4 values under an interval that "
        "does not contain them: 2 at level 1."
    )
    assert error.values == ("20", "25")
    assert "trust = true" in str(error.hint)


def test_the_open_end_of_an_interval_is_outside(column_of: Columns) -> None:
    error = refused(column_of(["5"], Kind.DECIMAL), "5,[0; 5),*")
    assert error.values == ("5",)


def test_dates_outside_their_month_are_refused(column_of: Columns) -> None:
    column = column_of(["2020-03-31", "2020-04-01"], Kind.DATE)
    error = refused(column, "2020-03-31,2020-03,*", "2020-04-01,2020-03,*")
    assert error.values == ("2020-04-01",)


def test_a_missing_value_is_in_no_interval(column_of: Columns) -> None:
    column = column_of([1, "?"], missing=["?"])
    assert refused(column, "1,0~4,*", "?,0~4,*").values == ("?",)


def test_trust_goes_on_with_untrue_intervals(column_of: Columns) -> None:
    column = column_of([19, 20, 21])
    rows = table("19,15~19,*", "20,15~19,*", "21,20~24,*")
    assert table_levels(column, rows, trust=True).inner_levels[0].nodes.tolist() == [
        0,
        0,
        1,
    ]


def test_trust_does_not_excuse_two_parents(column_of: Columns) -> None:
    column = column_of(["a", "b"], Kind.CATEGORY)
    with pytest.raises(HierarchyError, match="more than one label"):
        table_levels(column, table("a,x,u,*", "b,x,v,*"), trust=True)


def test_words_of_categories_are_not_taken_for_numbers(column_of: Columns) -> None:
    column = column_of(["30"], Kind.CATEGORY)
    assert table_levels(column, table("30,10-20,*")).total == 1.0


def test_a_label_that_means_another_value_is_refused(column_of: Columns) -> None:
    column = column_of(["1", "2", "3"], Kind.CATEGORY)
    error = refused(column, "1,3,*", "2,3,*", "3,4,*")
    assert "uses 1 labels of level 0 again at level 1 for other values" in error.message


def test_a_text_may_name_a_value_and_its_own_branch(column_of: Columns) -> None:
    column = column_of(["White", "Pink"], Kind.CATEGORY)
    assert (
        len(table_levels(column, table("White,White,*", "Pink,White,*")).inner_levels)
        == 1
    )


def test_reserved_texts_are_counted_and_not_told(column_of: Columns) -> None:
    column = column_of(["*", "a|b", "[1, 2]", "{x}", "fine"], Kind.CATEGORY, name="q")
    with pytest.raises(HierarchyError, match="4 of 5 values of column 'q'") as info:
        refuse_reserved(column)
    assert set(info.value.values) == {"*", "a|b", "[1, 2]", "{x}"}
    assert "a|b" not in str(info.value)


def test_plain_texts_are_not_refused(column_of: Columns) -> None:
    refuse_reserved(column_of(["<=50K", "a{b", "São Paulo", ""], Kind.CATEGORY))


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ({"intervals": [5], "orgin": 0}, "unknown key 'orgin'"),
        ({"prefix": [5], "trust": True}, "unknown key 'trust'"),
        ({"fil": "x.csv"}, "unknown key 'fil'"),
        ({"trust": True}, "names no builder"),
        ({"file": "a.csv", "tree": "b.json"}, "names 2 builders"),
        ({"intervals": []}, "one or more levels in 'intervals'"),
        ({"intervals": 5}, "one or more levels in 'intervals'"),
        ({"file": 3}, "a path in 'file'"),
        ({"file": "a.csv", "trust": "yes"}, "true or false in 'trust'"),
        ({"file": "a.csv", "delimiter": "||"}, "one ASCII character in 'delimiter'"),
        (7, "a text or a table"),
    ],
)
def test_settings_that_are_not_understood_are_named(
    column_of: Columns, spec: object, problem: str
) -> None:
    with pytest.raises(HierarchyError, match=problem) as info:
        build(column_of([1, 2], name="age"), spec)
    assert "column 'age'" in info.value.message


def test_an_unknown_key_is_answered_with_the_known_ones(column_of: Columns) -> None:
    with pytest.raises(HierarchyError) as info:
        build(column_of([1, 2]), {"intervals": [5], "orgin": 0})
    assert (
        info.value.hint
        == "It can be combined with: 'intervals', 'origin', 'bottom', 'top'."
    )
