"""Line up categories so that those that go with the same other values are neighbors.

Reciprocal averaging (the first axis of a multiple correspondence analysis): a record's
score is the mean score of its values, a value's score the mean of its records; what
is left after removing the mean and the scale, over and over, is the main direction in
which records differ.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

ROUNDS = 30
DECIMALS = 9

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def likeness_ranks(
    columns: Sequence[npt.NDArray[np.integer]], sizes: Sequence[int], weights: Ints
) -> list[Ints]:
    """The place of each value of each column in the line; ties keep their order."""
    totals = [
        np.bincount(codes, weights=weights, minlength=size)
        for codes, size in zip(columns, sizes, strict=True)
    ]
    scores = [np.linspace(-1.0, 1.0, size) for size in sizes]
    for _ in range(ROUNDS):
        records = _standard(_mean_of_values(columns, scores), weights)
        scores = [
            _mean_of_records(codes, records * weights, total)
            for codes, total in zip(columns, totals, strict=True)
        ]
    return [_ranks(np.round(score, DECIMALS)) for score in scores]


def _mean_of_values(
    columns: Sequence[npt.NDArray[np.integer]], scores: Sequence[Floats]
) -> Floats:
    total = np.zeros(len(columns[0]))
    for codes, score in zip(columns, scores, strict=True):
        total += score[codes]
    return total / len(columns)


def _mean_of_records(
    codes: npt.NDArray[np.integer], weighted: Floats, total: Floats
) -> Floats:
    sums = np.bincount(codes, weights=weighted, minlength=len(total))
    return sums / np.maximum(total, 1.0)


def _standard(values: Floats, weights: Ints) -> Floats:
    centered = values - np.average(values, weights=weights)
    scale = np.sqrt(np.average(centered**2, weights=weights))
    return centered / scale if scale > 0 else centered


def _ranks(scores: Floats) -> Ints:
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[np.argsort(scores, kind="stable")] = np.arange(len(scores))
    return ranks
