"""Compute exactly how much sampling strengthens the guarantee of a mechanism.

| sampling | neighbors | ε′ | δ′ |
|---|---|---|---|
| Poisson, rate γ | add/remove | ln(1 + γ(e^ε − 1)) | γδ |
| m of n without replacement | substitution | ln(1 + (m/n)(e^ε − 1)) | (m/n)δ |
| m of n with replacement | substitution | ln(1 + (1 − (1 − 1/n)^m)(e^ε − 1)) | Σ p_k·δ_k |

p_k is the probability of k copies of a row, δ_k the δ that the mechanism has at the same
ε for k rows at once. Each line holds for its own relation: the mechanism's claim must be
stated under the same one.
Reference: Balle, Barthe and Gaboardi 2018, theorems 8, 9 and 10.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from math import exp, expm1, fsum, lgamma, log, log1p
from typing import ClassVar

from sfumato.dp.cost import Cost, Relation, amplified_epsilon, group
from sfumato.errors import PolicyError


@dataclass(frozen=True)
class Sampling(ABC):
    """A way of drawing a sample, and what it does to a guarantee."""

    relation: ClassVar[Relation]
    """The neighbors for which the amplified claim holds, and the claim before it."""

    @property
    @abstractmethod
    def rate(self) -> float:
        """The probability that a given row is in the sample."""

    @abstractmethod
    def amplify(self, cost: Cost) -> Cost:
        """The claim about the table, given the mechanism's claim about the sample."""

    def charged(self, cost: Cost) -> Cost:
        """The claim that a ledger enters: undoes `affordable`."""
        return self.amplify(cost)

    def affordable(self, cost: Cost) -> Cost:
        """What a mechanism on the sample may cost so that the table pays `cost`.

        Example:
            >>> Poisson(0.1).affordable(Poisson(0.1).amplify(Cost(2.0)))
            Cost(epsilon=2.0, delta=0.0)
        """
        epsilon = log1p(expm1(cost.epsilon) / self.rate)
        return Cost(epsilon, min(cost.delta / self.rate, 1.0 - 2**-53))


@dataclass(frozen=True)
class Poisson(Sampling):
    """Every row is in the sample with the same probability, independently.

    Example:
        >>> round(Poisson(0.1).amplify(Cost(1.0)).epsilon, 4)
        0.1586
    """

    relation: ClassVar[Relation] = Relation.ADD_REMOVE
    probability: float

    def __post_init__(self) -> None:
        if not 0 < self.probability <= 1:
            raise PolicyError(
                f"The sampling rate must lie in (0, 1]; it is {self.probability}.",
                hint="Shares are written 0.1, not 10.",
            )

    @property
    def rate(self) -> float:
        return self.probability

    def amplify(self, cost: Cost) -> Cost:
        return Cost(amplified_epsilon(cost.epsilon, self.rate), self.rate * cost.delta)


@dataclass(frozen=True)
class WithoutReplacement(Sampling):
    """A uniformly random set of `size` of the `rows` rows.

    Example:
        >>> WithoutReplacement(size=25, rows=100).amplify(Cost(0.5, 1e-6)).delta
        2.5e-07
    """

    relation: ClassVar[Relation] = Relation.SUBSTITUTION
    size: int
    rows: int

    def __post_init__(self) -> None:
        if not 1 <= self.size <= self.rows:
            raise PolicyError(
                f"A sample of {self.size:,} cannot be drawn from {self.rows:,} rows.",
                hint="Draw between 1 and all rows.",
            )

    @property
    def rate(self) -> float:
        return self.size / self.rows

    def amplify(self, cost: Cost) -> Cost:
        return Cost(amplified_epsilon(cost.epsilon, self.rate), self.rate * cost.delta)


@dataclass(frozen=True)
class WithReplacement(Sampling):
    """`size` rows drawn one by one from `rows`, a row perhaps several times.

    Kuksina 2023, table 5.1, prints δ where δ_k belongs. Because of k copies a
    mechanism that is pure for one row is not pure afterwards, unless the claim is
    made at an ε that covers all copies (`at`).
    """

    relation: ClassVar[Relation] = Relation.SUBSTITUTION
    size: int
    rows: int

    def __post_init__(self) -> None:
        if self.size < 1 or self.rows < 1:
            raise PolicyError(
                f"A sample of {self.size:,} cannot be drawn from {self.rows:,} rows.",
                hint="Draw 1 or more from 1 or more.",
            )

    @property
    def rate(self) -> float:
        return -expm1(self.size * log1p(-1 / self.rows)) if self.rows > 1 else 1.0

    def amplify(
        self,
        cost: Cost,
        *,
        at: float | None = None,
        for_copies: Callable[[int], float] | None = None,
    ) -> Cost:
        """The amplified claim, given the mechanism's claim for one row of the sample.

        `at` is the ε to be amplified, that of the claim unless given; `for_copies`
        gives δ_k there, where the mechanism knows better than `copies_delta`.

        Example:
            >>> sampling = WithReplacement(size=2, rows=4)
            >>> sampling.amplify(Cost(0.5), at=1.0).delta
            0.0
        """
        epsilon = cost.epsilon if at is None else at
        known = for_copies or (lambda k: copies_delta(cost, copies=k, at=epsilon))
        delta = fsum(
            self.copies_probability(copies) * known(copies)
            for copies in range(1, self.size + 1)
        )
        amplified = amplified_epsilon(epsilon, self.rate)
        return Cost(amplified, min(delta, 1.0 - 2**-53))

    def charged(self, cost: Cost) -> Cost:
        """The claim at an ε that covers as many copies as can be drawn."""
        return self.amplify(cost, at=self.size * cost.epsilon)

    def affordable(self, cost: Cost) -> Cost:
        """A claim for one row that stays pure for as many copies as can be drawn."""
        return Cost(super().affordable(cost).epsilon / self.size)

    def copies_probability(self, copies: int) -> float:
        """The probability that the sample has a given row `copies` times."""
        if self.rows == 1:
            return float(copies == self.size)
        ways = (
            lgamma(self.size + 1) - lgamma(copies + 1) - lgamma(self.size - copies + 1)
        )
        rest = (self.size - copies) * log1p(-1 / self.rows)
        return exp(ways - copies * log(self.rows) + rest)


def copies_delta(cost: Cost, *, copies: int, at: float) -> float:
    """δ_k: the δ at ε = `at` for `copies` rows, of a mechanism with that claim per row.

    Group privacy where `at` covers all copies; below that, group privacy from the
    worst mechanism that has the claim (Kairouz, Oh and Viswanath 2015), whose δ at
    x < ε is δ + (1 − δ)(e^ε − e^x) / (e^ε + 1).
    """
    if at >= copies * cost.epsilon:
        return group(cost, size=copies).delta
    share = at / copies
    surplus = (exp(cost.epsilon) - exp(share)) / (exp(cost.epsilon) + 1)
    worst = cost.delta + (1 - cost.delta) * max(surplus, 0.0)
    return min(worst * expm1(at) / expm1(share), 1.0) if at > 0 else 1.0
