"""Cells become codes by what they mean."""

from __future__ import annotations

import datetime as dt
import decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data.coding import code_column, infer_kind
from sfumato.data.schema import Kind
from sfumato.errors import DataError


def column(*cells, kind=None, missing=(), order=None, arrow_type=None):
    values = pa.chunked_array([pa.array(cells, arrow_type)])
    return code_column("x", values, kind=kind, missing=missing, order=order)


def shown(coded):
    """Each cell's label, as the codes say."""
    return [coded.labels[code] for code in coded.codes]


def test_numbers_are_sorted_by_size_not_by_text():
    assert column("10", "9", "100").labels == ("9", "10", "100")


def test_codes_are_contiguous_int32():
    codes = column("b", "a").codes
    assert codes.dtype == np.int32
    assert codes.flags.c_contiguous


def test_negative_numbers_come_first():
    assert column("5", "-3", "0").labels == ("-3", "0", "5")


def test_dates_are_days_since_1970():
    coded = column("1970-01-02", "1969-12-31", "2000-02-29")
    assert coded.kind is Kind.DATE
    assert coded.labels == ("1969-12-31", "1970-01-02", "2000-02-29")
    assert coded.numbers.tolist() == [-1, 1, 11016]


def test_datetimes_are_seconds_since_1970_and_honor_zones():
    coded = column("1970-01-01T01:00:00+01:00", "1970-01-01 00:01:00Z")
    assert coded.kind is Kind.DATETIME
    assert coded.numbers.tolist() == [0.0, 60.0]


def test_datetimes_reach_beyond_nanoseconds():
    assert column("9999-12-31 00:00:00", "2020-01-01 10:30").codes.tolist() == [1, 0]


def test_text_survives_as_it_is():
    cells = ["007", "1.50", " x ", "", "NA", "x\ny"]
    assert shown(column(*cells)) == cells


@pytest.mark.parametrize("mark", ["NA", "N/A", "Unknown", "?", "nan", "null"])
def test_marks_are_values_unless_declared(mark):
    assert column("1", mark).missing == -1
    assert column("1", mark, missing=[mark]).missing == 1


def test_a_declared_mark_leaves_the_numbers_numbers():
    coded = column("3", "?", "1", missing=["?"])
    assert coded.kind is Kind.INTEGER
    assert coded.labels == ("1", "3", "?")
    assert np.isnan(coded.numbers[2])


def test_nulls_and_marks_share_the_last_code():
    coded = column("1", None, "?", "", missing=["?", ""])
    assert coded.codes.tolist() == [0, 1, 1, 1]
    assert coded.missing == 1


def test_the_missing_label_is_the_first_declared_mark_that_occurs():
    assert column("1", "?", None, missing=["NA", "?", ""]).labels[-1] == "?"


def test_the_missing_label_of_nulls_alone_is_empty():
    assert column("1", None, missing=["?"]).labels[-1] == ""


def test_a_column_of_nothing_but_nulls_has_one_code():
    coded = column(None, None, arrow_type=pa.string())
    assert (coded.codes.tolist(), coded.missing) == ([0, 0], 0)


def test_equal_numbers_in_other_spelling_share_a_code():
    coded = column("1.00", "1.0", "2", "1", " 1 ", "+1")
    assert coded.codes.tolist() == [0, 0, 1, 0, 0, 0]
    assert coded.labels == ("1", "2")


def test_the_shortest_spelling_wins_and_ties_go_by_text():
    assert column("1.0", "+1.").labels == ("+1.",)


def test_large_whole_numbers_are_told_apart_beyond_floating_point():
    assert column("9007199254740993", "9007199254740992").codes.tolist() == [1, 0]


def test_unused_values_of_a_dictionary_get_no_code():
    values = pa.DictionaryArray.from_arrays(pa.array([2, 0]), ["c", "b", "a"])
    coded = code_column("x", pa.chunked_array([values]))
    assert coded.labels == ("a", "c")
    assert coded.codes.tolist() == [0, 1]


def test_chunks_with_different_dictionaries_are_unified():
    chunks = [
        pa.array(["b", "a"]).dictionary_encode(),
        pa.array(["c"]).dictionary_encode(),
    ]
    coded = code_column("x", pa.chunked_array(chunks))
    assert coded.codes.tolist() == [1, 0, 2]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
def test_every_type_of_text_is_text(kind):
    assert column("b", "a", arrow_type=kind).labels == ("a", "b")


@pytest.mark.parametrize(
    ("cells", "kind", "labels"),
    [
        ([2, 10], Kind.INTEGER, ("2", "10")),
        ([1.5, 1.0], Kind.DECIMAL, ("1", "1.5")),
        (
            [decimal.Decimal("1.50"), decimal.Decimal("1.25")],
            Kind.DECIMAL,
            ("1.25", "1.50"),
        ),
        ([dt.date(2020, 1, 2)], Kind.DATE, ("2020-01-02",)),
        ([True, False], Kind.CATEGORY, ("false", "true")),
    ],
)
def test_typed_cells_have_the_kind_of_their_type_and_the_text_of_csv(
    cells, kind, labels
):
    coded = column(*cells)
    assert (coded.kind, coded.labels) == (kind, labels)


def test_a_typed_moment_is_a_datetime():
    coded = column(dt.datetime(1970, 1, 1, 0, 0, 1))
    assert (coded.kind, coded.numbers.tolist()) == (Kind.DATETIME, [1.0])


def test_a_number_that_is_none_is_missing():
    assert column(1.0, float("nan")).missing == 1


def test_an_ordered_dictionary_brings_its_order():
    values = pa.DictionaryArray.from_arrays(
        pa.array([1, 0]), ["low", "high"], ordered=True
    )
    coded = code_column("x", pa.chunked_array([values]))
    assert (coded.kind, coded.labels) == (Kind.ORDERED, ("low", "high"))


def test_ordered_values_follow_the_declared_order():
    coded = column("high", "low", kind=Kind.ORDERED, order=["low", "mid", "high"])
    assert coded.labels == ("low", "high")


def test_a_value_outside_the_order_is_counted_and_carried():
    with pytest.raises(DataError, match=r"2 of 3 cells have a value that is not") as e:
        column("x", "low", "x", kind=Kind.ORDERED, order=["low"])
    assert e.value.values == ("x",)
    assert "x'" not in e.value.message.replace("'x'", "", 1)


def test_ordered_without_an_order_is_an_error():
    with pytest.raises(DataError, match="ordered category without an order"):
        column("a", kind=Kind.ORDERED)


@pytest.mark.parametrize(
    ("kind", "cells", "article"),
    [
        (
            Kind.INTEGER,
            ["1", "secret", "secret", "1.5"],
            "3 of 4 cells are not an integer",
        ),
        (Kind.DECIMAL, ["1", "inf", "1e400", "2"], "2 of 4 cells are not a decimal"),
        (Kind.DATE, ["2020-01-01", "2020-02-30"], "1 of 2 cells are not a date"),
        (Kind.DATETIME, ["2020-01-01 10:00", "2020-01-01 25:00"], "1 of 2 cells"),
    ],
)
def test_a_kind_that_does_not_fit_counts_cells_and_hides_them(kind, cells, article):
    with pytest.raises(DataError, match=article) as error:
        column(*cells, kind=kind)
    assert set(error.value.values) < set(cells)
    assert not any(value in str(error.value) for value in ("secret", "inf", "25:00"))


def test_an_infinite_typed_number_is_an_error():
    with pytest.raises(DataError, match="1 of 2 cells are not a decimal"):
        column(1.0, float("inf"))


def test_a_nested_type_is_an_error_that_names_the_type():
    with pytest.raises(DataError, match="list<item: int64>, which cannot be written"):
        column([1], [2])


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "2"], Kind.INTEGER),
        (["0", "10", "-5"], Kind.INTEGER),
        (["1.5", "2"], Kind.DECIMAL),
        (["1e-3", "5"], Kind.DECIMAL),
        (["007", "123"], Kind.CODE),
        (["12345678901234567890"], Kind.CODE),
        (["E11.9", "I10"], Kind.CODE),
        (["SW1A", "EC2B"], Kind.CODE),
        (["0x1F", "2"], Kind.CATEGORY),
        (["1,5", "2"], Kind.CATEGORY),
        (["nan", "1"], Kind.CATEGORY),
        (["2020-01-31"], Kind.DATE),
        (["2020/1/5"], Kind.DATE),
        (["31/01/2020", "01/02/2020"], Kind.DATE),
        (["01/31/2020", "01/02/2020"], Kind.DATE),
        (["01.02.2020"], Kind.DATE),
        (["01/02/2020", "03/04/2020"], Kind.CATEGORY),
        (["01/02/20"], Kind.CATEGORY),
        (["2020-02-30"], Kind.CATEGORY),
        (["2020-01-31 10:00:00"], Kind.DATETIME),
        (["2020-01-31T10:00:00.5Z"], Kind.DATETIME),
        (["red", "blue"], Kind.CATEGORY),
        ([], Kind.CATEGORY),
    ],
)
def test_kinds_are_inferred_from_distinct_values(cells, kind):
    values = pa.chunked_array([pa.array(cells, pa.string())])
    assert infer_kind(values)[0] is kind


def test_day_first_dates_are_read_day_first():
    assert column("31/01/2020", "01/02/2020").codes.tolist() == [0, 1]


def test_month_first_dates_are_read_month_first():
    assert column("01/31/2020", "02/01/2020").numbers.tolist() == [18292, 18293]


def test_ambiguous_dates_say_so():
    values = pa.chunked_array([["01/02/2020", "03/04/2020"]])
    assert "day and month cannot be told apart" in infer_kind(values)[1]


def test_numbers_with_a_few_marks_say_so():
    values = pa.chunked_array([["1", "2", "3", "4", "N/A"]])
    assert "numbers but for 1 of 5 values" in infer_kind(values)[1]


def test_one_value_that_fails_late_is_still_seen():
    cells = [str(number) for number in range(3000)] + ["x"]
    assert column(*cells).kind is Kind.CATEGORY


@given(st.lists(st.one_of(st.none(), st.integers(-(10**17), 10**17)), max_size=30))
def test_codes_order_integers_as_python_does(numbers):
    cells = [None if number is None else str(number) for number in numbers]
    coded = column(*cells, kind=Kind.INTEGER, arrow_type=pa.string())
    known = sorted({number for number in numbers if number is not None})
    expected = [len(known) if n is None else known.index(n) for n in numbers]
    assert coded.codes.tolist() == expected


def test_an_integer_may_have_a_fraction_of_zeros():
    coded = column("65.0", "7", "65", "-3.00", kind=Kind.INTEGER)
    assert coded.numbers.tolist() == [-3, 7, 65]
    assert coded.codes.tolist() == [2, 1, 2, 0]


@pytest.mark.parametrize("text", ["65.5", "65.", "6.50e1", ".0", "65.0.0"])
def test_other_decimals_are_no_integers(text):
    with pytest.raises(DataError, match="1 of 2 cells are not an integer"):
        column("65.0", text, kind=Kind.INTEGER)


def test_whole_decimals_are_inferred_as_decimals():
    assert column("65.0", "7").kind is Kind.DECIMAL


@given(st.lists(st.text(max_size=5), max_size=30))
def test_codes_and_labels_give_texts_back(cells):
    assert shown(column(*cells, kind=Kind.CATEGORY, arrow_type=pa.string())) == cells


@pytest.mark.parametrize(
    "texts",
    [
        ("1", "1.00000000000000000001"),
        ("-1e-999", "0", "1e-999"),
        ("99999999999999999999999", "1e23"),
        ("2020-01-01 00:00:00.000000001", "2020-01-01 00:00:00.000000002"),
        ("2020-01-01 00:00:00.1234567890123", "2020-01-01 00:00:00.1234567890124"),
        ("1969-12-31 23:59:59.9999999", "1970-01-01 00:00:00"),
        ("9999-12-31 23:59:59.999998", "9999-12-31 23:59:59.999999"),
    ],
)
def test_values_that_a_float_confuses_keep_codes_of_their_own_in_order(texts):
    coded = column(*texts[::-1])
    assert coded.labels == texts
    assert coded.codes.tolist() == list(range(len(texts)))[::-1]


def test_one_number_in_several_spellings_is_one_value_also_beside_close_ones():
    coded = column("1", "1.0", "1.00000000000000000001", "1e0")
    assert coded.codes.tolist() == [0, 0, 1, 0]


def test_whole_numbers_of_64_bits_are_exact():
    values = pa.array([2**64 - 1, 2**64 - 2, 0], pa.uint64())
    coded = code_column("x", pa.chunked_array([values]))
    assert coded.labels == ("0", "18446744073709551614", "18446744073709551615")
    assert coded.codes.tolist() == [2, 1, 0]


def test_points_in_time_that_are_all_at_midnight_are_dates():
    days = pa.array([0, 86_400 * 10**9, None], pa.timestamp("ns"))
    coded = code_column("x", pa.chunked_array([days]))
    assert coded.kind is Kind.DATE
    assert coded.labels[:2] == ("1970-01-01", "1970-01-02")


def test_points_in_time_are_written_as_far_as_one_of_them_goes():
    moments = pa.array([0, 1_500_000_000], pa.timestamp("ns"))
    coded = code_column("x", pa.chunked_array([moments]))
    assert coded.kind is Kind.DATETIME
    assert coded.labels == ("1970-01-01 00:00:00.000", "1970-01-01 00:00:01.500")
