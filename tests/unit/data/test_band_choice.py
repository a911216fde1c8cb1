"""Bands and tails are chosen so that k people hold each published value."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.data.coding import code_column
from sfumato.data.profiling.band_choice import MOST_IN_TAILS, BandCoding, codings
from sfumato.data.schema import Kind
from sfumato.hierarchies.intervals import interval_levels

K = 5


def column_of(values, kind=Kind.INTEGER):
    return code_column("x", pa.chunked_array([values]), kind=kind)


def shown(column, coding):
    """What a hierarchy of the same widths and tails shows on its first level."""
    levels = interval_levels(
        column,
        [int(coding.bands) if column.kind is Kind.INTEGER else coding.bands],
        bottom=coding.bottom,
        top=coding.top,
    )
    level = levels.inner_levels[0]
    return [level.labels[level.nodes[code]] for code in column.codes]


def finest(values, kind=Kind.INTEGER, persons=None):
    return next(codings(column_of(values, kind), persons, k=K), None)


def test_a_long_tail_is_coded_and_the_rest_stays_exact():
    visits = [0] * 60 + [1] * 20 + [2] * 10 + [3, 4, 5, 9, 51]
    assert finest(visits).coding == BandCoding(top=3)


def test_a_long_tail_below_ends_with_its_highest_value():
    visits = [-51, -9, -7, -4, -3, *[-2] * 10, *[-1] * 20, *[0] * 60]
    assert finest(visits).coding == BandCoding(bottom=-3)


def test_scattered_values_are_put_into_round_bands():
    limits = [10_000 * (1 + row % 60) + 7 * (row % 3) for row in range(240)]
    assert finest(limits).coding == BandCoding(bands=20_000, bottom=39_999, top=580_000)


def test_values_that_enough_rows_hold_stay_exact_only_if_enough_persons_do():
    values = [1] * 10 + [2] * 10
    persons = np.array([row if row < 10 else 10 for row in range(20)])
    assert finest(values).coding == BandCoding()
    assert finest(values, persons=persons) is None


def test_a_long_tail_is_better_than_no_column():
    limits = [50_000] * 90 + [200_000] * 10 + [780_000, 1_000_000]
    assert finest(limits).coding == BandCoding(top=200_000)


def test_a_column_of_few_rows_has_no_bands():
    assert finest([1, 2, 3, 4]) is None


@pytest.mark.parametrize("values", [[], [None, None]])
def test_a_column_without_numbers_has_no_bands(values):
    assert finest(pa.array(values, pa.int64())) is None


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(-300, 300), min_size=20, max_size=120),
    st.sampled_from([1, 10, 100]),
)
def test_every_published_value_has_k_rows_as_intervals_show_it(values, scale):
    numbers = [value / scale for value in values] if scale > 1 else values
    kind = Kind.DECIMAL if scale > 1 else Kind.INTEGER
    column = column_of(numbers, kind)
    for coded in codings(column, None, k=K):
        counts = Counter(coded.codes.tolist())
        assert min(counts.values()) >= K
        assert len(counts) >= 2
        if coded.coding.bands is None:
            continue
        labels = shown(column, coded.coding)
        assert Counter(counts.values()) == Counter(Counter(labels).values())


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 200), min_size=20, max_size=120))
def test_tails_hold_few_rows(values):
    for coded in codings(column_of(values), None, k=K):
        top, bottom = coded.coding.top, coded.coding.bottom
        beyond = sum(
            (top is not None and value >= top)
            or (bottom is not None and value <= bottom)
            for value in values
        )
        assert beyond <= MOST_IN_TAILS[-1] * len(values)
