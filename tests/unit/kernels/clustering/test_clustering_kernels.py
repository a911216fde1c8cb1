"""Kernels of clustering against rows in plain lists: MDAV, parts, and TGC's groups."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from sfumato.algorithms.clustering.clustering_task import prepare
from sfumato.algorithms.clustering.k_member import KMember
from sfumato.algorithms.clustering.tgc import Tgc
from sfumato.kernels.clustering.centers import MdavRecords, mdav_some
from sfumato.kernels.clustering.group_growth import pre_partition
from sfumato.kernels.clustering.nearest_unit import column_kinds
from tests.unit.algorithms.test_clustering import bags, brute_force, drawn_request


def random_records(random, *, squared):
    units, k = int(random.integers(1, 30)), int(random.integers(1, 5))
    numbers = random.integers(0, 6, (units, int(random.integers(0, 3)))).astype(float)
    numbers[random.random(numbers.shape) < 0.1] = np.nan
    codes = random.integers(0, 3, (units, int(random.integers(1, 3)))).astype(np.int32)
    records = MdavRecords(
        numbers=numbers,
        weights=np.full(numbers.shape[1], 7.0),
        codes=codes,
        mismatch=np.full(codes.shape[1], 2.5),
        squared=squared,
    )
    return records, k


def apart(records, u, numbers, codes):
    """Squared or Gower's distance of a unit from a center, axis by axis."""
    total = 0.0
    pairs = zip(records.numbers[u], numbers, records.weights, strict=True)
    for here, there, weight in pairs:
        if np.isnan(here) and np.isnan(there):
            continue
        if np.isnan(here) or np.isnan(there):
            total += weight
        else:
            total += abs(here - there) ** 2 if records.squared else abs(here - there)
    pairs = zip(records.codes[u], codes, records.mismatch, strict=True)
    return total + sum(price for here, there, price in pairs if here != there)


def center_of(records, units):
    numbers = []
    for column in records.numbers[units].T:
        known = [float(number) for number in column if not np.isnan(number)]
        numbers.append(sum(known) / len(known) if known else np.nan)
    codes = [int(np.argmax(np.bincount(column))) for column in records.codes[units].T]
    return numbers, codes


def mdav_by_definition(records, k):
    """The steps of MDAV: two groups around distant units while 3k are left."""
    left, groups = list(range(len(records.codes))), []

    def farthest(numbers, codes):
        return max(left, key=lambda u: (apart(records, u, numbers, codes), -u))

    def take(around):
        own = records.numbers[around], records.codes[around]
        ranked = sorted(left, key=lambda u: (u != around, apart(records, u, *own), u))
        groups.append(sorted(ranked[:k]))
        left[:] = [u for u in left if u not in groups[-1]]

    while len(left) >= 2 * k:
        pair = len(left) >= 3 * k
        first = farthest(*center_of(records, left))
        second = farthest(records.numbers[first], records.codes[first])
        take(first)
        if pair:
            if second not in left:
                second = farthest(records.numbers[first], records.codes[first])
            take(second)
    return sorted([*groups, *([left] if left else [])])


@pytest.mark.parametrize("squared", [True, False], ids=["Euclidean", "Gower"])
def test_mdav_follows_its_steps(squared):
    random = np.random.default_rng(61)
    for _ in range(60):
        records, k = random_records(random, squared=squared)
        group_of = np.full(len(records.codes), -1, dtype=np.int64)
        groups = 0
        while (group_of < 0).any():
            groups = mdav_some(records, k, group_of, groups, 2)
        found = [np.flatnonzero(group_of == g).tolist() for g in range(groups)]
        assert sorted(found) == mdav_by_definition(records, k)


def s_diversity(values, weights, contributions):
    """Definition 2.4 of Loukides and Shao, over ordered pairs of rows."""
    total = sum(weights)
    pairs = [
        wa * wb * contributions[a, b]
        for a, wa in zip(values, weights, strict=True)
        for b, wb in zip(values, weights, strict=True)
    ]
    return sum(pairs) / total**2


def parts_by_definition(task, least, most):
    """Algorithm 2: halve at the median of the axis with most values while it helps."""
    units, contributions = task.units, task.contributions
    axes, weight = units.axes, units.weight.tolist()
    size = int(contributions.sizes[0])
    told = (
        contributions.matrix[contributions.start[0] :][: size * size]
        .reshape(size, size)
        .copy()
    )
    np.fill_diagonal(told, 1.0)
    waiting, done = [list(range(len(units.low)))], []
    while waiting:
        part = waiting.pop()
        counts = [len({int(units.low[u, j]) for u in part}) for j in range(axes)]
        axis = counts.index(max(counts))
        line = sorted(part, key=lambda u: (int(units.low[u, axis]), -u))
        halves = line[: len(line) // 2], line[len(line) // 2 :]
        spread = [
            s_diversity(
                [int(units.low[u, axes]) for u in half], [weight[u] for u in half], told
            )
            for half in halves
            if half
        ]
        if len(halves[0]) >= least and max(spread) <= most + 1e-9:
            waiting += halves
        else:
            done.append(sorted(part))
    return sorted(done)


@pytest.mark.parametrize("most", [0.3, 0.5, 1.0])
@pytest.mark.parametrize("number", range(6))
def test_pre_partition_follows_algorithm_2(number, most):
    request = drawn_request(number)
    task = prepare(request, Tgc().plan(request))
    if task.contributions.start[0] < 0:
        pytest.fail("the sensitive column is not one of categories")
    _, sizes = column_kinds(task.units, task.contributions.sizes)
    order, bounds = pre_partition(task.units, sizes, task.contributions, 3, most)
    found = sorted(sorted(order[a:b].tolist()) for a, b in pairwise(bounds))
    assert found == parts_by_definition(task, 3, most)


@pytest.mark.parametrize("seed", ["first", "furthest"])
@pytest.mark.parametrize("number", range(20, 26))
def test_each_unit_added_is_the_nearest_left(number, seed):
    random = np.random.default_rng(number)
    k = int(random.integers(2, 6))
    request = drawn_request(number, k=k, ages=int(random.integers(2, 60)))
    found = KMember(seed=seed).solve(request).grouping
    expected = brute_force(request, k=k, furthest=seed == "furthest")
    assert bags(request, found) == expected
