"""The conformance checks: what every algorithm, model and operator must meet.

Each of `check_algorithm`, `check_model` and `check_operator` gives a list of named
checks, to be run one by one (a check raises if it is not met) or handed to pytest:

    @pytest.mark.parametrize("check", check_model(MyModel), ids=str)
    def test_it_conforms(check):
        check()
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from sfumato import registry
from sfumato.testing.algorithm_checks import check_algorithm
from sfumato.testing.check import Check
from sfumato.testing.model_checks import check_model
from sfumato.testing.operator_checks import check_operator

__all__ = [
    "EXCEPTIONS",
    "Check",
    "Listed",
    "catalogue_checks",
    "check_algorithm",
    "check_model",
    "check_operator",
]

EXCEPTIONS: Mapping[tuple[str, str], str] = MappingProxyType({})
"""Checks that a thing of the catalogue cannot meet: (name, statement) → the reason."""


class Listed(NamedTuple):
    """A check of something in the catalogue."""

    thing: str
    check: Check
    exception: str | None
    """Why the thing need not meet the check; None: it must."""

    def __str__(self) -> str:
        return f"{self.thing}-{self.check}"


def catalogue_checks(kind: str) -> Iterator[Listed]:
    """Every check of every algorithm, model or operator of the catalogue."""
    for name in registry.names(kind):
        for check in _CHECKERS[kind](registry.load(kind, name)):
            yield Listed(name, check, EXCEPTIONS.get((name, check.name)))


_CHECKERS: Mapping[str, Callable[[Any], list[Check]]] = MappingProxyType(
    {
        "algorithms": check_algorithm,
        "models": check_model,
        "operators": check_operator,
    }
)
