"""δ-presence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.data.arrays import Floats
from sfumato.data.option_examples import ParameterExamples, twentieths
from sfumato.data.rules import SUBJECT, Rule, RuleKind
from sfumato.errors import PolicyError
from sfumato.models.base import (
    TOLERANCE,
    AttackBound,
    Feasibility,
    Groups,
    OutputModel,
    Scope,
    Verdict,
)
from sfumato.models.common.feasibility import nearest


@dataclass(frozen=True, kw_only=True)
class DeltaPresence(OutputModel):
    """Nobody of the population can be placed in the table, or outside it, for sure.

    Guarantee: of the people of the population who match a group, between the shares
    `lower` and `upper` are in the table. With `lower` above 0, everybody of the
    population must match some group.
    Limits: holds against attackers who know this population and no better one.
    Reference: Nergiz, Atzori and Clifton 2007.
    """

    name: ClassVar[str] = "delta-presence"
    needs_cells: ClassVar[bool] = True
    sentence: ClassVar[str] = (
        "Nobody can tell from the release whether a given person is in the table."
    )
    blind_spot: ClassVar[str] = (
        "The sensitive value of somebody who is known to be in the table is not protected."
    )
    examples: ClassVar[ParameterExamples] = (
        {"lower": twentieths(0, 0.3), "upper": twentieths(0.4, 1)},
    )
    scope: ClassVar[Scope] = Scope.POPULATION
    holds_for_unions: ClassVar[bool] = False

    lower: float = 0.0
    """The smallest share of the matching people of the population who must be in
    the table."""
    upper: float
    """The largest share of the matching people of the population who may be in the
    table."""
    population: str | None = None
    """The population table's file."""

    def __post_init__(self) -> None:
        self._require_share("lower", self.lower, zero=True)
        self._require_share("upper", self.upper)
        self._require(
            self.lower <= self.upper,
            f"lower is {self.lower}, upper is {self.upper}.",
            "lower must not exceed upper.",
        )

    @property
    def reads_population(self) -> bool:
        return True

    @property
    def asks_for_everybody(self) -> bool:
        return self.lower > TOLERANCE

    def attack_bounds(
        self, quasi: Sequence[str], sensitive: Sequence[str]
    ) -> tuple[AttackBound, ...]:
        # None: only a population table says who else matches.
        return ()

    def verify(self, groups: Groups) -> Verdict:
        shares = _present(groups)
        broken = (shares < self.lower - TOLERANCE) | (shares > self.upper + TOLERANCE)
        outside = groups.population_outside if self.asks_for_everybody else 0
        offending = int(broken.sum())
        lowest, highest = _ends(shares)
        if groups.population_outside and lowest is not None:
            lowest = 0.0
        return Verdict(
            offending == 0 and not outside,
            highest,
            offending,
            {"lower": lowest, "outside": groups.population_outside},
            broken=broken,
            broken_limits=self._broken_limits(lowest, highest),
        )

    def _broken_limits(
        self, lowest: float | None, highest: float | None
    ) -> dict[str, float | None]:
        limits: dict[str, float | None] = {}
        if highest is not None and highest > self.upper + TOLERANCE:
            limits["upper"] = highest
        if lowest is not None and lowest < self.lower - TOLERANCE:
            limits["lower"] = lowest
        return limits

    def rules(self, sensitive: Sequence[str], *, subjects: bool) -> tuple[Rule, ...]:
        view = SUBJECT if subjects else None
        return (Rule(RuleKind.PRESENCE, view, (self.lower, self.upper)),)

    def feasibility(self, whole: Groups, *, removable: int) -> Feasibility:
        """Compare the limits with the table's share, which some groups reach."""
        rows = int(whole.sizes.sum())
        people = int(_matching(whole).sum())
        fewest = max(rows - removable, 1) / max(people, 1)
        most = rows / max(people, 1)
        too_many = fewest > self.upper + TOLERANCE
        too_few = most < self.lower - TOLERANCE
        best = fewest if too_many else min(most, self.upper)
        return Feasibility(
            feasible=not (too_many or too_few),
            best=best,
            parameter="lower" if too_few else "upper",
            message=f"delta-presence needs a share from {self.lower:g} to "
            f"{self.upper:g} of the population; the table is {most:.6g} of it"
            + (
                f", {fewest:.6g} with {removable:,} rows left out."
                if removable
                else "."
            ),
            hint=f"Lower 'lower' to {nearest(most, at_least=True)}."
            if too_few
            else f"Raise 'upper' to {nearest(fewest, at_least=False)}.",
        )


def _matching(groups: Groups) -> Floats:
    if groups.population is None:
        raise PolicyError(
            "delta-presence: the population table was not read.",
            hint="Give its file in 'population'.",
        )
    return groups.population.astype(np.float64)


def _present(groups: Groups) -> Floats:
    """The share of the matching people who are in the table; infinite if nobody."""
    with np.errstate(divide="ignore"):
        return np.asarray(groups.sizes / _matching(groups))


def _ends(shares: Floats) -> tuple[float | None, float | None]:
    if not len(shares):
        return None, None
    highest = float(shares.max())
    return float(shares.min()), highest if np.isfinite(highest) else None
