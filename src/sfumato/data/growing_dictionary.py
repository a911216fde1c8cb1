"""Number the values of a column that is seen in parts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sfumato.data.arrays import Codes, Counts


@dataclass(eq=False)
class GrowingDictionary:
    """The values seen so far, in the order in which they first came.

    Nulls get the place −1; a number that is not a number (NaN) is a value.
    """

    kind: Any
    """The Arrow type of the values."""
    counts: Counts = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """How many cells had each value."""
    nulls: int = 0
    """How many cells had none."""
    _parts: list[Any] = field(default_factory=list)
    _known: Any = None
    _last: tuple[Any, Codes] | None = None
    """The dictionary of the last cells, and the places of its values."""

    @property
    def values(self) -> Any:
        """The values as one Arrow array."""
        if self._known is None or len(self._parts) != 1:
            self._known = pa.concat_arrays(self._parts or [pa.array([], self.kind)])
            self._parts = [self._known]
        return self._known

    def add(self, cells: Any) -> Codes:
        """Take further cells in; return the place of each one's value."""
        encoded = cells.dictionary_encode()
        place_of = self._places(encoded.dictionary)
        indices = encoded.indices
        gone = indices.null_count
        local = np.asarray(
            indices.fill_null(len(place_of)).to_numpy(zero_copy_only=False)
        )
        places: Codes = np.append(place_of, np.int32(-1))[local]
        here = places[places >= 0] if gone else places
        self.counts = self.counts + np.bincount(here, minlength=len(self.counts))
        self.nulls += gone
        return places

    def _places(self, values: Any) -> Codes:
        """Find the places of distinct values; new ones get the next places."""
        if self._last is not None and _same_memory(self._last[0], values):
            return self._last[1]
        places = self._found(values)
        self._last = values, places
        return places

    def _found(self, values: Any) -> Codes:
        found = pc.index_in(values, value_set=self.values)
        fresh = np.asarray(found.is_null().to_numpy(zero_copy_only=False))
        places = np.asarray(
            found.fill_null(0).to_numpy(zero_copy_only=False), dtype=np.int32
        )
        if fresh.any():
            first, new = len(self.values), int(fresh.sum())
            places = places.copy()
            places[fresh] = np.arange(first, first + new, dtype=np.int32)
            self._parts.append(values.filter(pa.array(fresh)))
            self.counts = np.append(self.counts, np.zeros(new, dtype=np.int64))
        return places


def _same_memory(one: Any, other: Any) -> bool:
    """Whether two arrays are the same cells of memory, as parts of a column share them."""
    return _place(one) == _place(other)


def _place(values: Any) -> tuple[Any, ...]:
    parts = [None if part is None else part.address for part in values.buffers()]
    return (len(values), values.offset, *parts)
