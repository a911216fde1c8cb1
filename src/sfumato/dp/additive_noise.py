"""Noise that is added to numbers: Laplace, geometric, Gaussian."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import erfc, exp, log, sqrt
from typing import Any

import numpy as np

from sfumato.data.arrays import Floats, Ints
from sfumato.dp.cost import Cost
from sfumato.dp.mechanism import (
    Mechanism,
    above_zero,
    at_least,
    least_noise,
    opendp,
)
from sfumato.errors import PolicyError

MOST_COUNT = 2**40
"""No table has this many rows: noisy values beyond it are clipped afterwards."""


@dataclass(frozen=True, kw_only=True)
class Laplace(Mechanism):
    """Numbers with Laplace noise of scale sensitivity / ε.

    Guarantee: ε-differential privacy, (ε, 0), where neighbors change all numbers
    together by `sensitivity` at most (sum of absolute changes).
    Method: OpenDP's discrete Laplace on the grid of all floats, safe from the
    attacks on naive floating-point noise.

    Example:
        >>> Laplace(epsilon=0.5).scale
        2.0
        >>> Laplace(epsilon=0.5).cost
        Cost(epsilon=0.5, delta=0.0)
    """

    sensitivity: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        above_zero("sensitivity", self.sensitivity)

    @property
    def scale(self) -> float:
        return self.sensitivity / self.epsilon

    @property
    def exact(self) -> float:
        return float(self._measurement.map(self.sensitivity))

    def release(self, values: Floats) -> Floats:
        """The numbers with noise, drawn in one batch."""
        return np.array(
            self._measurement(np.asarray(values, dtype=np.float64).tolist())
        )

    @cached_property
    def _measurement(self) -> Any:
        dp = opendp()
        space = (
            dp.vector_domain(dp.atom_domain(T="f64", nan=False)),
            dp.l1_distance(T="f64"),
        )
        return least_noise(
            lambda grow: dp.m.make_laplace(*space, scale=self.scale * grow),
            self.epsilon,
            self.sensitivity,
        )


@dataclass(frozen=True, kw_only=True)
class Geometric(Mechanism):
    """Whole numbers with two-sided geometric (discrete Laplace) noise.

    Guarantee: ε-differential privacy, (ε, 0), where neighbors change all counts
    together by `sensitivity` at most. Noise x has probability proportional to
    e^(−ε|x| / sensitivity).

    Example:
        >>> Geometric(epsilon=0.5).cost
        Cost(epsilon=0.5, delta=0.0)
        >>> round(Geometric(epsilon=1.0).probability(0), 4)
        0.4621
    """

    sensitivity: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        at_least("sensitivity", self.sensitivity, 1)

    @property
    def scale(self) -> float:
        return self.sensitivity / self.epsilon

    @property
    def exact(self) -> float:
        return float(self._measurement.map(self.sensitivity))

    def probability(self, noise: int) -> float:
        """The probability of a noise value."""
        ratio = exp(-1.0 / self.scale)
        return (1.0 - ratio) / (1.0 + ratio) * ratio ** abs(noise)

    def release(self, counts: Ints) -> Ints:
        """The counts with noise, drawn in one batch; sums of millions do not overflow."""
        listed = np.asarray(counts, dtype=np.int64).tolist()
        drawn = np.array(self._measurement(listed), dtype=np.int64)
        return np.clip(drawn, -MOST_COUNT, MOST_COUNT)

    @cached_property
    def _measurement(self) -> Any:
        dp = opendp()
        space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
        return least_noise(
            lambda grow: dp.m.make_laplace(*space, scale=self.scale * grow),
            self.epsilon,
            self.sensitivity,
        )


@dataclass(frozen=True, kw_only=True)
class Gaussian(Mechanism):
    """Numbers with Gaussian noise of the smallest scale that (ε, δ) allows.

    Guarantee: (ε, δ)-differential privacy for any ε, where neighbors change all
    numbers together by `sensitivity` at most (Euclidean length).
    Method: the scale is the root of the exact profile
    δ(ε) = Φ(Δ/2σ − εσ/Δ) − e^ε Φ(−Δ/2σ − εσ/Δ) (Balle and Wang 2018), not the bound
    2 ln(1.25/δ) Δ²/ε², which is a variance and holds for ε < 1 only. Noise is OpenDP's
    discrete Gaussian on the grid of all floats.

    Example:
        >>> Gaussian(epsilon=1.0, delta=1e-6).cost
        Cost(epsilon=1.0, delta=1e-06)
        >>> round(Gaussian(epsilon=1.0, delta=1e-6).scale, 3)
        4.225
    """

    delta: float
    sensitivity: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        above_zero("sensitivity", self.sensitivity)
        if not 0 < self.delta < 1:
            raise PolicyError(
                f"delta must lie in (0, 1); it is {self.delta}.",
                hint="Without delta, use Laplace noise.",
            )

    @property
    def cost(self) -> Cost:
        return Cost(self.epsilon, self.delta)

    @property
    def exact(self) -> float:
        """ε, where the profile of the scale in use gives no more than δ there."""
        loss = gaussian_delta(self.epsilon, self.scale / self.sensitivity)
        return self.epsilon if loss <= self.delta else float("inf")

    @cached_property
    def scale(self) -> float:
        """The standard deviation of the noise."""
        low, high = 0.0, 1.0
        while gaussian_delta(self.epsilon, high) > self.delta:
            low, high = high, 2.0 * high
        for _ in range(200):
            middle = (low + high) / 2.0
            if gaussian_delta(self.epsilon, middle) > self.delta:
                low = middle
            else:
                high = middle
        return high * self.sensitivity

    def release(self, values: Floats) -> Floats:
        """The numbers with noise, drawn in one batch."""
        return np.array(
            self._measurement(np.asarray(values, dtype=np.float64).tolist())
        )

    @cached_property
    def _measurement(self) -> Any:
        dp = opendp()
        return dp.m.make_gaussian(
            dp.vector_domain(dp.atom_domain(T="f64", nan=False)),
            dp.l2_distance(T="f64"),
            scale=self.scale,
        )


def gaussian_delta(epsilon: float, scale: float) -> float:
    """The exact δ of Gaussian noise of that scale, sensitivity 1, at ε."""
    if scale <= 0:
        return 1.0
    half, shift = 0.5 / scale, epsilon * scale
    below = _normal(-half - shift)
    return _normal(half - shift) - (exp(epsilon + log(below)) if below else 0.0)


def _normal(x: float) -> float:
    """The standard normal distribution function, exact far into its tail."""
    return 0.5 * erfc(-x / sqrt(2.0))
