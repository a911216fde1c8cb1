"""What an algorithm declares not to support is refused before its search begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from sfumato.algorithms.base import Algorithm, Request, Solution
from sfumato.data.grouping import Grouping
from sfumato.errors import RefusedError
from sfumato.hierarchies.axis import CodedAxis
from sfumato.models.base import OutputModel
from sfumato.models.k_anonymity import KAnonymity
from sfumato.models.k_map import KMap
from sfumato.models.l_diversity import LDiversity
from sfumato.testing.random_groups import flat_axis

ROWS = 4


@dataclass(frozen=True, kw_only=True)
class OneGroup(Algorithm):
    """Puts all rows into one group, and supports sizes of groups of rows alone."""

    name: ClassVar[str] = "one-group"
    sentence: ClassVar[str] = "Puts all rows into one group."
    counts_persons: ClassVar[bool] = False
    counts_population: ClassVar[bool] = False

    def serves(self, rule):
        return rule.traits.size_alone

    def search(self, request: Request) -> Solution:
        return Solution(grouping=Grouping(np.zeros(ROWS, dtype=np.int32), 1))


def request_of(*models: OutputModel, **changes) -> Request:
    codes = np.arange(ROWS, dtype=np.int32) % 2
    return Request(
        quasi=(CodedAxis(flat_axis("age", 2), codes),),
        models=models,
        sensitive={"illness": CodedAxis(flat_axis("illness", 2), codes)},
        **changes,
    )


def test_what_is_supported_is_solved():
    solution = OneGroup().solve(request_of(KAnonymity(k=4)))
    assert solution.grouping.count == 1


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (
            request_of(KAnonymity(k=2), subject=np.arange(ROWS, dtype=np.int32)),
            "counts rows, but the policy has a subject column",
        ),
        (
            request_of(
                KMap(k=2, population="people.csv"),
                population=(np.zeros(9, dtype=np.int32),),
            ),
            "cannot count the population",
        ),
        (request_of(LDiversity(l=2, on="illness")), "does not support l-diversity"),
    ],
    ids=["persons", "population", "rules"],
)
def test_what_is_not_supported_is_refused_by_name(request_, reason):
    with pytest.raises(RefusedError, match=f"'one-group' {reason}") as refusal:
        OneGroup().solve(request_)
    assert "'mondrian'" in refusal.value.hint
