"""Means and variances of columns that a release does not show."""

from __future__ import annotations

import pytest

from sfumato import registry
from sfumato.risk.utility import utility
from tests.unit.metrics.pairs import pair_of


@pytest.mark.parametrize("name", ["mean_shift", "variance_shift"])
def test_a_column_without_any_number_is_not_measured(name):
    pair = pair_of({"age": ["20", "40"]}, {"age": ["*", "*"]}, quasi=["age"])
    found = utility(pair, {name: registry.load("metrics", name)}, k=1)
    assert found.figures == {}
    assert found.not_measured == {name: "needs cells that show numbers"}
