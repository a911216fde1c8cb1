"""Bounds of figures hold for the source of random releases by every operator."""

from __future__ import annotations

import pytest

from sfumato import registry
from tests.fuzz.figure_bounds import try_operator

RELEASES = 60
"""Releases of each operator; `make fuzz` tries 1,000."""


@pytest.mark.parametrize("operator", registry.names("operators"))
def test_bounds_contain_the_figures_of_the_source(operator):
    counts, found = try_operator(operator, "tests", RELEASES)
    assert found == []
    assert counts["releases"] == RELEASES
    assert counts["figures"] > 10 * RELEASES
