"""Noisy choices: the best of several candidates, or nearly the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np

from sfumato.data.arrays import Floats
from sfumato.dp.mechanism import (
    Mechanism,
    above_zero,
    least_noise,
    opendp,
)


@dataclass(frozen=True, kw_only=True)
class Exponential(Mechanism):
    """One of several candidates, with probability proportional to e^(ε·score / 2Δ).

    Guarantee: ε-differential privacy, (ε, 0), where neighbors change every score by
    `sensitivity` (Δ) at most.
    Method: OpenDP's noisy maximum with Gumbel noise of scale 2Δ/ε, which has exactly
    this distribution.
    Reference: McSherry and Talwar 2007.

    Example:
        >>> Exponential(epsilon=0.5).cost
        Cost(epsilon=0.5, delta=0.0)
    """

    sensitivity: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        above_zero("sensitivity", self.sensitivity)

    @property
    def exact(self) -> float:
        """OpenDP states the concentrated loss ρ = ε² / 8 of a bounded range ε."""
        return sqrt(8.0 * float(self._measurement.map(self.sensitivity)))

    def probabilities(self, scores: Sequence[float]) -> Floats:
        """The probability of each candidate."""
        weights = np.asarray(scores) * self.epsilon / (2.0 * self.sensitivity)
        powers = np.exp(weights - weights.max())
        chances: Floats = powers / powers.sum()
        return chances

    def select(self, scores: Sequence[float]) -> int:
        """The index of the chosen candidate."""
        return int(self._measurement([float(score) for score in scores]))

    @cached_property
    def _measurement(self) -> Any:
        dp = opendp()
        return _noisy_max(
            self.sensitivity,
            self.epsilon,
            dp.zero_concentrated_divergence(),
            self.epsilon**2 / 8.0,
        )


@dataclass(frozen=True, kw_only=True)
class NoisyMax(Mechanism):
    """The candidate of the highest score after exponential noise of scale 2Δ/ε.

    Guarantee: ε-differential privacy, (ε, 0), where neighbors change every score by
    `sensitivity` (Δ) at most. The same as permute-and-flip, and never further from the
    best score on average than the exponential mechanism.
    Reference: McKenna and Sheldon 2020; Ding et al. 2021.

    Example:
        >>> NoisyMax(epsilon=0.5).cost
        Cost(epsilon=0.5, delta=0.0)
    """

    sensitivity: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        above_zero("sensitivity", self.sensitivity)

    @property
    def exact(self) -> float:
        return float(self._measurement.map(self.sensitivity))

    def select(self, scores: Sequence[float]) -> int:
        """The index of the chosen candidate."""
        return int(self._measurement([float(score) for score in scores]))

    @cached_property
    def _measurement(self) -> Any:
        dp = opendp()
        return _noisy_max(
            self.sensitivity, self.epsilon, dp.max_divergence(), self.epsilon
        )


def _noisy_max(sensitivity: float, epsilon: float, measure: Any, limit: float) -> Any:
    dp = opendp()
    space = (
        dp.vector_domain(dp.atom_domain(T="f64", nan=False)),
        dp.linf_distance(T="f64"),
    )
    scale = 2.0 * sensitivity / epsilon
    return least_noise(
        lambda grow: dp.m.make_noisy_max(*space, measure, scale=scale * grow),
        limit,
        sensitivity,
    )
