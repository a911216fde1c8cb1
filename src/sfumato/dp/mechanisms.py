"""Mechanisms of differential privacy, on OpenDP's samplers.

Each is a frozen dataclass with its parameters; `cost` is its exact claim, and `exact`
the loss that OpenDP itself computes for the noise that is drawn, never above it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import erfc, exp, isfinite, log, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Floats, Ints
from sfumato.dp.cost import Cost
from sfumato.errors import PolicyError, UsageError

NUDGE = 2.0**-40
"""Scales grow by this share, then twice, four times …, while OpenDP, rounding up, finds
the loss above epsilon."""

MOST_COUNT = 2**40
"""No table has so many rows: what noise puts beyond it is brought back, afterwards."""


@cache
def opendp() -> Any:
    """The library, or a word about how to get it."""
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
        _above_zero("epsilon", self.epsilon)

    @property
    def cost(self) -> Cost:
        """The claim, for neighbors as far apart as the mechanism's sensitivity says."""
        return Cost(self.epsilon)

    @property
    @abstractmethod
    def exact(self) -> float:
        """The ε that OpenDP computes for what is drawn."""


# The local model: everybody answers for themselves.


@dataclass(frozen=True, kw_only=True)
class RandomizedResponse(Mechanism):
    """One of `categories` answers: the true one with probability e^ε / (e^ε + m − 1).

    Guarantee: ε-differential privacy of each answer, (ε, 0), for any ε: two different
    truths give any answer with probabilities whose ratio is e^ε at most. With two
    coins, as Warner's survey has it, the truth is told in 3 of 4 cases and ε = ln 3.

    Example:
        >>> RandomizedResponse(epsilon=1.0, categories=3).cost
        Cost(epsilon=1.0, delta=0.0)
        >>> from math import log
        >>> round(RandomizedResponse(epsilon=log(3), categories=2).truth, 12)
        0.75
    """

    categories: int

    def __post_init__(self) -> None:
        super().__post_init__()
        _at_least("categories", self.categories, 2)

    @property
    def truth(self) -> float:
        """The probability of the true answer."""
        return 1.0 / (1.0 + (self.categories - 1) * exp(-self.epsilon))

    @property
    def exact(self) -> float:
        return float(self._measurement.map(1))

    def respond(self, code: int) -> int:
        """A private answer for the true code, 0 … categories − 1."""
        _inside("code", code, self.categories)
        return int(self._measurement(int(code)))

    def estimate(self, answers: Ints) -> Floats:
        """Unbiased counts of the true answers, from everybody's private ones."""
        seen = np.bincount(answers, minlength=self.categories)
        other = (1.0 - self.truth) / (self.categories - 1)
        counts: Floats = (seen - len(answers) * other) / (self.truth - other)
        return counts

    @cached_property
    def _measurement(self) -> Any:
        def make(truth: float) -> Any:
            return opendp().m.make_randomized_response(
                list(range(self.categories)), prob=truth
            )

        least = 1.0 / self.categories
        return _within(
            lambda shrink: make(least + (self.truth - least) / shrink), self.epsilon, 1
        )


@dataclass(frozen=True, kw_only=True)
class UnaryEncoding(Mechanism):
    """One bit per category, each flipped with probability 1 / (e^(ε/2) + 1).

    Guarantee: ε-differential privacy of each answer, (ε, 0): two truths differ in two
    bits, and each bit costs ε / 2.
    Reference: Wang et al. 2017; basic one-time RAPPOR (Erlingsson et al. 2014).

    Example:
        >>> UnaryEncoding(epsilon=1.0, categories=5).cost
        Cost(epsilon=1.0, delta=0.0)
    """

    categories: int

    def __post_init__(self) -> None:
        super().__post_init__()
        _at_least("categories", self.categories, 2)

    @property
    def flip(self) -> float:
        """The probability that a bit is flipped."""
        return 1.0 / (exp(self.epsilon / 2) + 1.0)

    @property
    def exact(self) -> float:
        return float(self._measurement.map(1))

    def respond(self, code: int) -> npt.NDArray[np.bool_]:
        """A private bit vector for the true code."""
        _inside("code", code, self.categories)
        bits = np.zeros(self.categories, dtype=np.bool_)
        bits[code] = True
        drawn = self._measurement(np.packbits(bits).tobytes())
        unpacked = np.unpackbits(np.frombuffer(drawn, dtype=np.uint8))
        return unpacked[: self.categories].astype(np.bool_)

    def aggregate(self, answers: npt.NDArray[np.bool_]) -> Floats:
        """Unbiased counts, from the answers of everybody, one per row."""
        seen = answers.sum(axis=0)
        counts: Floats = (seen - len(answers) * self.flip) / (1.0 - 2.0 * self.flip)
        return counts

    @cached_property
    def _measurement(self) -> Any:
        dp = opendp()
        # OpenDP replaces a bit by a fair coin with probability f: it flips with f / 2.
        return _within(
            lambda grow: dp.m.make_randomized_response_bitvec(
                dp.bitvector_domain(max_weight=1),
                dp.discrete_distance(),
                f=min(2.0 * self.flip * grow, 1.0),
            ),
            self.epsilon,
            1,
        )


# Noise on numbers.


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
        _above_zero("sensitivity", self.sensitivity)

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
        return _within(
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
        _at_least("sensitivity", self.sensitivity, 1)

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
        return _within(
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
        _above_zero("sensitivity", self.sensitivity)
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


# Choices.


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
        _above_zero("sensitivity", self.sensitivity)

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
        _above_zero("sensitivity", self.sensitivity)

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
    return _within(
        lambda grow: dp.m.make_noisy_max(*space, measure, scale=scale * grow),
        limit,
        sensitivity,
    )


def _within(make: Any, limit: float, distance: float) -> Any:
    """The measurement with the least noise whose loss is within the limit.

    OpenDP rounds losses up: a scale that is exact on paper may cost a hair more.
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


def _normal(x: float) -> float:
    """The standard normal distribution function, exact far into its tail."""
    return 0.5 * erfc(-x / sqrt(2.0))


def _above_zero(name: str, value: float) -> None:
    if not (isfinite(value) and value > 0):
        raise PolicyError(
            f"{name} must be a number above 0; it is {value}.",
            hint="Values between 0.1 and 1 are usual for epsilon.",
        )


def _at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise PolicyError(f"{name} must be {least} or more; it is {value}.", hint=None)


def _inside(name: str, value: int, size: int) -> None:
    if not 0 <= value < size:
        raise PolicyError(
            f"{name} must lie in 0 … {size - 1}; it does not.",
            hint="Codes number the declared categories.",
        )
