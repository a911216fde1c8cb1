"""Every model of the catalogue meets every check, or is listed with its reason."""

from __future__ import annotations

KIND = "models"


def test_a_model_conforms(check):
    check()
