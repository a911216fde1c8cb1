"""Hierarchy files and trees: reading, detection, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sfumato.data.schema import Kind
from sfumato.data.table import Column
from sfumato.errors import HierarchyError
from sfumato.hierarchies.axis import Axis
from sfumato.hierarchies.build import build

Columns = Callable[..., Column]

COUNTRIES = "France,West,Europe,*\nSpain,South,Europe,*\nChina,East,Asia,*\n"
PLACES = ["China", "France", "Spain"]


def shown(axis: Axis, level: int) -> list[str]:
    return [axis.node_labels[node] for node in axis.levels[level]]


def written(directory: Path, text: str, name: str = "h.csv") -> Path:
    path = directory / name
    path.write_bytes(text.encode())
    return path


@pytest.fixture
def countries(column_of: Columns) -> Column:
    return column_of(PLACES, Kind.CATEGORY, name="country")


def test_leaves_stand_in_the_order_of_the_file(
    tmp_path: Path, countries: Column
) -> None:
    written(tmp_path, COUNTRIES)
    coded = build(countries, "h.csv", base=tmp_path)
    assert coded.axis.labels == ("France", "Spain", "China")
    assert coded.codes.tolist() == [2, 0, 1]
    assert shown(coded.axis, 2) == ["Europe", "Europe", "Asia"]
    assert not coded.axis.fitted


def test_losses_count_leaves_that_do_not_occur(
    tmp_path: Path, column_of: Columns
) -> None:
    written(tmp_path, COUNTRIES)
    column = column_of(["France", "China"], Kind.CATEGORY)
    axis = build(column, "h.csv", base=tmp_path).axis
    node = axis.node_labels.index("Europe")
    assert axis.node_ncp[node] == pytest.approx(2 / 3)
    assert axis.node_loss[node] == pytest.approx(1 / 2)
    # A level-1 label over one leaf is still generalized: one of three leaves.
    assert axis.node_ncp[axis.node_labels.index("West")] == pytest.approx(1 / 3)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_delimiter_is_detected(
    tmp_path: Path, countries: Column, delimiter: str
) -> None:
    written(tmp_path, COUNTRIES.replace(",", delimiter))
    assert build(countries, "h.csv", base=tmp_path).axis.height == 4


def test_commas_inside_labels_of_a_semicolon_file_do_not_cut(
    tmp_path: Path, column_of: Columns
) -> None:
    written(tmp_path, "1;[0, 5[;*\n7;[5, 10[;*\n")
    axis = build(column_of([1, 7]), "h.csv", base=tmp_path).axis
    assert shown(axis, 1) == ["[0, 5[", "[5, 10["]


def test_a_declared_delimiter_wins(tmp_path: Path, column_of: Columns) -> None:
    written(tmp_path, "a|x;y|*\nb|x;y|*\n")
    column = column_of(["a", "b"], Kind.CATEGORY)
    spec = {"file": "h.csv", "delimiter": "|"}
    assert shown(build(column, spec, base=tmp_path).axis, 1) == ["x;y", "x;y"]


def test_byte_order_mark_and_quotes_are_understood(
    tmp_path: Path, column_of: Columns
) -> None:
    written(tmp_path, '\ufeff"a, b","say ""x""",*\r\nc,d,*\r\n')
    axis = build(column_of(["a, b", "c"], Kind.CATEGORY), "h.csv", base=tmp_path).axis
    assert shown(axis, 1) == ['say "x"', "d"]


@pytest.mark.parametrize("header", ["country,region,continent,all", "Country,b,c,*"])
def test_a_header_is_detected(tmp_path: Path, countries: Column, header: str) -> None:
    written(tmp_path, f"{header}\n{COUNTRIES}")
    axis = build(countries, "h.csv", base=tmp_path).axis
    assert axis.node_ncp[axis.node_labels.index("Europe")] == pytest.approx(2 / 3)


def test_a_first_leaf_that_does_not_occur_is_no_header(
    tmp_path: Path, column_of: Columns
) -> None:
    written(tmp_path, COUNTRIES)
    axis = build(
        column_of(["Spain", "China"], Kind.CATEGORY), "h.csv", base=tmp_path
    ).axis
    assert axis.node_ncp[axis.node_labels.index("Europe")] == pytest.approx(2 / 3)


def test_a_header_over_numbers_without_a_root_is_detected(
    tmp_path: Path, column_of: Columns
) -> None:
    written(tmp_path, "years,band\n1,0~4\n7,5~9\n")
    axis = build(column_of([1, 7]), "h.csv", base=tmp_path).axis
    assert shown(axis, 1) == ["0~4", "5~9"]


def test_a_declared_header_wins(tmp_path: Path, column_of: Columns) -> None:
    written(tmp_path, "a,x,*\nb,x,*\n")
    spec = {"file": "h.csv", "header": True}
    axis = build(column_of(["b"], Kind.CATEGORY), spec, base=tmp_path).axis
    assert axis.node_ncp[axis.node_labels.index("x")] == 1.0
    with pytest.raises(HierarchyError, match="no leaf for 1 of 1 values"):
        build(column_of(["a"], Kind.CATEGORY), spec, base=tmp_path)


def test_a_ragged_row_is_named_by_its_line(tmp_path: Path, countries: Column) -> None:
    written(tmp_path, "France,West,*\n\nSpain,South\n")
    with pytest.raises(
        HierarchyError, match="has 2 cells in line 3, and 3 in the rows"
    ):
        build(countries, "h.csv", base=tmp_path)


def test_the_files_own_root_is_kept(tmp_path: Path, countries: Column) -> None:
    written(tmp_path, "France,World\nSpain,World\nChina,World\n")
    axis = build(countries, "h.csv", base=tmp_path).axis
    assert shown(axis, 1) == ["World"] * 3
    assert axis.height == 2


def test_a_root_is_added_where_the_file_has_none(
    tmp_path: Path, countries: Column
) -> None:
    written(tmp_path, "France,Europe\nSpain,Europe\nChina,Asia\n")
    axis = build(countries, "h.csv", base=tmp_path).axis
    assert shown(axis, 1) == ["Europe", "Europe", "Asia"]
    assert shown(axis, 2) == ["*"] * 3


def test_a_missing_value_outside_the_file_hangs_under_a_star(
    tmp_path: Path, column_of: Columns
) -> None:
    written(tmp_path, "a,x,all\nb,x,all\nc,y,all\n")
    column = column_of(["a", "?", "b", "c"], Kind.CATEGORY, missing=["?"])
    axis = build(column, "h.csv", base=tmp_path).axis
    assert shown(axis, 2) == ["all", "all", "all", "?"]
    assert shown(axis, 3) == ["*"] * 4
    assert axis.missing == 3
    # Three leaves of the file and the missing one.
    assert axis.node_ncp[axis.node_labels.index("x")] == pytest.approx(2 / 4)


def test_a_missing_value_inside_the_file_is_the_last_of_its_parent(
    tmp_path: Path, column_of: Columns
) -> None:
    written(tmp_path, "?,x,*\na,x,*\nb,y,*\n")
    column = column_of(["a", "?", "b"], Kind.CATEGORY, missing=["?"])
    axis = build(column, "h.csv", base=tmp_path).axis
    assert axis.labels == ("a", "?", "b")
    assert axis.missing == 1


def test_numbers_find_their_leaf_by_size(tmp_path: Path, column_of: Columns) -> None:
    written(tmp_path, "1,0~4,*\n7,5~9,*\n")
    column = column_of(["1.0", "7.00"], Kind.DECIMAL)
    assert shown(build(column, "h.csv", base=tmp_path).axis, 1) == ["0~4", "5~9"]


def test_number_labels_in_words_cost_the_range_of_their_leaves(
    tmp_path: Path, column_of: Columns
) -> None:
    written(tmp_path, "0,low,*\n4,low,*\n10,high,*\n")
    axis = build(column_of([0, 10]), "h.csv", base=tmp_path).axis
    assert axis.node_ncp[2:4].tolist() == pytest.approx([0.4, 0.0])
    assert axis.node_loss[2:4].tolist() == pytest.approx([0.5, 0.0])


def test_branches_of_numbers_that_are_not_neighbors_stay_together(
    tmp_path: Path, column_of: Columns
) -> None:
    written(tmp_path, "1,odd,*\n2,even,*\n3,odd,*\n4,even,*\n")
    coded = build(column_of([1, 2, 3, 4]), "h.csv", base=tmp_path)
    assert coded.axis.labels == ("1", "3", "2", "4")
    assert coded.codes.tolist() == [0, 2, 1, 3]


def test_a_parent_costs_no_less_than_its_children(
    tmp_path: Path, column_of: Columns
) -> None:
    written(tmp_path, "1,0~9,young,*\n2,0~9,young,*\n20,20~29,old,*\n")
    axis = build(column_of([0, 1, 2, 20][1:]), "h.csv", base=tmp_path).axis
    child, parent = (axis.node_labels.index(label) for label in ("0~9", "young"))
    assert axis.node_ncp[parent] == axis.node_ncp[child] == pytest.approx(8 / 19)


TREE_JSON = '{"Europe": {"West": ["France"], "South": ["Spain"]}, "Asia": ["China"]}'
TREE_TOML = 'Asia = ["China"]\n[Europe]\nWest = ["France"]\nSouth = ["Spain"]\n'


@pytest.mark.parametrize(
    ("name", "text"), [("t.json", TREE_JSON), ("t.toml", TREE_TOML)]
)
def test_trees_are_padded_at_the_leaf(
    tmp_path: Path, countries: Column, name: str, text: str
) -> None:
    written(tmp_path, text, name)
    for spec in (name, {"tree": name}, {"file": name}):
        axis = build(countries, spec, base=tmp_path).axis
        of = dict(zip(axis.labels, axis.levels.T, strict=True))
        chain = [[axis.node_labels[n] for n in of[place]] for place in PLACES]
        assert chain == [
            ["China", "China", "Asia", "*"],
            ["France", "West", "Europe", "*"],
            ["Spain", "South", "Europe", "*"],
        ]
        padded = of["China"][1]
        assert axis.node_ncp[padded] == 0.0


def test_a_tree_inside_the_policy(countries: Column) -> None:
    tree = {"World": {"Europe": ["France", {"Iberia": ["Spain"]}], "China": {}}}
    axis = build(countries, {"tree": tree}).axis
    assert axis.labels == ("France", "Spain", "China")
    assert axis.node_labels[axis.root] == "World"


def test_numbers_in_a_json_tree_keep_their_text(
    tmp_path: Path, column_of: Columns
) -> None:
    written(tmp_path, '{"low": [0.10, 1], "high": [2e3]}', "t.json")
    column = column_of(["0.10", "1", "2e3"], Kind.CATEGORY)
    assert build(column, "t.json", base=tmp_path).axis.size == 3


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("t.json", "{", "cannot be read: not JSON at line 1, column 2"),
        ("t.json", "[[]]", "has no leaves"),
        ("t.json", "[" * 100_000, "nested too deeply"),
        ("h.csv", "x" * 200_000 + ",*", "more than 131,072 characters in line 1"),
        ("t.json", "[]", "is not a tree"),
        ("t.json", '"France"', "is not a tree"),
        ("t.json", '{"a": [true]}', "neither text nor number"),
        ("t.json", '{"a": ["x"], "a": ["y"]}', "1 keys occur twice"),
        ("t.toml", "= 1", "cannot be read: not TOML at line 1, column 1"),
        ("h.csv", "", "is empty"),
        ("h.csv", "country,all\n", "header and no leaves"),
    ],
)
def test_files_that_are_no_hierarchy_are_refused(
    tmp_path: Path, countries: Column, name: str, text: str, problem: str
) -> None:
    written(tmp_path, text, name)
    spec = {"file": name, "header": True} if "header" in problem else name
    with pytest.raises(HierarchyError, match=problem) as info:
        build(countries, spec, base=tmp_path)
    assert "column 'country'" in info.value.message


def test_a_path_that_is_not_there_is_refused(tmp_path: Path, countries: Column) -> None:
    with pytest.raises(HierarchyError, match=r"nowhere\.csv' .* does not exist"):
        build(countries, "nowhere.csv", base=tmp_path)


def test_a_directory_is_refused(tmp_path: Path, countries: Column) -> None:
    with pytest.raises(HierarchyError, match="is a directory, not a file"):
        build(countries, ".", base=tmp_path)


def test_bytes_that_are_not_utf8_are_refused(tmp_path: Path, countries: Column) -> None:
    (tmp_path / "h.csv").write_bytes(b"Fran\xe7e,*\n")
    with pytest.raises(HierarchyError, match="not UTF-8: line 1"):
        build(countries, "h.csv", base=tmp_path)


def refusal(directory: Path, column: Column, content: str | bytes) -> HierarchyError:
    """The error for a hierarchy file with this content."""
    content = content.encode() if isinstance(content, str) else content
    (directory / "h.csv").write_bytes(content)
    with pytest.raises(HierarchyError) as error:
        build(column, "h.csv", base=directory)
    return error.value


@pytest.mark.parametrize(
    ("row", "problem", "hint"),
    [
        ('Spain,"South" x,*', "line 2, column 2: text follows a closing", "Double"),
        ('Spain,"South" ,*', "line 2, column 2: text follows", "Remove the blanks"),
        ('Spain,"So\\"uth",*', "line 2, column 2: text follows", "backslashes"),
        ('Spain,"South,*', "line 2, column 2: a quotation mark is opened", "Close it"),
    ],
)
def test_quotation_marks_are_read_as_in_sources(
    tmp_path: Path, countries: Column, row: str, problem: str, hint: str
) -> None:
    content = f"France,West,*\n{row}\nChina,Asia,*\n"
    error = refusal(tmp_path, countries, content)
    assert problem in error.message
    assert hint in (error.hint or "")


def test_a_hierarchy_of_windows_is_to_be_saved_as_utf_8(
    tmp_path: Path, countries: Column
) -> None:
    content = "France,West,*\nSpain,Süd,*\nChina,Asia,*\n".encode("cp1252")
    error = refusal(tmp_path, countries, content)
    assert "is not UTF-8: line 2 has other bytes" in error.message
    assert error.hint == "It is probably cp1252: save it as UTF-8."


def test_a_label_that_is_too_long_is_called_so(
    tmp_path: Path, countries: Column
) -> None:
    content = f"France,{'w' * 140_000},*\nSpain,South,*\nChina,Asia,*\n"
    error = refusal(tmp_path, countries, content)
    assert "a cell of more than 131,072 characters in line 1" in error.message


def test_labels_of_several_lines_are_read_where_the_file_is_said_to_have_them(
    tmp_path: Path, countries: Column
) -> None:
    content = 'France,"West\nEurope",*\nSpain,"South\nEurope",*\nChina,Asia,*\n'
    error = refusal(tmp_path, countries, content)
    assert "line break that ends in line 2" in error.message
    assert "multiline = true" in (error.hint or "")
    axis = build(countries, {"file": "h.csv", "multiline": True}, base=tmp_path).axis
    assert shown(axis, 1) == ["West\nEurope", "South\nEurope", "Asia"]
