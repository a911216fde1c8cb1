"""Hold the plug-in to the conformance checks: `pytest conformance.py`."""

import pytest
from sfumato_sample.no_majority import NoMajority
from sfumato_sample.sorted_runs import SortedRuns

from sfumato.testing.checks import check_algorithm, check_model


@pytest.mark.parametrize("check", check_algorithm(SortedRuns), ids=str)
def test_the_algorithm_conforms(check):
    check()


@pytest.mark.parametrize("check", check_model(NoMajority), ids=str)
def test_the_model_conforms(check):
    check()
