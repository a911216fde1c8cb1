"""Values that occur with the same other values become neighbors."""

from __future__ import annotations

import numpy as np

from sfumato.algorithms.partition.category_order import likeness_ranks


def ranks(*columns: list[int], weights: list[int] | None = None) -> list[list[int]]:
    coded = [np.array(column, dtype=np.int64) for column in columns]
    sizes = [max(column) + 1 for column in columns]
    weight = np.array(weights or [1] * len(columns[0]), dtype=np.int64)
    return [found.tolist() for found in likeness_ranks(coded, sizes, weight)]


def test_values_of_two_clear_kinds_of_rows_are_kept_apart() -> None:
    # 0 and 3 go with 0, 1 and 2 go with 1.
    first, _ = ranks([0, 3, 1, 2, 0, 3, 1, 2], [0, 0, 1, 1, 0, 0, 1, 1])
    assert {first[0], first[3]} in ({0, 1}, {2, 3})


def test_a_record_of_weight_two_is_two_records() -> None:
    twice = ranks([0, 0, 1, 2], [0, 0, 1, 1])
    assert ranks([0, 1, 2], [0, 1, 1], weights=[2, 1, 1]) == twice


def test_every_value_has_a_place_of_its_own() -> None:
    for found in ranks([0, 1, 2, 2, 1], [1, 1, 0, 0, 0], [0, 0, 0, 0, 0]):
        assert sorted(found) == list(range(len(found)))


def test_alike_values_keep_their_order() -> None:
    assert ranks([0, 1, 2])[0] == [0, 1, 2]
