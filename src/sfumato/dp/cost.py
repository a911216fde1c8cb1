"""The privacy cost of one use of the data, and how costs add up."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import exp, expm1, fsum, isfinite, log, log1p, prod, sqrt

from sfumato.errors import PolicyError


class Relation(StrEnum):
    """When two tables are neighbors; a guarantee is about neighbors."""

    ADD_REMOVE = "add-remove"
    """One has a row (or subject) that the other lacks."""
    SUBSTITUTION = "substitution"
    """They have as many rows (or subjects), and differ in one."""


class Unit(StrEnum):
    """What neighbors differ in."""

    ROW = "row"
    SUBJECT = "subject"
    """All rows of one person."""


@dataclass(frozen=True)
class Cost:
    """An (ε, δ) claim: outputs on neighbors differ by e^ε at most, but for δ.

    Example:
        >>> Cost(0.5) + Cost(0.25, 1e-6)
        Cost(epsilon=0.75, delta=1e-06)
    """

    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        if not (isfinite(self.epsilon) and self.epsilon >= 0):
            raise PolicyError(
                f"epsilon must be a number of at least 0; it is {self.epsilon}.",
                hint="Values between 0.1 and 1 are usual.",
            )
        if not 0 <= self.delta < 1:
            raise PolicyError(
                f"delta must lie in [0, 1); it is {self.delta}.",
                hint="It is a probability far below 1 / rows, such as 1e-6.",
            )

    def __add__(self, other: Cost) -> Cost:
        return sequential((self, other))

    def within(self, budget: Cost) -> bool:
        """Whether a budget covers it, up to the rounding of sums."""
        slack = 1.0 + 1e-12
        return (
            self.epsilon <= budget.epsilon * slack
            and self.delta <= budget.delta * slack
        )


NOTHING = Cost(0.0)


def sequential(costs: Iterable[Cost]) -> Cost:
    """The cost of uses of the same rows, one after the other: the sum.

    Example:
        >>> sequential([Cost(0.25), Cost(0.5, 1e-7)])
        Cost(epsilon=0.75, delta=1e-07)
    """
    listed = list(costs)
    epsilon = fsum(cost.epsilon for cost in listed)
    return Cost(epsilon, min(fsum(cost.delta for cost in listed), 1.0 - 2**-53))


def parallel(costs: Iterable[Cost], *, relation: Relation) -> Cost:
    """The cost of uses of disjoint rows.

    An added or removed row is in one part: the highest cost. A substituted row may
    leave one part and enter another: the two highest.

    Example:
        >>> parallel([Cost(0.1), Cost(0.4), Cost(0.3)], relation=Relation.ADD_REMOVE)
        Cost(epsilon=0.4, delta=0.0)
        >>> parallel([Cost(0.1), Cost(0.4), Cost(0.3)], relation=Relation.SUBSTITUTION)
        Cost(epsilon=0.7, delta=0.0)
    """
    touched = 1 if relation is Relation.ADD_REMOVE else 2
    listed = list(costs)
    epsilons = sorted((cost.epsilon for cost in listed), reverse=True)[:touched]
    deltas = sorted((cost.delta for cost in listed), reverse=True)[:touched]
    return Cost(fsum(epsilons), fsum(deltas))


def advanced(costs: Sequence[Cost], *, slack: float) -> Cost:
    """The cost of many uses of the same rows, smaller for a little more δ.

    Uses with different parameters, fixed in advance; never worse than the sum.
    Reference: Kairouz, Oh and Viswanath 2015, theorem 3.5; the first-order term is
    that of Dwork, Rothblum and Vadhan 2010, tightened.

    Example:
        >>> round(advanced([Cost(0.1)] * 100, slack=1e-6).epsilon, 3)
        5.756
    """
    if not 0 < slack < 1:
        raise PolicyError(
            f"slack must lie in (0, 1); it is {slack}.",
            hint="It is the δ that advanced composition may spend, such as 1e-7.",
        )
    drift = fsum(c.epsilon * expm1(c.epsilon) / (exp(c.epsilon) + 1) for c in costs)
    squares = fsum(c.epsilon**2 for c in costs)
    spread = sqrt(2 * squares * log(1 / slack))
    plain = sequential(costs)
    if drift + spread >= plain.epsilon:
        return plain
    kept = (1 - slack) * prod(1 - cost.delta for cost in costs)
    return Cost(drift + spread, 1 - kept)


def group(cost: Cost, *, size: int) -> Cost:
    """The cost for tables that differ in `size` rows rather than one.

    Example:
        >>> group(Cost(0.5), size=3)
        Cost(epsilon=1.5, delta=0.0)
    """
    _check_size(size)
    epsilon = size * cost.epsilon
    if cost.delta == 0 or cost.epsilon == 0:
        return Cost(epsilon, min(size * cost.delta, 1.0 - 2**-53))
    grown = cost.delta * expm1(epsilon) / expm1(cost.epsilon)
    return Cost(epsilon, min(grown, 1.0 - 2**-53))


def per_row(cost: Cost, *, size: int) -> Cost:
    """What one row may cost so that `size` rows together cost this: undoes `group`."""
    _check_size(size)
    epsilon = cost.epsilon / size
    if cost.delta == 0 or cost.epsilon == 0:
        return Cost(epsilon, cost.delta / size)
    return Cost(epsilon, cost.delta * expm1(epsilon) / expm1(cost.epsilon))


def amplified_epsilon(epsilon: float, rate: float) -> float:
    """ln(1 + rate · (e^ε − 1)), without loss of digits for a small ε."""
    return log1p(rate * expm1(epsilon))


def _check_size(size: int) -> None:
    if size < 1:
        raise PolicyError(
            f"A group has one row or more; {size:,} was given.", hint="Give 1 or more."
        )
