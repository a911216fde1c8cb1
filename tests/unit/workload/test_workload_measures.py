"""Error measures by hand, and what their intervals mean."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.errors import UsageError
from sfumato.workload.answer_errors import WorkloadError, bootstrap, chi2, ratio


def errors(chi2_, absolute=(1.0, 3.0), actual=(10.0, 0.0)):
    return WorkloadError(
        np.array(actual), np.array(actual), np.array(chi2_), np.array(absolute)
    )


def test_chi_square_follows_its_equation():
    x = np.array([[4.0, 1.0, 0.0]])
    y = np.array([[2.0, 2.0, 0.0]])
    assert chi2(x, y) == pytest.approx([4 / 6 + 1 / 3])


def test_relative_error_divides_by_the_actual_count_and_never_by_zero():
    assert errors((0.0, 0.0)).relative.tolist() == [0.1, 3.0]


def test_queries_without_rows_are_counted():
    assert errors((0.0, 0.0)).empty == 1


def test_the_error_against_a_base_is_in_percent():
    assert errors((3.0, 5.0)).against(errors((6.0, 10.0))).value == 50.0


def test_a_base_with_almost_no_error_counts_as_one():
    assert errors((3.0, 5.0)).against(errors((0.0, 0.1))).value == 800.0


def test_figures_over_all_queries():
    record = errors((2.0, 4.0)).record()
    assert record["total_chi2"]["value"] == 6.0
    assert record["mean_chi2"]["value"] == 3.0
    assert record["average_relative"]["value"] == pytest.approx(1.55)
    assert record["median_absolute"]["value"] == 2.0


def test_the_same_seed_gives_the_same_interval():
    values = np.random.default_rng(0).normal(size=(1, 50))
    one, other = (bootstrap(values, lambda d: d[0].mean(axis=-1)) for _ in range(2))
    assert one == other


def test_intervals_cover_the_true_mean_about_as_often_as_they_say():
    # 300 intervals at 95 %: coverage below 90 % or all of them has a chance below 1e-3.
    random = np.random.default_rng(3)
    hits = 0
    for _ in range(300):
        drawn = random.normal(size=(1, 60))
        found = bootstrap(drawn, lambda d: d[0].mean(axis=-1), resamples=200)
        hits += found.low <= 0.0 <= found.high
    assert 270 <= hits < 300


def test_a_ratio_pairs_the_queries():
    base = np.random.default_rng(0).uniform(1, 100, 80)
    found = ratio(base * 0.5, base)
    assert (found.value, found.low, found.high) == pytest.approx((50.0, 50.0, 50.0))


def test_different_workloads_are_not_compared():
    with pytest.raises(UsageError, match="2 queries cannot be compared with 1"):
        ratio(np.ones(2), np.ones(1))
