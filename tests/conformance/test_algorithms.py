"""Every algorithm of the catalogue meets every check, or is listed with its reason."""

from __future__ import annotations

KIND = "algorithms"


def test_an_algorithm_conforms(check):
    check()
