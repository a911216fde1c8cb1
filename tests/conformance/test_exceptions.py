"""The list of exceptions holds nothing that is no longer needed."""

from __future__ import annotations

from sfumato import registry
from sfumato.testing.checks import EXCEPTIONS, Check, catalogue_checks


def checks_behind(thing: str, statement: str) -> list[Check]:
    kind = next(kind for kind in registry.KINDS if thing in registry.names(kind))
    return [
        listed.check
        for listed in catalogue_checks(kind)
        if listed.thing == thing and str(listed.check).startswith(statement)
    ]


def is_met(check: Check) -> bool:
    try:
        check()
    except Exception:
        return False
    return True


def is_needless(thing: str, statement: str) -> bool:
    return all(is_met(check) for check in checks_behind(thing, statement))


def test_every_exception_is_still_needed():
    assert [listed for listed in EXCEPTIONS if is_needless(*listed)] == []


def test_every_exception_states_its_reason():
    assert all(reason.strip().endswith(".") for reason in EXCEPTIONS.values())
