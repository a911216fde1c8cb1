"""l-diversity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.data.rules import Rule, RuleKind
from sfumato.models.base import Feasibility, Groups, SensitiveModel, Verdict


@dataclass(frozen=True, kw_only=True)
class LDiversity(SensitiveModel):
    """Every published group has at least l distinct sensitive values.

    Guarantee: an attacker who finds a person's group still faces l values.
    Limits: nothing about how common each value is, nor how alike they are.
    Reference: Machanavajjhala et al. 2006.
    """

    name: ClassVar[str] = "l-diversity"
    sentence: ClassVar[str] = "Every group holds at least l different sensitive values."
    blind_spot: ClassVar[str] = (
        "One value may still be far likelier in a group than in the table (skewness), "
        "and the values may be alike (similarity)."
    )
    monotone_suppression: ClassVar[bool] = True

    l: float
    kind: str = "distinct"

    def __post_init__(self) -> None:
        self._require(self.l >= 1, f"l is {self.l}.", "l must be at least 1.")

    def verify(self, groups: Groups) -> Verdict:
        found = [np.diff(h.starts) for h in self.histograms(groups)]
        lowest = min((int(f.min()) for f in found if len(f)), default=None)
        offending = sum(int((f < self.l).sum()) for f in found)
        return Verdict(offending == 0, lowest, offending)

    def rules(self, sensitive: Sequence[str], *, subjects: bool) -> tuple[Rule, ...]:
        return tuple(
            Rule(RuleKind.DISTINCT, view, (self.l,)) for view in self.views(sensitive)
        )

    def feasibility(self, whole: Groups, *, removable: int) -> Feasibility:
        found = min(len(h.codes) for h in self.histograms(whole))
        return Feasibility(
            feasible=found >= self.l,
            best=found,
            message=f"l-diversity needs {self.l} distinct values; the table has {found}.",
            hint=f"Lower l to {found}, or name another sensitive column in 'on'.",
        )
