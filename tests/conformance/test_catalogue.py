"""Every entry of the catalogue meets every check of its kind, or is listed with its
reason."""

from __future__ import annotations

import pytest

from sfumato import registry
from sfumato.errors import UsageError
from sfumato.testing.checks import catalogue_checks


def test_it_conforms(check):
    check()


def test_a_kind_without_checks_is_an_error(monkeypatch):
    found = {"a-thing": "sfumato.models.k_anonymity:KAnonymity"}
    monkeypatch.setitem(registry.CATALOGUE, "things", found)
    with pytest.raises(UsageError, match="no conformance checks for things"):
        list(catalogue_checks("things"))
