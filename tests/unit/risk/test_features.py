"""Original and published rows in one space of features."""

from __future__ import annotations

import numpy as np

from sfumato.risk.learned.features import FeatureSpace
from tests.unit.metrics.pairs import pair_of

ORIGINAL = {"age": ["20", "20", "40", "60"], "city": ["a", "a", "b", "c"]}
ROWS = np.arange(4)


def space(published, original=ORIGINAL):
    pair = pair_of(original, published, quasi=["age", "city"])
    return FeatureSpace.of(pair, pair.quasi)


def test_an_exact_copy_has_the_features_of_the_original():
    here = space(ORIGINAL)
    assert np.array_equal(here.of_original(ROWS), here.of_published(ROWS))


def test_numbers_are_in_standard_deviations():
    (numbers,) = space(ORIGINAL).of_original(ROWS)[:, :1].T
    assert numbers.mean() == 0.0
    assert abs(numbers.std() - 1.0) < 1e-12


def test_an_interval_has_the_number_in_its_middle():
    here = space({"age": ["[20, 60]"] * 4, "city": ORIGINAL["city"]})
    forty = here.of_original(ROWS)[2, 0]
    assert here.of_published(ROWS)[:, 0].tolist() == [forty] * 4


def test_a_set_is_shared_by_its_values():
    here = space({"age": ORIGINAL["age"], "city": ["a", "{b|c}", "{a|c}", "*"]})
    shown = here.of_published(ROWS)[:, 1:]
    assert shown[0].tolist() == [1, 0, 0]
    assert shown[1].tolist() == [0, 0.5, 0.5]
    assert shown[2].tolist() == [0.5, 0, 0.5]
    assert np.allclose(shown[3], 1 / 3)


def test_rare_values_share_a_feature():
    cities = [str(i) for i in range(60)]
    original = {"age": ["1"] * 60, "city": cities}
    pair = pair_of(
        original,
        original,
        quasi=["age", "city"],
        sections={"city": {"kind": "category"}},
    )
    here = FeatureSpace.of(pair, ["city"])
    assert here.of_original(np.arange(60)).shape == (60, 41)
    assert here.owner.tolist() == [0] * 41
