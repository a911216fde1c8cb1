"""Prefixes and calendar units, with expectations worked by hand."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sfumato.data.schema import Kind
from sfumato.data.table import Column
from sfumato.errors import HierarchyError
from sfumato.hierarchies.axis import Axis
from sfumato.hierarchies.build import build

Columns = Callable[..., Column]


def shown(axis: Axis, level: int) -> list[str]:
    return [axis.node_labels[node] for node in axis.levels[level]]


def test_codes_of_one_length_are_masked_character_by_character(
    column_of: Columns,
) -> None:
    column = column_of(["01247", "01248", "02860"], Kind.CODE)
    axis = build(column, {"prefix": [4, 2, 1]}).axis
    assert shown(axis, 1) == ["0124*", "0124*", "0286*"]
    assert shown(axis, 2) == ["01***", "01***", "02***"]
    assert shown(axis, 3) == ["0****"] * 3
    assert axis.node_ncp[3:6].tolist() == pytest.approx([2 / 3, 1 / 3, 2 / 3])
    assert axis.node_loss[3:6].tolist() == pytest.approx([1 / 2, 0, 1 / 2])


def test_the_mask_does_not_tell_the_length_of_codes(column_of: Columns) -> None:
    column = column_of(["E11", "E11.9", "E11.22", "I10"], Kind.CODE)
    axis = build(column, {"prefix": [3, 1]}).axis
    assert shown(axis, 1) == ["E11*", "E11*", "E11*", "I10"]
    assert shown(axis, 2) == ["E*", "E*", "E*", "I*"]


def test_a_code_that_loses_nothing_costs_nothing(column_of: Columns) -> None:
    axis = build(column_of(["E11.9", "I10"], Kind.CODE), {"prefix": [3]}).axis
    assert axis.node_ncp[2:4].tolist() == [0.5, 0.0]


def test_a_missing_code_is_not_masked(column_of: Columns) -> None:
    column = column_of(["123", "unknown", "124"], Kind.CODE, missing=["unknown"])
    assert shown(build(column, {"prefix": [2]}).axis, 1) == ["12*", "12*", "unknown"]


def test_prefixes_of_numbers_are_refused(column_of: Columns) -> None:
    with pytest.raises(HierarchyError, match="kind 'integer'; 'prefix' needs text"):
        build(column_of([123]), {"prefix": [2]})


@pytest.mark.parametrize("lengths", [[2, 3], [2, 2], [0], ["2"], [True]])
def test_prefix_lengths_must_fall(column_of: Columns, lengths: list[object]) -> None:
    with pytest.raises(HierarchyError, match="from many to few"):
        build(column_of(["123"], Kind.CODE), {"prefix": lengths})


def test_calendar_levels_of_dates(column_of: Columns) -> None:
    column = column_of(["1969-12-31", "2020-03-01", "2020-05-31"], Kind.DATE)
    axis = build(column, {"calendar": ["month", "quarter", "year", "decade"]}).axis
    assert shown(axis, 1) == ["1969-12", "2020-03", "2020-05"]
    assert shown(axis, 2) == ["1969-Q4", "2020-Q1", "2020-Q2"]
    assert shown(axis, 3) == ["1969", "2020", "2020"]
    assert shown(axis, 4) == ["1960s", "2020s", "2020s"]


def test_a_month_costs_its_days(column_of: Columns) -> None:
    column = column_of(["2020-01-01", "2020-02-10", "2020-12-31"], Kind.DATE)
    axis = build(column, {"calendar": ["month"]}).axis
    node = axis.node_labels.index("2020-02")
    # 2020 is a leap year: 29 days, 28 steps, of 366 days, 365 steps.
    assert axis.node_ncp[node] == pytest.approx(28 / 365)
    assert axis.node_loss[node] == pytest.approx(28 / 365)


def test_calendar_levels_of_times_begin_with_the_day(column_of: Columns) -> None:
    column = column_of(["2020-03-01T08:00:00", "2020-03-01T23:59:59"], Kind.DATETIME)
    axis = build(column, {"calendar": ["day", "year"]}).axis
    assert shown(axis, 1) == ["2020-03-01"] * 2
    assert shown(axis, 2) == ["2020"] * 2


def test_a_calendar_over_numbers_is_refused(column_of: Columns) -> None:
    with pytest.raises(HierarchyError, match="'calendar' needs a date"):
        build(column_of([2020]), {"calendar": ["year"]})


@pytest.mark.parametrize("units", [["year", "month"], ["week"], ["year", "year"]])
def test_calendar_units_are_known_and_rise(
    column_of: Columns, units: list[str]
) -> None:
    with pytest.raises(HierarchyError, match="units from fine to coarse") as info:
        build(column_of(["2020-01-01"], Kind.DATE), {"calendar": units})
    assert info.value.hint == "The units are day, month, quarter, year, decade."
