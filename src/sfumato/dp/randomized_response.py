"""The local model: each person randomizes their own answer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import exp
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Floats, Ints
from sfumato.dp.mechanism import (
    Mechanism,
    at_least,
    inside,
    least_noise,
    opendp,
)


@dataclass(frozen=True, kw_only=True)
class RandomizedResponse(Mechanism):
    """One of `categories` answers: the true one with probability e^ε / (e^ε + m − 1).

    Guarantee: ε-differential privacy of each answer, (ε, 0), for any ε: two different
    truths give any answer with probabilities whose ratio is e^ε at most. With two
    coins, as in Warner's survey, 3 of 4 answers are true and ε = ln 3.

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
        at_least("categories", self.categories, 2)

    @property
    def truth(self) -> float:
        """The probability of the true answer."""
        return 1.0 / (1.0 + (self.categories - 1) * exp(-self.epsilon))

    @property
    def exact(self) -> float:
        return float(self._measurement.map(1))

    def respond(self, code: int) -> int:
        """A private answer for the true code, 0 … categories − 1."""
        inside("code", code, self.categories)
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
        return least_noise(
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
        at_least("categories", self.categories, 2)

    @property
    def flip(self) -> float:
        """The probability that a bit is flipped."""
        return 1.0 / (exp(self.epsilon / 2) + 1.0)

    @property
    def exact(self) -> float:
        return float(self._measurement.map(1))

    def respond(self, code: int) -> npt.NDArray[np.bool_]:
        """A private bit vector for the true code."""
        inside("code", code, self.categories)
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
        return least_noise(
            lambda grow: dp.m.make_randomized_response_bitvec(
                dp.bitvector_domain(max_weight=1),
                dp.discrete_distance(),
                f=min(2.0 * self.flip * grow, 1.0),
            ),
            self.epsilon,
            1,
        )
