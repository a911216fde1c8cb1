"""What a mechanism of differential privacy is, on OpenDP's samplers.

Each is a frozen dataclass with its parameters; `cost` is its exact claim, and `exact`
the loss that OpenDP itself computes for the noise that is drawn, never above it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cache
from math import isfinite
from typing import Any

from sfumato.dp.cost import Cost
from sfumato.errors import PolicyError, UsageError

NUDGE = 2.0**-40
"""Scales grow by this share, then twice, four times …, while OpenDP, rounding up, finds
the loss above epsilon."""


@cache
def opendp() -> Any:
    """Import OpenDP, or explain how to install it."""
    try:
        import opendp.prelude as library
    except ImportError:
        raise UsageError(
            "Differential privacy needs OpenDP, which is not installed.",
            hint="pip install 'sfumato[dp]'",
        ) from None
    library.enable_features("contrib")
    return library


@dataclass(frozen=True, kw_only=True)
class Mechanism(ABC):
    """A randomized answer with a privacy claim."""

    epsilon: float

    def __post_init__(self) -> None:
        above_zero("epsilon", self.epsilon)

    @property
    def cost(self) -> Cost:
        """The claim, for neighbors as far apart as the mechanism's sensitivity says."""
        return Cost(self.epsilon)

    @property
    @abstractmethod
    def exact(self) -> float:
        """The ε that OpenDP computes for what is drawn."""


def least_noise(make: Any, limit: float, distance: float) -> Any:
    """The measurement with the least noise whose loss is within the limit.

    OpenDP rounds losses up: a scale that is exact on paper may cost slightly more.
    """
    nudge = 0.0
    while nudge < 1.0:
        measurement = make(1.0 + nudge)
        if measurement.map(distance) <= limit:
            return measurement
        nudge = 2.0 * nudge or NUDGE
    raise PolicyError(
        "epsilon is too small: rounding alone costs more.",
        hint="Values between 0.1 and 1 are usual for epsilon.",
    )


def above_zero(name: str, value: float) -> None:
    """Require a finite number above 0."""
    if not (isfinite(value) and value > 0):
        raise PolicyError(
            f"{name} must be a number above 0; it is {value}.",
            hint="Values between 0.1 and 1 are usual for epsilon.",
        )


def at_least(name: str, value: int, least: int) -> None:
    """Require a count of at least `least`."""
    if value < least:
        raise PolicyError(
            f"{name} must be {least:,} or more; it is {value}.", hint=None
        )


def inside(name: str, value: int, size: int) -> None:
    """Require a code of one of `size` categories."""
    if not 0 <= value < size:
        raise PolicyError(
            f"{name} must lie in 0 … {size - 1}; it does not.",
            hint="Codes number the declared categories.",
        )
