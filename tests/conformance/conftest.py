"""One test for each check of each thing in the catalogue."""

from __future__ import annotations

import pytest

from sfumato import registry
from sfumato.testing.checks import Listed, catalogue_checks


def pytest_generate_tests(metafunc):
    if "check" in metafunc.fixturenames:
        listed = [each for kind in registry.KINDS for each in catalogue_checks(kind)]
        metafunc.parametrize("check", [as_parameter(each) for each in listed])


def as_parameter(listed: Listed):
    """A check as pytest takes it; one with an exception must fail."""
    if listed.exception is None:
        return pytest.param(listed.check, id=str(listed))
    marks = [pytest.mark.xfail(reason=listed.exception, strict=True)]
    return pytest.param(listed.check, id=str(listed), marks=marks)
