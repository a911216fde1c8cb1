"""How many rows survive sampling and a threshold, against exact distributions."""

from __future__ import annotations

from functools import cache
from itertools import product
from math import comb

import numpy as np
import pytest

from sfumato.dp.additive_noise import Geometric
from sfumato.dp.surviving_rows import (
    SafeRows,
    most_drawn,
    needed_rows,
    noise_margin,
    sure_size,
)


@cache
def survivors(size: int, k: int, rate: float) -> np.ndarray:
    """The distribution of the rows that survive of one tuple."""
    hits = np.arange(size + 1)
    chance = np.array([comb(size, h) for h in hits], dtype=float)
    chance *= rate**hits * (1 - rate) ** (size - hits)
    kept = np.where(hits >= k, chance, 0.0)
    kept[0] += chance[hits < k].sum()
    return kept


def chance_of_fewer(sizes, rows: int, k: int, rate: float) -> float:
    """P[fewer than `rows` rows survive], by convolution."""
    total = np.ones(1)
    for size in sizes:
        total = np.convolve(total, survivors(size, k, rate))
    return float(total[:rows].sum())


def tables(safe: SafeRows, least: int, k: int):
    """Tuple sizes with `least` safe rows or hardly more: in one tuple, in many, mixed."""
    size = next(n for n in range(10**4) if safe.of(np.array(n)) >= least)
    yield [size]
    each = int(safe.of(np.array(safe.beyond + 1)))
    yield [safe.beyond + 1] * -(-least // each)
    random = np.random.default_rng(size * 1000 + least)
    for _ in range(8):
        sizes: list[int] = []
        while safe.of(np.array(sizes, dtype=int)).sum() < least:
            sizes.append(safe.beyond + int(random.integers(1, safe.beyond + 5)))
        yield sizes
        yield [*sizes, k - 1, k, *random.integers(0, safe.beyond + 1, 3).tolist()]


@pytest.mark.parametrize("k", [2, 5, 9])
@pytest.mark.parametrize("rate", [0.3, 0.63, 0.9])
def test_enough_rows_survive_as_surely_as_stated_however_they_are_spread(k, rate):
    for rows, doubt in product((1, k, 3 * k - 1, 25), (0.3, 0.05, 1e-3)):
        beyond = sure_size(rows, k=k, rate=rate, doubt=doubt)
        least = needed_rows(rows, rate=rate, doubt=doubt)
        for slope in (1, 2, 7):
            for sizes in tables(SafeRows(beyond, slope), least, k):
                assert chance_of_fewer(sizes, rows, k, rate) <= doubt


def test_half_of_the_rows_are_not_enough():
    least = needed_rows(60, rate=0.5, doubt=0.05)
    assert chance_of_fewer([least // 2], 60, 5, 0.5) > 0.05


def test_tuples_of_half_the_sure_size_are_not_enough():
    beyond = sure_size(20, k=9, rate=0.3, doubt=0.05)
    sizes = [beyond // 2] * 4
    assert sum(sizes) >= needed_rows(20, rate=0.3, doubt=0.05) * 0.9
    assert chance_of_fewer(sizes, 20, 9, 0.3) > 0.05


@pytest.mark.parametrize("slope", [1, 2, 7])
def test_one_row_changes_the_safe_rows_of_a_tuple_by_the_slope_at_most(slope):
    safe = SafeRows(beyond=12, slope=slope)
    change = np.diff(safe.of(np.arange(200)))
    assert change.min() >= 0
    assert change.max() <= slope


def test_no_rows_are_needed_for_no_rows():
    assert needed_rows(0, rate=0.5, doubt=0.05) == 0


@pytest.mark.parametrize("rate", [0.1, 0.632])
@pytest.mark.parametrize("rows", [0, 1, 30, 200])
def test_a_sample_is_larger_than_stated_with_the_stated_probability(rows, rate):
    for doubt in (0.3, 0.01):
        most = most_drawn(rows, rate=rate, doubt=doubt)
        chance = survivors(rows, 0, rate)
        assert chance[most + 1 :].sum() <= doubt
        assert most == 0 or chance[most:].sum() > doubt or most <= rows * rate + 1


@pytest.mark.parametrize(("epsilon", "sensitivity"), [(0.05, 1), (0.5, 3), (4.0, 1)])
def test_noise_is_above_its_margin_with_the_stated_probability(epsilon, sensitivity):
    noise = Geometric(epsilon=epsilon, sensitivity=sensitivity)
    for doubt in (0.4, 0.05, 1e-4):
        margin = noise_margin(epsilon, sensitivity=sensitivity, doubt=doubt)
        above = sum(noise.probability(x) for x in range(margin + 1, margin + 3000))
        assert above <= doubt
        before = above + noise.probability(margin)
        assert margin == 0 or before > doubt * (1 - 1e-6)
