"""Interval builders, with expectations worked by hand."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

import numpy as np
import pytest

from sfumato.data.schema import Kind
from sfumato.data.table import Column
from sfumato.errors import HierarchyError
from sfumato.hierarchies.axis import Axis
from sfumato.hierarchies.build import build

Columns = Callable[..., Column]


def shown(axis: Axis, level: int) -> list[str]:
    """What each leaf shows at a level."""
    return [axis.node_labels[node] for node in axis.levels[level]]


def cost(axis: Axis, label: str) -> tuple[float, float]:
    """NCP and generalized loss of the node with a label."""
    node = axis.node_labels.index(label)
    return float(axis.node_ncp[node]), float(axis.node_loss[node])


def test_integer_intervals_are_closed_and_nested(column_of: Columns) -> None:
    axis = build(column_of([19, 20, 24, 25, 39, 40]), {"intervals": [5, 10, 20]}).axis
    assert shown(axis, 1) == [
        "[15, 19]", "[20, 24]", "[20, 24]", "[25, 29]", "[35, 39]", "[40, 44]"
    ]  # fmt: skip
    assert shown(axis, 3) == ["[0, 19]"] + ["[20, 39]"] * 4 + ["[40, 59]"]
    assert shown(axis, 4) == ["*"] * 6


def test_interval_losses_are_clipped_to_the_source(column_of: Columns) -> None:
    axis = build(column_of([17, 20, 24, 90]), {"intervals": [5]}).axis
    # The range is 73 long and has 74 possible ages; of [15, 19] 17 … 19 remain.
    assert cost(axis, "[15, 19]") == pytest.approx((2 / 73, 2 / 73))
    assert cost(axis, "[20, 24]") == pytest.approx((4 / 73, 4 / 73))
    assert cost(axis, "*") == (1.0, 1.0)
    assert axis.node_ncp[:4].tolist() == [0.0] * 4


def test_decimal_intervals_are_half_open(column_of: Columns) -> None:
    column = column_of(["0.1", "0.2", "0.3", "0.7", "1.1"], Kind.DECIMAL)
    axis = build(column, {"intervals": [0.1, 0.2]}).axis
    assert shown(axis, 1) == [
        "[0.1, 0.2)", "[0.2, 0.3)", "[0.3, 0.4)", "[0.7, 0.8)", "[1.1, 1.2)"
    ]  # fmt: skip
    assert shown(axis, 2)[:3] == ["[0, 0.2)", "[0.2, 0.4)", "[0.2, 0.4)"]
    # Length 0.2 of 1.0; two of the five values that occur.
    assert cost(axis, "[0.2, 0.4)") == pytest.approx((0.2, 1 / 4))


def test_the_origin_moves_the_edges(column_of: Columns) -> None:
    axis = build(column_of([-1, 2, 3]), {"intervals": [5], "origin": 3}).axis
    assert shown(axis, 1) == ["[-2, 2]", "[-2, 2]", "[3, 7]"]


def test_coded_tails_end_the_intervals(column_of: Columns) -> None:
    column = column_of([3, 18, 19, 40, 74, 75, 90])
    spec = {"intervals": [10, 20], "bottom": 18, "top": 75}
    axis = build(column, spec).axis
    assert shown(axis, 1) == [
        "<= 18", "<= 18", "[19, 19]", "[40, 49]", "[70, 74]", ">= 75", ">= 75"
    ]  # fmt: skip
    assert shown(axis, 2) == [
        "<= 18", "<= 18", "[19, 19]", "[40, 59]", "[60, 74]", ">= 75", ">= 75"
    ]  # fmt: skip
    assert cost(axis, ">= 75") == pytest.approx((15 / 87, 15 / 87))
    assert cost(axis, "<= 18") == pytest.approx((15 / 87, 15 / 87))


def test_decimal_tails_leave_the_bottom_itself_inside(column_of: Columns) -> None:
    column = column_of(["0.5", "1", "2.5", "9"], Kind.DECIMAL)
    axis = build(column, {"intervals": [2], "bottom": 1, "top": 4.0}).axis
    assert shown(axis, 1) == ["< 1", "[1, 2)", "[2, 4)", ">= 4"]


def test_intervals_of_dates_count_days(column_of: Columns) -> None:
    column = column_of(["2020-01-01", "2020-01-07", "2020-01-08"], Kind.DATE)
    axis = build(column, {"intervals": [7], "origin": date(2020, 1, 1)}).axis
    assert shown(axis, 1) == ["[2020-01-01, 2020-01-07]"] * 2 + [
        "[2020-01-08, 2020-01-14]"
    ]


def test_a_missing_number_keeps_its_own_node_until_the_root(
    column_of: Columns,
) -> None:
    coded = build(column_of([1, "?", 9], missing=["?"]), {"intervals": [5]})
    axis = coded.axis
    assert shown(axis, 1) == ["[0, 4]", "[5, 9]", "?"]
    assert shown(axis, 2) == ["*", "*", "*"]
    assert axis.missing == 2
    assert axis.node_ncp.tolist() == pytest.approx([0, 0, 0, 3 / 8, 4 / 8, 0, 1])
    assert coded.codes.tolist() == [0, 2, 1]


def test_bounds_say_what_labels_say(column_of: Columns) -> None:
    axis = build(column_of([3, 80]), {"intervals": [5], "top": 75}).axis
    assert axis.node_bounds is not None
    assert axis.node_bounds[2:4].tolist() == [[0.0, 4.0], [75.0, np.inf]]
    assert np.isnan(axis.node_bounds[4]).all()


def test_widths_that_do_not_nest_are_refused_with_both_numbers(
    column_of: Columns,
) -> None:
    with pytest.raises(HierarchyError, match="intervals of 12 are not made of") as info:
        build(column_of([1, 2]), {"intervals": [5, 12]})
    assert "intervals of 5" in info.value.message
    assert info.value.hint is not None
    assert "10" in info.value.hint


@pytest.mark.parametrize("width", [0, -5, 2.5, 1, True, "5"])
def test_integer_widths_must_be_whole(column_of: Columns, width: object) -> None:
    with pytest.raises(HierarchyError, match="whole numbers from 2"):
        build(column_of([1, 2]), {"intervals": [width]})


def test_tails_in_the_wrong_order_are_refused(column_of: Columns) -> None:
    with pytest.raises(HierarchyError, match="bottom 80 is not below top 20"):
        build(column_of([1, 2]), {"intervals": [5], "bottom": 80, "top": 20})


def test_an_origin_of_another_kind_is_refused(column_of: Columns) -> None:
    with pytest.raises(HierarchyError, match="'origin' must be of kind 'integer'"):
        build(column_of([1, 2]), {"intervals": [5], "origin": "soon"})


def test_intervals_over_words_are_refused(column_of: Columns) -> None:
    with pytest.raises(HierarchyError, match="kind 'category'; 'intervals' needs"):
        build(column_of(["a"], Kind.CATEGORY), {"intervals": [5]})


def test_quantiles_hold_about_equally_many_rows(column_of: Columns) -> None:
    axis = build(column_of([1, 2, 3, 4, 5, 6, 7, 80]), {"quantiles": [4, 2]}).axis
    assert shown(axis, 1) == [
        "[1, 2]", "[1, 2]", "[3, 4]", "[3, 4]", "[5, 6]", "[5, 6]", "[7, 80]", "[7, 80]"
    ]  # fmt: skip
    assert shown(axis, 2) == ["[1, 4]"] * 4 + ["[5, 80]"] * 4
    assert axis.fitted


def test_quantiles_of_decimals_close_the_last_interval(column_of: Columns) -> None:
    column = column_of(["0.5", "1.5", "2.5", "4.5"], Kind.DECIMAL)
    axis = build(column, {"quantiles": [2]}).axis
    assert shown(axis, 1) == ["[0.5, 2.5)"] * 2 + ["[2.5, 4.5]"] * 2


def test_quantiles_under_heavy_ties_have_fewer_bins(column_of: Columns) -> None:
    axis = build(column_of([0] * 98 + [1, 2]), {"quantiles": [10, 5]}).axis
    assert shown(axis, 1) == shown(axis, 2)
    assert len(set(shown(axis, 1))) == 2


def test_two_spellings_of_a_number_share_a_quantile(column_of: Columns) -> None:
    column = column_of(["1", "1.0", "2"], Kind.DECIMAL)
    axis = build(column, {"quantiles": [3]}).axis
    assert shown(axis, 1) == ["[1, 2)", "[1, 2)", "[2, 2]"]


def test_quantiles_that_do_not_nest_are_refused_with_both_numbers(
    column_of: Columns,
) -> None:
    with pytest.raises(HierarchyError, match="4 bins are not made of 10 bins"):
        build(column_of([1, 2]), {"quantiles": [10, 4]})


def test_quantiles_are_whole_numbers(column_of: Columns) -> None:
    with pytest.raises(HierarchyError, match="1 of 2 are not"):
        build(column_of([1, 2]), {"quantiles": [10, 0.5]})


@pytest.mark.parametrize(
    ("cells", "width", "label"),
    [
        (["0001-01-01", "0002-01-01"], 1_000_000, "[0001-01-01, "),
        (["9999-12-31", "9998-01-01"], 1_000_000, ", 9999-12-31]"),
        (
            ["0001-01-01T00:00:00", "0001-01-02T00:00:01"],
            10**12,
            "[0001-01-01T00:00:00, ",
        ),
        (["9999-12-31T23:59:59", "9998-01-01T00:00:01"], 10**12, ">= "),
    ],
)
def test_intervals_of_dates_end_with_the_calendar(
    column_of: Columns, cells: list[str], width: int, label: str
) -> None:
    kind = Kind.DATETIME if "T" in cells[0] else Kind.DATE
    axis = build(column_of(cells, kind), {"intervals": [width]}).axis
    assert all(label in text for text in shown(axis, 1))
