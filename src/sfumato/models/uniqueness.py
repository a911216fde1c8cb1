"""Uniqueness in the sample or in the population."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from sfumato.data.arrays import Counts
from sfumato.data.option_examples import ParameterExamples, twentieths
from sfumato.data.rules import Rule
from sfumato.models.base import (
    TOLERANCE,
    AttackBound,
    Feasibility,
    Groups,
    OutputModel,
    Scope,
    Verdict,
    size_rule,
)
from sfumato.models.common.sample_estimates import unique_in_population


@dataclass(frozen=True, kw_only=True)
class Uniqueness(OutputModel):
    """At most a share of the rows stands alone.

    Guarantee: of = "sample": in the published table. of = "population": in the
    population, known from a population table, or estimated from the sampling
    fraction: "zayatz" (population groups are sized like those seen) or
    "negative-binomial" (a sample unique is unique with the chance of the fraction).
    Method: groups of at least two rows suffice; `optimal` looks at the share itself
    where of = "sample".
    Limits: groups of two are not unique, yet hardly safer. Estimates may err.
    Reference: Zayatz 1991; Benedetti and Franconi 1998.
    """

    name: ClassVar[str] = "uniqueness"
    needs_cells: ClassVar[bool] = True
    sentence: ClassVar[str] = "At most a small share of the rows stands alone."
    blind_spot: ClassVar[str] = "A group of two is not unique, yet hardly safer."
    examples: ClassVar[ParameterExamples] = (
        {"of": ("sample",), "at_most": twentieths(0, 1)},
    )
    scope: ClassVar[Scope] = Scope.TABLE
    monotone_generalization: ClassVar[bool] = False

    of: str = "sample"
    """Whose uniqueness is limited: "sample", the published table, or
    "population"."""
    at_most: float
    """The largest share of rows that may stand alone."""
    sampling_fraction: float | None = None
    """The share of the population that is in the table, for estimates without a
    population table."""
    estimator: str = "zayatz"
    """How population uniques are estimated: "zayatz" or "negative-binomial"."""

    def __post_init__(self) -> None:
        self._require_choice("of", self.of, ("sample", "population"))
        self._require_choice(
            "estimator", self.estimator, ("zayatz", "negative-binomial")
        )
        self._require_share("at_most", self.at_most, zero=True)
        if self.sampling_fraction is not None:
            self._require_share("sampling_fraction", self.sampling_fraction)

    @property
    def judges_sizes(self) -> bool:
        return self.of == "sample"

    def attack_bounds(
        self, quasi: Sequence[str], sensitive: Sequence[str]
    ) -> tuple[AttackBound, ...]:
        if self.of == "population":
            # None: who is unique in the population is estimated, and nobody is named.
            return ()
        return (
            AttackBound(attack="singling-out", at_most=self.at_most, on_average=True),
        )

    def verify(self, groups: Groups) -> Verdict:
        total = int(groups.people.sum())
        if not total:
            return Verdict(True, None)
        share = self._alone(groups) / total
        holds = share <= self.at_most + TOLERANCE
        alone = (groups.sizes == 1) & (not holds)
        return Verdict(holds, share, int(alone.sum()), broken=alone)

    def _alone(self, groups: Groups) -> float:
        """How many rows stand alone, counted or expected."""
        single = groups.sizes == 1
        if self.of == "sample":
            return float(single.sum())
        if groups.population is not None:
            return float((single & (groups.population <= 1)).sum())
        return float(single.sum()) * self._chance(groups.published.sizes)

    def _chance(self, sizes: Counts) -> float:
        fraction = self.sampling_fraction
        self._require(
            fraction is not None,
            "population uniqueness needs a population or a sampling_fraction.",
            "Give sampling_fraction, such as 0.01.",
        )
        return unique_in_population(
            sizes, fraction=fraction or 1.0, estimator=self.estimator
        )

    def rules(self, sensitive: Sequence[str], *, subjects: bool) -> tuple[Rule, ...]:
        return (size_rule(1 if self.at_most >= 1 else 2, subjects=subjects),)

    def feasibility(self, whole: Groups, *, removable: int) -> Feasibility:
        found = int(whole.sizes.sum())
        return Feasibility(
            feasible=found >= 2 or self.at_most >= 1,
            best=0.0 if found >= 2 else 1.0,
            message=f"uniqueness needs a share of at most {self.at_most:g}; "
            f"the table has {found:,} rows, and groups need 2.",
            hint="Add rows.",
        )
