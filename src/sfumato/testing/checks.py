"""The conformance checks: what every algorithm, model and operator must meet.

Each of `check_algorithm`, `check_model` and `check_operator` gives a list of named
checks, to be run one by one (a check raises if it is not met) or handed to pytest:

    @pytest.mark.parametrize("check", check_model(MyModel), ids=str)
    def test_it_conforms(check):
        check()
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sfumato.testing.algorithm_checks import check_algorithm
from sfumato.testing.check import Check
from sfumato.testing.model_checks import check_model
from sfumato.testing.operator_checks import check_operator

__all__ = [
    "EXCEPTIONS",
    "Check",
    "check_algorithm",
    "check_model",
    "check_operator",
]

EXCEPTIONS: Mapping[tuple[str, str], str] = MappingProxyType({})
"""Checks that a thing of the catalogue cannot meet: (name, statement) → the reason."""
