"""The list of exceptions holds nothing that has become needless."""

from __future__ import annotations

import pytest

from sfumato import registry
from sfumato.testing.checks import EXCEPTIONS, Check, catalogue_checks

KINDS = ("algorithms", "models", "operators")


def checks_behind(thing: str, statement: str) -> list[Check]:
    kind = next(kind for kind in KINDS if thing in registry.names(kind))
    return [
        listed.check
        for listed in catalogue_checks(kind)
        if (listed.thing, listed.check.name) == (thing, statement)
    ]


def is_met(check: Check) -> bool:
    try:
        check()
    except Exception:
        return False
    return True


@pytest.mark.parametrize(("thing", "statement"), list(EXCEPTIONS))
def test_every_exception_is_still_needed(thing, statement):
    checks = checks_behind(thing, statement)
    assert checks
    assert not all(is_met(check) for check in checks)


def test_every_exception_states_its_reason():
    assert all(reason.strip().endswith(".") for reason in EXCEPTIONS.values())
