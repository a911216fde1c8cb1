"""Every operator of the catalogue meets every check, or is listed with its reason."""

from __future__ import annotations

KIND = "operators"


def test_an_operator_conforms(check):
    check()
