"""The quick grouping keeps k rows together, and counts what exact columns single out."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from sfumato.data.coding import code_column
from sfumato.data.profiling.quick_grouping import SAMPLE, quick_groups
from sfumato.data.schema import Kind

ROWS = 3_000


def integers(name, values):
    return code_column(name, pa.chunked_array([values]), kind=Kind.INTEGER)


def random_columns(rows, seed=1):
    draw = np.random.default_rng(seed)
    return [integers(f"q{at}", draw.integers(0, 50, rows)) for at in range(4)]


@pytest.mark.parametrize("k", [2, 5, 20])
def test_every_group_has_k_rows(k):
    groups = quick_groups(random_columns(ROWS), ROWS, k=k)
    sizes = np.bincount(groups.group_of)
    assert sizes.min() >= k
    assert sorted(groups.rows.tolist()) == list(range(ROWS))


def test_random_columns_of_two_values_make_few_rows_unique():
    """One of them makes 3 to 13% unique, as in groups of 5 to 9 rows."""
    draw = np.random.default_rng(2)
    groups = quick_groups(random_columns(ROWS), ROWS, k=5)
    for share in (0.5, 0.7, 0.9):
        bits = (draw.random(ROWS) < share).astype(np.int64)
        assert 0.01 < groups.made_unique([bits]) < 0.2


def test_groups_count_as_if_they_had_k_rows():
    """Of 7 rows, 3 are alike: one of them is alone among 5 with chance C(4,4)/C(6,4)."""
    groups = quick_groups([], 7, k=5)
    share = groups.made_unique([np.array([0, 0, 0, 1, 1, 1, 1])])
    assert share == pytest.approx(3 / 7 / 15)
    assert groups.made_unique([np.arange(7)]) == pytest.approx(1.0)


def test_a_column_of_many_values_makes_most_rows_unique():
    draw = np.random.default_rng(2)
    groups = quick_groups(random_columns(ROWS), ROWS, k=5)
    assert groups.made_unique([draw.integers(0, 80, ROWS)]) > 0.8


def test_a_large_table_is_sampled_by_boxes_and_gives_the_same_share():
    """A sample of 4,000 of 60,000 rows by rows would see half the share unique."""
    rows = 60_000
    columns = random_columns(rows)
    values = np.random.default_rng(3).integers(0, 8, rows)
    groups = quick_groups(columns, rows, k=5)
    assert len(groups.rows) < 3 * SAMPLE
    assert groups.stands_for.sum() == pytest.approx(rows)
    part = quick_groups(
        [integers(c.name, c.codes[:SAMPLE]) for c in columns], SAMPLE, k=5
    )
    expected = part.made_unique([values])
    assert groups.made_unique([values]) == pytest.approx(expected, abs=0.05)


def test_large_groups_without_a_cut_count_by_all_their_rows():
    rows = 60_000
    sex = integers("sex", np.arange(rows) % 2)
    values = np.random.default_rng(3).integers(0, 1_000, rows)
    groups = quick_groups([sex], rows, k=5)
    assert len(groups.rows) == rows
    assert groups.made_unique([values]) == 0.0


def test_without_quasi_identifiers_all_rows_are_one_group():
    groups = quick_groups([], 100, k=5)
    assert groups.group_of.tolist() == [0] * 100
