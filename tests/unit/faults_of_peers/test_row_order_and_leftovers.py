"""Other tools add a row number, keep the source's order, or lose leftover rows."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pandas as pd
import pytest

import sfumato as sf
from sfumato.data.seeds import Seed
from sfumato.testing.cell_reference import members

ROWS = 203


def people() -> pd.DataFrame:
    """Sensitive values tell the row; the index of the frame does so too."""
    return pd.DataFrame(
        {
            "age": [18 + i * 7919 % 60 for i in range(ROWS)],
            "town": [f"town {i * 5 % 13:02d}" for i in range(ROWS)],
            "illness": [f"illness {i}" for i in range(ROWS)],
        },
        index=[f"person {i}" for i in range(ROWS)],
    )


def release_of(frame: pd.DataFrame, **settings):
    asked = {"quasi": ["age", "town"], "sensitive": ["illness"], "k": 5}
    return sf.anonymize(frame, **(asked | settings), seed=Seed.guessable(7))


def test_the_published_columns_are_those_of_the_source():
    assert list(release_of(people()).data.columns) == ["age", "town", "illness"]


def test_the_index_of_the_source_is_not_published():
    assert list(release_of(people()).data.index) == list(range(ROWS))


def test_rows_leave_in_another_order():
    order = [int(text.split()[1]) for text in release_of(people()).data["illness"]]
    followers = sum(b == a + 1 for a, b in pairwise(order))
    # In a random order about one row follows its neighbor; ten do so in one of 10^7.
    assert followers < 10


def test_groups_do_not_leave_one_after_the_other():
    published = release_of(people()).data
    tuples = list(published[["age", "town"]].itertuples(index=False, name=None))
    changes = sum(a != b for a, b in pairwise(tuples))
    assert changes > 3 * len(set(tuples))


@pytest.mark.parametrize("k", [2, 5, 50, 101, 102, 203])
def test_no_row_is_lost_when_k_does_not_divide_the_table(k):
    published = release_of(people(), k=k, max_loss=1).data
    assert Counter(published["illness"]) == Counter(people()["illness"])


def test_rows_left_out_are_counted_and_within_the_limit():
    release = release_of(people(), k=10, max_suppressed=0.05)
    counts = release.manifest
    assert counts["rows_in"] == ROWS
    assert counts["rows_in"] - counts["rows_out"] == counts["rows_suppressed"]
    assert counts["rows_suppressed"] <= 0.05 * ROWS
    assert len(release.data) == counts["rows_out"]


def test_sets_print_in_a_fixed_order_whatever_the_order_of_rows():
    shuffled = people().sample(frac=1, random_state=5)
    first, second = (release_of(f).data["town"] for f in (people(), shuffled))
    assert Counter(first) == Counter(second)
    sets = {cell for cell in first if cell.startswith("{")}
    assert sets
    assert all(members(cell) == sorted(members(cell)) for cell in sets)


def test_one_seed_gives_one_table():
    first, second = release_of(people()).data, release_of(people()).data
    pd.testing.assert_frame_equal(first, second)
