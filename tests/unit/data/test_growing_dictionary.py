"""Values that are numbered part by part."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sfumato.data.growing_dictionary import GrowingDictionary


def test_places_are_given_in_the_order_of_first_sight():
    known = GrowingDictionary(pa.string())
    assert known.add(pa.array(["b", None, "a"])).tolist() == [0, -1, 1]
    assert known.add(pa.array(["c", "a"])).tolist() == [2, 1]
    assert known.values.to_pylist() == ["b", "a", "c"]
    assert known.counts.tolist() == [1, 2, 1]
    assert known.nulls == 1


def test_parts_that_share_a_dictionary_get_the_same_places():
    column = pa.array(["x", "y", "x", None, "y", "z"]).dictionary_encode()
    known = GrowingDictionary(pa.string())
    parts = [known.add(column.slice(at, 2)).tolist() for at in (0, 2, 4)]
    assert parts == [[0, 1], [0, -1], [1, 2]]
    assert known.counts.tolist() == [2, 2, 1]


def test_a_dictionary_of_the_same_length_is_not_taken_for_the_last_one():
    known = GrowingDictionary(pa.string())
    for first, second in (("x", "y"), ("y", "x"), ("x", "z")):
        indices = pa.array(np.array([0, 1], dtype=np.int32))
        known.add(pa.DictionaryArray.from_arrays(indices, pa.array([first, second])))
    assert dict(zip(known.values.to_pylist(), known.counts.tolist(), strict=True)) == {
        "x": 3,
        "y": 2,
        "z": 1,
    }


def test_a_part_of_a_dictionary_is_not_taken_for_the_whole():
    whole = pa.array(["x", "y", "z"])
    known, places = GrowingDictionary(pa.string()), pa.array([0, 1], pa.int32())
    known.add(pa.DictionaryArray.from_arrays(places, whole.slice(0, 2)))
    found = known.add(pa.DictionaryArray.from_arrays(places, whole.slice(1, 2)))
    assert [known.values[int(place)].as_py() for place in found] == ["y", "z"]
