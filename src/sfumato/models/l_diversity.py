"""l-diversity: distinct, entropy, recursive, and the two disclosure-recursive kinds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

from sfumato.data.option_examples import ParameterExamples
from sfumato.data.rules import Rule, RuleKind, View
from sfumato.models.base import (
    AttackBound,
    Feasibility,
    Groups,
    Histogram,
    SensitiveModel,
    Verdict,
)
from sfumato.models.common.feasibility import (
    Limit,
    judged_alone,
    limited,
    rows_to_count_on,
    together,
    within_reach,
)
from sfumato.models.common.measures import (
    distinct,
    entropy,
    flags,
    rarest_required,
    recursive_ratio,
)
from sfumato.models.common.parameter_changes import UNITS, Loosening
from sfumato.models.common.required_values import required_everywhere
from sfumato.models.common.table_limits import (
    distinct_limit,
    entropy_limit,
    recursive_limit,
)
from sfumato.models.common.verdicts import (
    GroupMeasure,
    Judgement,
    Side,
    judge,
    verdict_on_limits,
)

KINDS = (
    "distinct",
    "entropy",
    "recursive",
    "positive-recursive",
    "negative-positive-recursive",
)


@dataclass(frozen=True, kw_only=True)
class LDiversity(SensitiveModel):
    """Every group has at least l well-represented sensitive values.

    Guarantee: depends on `kind`:
    - distinct: l values occur.
    - entropy: the entropy of the values is at least log l.
    - recursive: the commonest value occurs less than c times as often as the l-th
      commonest and all rarer ones together.
    - positive-recursive: the same, but values in `may_disclose` may be as common as
      they like.
    - negative-positive-recursive: positive-recursive with c1 for c, and each value
      in `must_occur` has at least the share c2 of every group, so that nobody can
      be ruled out of it.
    Limits: values may be likelier in a group than in the table, and may be alike.
    Reference: Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam 2007.
    """

    name: ClassVar[str] = "l-diversity"
    sentence: ClassVar[str] = (
        "Every group holds at least l well-represented sensitive values."
    )
    blind_spot: ClassVar[str] = (
        "One value may still be far likelier in a group than in the table (skewness), "
        "and the values may be alike (similarity)."
    )
    examples: ClassVar[ParameterExamples] = (
        {"kind": ("distinct",), "l": range(1, 5)},
        {"kind": ("entropy",), "l": (1, 1.5, 2, 3)},
        {"kind": ("recursive",), "l": (2, 3), "c": (0.25, 0.5, 1, 2, 4)},
    )
    choices_by_strictness: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "kind": ("distinct", "entropy")
    }
    monotone_suppression: ClassVar[bool] = True

    l: float
    """How many well-represented sensitive values every group must have."""
    kind: str = "distinct"
    """What "well represented" means: "distinct", "entropy", "recursive",
    "positive-recursive" or "negative-positive-recursive"."""
    c: float | None = None
    """Of the recursive kinds: the commonest value occurs less than c times as often
    as the l-th commonest and all rarer ones together."""
    c1: float | None = None
    """The c of "negative-positive-recursive"."""
    c2: float | None = None
    """Of "negative-positive-recursive": the share of every group that each value in
    `must_occur` has at least."""
    may_disclose: tuple[str, ...] = ()
    """Values that an attacker may learn: healthy, none, … (the paper's Y)."""
    must_occur: tuple[str, ...] = ()
    """Values that an attacker may not rule out (the paper's W)."""

    def __post_init__(self) -> None:
        for name in ("may_disclose", "must_occur"):
            object.__setattr__(self, name, _as_tuple(getattr(self, name)))
        self._require_common()
        self._require_choice("kind", self.kind, KINDS)
        self._require(self.l >= 1, f"l is {self.l}.", "l must be at least 1.")
        if self.kind == "distinct":
            self._require_count("l", self.l)
        if self._recursive:
            self._require_recursive()
        self._require_no_others()

    @property
    def _recursive(self) -> bool:
        return self.kind in KINDS[2:]

    @property
    def _both(self) -> bool:
        return self.kind == KINDS[4]

    @property
    def _factor(self) -> float:
        factor = self.c1 if self._both else self.c
        return 0.0 if factor is None else factor

    def _require_recursive(self) -> None:
        self._require_count("l", self.l)
        self._require(
            self.l >= 2, f"l is {self.l}.", f"kind '{self.kind}' needs l ≥ 2."
        )
        self._require_positive("c1" if self._both else "c", self._factor)
        if self._both:
            self._require_share("c2", -1.0 if self.c2 is None else self.c2)
            self._require(
                bool(self.must_occur),
                "must_occur is empty.",
                "Name the values that must remain possible for everybody.",
            )

    def _require_no_others(self) -> None:
        """Refuse parameters that the kind does not use: they would have no effect."""
        used = {
            "c": self.kind in KINDS[2:4],
            "c1": self._both,
            "c2": self._both,
            "may_disclose": self.kind in KINDS[3:],
            "must_occur": self._both,
        }
        for name, wanted in used.items():
            self._require(
                wanted or getattr(self, name) in (None, ()),
                f"{name} has no meaning for kind '{self.kind}'.",
                f"Remove {name}, or choose another kind.",
            )

    @property
    def more_is_safer(self) -> bool:
        return not self._recursive

    def attack_bounds(
        self, quasi: Sequence[str], sensitive: Sequence[str]
    ) -> tuple[AttackBound, ...]:
        if self.may_disclose:
            # None: the values that may be disclosed may fill a group.
            return ()
        views = self.views(sensitive)
        found = [
            AttackBound(attack="homogeneity", at_most=0.0, view=view)
            for view in views
            if self.l > 1
        ]
        if self._recursive:
            # The commonest value has less than c times what all others have.
            most = self._factor / (1.0 + self._factor)
            found += [
                AttackBound(attack="guess", at_most=most, view=view) for view in views
            ]
        return tuple(found)

    def verify(self, groups: Groups) -> Verdict:
        if self._recursive:
            return self._verify_recursive(groups)
        if self.kind == "entropy":
            found = self._judge(groups, entropy, Side.AT_LEAST, math.log(self.l))
            worst = None if found.worst is None else math.exp(found.worst)
            return replace(found.verdict(), measured=worst)
        return self._judge(groups, distinct, Side.AT_LEAST, self.l).verdict()

    def _verify_recursive(self, groups: Groups) -> Verdict:
        ratio = partial(recursive_ratio, l=int(self.l), exempt=self.may_disclose)
        found = self._judge(groups, ratio, Side.BELOW, self._factor)
        if not self._both:
            return found.verdict()
        rarest = partial(rarest_required, required=self.must_occur)
        shares = self._judge(groups, rarest, Side.AT_LEAST, self.c2 or 0.0)
        limits = {"c1": found, "c2": shares}
        return verdict_on_limits(limits, c2=shares.worst)

    def _judge(
        self, groups: Groups, measure: GroupMeasure, side: Side, limit: float
    ) -> Judgement:
        return judge(groups, self.histograms(groups), measure, side=side, limit=limit)

    def rules(self, sensitive: Sequence[str], *, subjects: bool) -> tuple[Rule, ...]:
        views = self.views(sensitive)
        return tuple(rule for view in views for rule in self._rules_on(view))

    def _rules_on(self, view: View) -> tuple[Rule, ...]:
        if self.kind == "distinct":
            return (Rule(RuleKind.DISTINCT, view, (self.l,)),)
        if self.kind == "entropy":
            return (Rule(RuleKind.ENTROPY, view, (math.log(self.l),)),)
        ratio = Rule(
            RuleKind.RECURSIVE,
            view,
            (self._factor, self.l),
            exempt=self.may_disclose,
        )
        if not self._both:
            return (ratio,)
        shares = Rule(
            RuleKind.OCCURRENCE, view, (self.c2 or 0.0,), required=self.must_occur
        )
        return (ratio, shares)

    def feasibility(self, whole: Groups, *, removable: int) -> Feasibility:
        found = self._of_whole(whole, removable)
        if not self._recursive and judged_alone(self, whole):
            return found
        spare = 0 if self._both else rows_to_count_on(self, whole, removable)
        return Loosening(
            self,
            lambda model: (
                model._of_whole(whole, spare).feasible and within_reach(model, whole)
            ),
            self._loosest(whole),
        ).explain(found)

    def _loosest(self, whole: Groups) -> dict[str, float]:
        """The loosest value of each parameter that a hint may change."""
        if not self._recursive:
            return {"l": 1 if self.kind == "distinct" else 1.0}
        # A ratio of counts is at most the number of rows.
        most = float(whole.rows.sum() + 1)
        ends = {"c1": most, "c2": 1 / UNITS} if self._both else {"c": most}
        return {**ends, "l": 2}

    def _of_whole(self, whole: Groups, removable: int) -> Feasibility:
        found = limited(
            self, whole, self._limit, removable=removable, alone=not self._both
        )
        if not self._both:
            return found
        shares = required_everywhere(
            self, whole, self.must_occur, self.c2 or 0.0, removable=removable
        )
        return together([found, shares])

    def _limit(self, histogram: Histogram) -> Limit:
        if self.kind == "distinct":
            return distinct_limit(self.l, parameter="l")
        if self.kind == "entropy":
            return entropy_limit(self.l, parameter="l")
        return recursive_limit(
            self._factor,
            int(self.l),
            flags(histogram.axis, self.may_disclose),
            parameter="c1" if self._both else "c",
        )


def _as_tuple(values: str | Sequence[str]) -> tuple[str, ...]:
    return (values,) if isinstance(values, str) else tuple(values)
