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
from sfumato.testing.conformance_check import Check
from sfumato.testing.model_checks import check_model
from sfumato.testing.operator_checks import check_operator

__all__ = [
    "EXCEPTIONS",
    "OPTIONS",
    "Check",
    "Listed",
    "catalogue_checks",
    "check_algorithm",
    "check_model",
    "check_operator",
    "exception_for",
]

OPTIONS: Mapping[str, Mapping[str, Mapping[str, Any]]] = MappingProxyType(
    {
        "mondrian": {
            "defaults": {},
            "relaxed": {"mode": "relaxed"},
            "widest": {"cut": "widest"},
            "relaxed-widest": {"mode": "relaxed", "cut": "widest"},
            "likeness": {"flat_order": "likeness"},
        },
        "k-member": {"defaults": {}, "furthest": {"seed": "furthest"}},
        "tgc": {"defaults": {}, "utility": {"preset": "TGCU", "size": 12}},
        "diva": {
            "defaults": {},
            "stars": {"base": "mondrian", "loss": "stars", "strategy": "min-choice"},
        },
        "generalize": {
            "defaults": {},
            "bounds": {"numbers": "bounds"},
            "mean": {"numbers": "mean"},
            "star": {"flat": "star"},
        },
    }
)
"""Options to check where their types do not say which choices there are."""

_MEAN = "The mean of a group stands for no range of values."

_BOUNDS = "Two empty bounds stand for a missing value and for no bound alike."

_FILE_ORDER = "Steps and ties follow the order of the rows, as published."

_NO_RULE = "No group by itself decides how many rows of a table show a value."

EXCEPTIONS: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("klt", "the order of rows does not matter"): _FILE_ORDER,
        ("diversity", "the NumPy form agrees with the compiled rules"): _NO_RULE,
        ("diversity", "the compiled rules are safe with subjects"): _NO_RULE,
        ("generalize", "a cell contains the source value: mean"): _MEAN,
        ("generalize", "losses agree with their definition: mean"): _MEAN,
        ("generalize", "losses agree with their definition: bounds"): _BOUNDS,
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
    """Every check of every algorithm, model or operator of the catalogue."""
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
    options = {"options": OPTIONS[name]} if name in OPTIONS else {}
    return _CHECKERS[kind](registry.load(kind, name), **options)


_CHECKERS: Mapping[str, Callable[..., list[Check]]] = MappingProxyType(
    {
        "algorithms": check_algorithm,
        "models": check_model,
        "operators": check_operator,
    }
)
