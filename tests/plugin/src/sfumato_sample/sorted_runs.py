"""An algorithm of a plug-in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.algorithms.base import Algorithm, Request, Solution
from sfumato.data.arrays import Ints
from sfumato.data.grouping import Grouping
from sfumato.data.option_examples import OptionExamples
from sfumato.errors import InfeasibleError, PolicyError


@dataclass(frozen=True, kw_only=True)
class SortedRuns(Algorithm):
    """Cut the sorted rows into equal runs, as many as the requirements allow.

    Guarantee: every group meets every requirement; no row is suppressed.
    Method: sort the rows by their quasi-identifiers, begin with runs of `start` rows,
    and double their length until every requirement holds.
    Cost: a sort, and one judgment per doubling.
    Limits: only the first columns are sorted well; the loss is high.
    """

    name: ClassVar[str] = "sorted-runs"
    sentence: ClassVar[str] = "Cuts the sorted rows into equal runs."
    counts_population: ClassVar[bool] = False
    examples: ClassVar[OptionExamples] = ({"start": 8},)

    start: int = 2

    def __post_init__(self) -> None:
        if not (self.start >= 1 and self.start == int(self.start)):
            raise PolicyError(
                f"sorted-runs: 'start' is {self.start}.",
                hint="'start' must be a whole number of at least 1.",
            )

    def search(self, request: Request) -> Solution:
        order, length = _sorted_rows(request), self.start
        while True:
            runs = max(request.rows // length, 1)
            request.progress("cutting runs", 1 / runs)
            grouping = _cut(order, runs)
            if all(request.meets(m, grouping).holds for m in request.models):
                return Solution(grouping=grouping, facts={"groups": runs})
            if runs == 1:
                raise _infeasible(request)
            length *= 2


def _sorted_rows(request: Request) -> Ints:
    keys = [coded.codes for coded in (*request.quasi, *request.sensitive.values())]
    if request.subject is not None:
        keys.append(request.subject)
    order: Ints = np.lexsort(keys[::-1])
    return order


def _cut(order: Ints, runs: int) -> Grouping:
    group_of = np.empty(len(order), dtype=np.int32)
    group_of[order] = np.arange(len(order)) * runs // len(order)
    return Grouping(group_of, runs)


def _infeasible(request: Request) -> InfeasibleError:
    whole = request.as_one_group()
    broken = [model for model in request.models if not model.verify(whole).holds]
    model = (broken or request.models)[0]
    return InfeasibleError(
        f"{model.name} does not hold for 1 group of all {request.rows} rows.",
        hint="Relax the requirement.",
    )
