"""Correlations of coded columns, computed at once or block by block."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.metrics.common import moments


def columns_of(draw, rows):
    """Codes of three columns; the last value of the second is missing."""
    numbers = [np.array([1.0, 2, 5]), np.array([-4.0, 1e6, np.nan]), np.array([3.0])]
    return [(line, draw.integers(0, len(line), rows)) for line in numbers]


def by_definition(one, two):
    known = ~(np.isnan(one) | np.isnan(two))
    if np.ptp(one[known]) == 0 or np.ptp(two[known]) == 0:
        return 0.0
    return np.corrcoef(one[known], two[known])[0, 1]


@pytest.mark.parametrize("block", [7, 1000])
def test_each_pair_is_correlated_over_the_rows_that_have_both(monkeypatch, block):
    monkeypatch.setattr(moments, "BLOCK", block)
    columns = columns_of(np.random.default_rng(5), 100)
    found = moments.coded_correlations(columns)
    spelled = [values[codes] for values, codes in columns]
    for one in range(3):
        for two in range(one):
            expected = by_definition(spelled[one], spelled[two])
            assert found[one, two] == pytest.approx(expected, abs=1e-12)


def test_columns_without_a_number_in_common_are_not_correlated(monkeypatch):
    monkeypatch.setattr(moments, "BLOCK", 2)
    numbers, codes = np.array([1.0, np.nan]), np.array([0, 1, 0, 1])
    found = moments.coded_correlations([(numbers, codes), (numbers, 1 - codes)])
    assert found[0, 1] == 0
