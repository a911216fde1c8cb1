"""Group size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from sfumato.data.option_examples import ParameterExamples
from sfumato.data.rules import Rule
from sfumato.models.base import (
    AttackBound,
    Feasibility,
    Groups,
    OutputModel,
    Verdict,
    size_rule,
)
from sfumato.models.common.feasibility import enough_rows
from sfumato.models.common.verdicts import judge_sizes


@dataclass(frozen=True, kw_only=True)
class GroupSize(OutputModel):
    """Every group has at least k rows, whether or not its cells are made equal.

    Guarantee: sensitive values are mixed among k or more rows. For swapped and
    anatomized releases, whose quasi-identifiers stay as they were, this is what can
    be promised instead of k-anonymity. Rows count, even where persons have several.
    Limits: rows may still be unique on their quasi-identifiers.
    """

    name: ClassVar[str] = "group-size"
    sentence: ClassVar[str] = "Sensitive values are mixed among at least k rows."
    blind_spot: ClassVar[str] = (
        "Where quasi-identifiers are published as they were, a person can still be "
        "found; only the link to the sensitive value is loosened."
    )
    examples: ClassVar[ParameterExamples] = ({"k": range(1, 6)},)
    monotone_suppression: ClassVar[bool] = True

    k: int
    """The fewest rows, or persons, that a group may have, whatever its cells
    show."""

    def __post_init__(self) -> None:
        self._require_count("k", self.k)

    @property
    def more_is_safer(self) -> bool:
        return True

    def attack_bounds(
        self, quasi: Sequence[str], sensitive: Sequence[str]
    ) -> tuple[AttackBound, ...]:
        # None: the values of a group may all be the same.
        return ()

    def verify(self, groups: Groups) -> Verdict:
        return judge_sizes(groups.rows, k=self.k).verdict()

    def rules(self, sensitive: Sequence[str], *, subjects: bool) -> tuple[Rule, ...]:
        return (size_rule(self.k, subjects=False),)

    def feasibility(self, whole: Groups, *, removable: int) -> Feasibility:
        found = int(whole.rows.sum())
        return enough_rows(self.name, needed=self.k, found=found, parameter="k")
