"""t-closeness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from sfumato.data.option_examples import ParameterExamples, twentieths
from sfumato.data.rules import Distance, Rule, RuleKind
from sfumato.models.base import (
    AttackBound,
    Feasibility,
    Groups,
    ReferenceModel,
    Verdict,
)
from sfumato.models.common.distances import earth_mover
from sfumato.models.common.reference_feasibility import always_feasible
from sfumato.models.common.verdicts import Side, judge

DISTANCES = {
    "equal": Distance.EQUAL,
    "ordered": Distance.ORDERED,
    "hierarchical": Distance.HIERARCHICAL,
}


@dataclass(frozen=True, kw_only=True)
class TCloseness(ReferenceModel):
    """Sensitive values are distributed in every group nearly as in the table.

    Guarantee: the earth mover's distance between a group's distribution and the
    table's is at most t. `distance` between values is "equal" (1 for any two),
    "ordered" (ranks apart / ranks) or "hierarchical" (level of the common ancestor /
    height); left out: ordered for numbers, dates and ordered categories,
    hierarchical where the column has a hierarchy, equal otherwise.
    Limits: t bounds the total change, so a rare value may become much likelier.
    Reference: Li, Li and Venkatasubramanian 2007.
    """

    name: ClassVar[str] = "t-closeness"
    sentence: ClassVar[str] = (
        "Every group's sensitive values are distributed nearly as in the whole table."
    )
    blind_spot: ClassVar[str] = (
        "A rare value may still become many times likelier in a group, as long as few "
        "rows are concerned; identities are not protected."
    )
    examples: ClassVar[ParameterExamples] = (
        {"t": twentieths(0.05, 1), "distance": ("equal", "ordered", None)},
    )

    t: float
    """How far, at most, the sensitive values of a group may be distributed from
    those of the table; 0 is equal, 1 as far as can be."""
    distance: str | None = None
    """How far apart two values are: "equal", "ordered" or "hierarchical"; left out,
    the kind of the column decides."""

    def __post_init__(self) -> None:
        self._require_common()
        self._require_share("t", self.t, zero=True)
        if self.distance is not None:
            self._require_choice("distance", self.distance, tuple(DISTANCES))

    @property
    def ground(self) -> Distance:
        """The distance asked for."""
        return Distance.DEFAULT if self.distance is None else DISTANCES[self.distance]

    def attack_bounds(
        self, quasi: Sequence[str], sensitive: Sequence[str]
    ) -> tuple[AttackBound, ...]:
        chosen = {} if self.distance is None else {"distance": self.distance}
        return tuple(
            AttackBound(attack="skewness", at_most=self.t, view=view, options=chosen)
            for view in self.views(sensitive)
        )

    def verify(self, groups: Groups) -> Verdict:
        found = judge(
            groups,
            self.histograms(groups),
            partial(earth_mover, distance=self.ground),
            side=Side.AT_MOST,
            limit=self.t,
        )
        return found.verdict()

    def rules(self, sensitive: Sequence[str], *, subjects: bool) -> tuple[Rule, ...]:
        parameters = (self.t, float(self.ground), 0.0)
        views = self.views(sensitive)
        return tuple(Rule(RuleKind.CLOSENESS, view, parameters) for view in views)

    def feasibility(self, whole: Groups, *, removable: int) -> Feasibility:
        verdict = self.verify(whole)
        return always_feasible(
            self, whole, verdict, parameter="t", limit=self.t, removable=removable
        )
