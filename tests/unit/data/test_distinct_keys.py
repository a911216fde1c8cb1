"""Keys that are hashed: the same numbers and counts as sorting all of them gives."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.data.distinct_keys import (
    counted_keys,
    first_rows,
    numbered_keys,
    ranked_keys,
)


def random_keys(seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    values = random.integers(-(2**62), 2**62, random.integers(1, 40))
    return values[random.integers(0, len(values), random.integers(0, 200))]


@pytest.mark.parametrize("seed", range(20))
def test_keys_are_ranked_as_by_sorting(seed):
    keys = random_keys(seed)
    found, places = ranked_keys(keys)
    expected, inverse = np.unique(keys, return_inverse=True)
    assert found.tolist() == expected.tolist()
    assert places.tolist() == inverse.tolist()


@pytest.mark.parametrize("seed", range(20))
def test_keys_are_counted_as_by_sorting(seed):
    keys = random_keys(seed)
    found, counts = counted_keys(keys)
    expected, often = np.unique(keys, return_counts=True)
    assert found.tolist() == expected.tolist()
    assert counts.tolist() == often.tolist()


@pytest.mark.parametrize("seed", range(20))
def test_the_first_row_of_each_place_is_found(seed):
    found, places = ranked_keys(random_keys(seed))
    rows = places.tolist()
    expected = [rows.index(place) for place in range(len(found))]
    assert first_rows(places, len(found)).tolist() == expected


@pytest.mark.parametrize("seed", range(20))
def test_equal_keys_and_no_others_share_a_number(seed):
    keys = random_keys(seed)
    count, numbers = numbered_keys(keys)
    pairs = set(zip(keys.tolist(), numbers.tolist(), strict=True))
    assert len(pairs) == len(set(keys.tolist())) == count
    assert {number for _, number in pairs} == set(range(count))
