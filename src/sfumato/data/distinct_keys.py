"""Number and count the distinct keys of many rows.

Keys are hashed by Arrow, and only the distinct ones are sorted: several times as fast as
sorting all rows, where rows share keys. Where a sample says that few do, all are sorted.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import pyarrow as pa

from sfumato.data.arrays import Codes, Counts, Ints, Words

Keys = TypeVar("Keys", Ints, Words)

SAMPLE = 1 << 13
"""Keys that are looked at to guess how many are distinct."""
OFTEN = 8
"""Keys are hashed if a key seems to have so many rows, on average."""


def ranked_keys(keys: Keys) -> tuple[Keys, Ints]:
    """The distinct keys, ascending, and the place of each row's key among them."""
    found, places = _hashed(keys)
    order = np.argsort(found)
    rank = np.empty(len(found), dtype=np.int64)
    rank[order] = np.arange(len(found))
    return found[order], rank[places]


def numbered_keys(keys: Keys) -> tuple[int, Codes]:
    """How many distinct keys there are, and a number for each row's key, in any order."""
    found, places = _hashed(keys)
    return len(found), places


def counted_keys(keys: Ints) -> tuple[Ints, Counts]:
    """The distinct keys, ascending, and how many rows have each."""
    if not repeat(keys):
        ordered = np.sort(keys)
        first = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
        return ordered[first], np.diff(np.append(first, len(ordered)))
    found, places = _hashed(keys)
    order = np.argsort(found)
    return found[order], np.bincount(places, minlength=len(found))[order]


def first_rows(places: Codes | Ints, number: int) -> Ints:
    """The first row at each of a number of places; every place has a row."""
    first = np.empty(number, dtype=np.int64)
    # Of several rows with one place, the last one that is written stays.
    first[places[::-1]] = np.arange(len(places) - 1, -1, -1)
    return first


def repeat(keys: Ints) -> bool:
    """Whether keys seem to have many rows each; a guess, which decides speed alone."""
    if len(keys) <= SAMPLE:
        return True
    sample = keys[:: len(keys) // SAMPLE]
    pairs = len(sample) - len(np.unique(sample))
    # Of n keys drawn from d equally frequent ones, about n²/2d repeat an earlier one.
    return pairs * 2 * len(keys) > OFTEN * len(sample) ** 2


def _hashed(keys: Keys) -> tuple[Keys, Codes]:
    """The distinct keys in any order, and the place of each row's key."""
    encoded = pa.array(np.ascontiguousarray(keys)).dictionary_encode()
    return encoded.dictionary.to_numpy(), encoded.indices.to_numpy()
