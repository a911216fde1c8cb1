"""Bands of columns that are no quasi-identifiers: texts, order, and what is exact."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data.schema import Kind
from sfumato.errors import DataError, HierarchyError
from sfumato.hierarchies.bands import Bands, banded_column, exact_values, in_order
from sfumato.hierarchies.labels import parse_exact, parse_span


def coded(cells, bands, **settings):
    return banded_column("cost", pa.chunked_array([pa.array(cells)]), bands, **settings)


def exact(cells, bands, **settings):
    return exact_values("cost", pa.array(cells), bands, **settings).tolist()


def test_whole_numbers_show_closed_intervals_and_tails():
    found = coded([1, 2500, None, -3, 60_000], Bands(width=1000, bottom=0, top=50_000))
    assert found.cells.to_pylist() == [
        "[1, 999]",
        "[2000, 2999]",
        None,
        "<= 0",
        ">= 50000",
    ]
    assert found.order == ("<= 0", "[1, 999]", "[2000, 2999]", ">= 50000")


def test_decimals_show_half_open_intervals():
    found = coded([0.0, 999.99, -0.01], Bands(width=1000, bottom=0))
    assert found.cells.to_pylist() == ["[0, 1000)", "[0, 1000)", "< 0"]


def test_dates_show_bands_of_days():
    found = coded(["2020-01-05", "2021-01-05"], Bands(width=30, top="2021-01-01"))
    assert found.cells.to_pylist() == ["[2019-12-10, 2020-01-08]", ">= 2021-01-01"]


def test_tails_alone_leave_the_other_values_exact():
    found = coded(["5", "70000", "-1", "5"], Bands(bottom=0, top=50_000))
    assert found.cells.to_pylist() == ["5", ">= 50000", "<= 0", "5"]


def test_marks_of_missing_values_stay_as_they_are():
    found = coded(
        ["5", "NA", ""], Bands(width=10), missing=("NA", ""), kind=Kind.INTEGER
    )
    assert found.cells.to_pylist() == ["[0, 9]", "NA", ""]
    assert found.order == ("[0, 9]",)


def test_a_column_without_values_stays_missing():
    assert coded(pa.nulls(2, pa.string()), Bands(width=10)).cells.to_pylist() == [
        None,
        None,
    ]


def test_values_of_a_dictionary_that_no_cell_has_do_not_matter():
    cells = pa.array(["5", "word"]).dictionary_encode().slice(0, 1)
    assert coded(cells, Bands(width=10)).cells.to_pylist() == ["[0, 9]"]


def test_words_are_refused_without_being_shown():
    with pytest.raises(HierarchyError, match="'cost' has kind 'category'") as caught:
        coded(["secret", "words"], Bands(width=10))
    assert "secret" not in str(caught.value)


def test_intervals_with_other_ends_are_refused():
    with pytest.raises(DataError, match="1 of 2 values are intervals with other ends"):
        coded(["[0, 99]", "5"], Bands(width=1000))


PUBLISHED = ("", "[0, 999]", ">= 5000")
LEAKS = (
    "[0, 99]",
    "5",
    "[5, 5]",
    ">= 4999",
    "*",
    "[4000, 9999]",
    "[2020-01-01, 2020-01-02]",
)


@pytest.mark.parametrize("cell", PUBLISHED + LEAKS)
def test_only_bands_and_missing_cells_are_no_exact_values(cell):
    cells = [cell, "[1000, 1999]", "[2000, 2999]"]
    assert exact(cells, Bands(width=1000, top=5000), missing=("",)) == [
        cell in LEAKS,
        False,
        False,
    ]


def test_beyond_a_tail_a_number_is_an_exact_value():
    cells = ["49999", "50000", ">= 50000", "-5", "<= 0", "0"]
    assert exact(cells, Bands(bottom=0, top=50_000)) == [
        False,
        True,
        False,
        True,
        False,
        True,
    ]


def test_a_band_that_begins_at_a_missing_mark_is_a_band():
    assert exact(["[0, 999]", "0"], Bands(width=1000), missing=("0",)) == [False, False]


def test_words_beside_bands_are_exact_values():
    assert exact(["secret", "[0, 9]"], Bands(width=10)) == [True, False]


def test_published_texts_are_put_in_order():
    texts = ["[10, 19]", ">= 100", "7", "<= 0", "[2, 9]", None, ""]
    assert in_order("cost", pa.array(texts), ("",)) == (
        "<= 0",
        "[2, 9]",
        "7",
        "[10, 19]",
        ">= 100",
    )


NUMBERS = st.integers(-(10**6), 10**6) | st.decimals(-1000, 1000, places=2)
WIDTHS = st.none() | st.sampled_from([2, 5, 1000])


def test_tails_tell_decimals_that_are_all_whole():
    published = ["0", "< 0"]
    again = coded(published, Bands(bottom=0, top=1))
    assert again.cells.to_pylist() == published


@given(
    st.lists(st.none() | NUMBERS, min_size=1, max_size=30),
    WIDTHS,
    st.integers(-100, 0),
    st.integers(1, 100),
)
def test_every_band_covers_its_value_and_coding_again_changes_nothing(
    numbers, width, bottom, top
):
    bands = Bands(width=width, bottom=bottom, top=top)
    texts = [None if number is None else str(number) for number in numbers]
    column = coded(pa.array(texts, pa.string()), bands)
    shown = column.cells.to_pylist()
    for text, cell in zip(texts, shown, strict=True):
        assert (text is None) == (cell is None)
        assert cell is None or _covers(cell, text)
    # Decimals that are all whole look like integers, of which tails are others.
    decimal = any("." in text for text in texts if text is not None)
    kind = Kind.DECIMAL if decimal else Kind.INTEGER
    again = coded(pa.array(shown, pa.string()), bands, kind=kind)
    assert again.cells.to_pylist() == shown
    assert again.order == column.order
    values = pa.array(shown, pa.string()).unique()
    assert not np.any(exact_values("cost", values, bands))
    assert in_order("cost", values) == column.order


def _covers(cell, text):
    value = parse_exact(text, kind=Kind.DECIMAL)
    span = parse_span(cell, kind=Kind.DECIMAL)
    if span is None:
        return parse_exact(cell, kind=Kind.DECIMAL) == value
    low = span.low is None or span.low <= value
    return low and (
        span.high is None or value < span.high or (span.high_in and value == span.high)
    )
