"""Special uniques: records that few of their columns single out (SUDA2).

A *minimal sample unique* of a record is a set of columns on which nobody shares its
values, while for each smaller set somebody does. A record with many, or with small ones,
is probably unusual in the population, too.

Method: sets of columns, from small to large. A record is unique on a set exactly where its
key occurs once; it is minimal where it was unique on none of the sets with one column less.
Records with equal values are counted once, as none of them is unique on any set.
Reference: Manning, Haglin and Keane 2008; scores of Elliot, Manning, Mayes, Gurd and
Bane 2005; DIS by Skinner and Elliot 2002.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Codes, Counts, Flags, Floats
from sfumato.data.published_cells import distinct_tuples

SCORINGS = ("elliot", "ihsn")
DENSE = 8
"""Keys are counted in place if there are at most this many per record."""

Progress = Callable[[str, float], None]


@dataclass(frozen=True, eq=False, kw_only=True)
class Suda:
    """The scores of all records, and what each column contributes."""

    score: Floats
    """Per record: the sum over its minimal sample uniques; 0 where it has none."""
    dis: Floats
    """Per record: the chance that a match with it is right (DIS-SUDA)."""
    shares: Floats
    """(records, columns): the part of a record's score from sets that hold a column."""
    contributions: Mapping[str, float]
    """Per column: the same for the whole table. They may add up to more than 1."""
    found: Counts
    """How many minimal sample uniques there are of each size, from size 1."""

    def summary(self) -> dict[str, Any]:
        """The figures of the whole table."""
        return {
            "special_uniques": int((self.score > 0).sum()),
            "highest_dis": float(self.dis.max(initial=0.0)),
            "mean_dis": float(self.dis.mean()) if len(self.dis) else 0.0,
            "minimal_sample_uniques": self.found.tolist(),
            "contributions": dict(self.contributions),
        }


def suda2(
    columns: Mapping[str, Codes],
    *,
    largest: int | None = None,
    fraction: float = 0.01,
    scoring: str = "elliot",
    progress: Progress | None = None,
) -> Suda:
    """Find the minimal sample uniques of coded columns, and score the records.

    `largest` is the most columns that a set may have (all, where left out), `fraction`
    the share of the population that was sampled. `scoring` gives a set of k of m columns
    the weight (m − k) · (m − k − 1) ⋯ down to the largest size ("elliot"), or
    (2^(m − k) − 1) / C(m, k) as the program of the IHSN does ("ihsn").
    """
    names, codes = tuple(columns), list(columns.values())
    rows = len(codes[0]) if codes else 0
    owner, tuples = distinct_tuples(codes, rows)
    sizes = np.bincount(owner, minlength=len(tuples))
    most = min(largest or len(names), len(names))
    search = _Search(tuples, sizes > 1, most, progress)
    weight = set_weights(len(names), most, scoring)
    score, parts = search.scores(weight)
    total = float(score.sum())
    shares = np.divide(
        parts, score[:, None], out=parts.copy(), where=score[:, None] > 0
    )
    dis = dis_scores(score, sizes, columns=len(names), fraction=fraction)
    summed = parts.sum(axis=0) / total if total > 0 else np.zeros(len(names))
    return Suda(
        score=score[owner],
        dis=dis[owner],
        shares=shares[owner],
        contributions=dict(zip(names, map(float, summed), strict=True)),
        found=search.found,
    )


def set_weights(columns: int, largest: int, scoring: str) -> Floats:
    """The weight of a minimal sample unique of each size, from size 1."""
    if scoring == "ihsn":
        weights = [
            (2.0 ** (columns - k) - 1.0) / math.comb(columns, k)
            for k in range(1, largest + 1)
        ]
    else:
        weights = [
            float(
                math.prod(columns - i for i in range(k, min(largest, columns - 1) + 1))
            )
            for k in range(1, largest + 1)
        ]
    return np.array(weights)


def dis_scores(
    score: Floats, sizes: Counts, *, columns: int, fraction: float
) -> Floats:
    """Share the file's chance of a right match (DIS) among records by their scores.

    The file's chance is π U / (π U + (1 − π) P), for U records that are unique and P
    records in pairs. Records get odds in proportion to score^q, q = 1 + (8 − columns) / 20,
    as in the program of the IHSN that sdcMicro uses.
    """
    unique = float((sizes == 1).sum())
    paired = 2.0 * float((sizes == 2).sum())
    risky = score > 0
    if not risky.any():
        return np.zeros(len(score))
    if paired == 0 or fraction >= 1.0:
        return risky.astype(np.float64)
    chance = unique * fraction / (unique * fraction + paired * (1.0 - fraction))
    powers = score[risky] ** (1.0 + (8.0 - columns) / 20.0)
    odds = powers * (1.0 / powers).sum() / (unique / chance - unique)
    found = np.zeros(len(score))
    found[risky] = odds / (1.0 + odds)
    return found


class _Search:
    """The sets of columns, from small to large, on distinct tuples."""

    def __init__(
        self,
        tuples: Codes,
        repeated: Flags,
        largest: int,
        progress: Progress | None,
    ) -> None:
        self.tuples, self.repeated, self.largest = tuples, repeated, largest
        self.progress = progress or _unwatched
        self.found = np.zeros(largest, dtype=np.int64)

    def scores(self, weight: Floats) -> tuple[Floats, Floats]:
        """The score of each tuple, and its parts by column."""
        score = np.zeros(len(self.tuples))
        parts = np.zeros((len(self.tuples), self.tuples.shape[1]))
        for chosen, rows in self._minimal():
            size = len(chosen) - 1
            self.found[size] += len(rows)
            score[rows] += weight[size]
            parts[rows[:, None], np.array(chosen)] += weight[size]
        return score, parts

    def _minimal(self) -> Iterator[tuple[tuple[int, ...], npt.NDArray[np.int64]]]:
        """Sets of columns, and the tuples whose minimal sample unique each is."""
        columns = range(self.tuples.shape[1])
        sets = sum(math.comb(len(columns), k) for k in range(1, self.largest + 1))
        below: dict[tuple[int, ...], npt.NDArray[np.uint8]] = {}
        done = 0
        for size in range(1, self.largest + 1):
            level: dict[tuple[int, ...], npt.NDArray[np.uint8]] = {}
            for chosen in combinations(columns, size):
                before = self._before(chosen, below)
                unique = before.copy()
                if not before[~self.repeated].all():
                    unique |= self._unique(chosen)
                    yield chosen, np.flatnonzero(unique & ~before)
                level[chosen] = np.packbits(unique)
                done += 1
                self.progress("special uniques", done / sets)
            below = level

    def _before(
        self, chosen: tuple[int, ...], below: Mapping[Any, npt.NDArray[np.uint8]]
    ) -> Flags:
        """Which tuples are unique on some set with one column less."""
        smaller = [s for s in combinations(chosen, len(chosen) - 1) if s in below]
        packed = np.zeros((len(self.tuples) + 7) // 8, dtype=np.uint8)
        for each in smaller:
            packed |= below[each]
        return np.unpackbits(packed, count=len(self.tuples)).astype(np.bool_)

    def _unique(self, chosen: tuple[int, ...]) -> Flags:
        """Which tuples have values in these columns that no other record has."""
        key, number = packed_columns([self.tuples[:, c] for c in chosen])
        if number <= DENSE * len(key):
            counts = np.bincount(key, minlength=number)
            once: Flags = counts[key] == 1
            return once & ~self.repeated
        _, inverse, counts = np.unique(key, return_inverse=True, return_counts=True)
        alone: Flags = counts[inverse] == 1
        return alone & ~self.repeated


def packed_columns(columns: Sequence[Codes]) -> tuple[Counts, int]:
    """One number per record that is equal where all columns are, and the largest + 1."""
    key = np.zeros(len(columns[0]), dtype=np.int64)
    number = 1
    for codes in columns:
        size = int(codes.max(initial=0)) + 1
        if number * size >= 2**62:
            distinct, key = np.unique(key, return_inverse=True)
            number = len(distinct)
        key = key * size + codes
        number *= size
    return key, number


def _unwatched(_step: str, _share: float) -> None:
    """Ignore progress."""
