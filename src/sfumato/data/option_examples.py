"""Settings that the things of the catalogue name for checks and benchmarks to try."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

OptionExamples = tuple[Mapping[str, Any], ...]
"""Sets of options to try besides the defaults and the choices that types tell."""

ParameterExamples = tuple[Mapping[str, Sequence[Any]], ...]
"""Sets of parameters to try: in each set, the values to choose from by name."""


def twentieths(low: float, high: float) -> tuple[float, ...]:
    """The shares from `low` to `high` in steps of 0.05: small groups meet some exactly."""
    return tuple(n / 20 for n in range(round(low * 20), round(high * 20) + 1))
