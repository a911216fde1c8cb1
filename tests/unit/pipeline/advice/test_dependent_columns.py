"""How well a column tells another, against guessing row by row."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.pipeline.advice.dependent_columns import (
    dependence_edits,
    dependences,
    score,
)


def guessed(first: list[int], second: list[int]) -> float:
    """The share of wrong guesses that a column puts right, guess by guess."""
    overall = Counter(second)
    most = max(overall.values())
    commonest = min(value for value, count in overall.items() if count == most)
    wrong = len(second) - most
    if wrong == 0:
        return 0.0
    right = 0
    for row, (key, value) in enumerate(zip(first, second, strict=True)):
        others = Counter(
            s
            for at, (f, s) in enumerate(zip(first, second, strict=True))
            if f == key and at != row
        )
        if not others:
            right += value == commonest
            continue
        top = max(others.values())
        # A tie is no guess.
        right += [v for v, c in others.items() if c == top] == [value]
    return max(0.0, 1 - (len(second) - right) / wrong)


pairs = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=24
)


@given(pairs)
def test_the_score_is_that_of_guessing_row_by_row(rows):
    first, second = map(list, zip(*rows, strict=True))
    found = score(np.array(first, dtype=np.int64), np.array(second, dtype=np.int64))
    assert found == pytest.approx(guessed(first, second))


def test_a_column_of_unique_values_tells_nothing():
    unique = np.arange(100, dtype=np.int64)
    assert score(unique, unique % 7) == 0.0


def towns() -> pa.Table:
    """40 rows: zip tells city, and the reverse does not hold; job is about neither."""
    zips = [f"{10 + row % 8}" for row in range(40)]
    return pa.table(
        {
            "zip": zips,
            "city": ["ABCD"[int(z) % 4] for z in zips],
            "job": [f"{(row * row) % 5}" for row in range(40)],
            "area": [f"area {z}" for z in zips],
        }
    )


def policy(**roles: list[str]) -> sf.Policy:
    return sf.Policy.build(columns=["zip", "city", "job", "area"], k=2, **roles)


def test_a_city_beside_a_zip_is_found():
    asked = policy(quasi=["zip", "job"], insensitive=["city"], drop=["area"])
    found = dependences(asked, towns())
    assert [(each["column"], each["tells"]) for each in found] == [("zip", "city")]
    (edit,) = dependence_edits(asked, found)
    assert edit.settings == {"columns.city.role": "quasi"}
    assert edit.reason.startswith("'zip' determines 'city' (100.0% of guesses")


def test_an_insensitive_column_that_tells_a_quasi_identifier_is_found():
    asked = policy(quasi=["zip", "job"], insensitive=["area"], drop=["city"])
    texts = [edit.text for edit in dependence_edits(asked, dependences(asked, towns()))]
    assert texts == ["Make 'area' a quasi-identifier."]


def test_a_sensitive_column_that_tells_a_quasi_identifier_is_to_be_left_out():
    asked = policy(quasi=["zip", "job"], sensitive=["area"], drop=["city"])
    texts = [edit.text for edit in dependence_edits(asked, dependences(asked, towns()))]
    assert texts == ["Leave out 'area'."]


def test_two_columns_that_tell_each_other_are_one_redundant_pair():
    asked = policy(quasi=["zip", "area"], drop=["city", "job"])
    (edit,) = dependence_edits(asked, dependences(asked, towns()))
    assert edit.facts["pair"] == ["area", "zip"]
    assert "the pair is redundant" in edit.reason
