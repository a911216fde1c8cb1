"""Order categories so that those with similar values in other columns are neighbors.

Reciprocal averaging (the first axis of a multiple correspondence analysis): a record's
score is the mean score of its values, a value's score the mean of its records; what
is left after removing the mean and the scale, over and over, is the main direction in
which records differ.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.data.arrays import Floats, Ints

ROUNDS = 30
DECIMALS = 9


def likeness_ranks(
    columns: Sequence[Ints], sizes: Sequence[int], weights: Ints
) -> list[Ints]:
    """The place of each value of each column in the line; ties keep their order."""
    totals = [
        _sums(codes, weights.astype(np.float64), size)
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


def _mean_of_values(columns: Sequence[Ints], scores: Sequence[Floats]) -> Floats:
    total = np.zeros(len(columns[0]))
    for codes, score in zip(columns, scores, strict=True):
        total += score[codes]
    return total / len(columns)


def _mean_of_records(codes: Ints, weighted: Floats, total: Floats) -> Floats:
    return np.asarray(_sums(codes, weighted, len(total)) / np.maximum(total, 1.0))


def _sums(codes: Ints, values: Floats, size: int) -> Floats:
    return np.asarray(np.bincount(codes, values, size), dtype=np.float64)


def _standard(values: Floats, weights: Ints) -> Floats:
    centered = values - np.average(values, weights=weights)
    scale = np.sqrt(np.average(centered**2, weights=weights))
    return np.asarray(centered / scale if scale > 0 else centered)


def _ranks(scores: Floats) -> Ints:
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[np.argsort(scores, kind="stable")] = np.arange(len(scores))
    return ranks
