"""Published cell texts and their readers."""

from __future__ import annotations

from math import inf, nextafter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.data.schema import Kind
from sfumato.hierarchies.labels import (
    interval_label,
    parse_interval,
    parse_set,
    parse_value,
    reserved,
    set_label,
    value_text,
)

FINITE = st.floats(allow_nan=False, allow_infinity=False).map(lambda x: x + 0.0)


def test_an_integer_interval_is_closed() -> None:
    assert interval_label(20, 24) == "[20, 24]"


def test_a_decimal_interval_of_a_builder_is_half_open() -> None:
    assert interval_label(20, 25, kind=Kind.DECIMAL, closed=False) == "[20, 25)"


def test_a_decimal_is_written_without_an_exponent() -> None:
    assert interval_label(1e-7, 0.1, kind=Kind.DECIMAL) == "[0.0000001, 0.1]"


def test_an_interval_of_days_shows_dates() -> None:
    # 18262 days after 1970-01-01 is 2020-01-01 (50 years, 12 leap days).
    assert interval_label(18262, 18262 + 90, kind=Kind.DATE) == (
        "[2020-01-01, 2020-03-31]"
    )


def test_an_interval_of_seconds_shows_times() -> None:
    assert interval_label(0, 3600.5, kind=Kind.DATETIME, closed=False) == (
        "[1970-01-01T00:00:00, 1970-01-01T01:00:00.5)"
    )


def test_an_infinite_bound_makes_one_side() -> None:
    assert interval_label(60, inf) == ">= 60"
    assert interval_label(-inf, 18) == "<= 18"
    assert interval_label(-inf, 18, kind=Kind.DECIMAL, closed=False) == "< 18"


def test_a_set_keeps_the_order_given_and_quotes_what_it_must() -> None:
    assert set_label(["Cuba", "India"]) == "{Cuba|India}"
    assert set_label(["a|b", 'say "x"', "", "*"]) == '{"a|b"|"say ""x"""|""|"*"}'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("15~19", (15, 19, True)),
        ("-5~-1", (-5, -1, True)),
        ("20-24", (20, 24, True)),
        ("-153198~-33962", (-153198, -33962, True)),
        ("[20, 24]", (20, 24, True)),
        ("[20, 25)", (20, 25, False)),
        ("[0, 5[", (0, 5, False)),
        ("(20, 25]", (nextafter(20, inf), 25, True)),
        ("]20, 25]", (nextafter(20, inf), 25, True)),
        (">=60", (60, inf, True)),
        ("≥ 60", (60, inf, True)),
        (">60", (nextafter(60, inf), inf, True)),
        ("60+", (60, inf, True)),
        ("<18", (-inf, 18, False)),
        ("<=4000", (-inf, 4000, True)),
        ("0.0000~3.5347", (0, 3.5347, True)),
    ],
)
def test_interval_spellings_are_read(
    text: str, expected: tuple[float, float, bool]
) -> None:
    assert parse_interval(text) == expected


@pytest.mark.parametrize(
    "text",
    ["*", "20", "none", "24-20", "2020-01-31", "{1|2}", "", ">50K", "[20, 24", "+"],
)
def test_what_is_no_interval_is_not_read_as_one(text: str) -> None:
    assert parse_interval(text) is None


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2020-03", "2020-03-01", "2020-03-31"),
        ("2020-Q1", "2020-01-01", "2020-03-31"),
        ("2020", "2020-01-01", "2020-12-31"),
        ("2020s", "2020-01-01", "2029-12-31"),
        ("1969-Q4", "1969-10-01", "1969-12-31"),
        ("2020-02-10~2020-02-12", "2020-02-10", "2020-02-12"),
    ],
)
def test_calendar_labels_are_intervals_of_dates(
    text: str, first: str, last: str
) -> None:
    days = [parse_value(day, kind=Kind.DATE) for day in (first, last)]
    assert parse_interval(text, kind=Kind.DATE) == (*days, True)


def test_a_month_of_times_ends_before_the_next() -> None:
    start, end = (
        parse_value(day, kind=Kind.DATETIME) for day in ("2020-02-01", "2020-03-01")
    )
    assert parse_interval("2020-02", kind=Kind.DATETIME) == (start, end, False)


def test_a_thirteenth_month_is_none() -> None:
    assert parse_interval("2020-13", kind=Kind.DATE) is None


def test_an_open_end_of_integers_is_the_integer_before() -> None:
    found = parse_interval("[0, 5[")
    assert found is not None
    assert found.bounds(Kind.INTEGER) == (0, 4)
    assert found.bounds(Kind.DECIMAL) == (0, 5)


@settings(derandomize=True)
@given(FINITE, FINITE, st.booleans())
def test_reading_an_interval_undoes_writing_it(
    one: float, other: float, closed: bool
) -> None:
    low, high = sorted([one, other])
    text = interval_label(low, high, kind=Kind.DECIMAL, closed=closed)
    assert parse_interval(text) == (low, high, closed)


@settings(derandomize=True)
@given(st.integers(-700_000, 2_900_000), st.integers(0, 10_000), st.booleans())
def test_reading_an_interval_of_days_undoes_writing_it(
    low: int, length: int, closed: bool
) -> None:
    text = interval_label(low, low + length, kind=Kind.DATE, closed=closed)
    assert parse_interval(text, kind=Kind.DATE) == (low, low + length, closed)


@settings(derandomize=True)
@given(FINITE)
def test_reading_a_number_undoes_writing_it(value: float) -> None:
    assert parse_value(value_text(value, kind=Kind.DECIMAL), kind=Kind.DECIMAL) == value


@settings(derandomize=True)
@given(st.lists(st.text(alphabet='ab|"{}*[] ,\n', max_size=6), min_size=1, max_size=5))
def test_reading_a_set_undoes_writing_it(texts: list[str]) -> None:
    assert parse_set(set_label(texts)) == tuple(texts)


@pytest.mark.parametrize("text", ["{}", "{a|}", "{a", "a|b", "{{a}}", '{"a}', '{a"b"}'])
def test_what_is_no_set_is_not_read_as_one(text: str) -> None:
    assert parse_set(text) is None


def test_published_forms_are_reserved() -> None:
    texts = ["*", "a|b", "{a}", "[1, 2]", "[1, 2)", "**", "{a", "plain", "", ">50K"]
    assert [text for text in texts if reserved(text)] == texts[:5]
