"""Number and count the distinct keys of many rows.

Keys are hashed by Arrow, and only the distinct ones are sorted: several times as fast as
sorting all rows, where rows share keys.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sfumato.data.arrays import Codes, Counts, Ints


def ranked_keys(keys: Ints) -> tuple[Ints, Ints]:
    """The distinct keys, ascending, and the place of each row's key among them."""
    found, places = _hashed(keys)
    order = np.argsort(found)
    rank = np.empty(len(found), dtype=np.int64)
    rank[order] = np.arange(len(found))
    return found[order], rank[places]


def counted_keys(keys: Ints) -> tuple[Ints, Counts]:
    """The distinct keys, ascending, and how many rows have each."""
    found, places = _hashed(keys)
    order = np.argsort(found)
    return found[order], np.bincount(places, minlength=len(found))[order]


def first_rows(places: Ints, number: int) -> Ints:
    """The first row at each of a number of places; every place has a row."""
    first = np.empty(number, dtype=np.int64)
    # Of several rows with one place, the last one that is written stays.
    first[places[::-1]] = np.arange(len(places) - 1, -1, -1)
    return first


def _hashed(keys: Ints) -> tuple[Ints, Codes]:
    """The distinct keys in any order, and the place of each row's key."""
    encoded = pa.array(np.ascontiguousarray(keys)).dictionary_encode()
    return encoded.dictionary.to_numpy(), encoded.indices.to_numpy()
