"""k-map."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sfumato.data.option_examples import ParameterExamples, twentieths
from sfumato.data.rules import Rule, RuleKind
from sfumato.errors import PolicyError
from sfumato.models.base import (
    AttackBound,
    Feasibility,
    Groups,
    OutputModel,
    Scope,
    Verdict,
    size_rule,
)
from sfumato.models.common.sample_estimates import (
    ESTIMATORS,
    largest_population,
    smallest_sample,
)

WEIGHTS = "weights"


@dataclass(frozen=True, kw_only=True)
class KMap(OutputModel):
    """Every published group matches at least k people of the population.

    Guarantee: with a `population` table, each group's cells match k or more of its
    rows. With a `sampling_fraction` (or "weights": rows over the sum of the weight
    column), the published group is larger than a population group of k would leave
    in a sample, except with probability `significance`, by a Poisson or zero-truncated
    Poisson count.
    Limits: an attacker who knows who is in the table sees only the published rows.
    The estimates assume a simple random sample.
    Reference: Sweeney 2001; El Emam and Dankar 2008 (estimates).
    """

    name: ClassVar[str] = "k-map"
    needs_cells: ClassVar[bool] = True
    sentence: ClassVar[str] = (
        "Every published row could belong to at least k people of the population."
    )
    blind_spot: ClassVar[str] = (
        "Somebody who knows that a person is in the table may single that person out."
    )
    examples: ClassVar[ParameterExamples] = (
        {"k": range(1, 9), "sampling_fraction": twentieths(0.1, 0.95)},
    )
    scope: ClassVar[Scope] = Scope.POPULATION
    monotone_suppression: ClassVar[bool] = True

    k: int
    """The fewest people of the population that a published group may match."""
    population: str | None = None
    """The population table's file."""
    sampling_fraction: float | str | None = None
    """The share of the population in the table, or "weights"."""
    estimator: str = "poisson"
    """How the size of a population group is estimated from a sampling fraction:
    "poisson" or "zero-truncated-poisson"."""
    significance: float = 0.05
    """The largest chance with which a population group of k people may leave as many
    rows as a group that passes."""

    def __post_init__(self) -> None:
        self._require_count("k", self.k)
        self._require_choice("estimator", self.estimator, ESTIMATORS)
        self._require_share("significance", self.significance)
        self._require(
            (self.population is None) != (self.sampling_fraction is None),
            "needs either a population or a sampling_fraction.",
            "Give a population table, a fraction such as 0.01, or 'weights'.",
        )
        if self.sampling_fraction not in (None, WEIGHTS):
            self._require_fraction()

    @property
    def reads_population(self) -> bool:
        return self.population is not None

    def _require_fraction(self) -> None:
        fraction = self.sampling_fraction
        number = fraction if isinstance(fraction, (int, float)) else -1.0
        self._require_share("sampling_fraction", number)

    def settled(self, *, rows: int, weights: float | None) -> KMap:
        """With the fraction that the weights of the table imply."""
        if self.sampling_fraction != WEIGHTS:
            return self
        self._require(
            weights is not None and weights >= rows,
            "the weights add up to less than the number of rows."
            if weights is not None
            else "the table has no weight column.",
            "Give a column of sampling weights the role 'weight'.",
        )
        return replace(self, sampling_fraction=rows / (weights or 1.0))

    @property
    def more_is_safer(self) -> bool:
        return True

    def attack_bounds(
        self, quasi: Sequence[str], sensitive: Sequence[str]
    ) -> tuple[AttackBound, ...]:
        # None: its attacker does not know who is in the table.
        return ()

    def verify(self, groups: Groups) -> Verdict:
        if self.population is None:
            return self._verify_estimate(groups)
        if groups.population is None:
            raise PolicyError(
                "k-map: the population table was not read.",
                hint="Give its file in 'population'.",
            )
        smallest = float(groups.population.min()) if groups.count else None
        broken = groups.population < self.k
        offending = int(broken.sum())
        return Verdict(offending == 0, smallest, offending, broken=broken)

    def _verify_estimate(self, groups: Groups) -> Verdict:
        if not groups.count:
            return Verdict(True, None)
        settled = self._settled_on(groups)
        broken = groups.sizes < settled._smallest()
        offending = int(broken.sum())
        shown = largest_population(
            int(groups.sizes.min()),
            fraction=settled._fraction(),
            significance=self.significance,
            truncated=self._truncated,
        )
        return Verdict(
            offending == 0,
            shown,
            offending,
            {"smallest_group": settled._smallest()},
            broken=broken,
        )

    def _settled_on(self, groups: Groups) -> KMap:
        shown = groups.published
        weights = None if shown.weights is None else float(np.sum(shown.weights))
        return self.settled(rows=int(shown.rows.sum()), weights=weights)

    def rules(self, sensitive: Sequence[str], *, subjects: bool) -> tuple[Rule, ...]:
        if self.population is not None:
            return (Rule(RuleKind.POPULATION, None, (self.k,)),)
        return (size_rule(self._smallest(), subjects=subjects),)

    def feasibility(self, whole: Groups, *, removable: int) -> Feasibility:
        verdict = self.verify(whole)
        best = verdict.measured or 0.0
        return Feasibility(
            feasible=verdict.holds,
            best=best,
            message=f"k-map needs {self.k:,} people of the population behind every group; "
            f"behind the whole table there are {best:,g}.",
            hint=f"Lower k to {math.floor(best)}, or give a larger population."
            if best >= 1
            else "Give a larger population.",
        )

    @property
    def _truncated(self) -> bool:
        return self.estimator == ESTIMATORS[1]

    def _fraction(self) -> float:
        self._require(
            self.sampling_fraction != WEIGHTS,
            "the sampling fraction is not settled yet.",
            "Call settled() with the table's rows and weights first.",
        )
        return float(self.sampling_fraction or 1.0)

    def _smallest(self) -> int:
        return smallest_sample(
            self.k,
            fraction=self._fraction(),
            significance=self.significance,
            truncated=self._truncated,
        )
