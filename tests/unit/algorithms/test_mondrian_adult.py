"""Mondrian on the Adult table: how much is lost, and that the groups are large enough."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest

from sfumato.algorithms.base import Request
from sfumato.algorithms.partition.mondrian import Mondrian
from sfumato.hierarchies.axis import CodedAxis, Shape
from sfumato.models.k_anonymity import KAnonymity
from tests.unit.algorithms.mondrian_cases import flat_axis, free_axis

QUASI = (
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
)


@pytest.fixture(scope="module")
def adult(shared_data: Path) -> tuple[CodedAxis, ...]:
    """Age as a line, all else flat."""
    path = shared_data / "adult" / "adult_clean_30162.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    return tuple(coded(name, [row[name] for row in rows]) for name in QUASI)


def coded(name: str, cells: list[str]) -> CodedAxis:
    if name == "age":
        ages, codes = np.unique(np.array(cells, dtype=float), return_inverse=True)
        return CodedAxis(free_axis(ages.tolist()), codes.astype(np.int32))
    values, codes = np.unique(cells, return_inverse=True)
    return CodedAxis(flat_axis(len(values)), codes.astype(np.int32))


def ncp(quasi: tuple[CodedAxis, ...], group_of: np.ndarray, count: int) -> float:
    """The mean, over cells, of length / span or set size / domain, from the rows."""
    losses = []
    for column in quasi:
        if column.axis.shape is Shape.FREE:
            assert column.axis.positions is not None
            numbers = column.axis.positions[column.codes]
            low, high = np.full(count, np.inf), np.full(count, -np.inf)
            np.minimum.at(low, group_of, numbers)
            np.maximum.at(high, group_of, numbers)
            cost = (high - low) / (numbers.max() - numbers.min())
        else:
            pairs = np.unique(np.stack([group_of, column.codes]), axis=1)
            found = np.bincount(pairs[0], minlength=count)
            cost = np.where(found > 1, found / column.axis.size, 0.0)
        losses.append(cost[group_of])
    return float(np.mean(losses))


@pytest.mark.parametrize("k", [2, 5, 10, 50, 100])
@pytest.mark.parametrize("cut", ["gain", "widest"])
def test_groups_are_large_enough(
    adult: tuple[CodedAxis, ...], cut: str, k: int
) -> None:
    request = Request(quasi=adult, models=(KAnonymity(k=k),))
    assert Mondrian(cut=cut).search(request).grouping.sizes().min() >= k


def test_gain_cuts_lose_at_most_055_at_k_10(adult: tuple[CodedAxis, ...]) -> None:
    request = Request(quasi=adult, models=(KAnonymity(k=10),))
    grouping = Mondrian().search(request).grouping
    assert ncp(adult, grouping.group_of, grouping.count) <= 0.055


def test_two_threads_group_as_one(adult: tuple[CodedAxis, ...]) -> None:
    def found(threads: int) -> np.ndarray:
        models = (KAnonymity(k=5),)
        request = Request(quasi=adult, models=models, threads=threads)
        return Mondrian(mode="relaxed").search(request).grouping.group_of

    assert np.array_equal(found(1), found(2))
