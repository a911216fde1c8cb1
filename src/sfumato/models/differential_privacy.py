"""Differential privacy: certified by a ledger of how a release was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import ClassVar

from sfumato.data.option_examples import ParameterExamples, twentieths
from sfumato.dp.cost import Cost
from sfumato.dp.ledger import Ledger
from sfumato.errors import PolicyError
from sfumato.models.base import AttackBound, ProcessModel, Verdict

HIGHEST_EPSILON = 10.0
HIGHEST_DELTA = 0.01


@dataclass(frozen=True, kw_only=True)
class DifferentialPrivacy(ProcessModel):
    """What is published hardly depends on any one person.

    Guarantee: for tables that differ in one row (or one subject, where declared), any
    outcome is at most e^ε times as likely for one as for the other, except with
    probability δ. No table can show this: it holds if the ledger of the run
        says so, and covers what the algorithm says it covers.
    Limits: repeated releases add up unless they share a ledger; what holds for a whole
        population is published, and may be used against anyone in it.
    Reference: Dwork, McSherry, Nissim and Smith 2006; Dwork et al. 2006 for δ.
    """

    name: ClassVar[str] = "differential-privacy"
    sentence: ClassVar[str] = (
        "Any outcome is about as likely with a person's data as without it."
    )
    blind_spot: ClassVar[str] = (
        "Facts about everybody are published, and repeated releases add up."
    )
    examples: ClassVar[ParameterExamples] = (
        {"epsilon": twentieths(0.1, 2), "delta": (1e-6,)},
    )
    never_weakening: ClassVar[tuple[str, ...]] = ("budget",)

    epsilon: float
    """ε: how much more likely any outcome may become by one person, as a power of
    e; at most 10."""
    delta: float = 0.0
    """δ: the chance that ε does not hold; at most 0.01, and 0 where the algorithm
    needs none."""
    budget: Mapping[str, float] | None = None
    """How epsilon is shared among the parts of an algorithm, by their names."""

    def __post_init__(self) -> None:
        self._require_positive("epsilon", self.epsilon)
        self._require(
            self.epsilon <= HIGHEST_EPSILON,
            f"epsilon is {self.epsilon}, which promises nothing: an outcome may be "
            f"e^{self.epsilon:g} times as likely.",
            f"epsilon must be at most {HIGHEST_EPSILON:g}; 0.1 to 1 is usual.",
        )
        self._require(
            0 <= self.delta <= HIGHEST_DELTA,
            f"delta is {self.delta}.",
            f"delta must lie from 0 to {HIGHEST_DELTA}, and far below 1 / rows.",
        )
        for part, share in (self.budget or {}).items():
            self._require(
                0 <= share < inf,
                f"budget.{part} is {share}.",
                "Shares of the budget must be at least 0.",
            )

    @property
    def cost(self) -> Cost:
        """What a release may cost in all."""
        return Cost(self.epsilon, self.delta)

    def shares(self, defaults: Mapping[str, float]) -> dict[str, float]:
        """The share of epsilon of each part, adding up to 1; `defaults` has all parts."""
        given = self.budget or {}
        strange = sorted(set(given) - set(defaults))
        if strange:
            raise PolicyError(
                f"{self.name}: budget names '{strange[0]}', which the algorithm does "
                "not use.",
                hint=f"Its parts are: {', '.join(defaults)}.",
            )
        parts = dict.fromkeys(defaults, 0.0) | dict(given) if given else dict(defaults)
        total = sum(parts.values())
        self._require(total > 0, "budget has no share above 0.", "Give one part 1.")
        return {part: share / total for part, share in parts.items()}

    def attack_bounds(
        self, quasi: Sequence[str], sensitive: Sequence[str]
    ) -> tuple[AttackBound, ...]:
        # None: it bounds what one person changes, on any attack.
        return ()

    def certify(self, ledger: Ledger) -> Verdict:
        """Whether what a run spent lies within what was asked for."""
        spent = ledger.spent
        return Verdict(
            holds=spent.within(self.cost),
            measured=spent.epsilon,
            details={"delta": spent.delta, "relation": str(ledger.relation)},
        )
