"""The conformance checks: what every algorithm, model, operator and metric must meet.

Each of `check_algorithm`, `check_model`, `check_operator` and `check_metric` returns a
list of named checks. Run them one by one (a check raises if it is not met), or pass
them to pytest:

    @pytest.mark.parametrize("check", check_model(MyModel), ids=str)
    def test_it_conforms(check):
        check()
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from sfumato import registry
from sfumato.errors import UsageError
from sfumato.testing.algorithm_checks import check_algorithm
from sfumato.testing.attack_conformance import check_attack
from sfumato.testing.conformance_check import Check
from sfumato.testing.metric_checks import check_metric
from sfumato.testing.model_checks import check_model
from sfumato.testing.operator_checks import check_operator

__all__ = [
    "EXCEPTIONS",
    "Check",
    "Listed",
    "catalogue_checks",
    "check_algorithm",
    "check_attack",
    "check_metric",
    "check_model",
    "check_operator",
    "exception_for",
]

_MEAN = "The mean of a group stands for no range of values."

_BOUNDS = "Two empty bounds stand for a missing value and for no bound alike."

_FILE_ORDER = "Steps and ties follow the order of the rows, as published."

_OF_THE_TABLE = "No single group decides it; its unit tests define it on whole tables."

_NO_RULE = "No group by itself decides how many rows of a table show a value."

EXCEPTIONS: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("klt", "the order of rows does not matter"): _FILE_ORDER,
        ("diversity", "the NumPy form agrees with the compiled rules"): _NO_RULE,
        ("diversity", "the compiled rules are safe with subjects"): _NO_RULE,
        ("k-map", "the NumPy form agrees with its definition"): _OF_THE_TABLE,
        ("average-risk", "the NumPy form agrees with its definition"): _OF_THE_TABLE,
        ("uniqueness", "the NumPy form agrees with its definition"): _OF_THE_TABLE,
        ("n-t-closeness", "the NumPy form agrees with its definition"): _OF_THE_TABLE,
        ("delta-presence", "the NumPy form agrees with its definition"): _OF_THE_TABLE,
        ("lkc", "the NumPy form agrees with its definition"): _OF_THE_TABLE,
        ("diversity", "the NumPy form agrees with its definition"): _OF_THE_TABLE,
        ("generalize", "a cell contains the source value: numbers=mean"): _MEAN,
        ("generalize", "losses agree with their definition: numbers=mean"): _MEAN,
        ("generalize", "losses agree with their definition: numbers=bounds"): _BOUNDS,
        ("microaggregate", "a cell contains the source value"): _MEAN,
        ("microaggregate", "losses agree with their definition"): _MEAN,
    }
)
"""Checks that a thing of the catalogue cannot meet: its name and how the check's text
begins → the reason."""


class Listed(NamedTuple):
    """A check of something in the catalogue."""

    thing: str
    check: Check
    exception: str | None
    """Why the thing need not meet the check; None: it must."""

    def __str__(self) -> str:
        return f"{self.thing}-{self.check}"


def catalogue_checks(kind: str) -> Iterator[Listed]:
    """Every check of every entry of a kind; a kind without checks is an error."""
    for name in registry.names(kind):
        for check in _checks(kind, name):
            yield Listed(name, check, exception_for(name, check))


def exception_for(thing: str, check: Check) -> str | None:
    """Why a thing of the catalogue need not meet a check; None: it must."""
    for (name, beginning), reason in EXCEPTIONS.items():
        if name == thing and str(check).startswith(beginning):
            return reason
    return None


def _checks(kind: str, name: str) -> list[Check]:
    if kind not in _CHECKERS:
        raise UsageError(
            f"There are no conformance checks for {kind}.",
            hint=f"Write them, and add them to '{__name__}'.",
        )
    return _CHECKERS[kind](registry.load(kind, name))


_CHECKERS: Mapping[str, Callable[..., list[Check]]] = MappingProxyType(
    {
        "algorithms": check_algorithm,
        "models": check_model,
        "operators": check_operator,
        "metrics": check_metric,
        "attacks": check_attack,
    }
)
