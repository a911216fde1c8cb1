"""Draw samples and coins for a privacy guarantee from a cryptographic source."""

from __future__ import annotations

from math import floor

import numpy as np
import numpy.typing as npt

from sfumato.data.seeds import Seed

WORDS = 2**64


def coins(probabilities: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Draw one independent coin per probability; never likelier than stated."""
    limits = np.floor(np.clip(probabilities, 0.0, 1.0) * 2.0**53).astype(np.uint64)
    drawn = Seed.fresh().words(len(probabilities)) >> np.uint64(11)
    heads: npt.NDArray[np.bool_] = drawn < limits
    return heads


def poisson(rows: int, rate: float) -> npt.NDArray[np.int64]:
    """The rows of a Poisson sample, ascending: each is in it with probability `rate`."""
    if rate >= 1:
        return np.arange(rows)
    limit = np.uint64(floor(rate * WORDS))
    return np.flatnonzero(Seed.fresh().words(rows) < limit)


def without_replacement(rows: int, size: int) -> npt.NDArray[np.int64]:
    """A uniformly random set of `size` rows, ascending."""
    return np.sort(Seed.fresh().permutation(rows)[:size])


def capped(subject: npt.NDArray[np.int32], most: int) -> npt.NDArray[np.int64]:
    """Up to `most` rows of every subject, ascending.

    Which rows of a subject stay is drawn from that subject's rows alone, so that two
    tables which differ in one subject differ in at most `most` rows afterwards.
    """
    order = np.lexsort((Seed.fresh().words(len(subject)), subject))
    ordered = subject[order]
    first = np.searchsorted(ordered, ordered, side="left")
    return np.sort(order[np.arange(len(subject)) - first < most])
