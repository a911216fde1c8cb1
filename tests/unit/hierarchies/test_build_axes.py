"""Axes without levels, proposed ones, their words and files, and their invariants."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data.schema import Kind
from sfumato.data.table import Column
from sfumato.errors import HierarchyError, OutputError
from sfumato.hierarchies.axis import Axis, Shape
from sfumato.hierarchies.build import build
from sfumato.hierarchies.describe import describe, write_csv
from sfumato.hierarchies.labels import parse_interval, parse_value

Columns = Callable[..., Column]


def shown(axis: Axis, level: int) -> list[str]:
    return [axis.node_labels[node] for node in axis.levels[level]]


def test_a_number_without_a_hierarchy_is_free(column_of: Columns) -> None:
    coded = build(column_of([30, 10, "?"], missing=["?"]), None, weight=2.0)
    axis = coded.axis
    assert axis.shape is Shape.FREE
    assert axis.levels.tolist() == [[0, 1, 2], [3, 3, 3]]
    assert axis.labels == ("10", "30", "?")
    assert axis.node_ncp.tolist() == [0, 0, 0, 1]
    assert (axis.missing, axis.weight, axis.fitted) == (2, 2.0, True)
    assert coded.codes.tolist() == [1, 0, 2]


def test_a_category_without_a_hierarchy_is_flat(column_of: Columns) -> None:
    axis = build(column_of(["b", "a"], Kind.CATEGORY), None).axis
    assert axis.shape is Shape.FLAT
    assert axis.node_labels == ("a", "b", "*")
    assert axis.positions is None
    assert axis.node_bounds is None


def test_a_number_may_be_flat(column_of: Columns) -> None:
    assert build(column_of([1, 2]), "flat").axis.shape is Shape.FLAT


def test_a_category_cannot_be_free(column_of: Columns) -> None:
    with pytest.raises(HierarchyError, match="'free' needs a number or a date"):
        build(column_of(["a"], Kind.CATEGORY), "free")


def test_codes_are_not_copied_where_no_leaf_moves(column_of: Columns) -> None:
    column = column_of(["b", "a", "b"], Kind.CATEGORY)
    assert build(column, None).codes is column.codes


def test_codes_are_contiguous_and_of_32_bits(column_of: Columns) -> None:
    codes = build(column_of([3, 1, 2]), {"intervals": [2]}).codes
    assert codes.dtype == np.int32
    assert codes.flags.c_contiguous


def test_ages_are_proposed_in_steps_of_5_10_20(column_of: Columns) -> None:
    axis = build(column_of(list(range(17, 91))), "auto").axis
    assert shown(axis, 1)[:4] == ["[15, 19]"] * 3 + ["[20, 24]"]
    assert [shown(axis, level)[-1] for level in range(1, axis.height)] == [
        "[90, 94]", "[90, 99]", "[80, 99]", "*"
    ]  # fmt: skip
    assert axis.fitted


def test_two_numbers_need_no_interval(column_of: Columns) -> None:
    assert build(column_of([0, 1]), "auto").axis.height == 2


def test_a_giant_does_not_set_the_scale(column_of: Columns) -> None:
    cells = [*list(range(100)) * 10, 1_000_000]
    axis = build(column_of(cells), "auto").axis
    assert len(set(shown(axis, 1))) == 21
    assert axis.height <= 7


def test_dates_are_proposed_by_the_calendar(column_of: Columns) -> None:
    column = column_of(["1990-05-01", "1990-07-01", "2015-01-01"], Kind.DATE)
    axis = build(column, "auto").axis
    assert [shown(axis, level)[0] for level in range(1, 5)] == [
        "1990-05", "1990-Q2", "1990", "1990s"
    ]  # fmt: skip


def test_codes_are_proposed_by_prefixes_that_join_some(column_of: Columns) -> None:
    column = column_of(["12345", "12346", "12999", "70000"], Kind.CODE)
    axis = build(column, "auto").axis
    # Length 3 joins no more than length 4 does.
    assert [shown(axis, level)[0] for level in (1, 2)] == ["1234*", "12***"]
    assert axis.height == 4


def test_ordered_categories_are_proposed_as_runs(column_of: Columns) -> None:
    column = column_of(
        ["none", "mild", "grave", "fatal", "?"], Kind.ORDERED, missing="?"
    )
    axis = build(column, "auto").axis
    assert shown(axis, 1) == ["{none|mild}"] * 2 + ["{grave|fatal}"] * 2 + ["?"]
    assert axis.node_ncp[axis.node_labels.index("{none|mild}")] == pytest.approx(2 / 5)


def test_plain_categories_are_proposed_flat(column_of: Columns) -> None:
    axis = build(column_of(["a", "b", "c"], Kind.CATEGORY), "auto").axis
    assert axis.shape is Shape.FLAT


SPECS: dict[Kind, list[Any]] = {
    Kind.INTEGER: [None, "flat", "auto", {"intervals": [5, 10]}, {"quantiles": [4, 2]}],
    Kind.DECIMAL: [None, "auto", {"intervals": [0.5, 1]}, {"quantiles": [6, 3]}],
    Kind.DATE: [None, "auto", {"calendar": ["month", "year"]}, {"intervals": [7]}],
    Kind.DATETIME: [None, "auto", {"calendar": ["day"]}, {"intervals": [3600]}],
    Kind.CATEGORY: [None, "auto"],
    Kind.ORDERED: [None, "auto"],
    Kind.CODE: [None, "auto", {"prefix": [2, 1]}],
}
CELLS: dict[Kind, str] = {
    Kind.INTEGER: "5", Kind.DECIMAL: "0.5", Kind.DATE: "2020-01-01",
    Kind.DATETIME: "2020-01-01T00:00:00", Kind.CATEGORY: "ü", Kind.ORDERED: "ü",
    Kind.CODE: "Ü1",
}  # fmt: skip
EVERY = [(kind, spec) for kind, specs in SPECS.items() for spec in specs]


@pytest.mark.parametrize(("kind", "spec"), EVERY)
def test_a_column_of_missing_values_has_an_axis(
    column_of: Columns, kind: Kind, spec: Any
) -> None:
    axis = build(column_of(["", ""], kind, missing=[""]), spec).axis
    assert (axis.size, axis.missing) == (1, 0)
    assert axis.node_labels[axis.root] == "*"


@pytest.mark.parametrize(("kind", "spec"), EVERY)
def test_a_column_of_one_value_has_an_axis(
    column_of: Columns, kind: Kind, spec: Any
) -> None:
    axis = build(column_of([CELLS[kind]] * 3, kind), spec).axis
    assert axis.size == 1
    assert axis.node_ncp[0] == 0.0
    assert axis.node_ncp[axis.root] == 1.0


def test_words_about_an_axis_hold_no_values(column_of: Columns) -> None:
    axis = build(column_of([1, 7, 8], missing=[]), {"intervals": [5]}).axis
    assert describe(axis) == {
        "kind": "integer", "shape": "tree", "levels": 3, "nodes": [3, 2, 1],
        "leaves": 3, "missing": False, "fitted": False,
    }  # fmt: skip


def test_a_written_axis_reads_back(tmp_path: Path, column_of: Columns) -> None:
    column = column_of([1, 7, 8, "", 12], missing=[""])
    axis = build(column, {"intervals": [5, 10]}).axis
    write_csv(axis, tmp_path / "h.csv")
    again = build(column, "h.csv", base=tmp_path).axis
    assert again.levels.tolist() == axis.levels.tolist()
    assert again.node_labels == axis.node_labels
    assert again.node_ncp.tolist() == axis.node_ncp.tolist()


def test_an_axis_is_not_written_where_nothing_can_be(
    tmp_path: Path, column_of: Columns
) -> None:
    with pytest.raises(OutputError, match="cannot be written"):
        write_csv(build(column_of([1]), None).axis, tmp_path / "no" / "h.csv")


def assert_axis_holds(axis: Axis) -> None:
    """What every axis promises, by definition."""
    assert axis.levels[0].tolist() == list(range(axis.size))
    assert len(set(axis.levels[-1].tolist())) == 1
    for low, high in zip(axis.levels, axis.levels[1:], strict=False):
        parent: dict[int, int] = {}
        for node, above in zip(low.tolist(), high.tolist(), strict=True):
            assert parent.setdefault(node, above) == above
            assert axis.node_ncp[node] <= axis.node_ncp[above] + 1e-12
            assert axis.node_loss[node] <= axis.node_loss[above] + 1e-12
    for level in axis.levels.tolist():
        runs = [
            node for at, node in enumerate(level) if at == 0 or level[at - 1] != node
        ]
        assert len(runs) == len(set(runs))
    assert len(axis.node_labels) == len(axis.node_ncp) == len(axis.node_loss)
    assert ((axis.node_ncp >= 0) & (axis.node_ncp <= 1 + 1e-12)).all()
    assert ((axis.node_loss >= 0) & (axis.node_loss <= 1 + 1e-12)).all()


def lowest_common(axis: Axis, low: int, high: int) -> int:
    """The smallest node over low … high by looking at all nodes of all leaves."""
    for level in axis.levels.tolist():
        if len(set(level[low : high + 1])) == 1:
            return int(level[low])
    raise AssertionError("no root")


def assert_covering_is_lowest_common(axis: Axis) -> None:
    pairs = [(a, b) for a in range(axis.size) for b in range(a, axis.size)]
    low, high = np.array(pairs).T
    expected = [lowest_common(axis, a, b) for a, b in pairs]
    assert axis.covering(low, high).tolist() == expected


def assert_labels_contain_leaves(axis: Axis) -> None:
    for leaf, text in enumerate(axis.labels):
        if leaf == axis.missing:
            continue
        number = parse_value(text, kind=axis.kind)
        for node in axis.levels[1:-1, leaf]:
            said = parse_interval(axis.node_labels[node], kind=axis.kind)
            assert said is not None
            assert said.low <= number
            assert number <= said.high if said.closed else number < said.high


WHOLE = st.lists(st.integers(-50, 60), min_size=1, max_size=12)


@given(
    WHOLE,
    st.booleans(),
    st.sampled_from([2, 3, 5]),
    st.sampled_from([2, 4]),
    st.integers(-7, 7),
    st.one_of(st.none(), st.integers(-60, 0)),
    st.one_of(st.none(), st.integers(1, 70)),
)
def test_integer_interval_axes_hold(
    column_of: Columns,
    cells: list[int],
    gap: bool,
    width: int,
    factor: int,
    origin: int,
    bottom: int | None,
    top: int | None,
) -> None:
    column = column_of([*cells, "?"] if gap else cells, missing=["?"])
    spec: dict[str, object] = {"intervals": [width, width * factor], "origin": origin}
    spec |= {} if bottom is None else {"bottom": bottom}
    spec |= {} if top is None else {"top": top}
    axis = build(column, spec).axis
    assert_axis_holds(axis)
    assert_covering_is_lowest_common(axis)
    assert_labels_contain_leaves(axis)


TENTHS = st.lists(st.integers(-500, 500), min_size=1, max_size=12)


@given(TENTHS, st.sampled_from([0.1, 0.25, 0.3]), st.sampled_from([2, 5]))
def test_decimal_interval_axes_hold(
    column_of: Columns, tenths: list[int], width: float, factor: int
) -> None:
    column = column_of([str(t / 10) for t in tenths], Kind.DECIMAL)
    coarse = round(width * factor, 10)
    axis = build(column, {"intervals": [width, coarse]}).axis
    assert_axis_holds(axis)
    assert_labels_contain_leaves(axis)


@given(TENTHS, st.sampled_from([[2], [6, 3], [8, 4, 2]]), st.booleans())
def test_quantile_axes_hold(
    column_of: Columns, tenths: list[int], bins: list[int], whole: bool
) -> None:
    kind = Kind.INTEGER if whole else Kind.DECIMAL
    column = column_of([t if whole else str(t / 10) for t in tenths], kind)
    axis = build(column, {"quantiles": bins}).axis
    assert_axis_holds(axis)
    assert_covering_is_lowest_common(axis)
    assert_labels_contain_leaves(axis)


@given(TENTHS, st.booleans(), st.integers(1, 4))
def test_proposed_number_axes_hold(
    column_of: Columns, tenths: list[int], whole: bool, power: int
) -> None:
    kind = Kind.INTEGER if whole else Kind.DECIMAL
    cells = [t * 10**power if whole else str(t / 10**power) for t in tenths]
    axis = build(column_of(cells, kind), "auto").axis
    assert_axis_holds(axis)
    assert_labels_contain_leaves(axis)


@given(st.lists(st.dates(), min_size=1, max_size=10))
def test_calendar_axes_hold(column_of: Columns, days: list[object]) -> None:
    units = ["day", "month", "quarter", "year", "decade"]
    axis = build(column_of(days, Kind.DATE), {"calendar": units[1:]}).axis
    assert_axis_holds(axis)
    assert_labels_contain_leaves(axis)
    assert_axis_holds(build(column_of(days, Kind.DATE), "auto").axis)


@given(st.lists(st.text("ab1.", min_size=1, max_size=5), min_size=1, max_size=12))
def test_prefix_axes_hold(column_of: Columns, cells: list[str]) -> None:
    for spec in ({"prefix": [4, 2, 1]}, "auto"):
        axis = build(column_of(cells, Kind.CODE), spec).axis
        assert_axis_holds(axis)
        assert_covering_is_lowest_common(axis)
        for level in axis.levels[1:-1]:
            for text, node in zip(axis.labels, level, strict=True):
                assert text.startswith(axis.node_labels[node].rstrip("*"))


@given(st.lists(st.text("abcdefghij", max_size=2), min_size=1, max_size=20))
def test_run_axes_hold(column_of: Columns, cells: list[str]) -> None:
    axis = build(column_of(cells, Kind.ORDERED), "auto").axis
    assert_axis_holds(axis)
    assert_covering_is_lowest_common(axis)


TREES = st.recursive(
    st.lists(st.just("leaf"), min_size=1, max_size=3),
    lambda below: st.lists(below, min_size=1, max_size=3),
    max_leaves=12,
)


def named(shape: Any, path: str, leaves: list[str]) -> Any:
    """A tree of a shape with a name of its own for every node and leaf."""
    if shape == "leaf":
        leaves.append(f"v{path}")
        return None
    return {
        f"v{path}.{at}" if part == "leaf" else f"n{path}.{at}": named(
            part, f"{path}.{at}", leaves
        )
        for at, part in enumerate(shape)
    }


@given(TREES, st.randoms(use_true_random=False))
def test_tree_axes_hold(column_of: Columns, shape: Any, random: Any) -> None:
    leaves: list[str] = []
    tree = named(shape, "", leaves)
    occurring = random.sample(leaves, random.randint(1, len(leaves)))
    column = column_of([*occurring, "?"], Kind.CATEGORY, missing=["?"])
    axis = build(column, {"tree": tree}).axis
    assert_axis_holds(axis)
    assert_covering_is_lowest_common(axis)
    assert axis.labels[axis.missing] == "?"
