"""A faulty algorithm fails the check that names its fault; a plain one meets all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest

from sfumato.algorithms.base import Algorithm, Request, Solution
from sfumato.data.grouping import Grouping
from sfumato.data.seeds import Seed
from sfumato.errors import InfeasibleError, RefusedError
from sfumato.testing import ending_checks
from sfumato.testing.checks import check_algorithm
from sfumato.testing.conformance_check import Check

FEASIBILITY = "meets every requirement or says why not"


@dataclass(frozen=True, kw_only=True)
class OneGroup(Algorithm):
    """The whole table as one group: of no use, but correct."""

    name: ClassVar[str] = "one-group"
    sentence: ClassVar[str] = "Everybody is one group."

    def search(self, request: Request) -> Solution:
        request.progress("grouping", 1.0)
        whole = request.as_one_group()
        for model in request.models:
            if not model.verify(whole).holds:
                raise InfeasibleError(
                    f"1 group of {request.rows} rows does not meet {model}.",
                    hint="Relax the requirement.",
                )
        return Solution(grouping=Grouping(np.zeros(request.rows, dtype=np.int32), 1))


class Unnamed(OneGroup):
    name = "One Group"


class LosesARow(OneGroup):
    def solve(self, request):
        group_of = np.zeros(request.rows, dtype=np.int32)
        group_of[0] = -1
        return Solution(grouping=Grouping(group_of, 1))


class IgnoresRequirements(OneGroup):
    def solve(self, request):
        alone = np.arange(request.rows, dtype=np.int32)
        return Solution(grouping=Grouping(alone, request.rows))


class AnswersWithNothing(OneGroup):
    def solve(self, request):
        return Solution(grouping=Grouping(np.full(request.rows, -1, dtype=np.int32), 0))


class ShrugsAtTheInfeasible(OneGroup):
    def solve(self, request):
        try:
            return super().solve(request)
        except InfeasibleError:
            raise InfeasibleError("No.") from None


class HasNoRowsInAGroup(OneGroup):
    def solve(self, request):
        return Solution(grouping=Grouping(np.ones(request.rows, dtype=np.int32), 2))


def halves(request: Request, upper) -> Solution:
    request.progress("grouping", 1.0)
    if request.rows < 16:
        upper = np.zeros(request.rows)
    return Solution(grouping=Grouping.renumbered(np.asarray(upper).astype(np.int32)))


class GoesByPosition(OneGroup):
    def search(self, request):
        return halves(request, np.arange(request.rows) % 2)


class RollsDice(OneGroup):
    def search(self, request):
        return halves(request, Seed.fresh().permutation(request.rows) % 2)


class DependsOnThreads(OneGroup):
    def search(self, request):
        return halves(request, np.arange(request.rows) % request.threads)


class WritesIntoItsInput(OneGroup):
    def search(self, request):
        request.quasi[0].axis.node_ncp[0] = 0.5
        return super().search(request)


class SaysNothing(OneGroup):
    def search(self, request):
        return super().search(replace(request, progress=lambda _step, _share: None))


class OvershootsProgress(OneGroup):
    def search(self, request):
        request.progress("grouping", 1.2)
        return super().search(request)


class SwallowsInterrupts(OneGroup):
    def search(self, request):
        try:
            return super().search(request)
        except KeyboardInterrupt:
            return super().search(replace(request, progress=lambda _step, _share: None))


class RefusesEverything(OneGroup):
    def check(self, request):
        raise RefusedError("This algorithm is busy.", hint="Come back later.")


class NeverEnds(OneGroup):
    def search(self, request):
        while True:
            request.progress("grouping", 0.5)


@dataclass(frozen=True, kw_only=True)
class TakesAnyOption(OneGroup):
    rounds: int = 3


FAULTS = [
    (Unnamed, "has a name and a sentence"),
    (TakesAnyOption, "options are validated when made"),
    (LosesARow, FEASIBILITY),
    (IgnoresRequirements, FEASIBILITY),
    (AnswersWithNothing, FEASIBILITY),
    (ShrugsAtTheInfeasible, FEASIBILITY),
    (HasNoRowsInAGroup, FEASIBILITY),
    (RefusesEverything, FEASIBILITY),
    (RefusesEverything, "the models of the catalogue are served"),
    (RollsDice, "one seed gives one result"),
    (DependsOnThreads, "two threads give the result of one"),
    (GoesByPosition, "the order of rows does not matter"),
    (WritesIntoItsInput, "the input is left as it was"),
    (SaysNothing, "progress is a named share"),
    (OvershootsProgress, "progress is a named share"),
    (SwallowsInterrupts, "an interrupt leaves nothing behind"),
]


def is_met(check: Check) -> bool:
    try:
        check()
    except Exception:
        return False
    return True


@pytest.mark.parametrize(
    "check", [pytest.param(check, id=str(check)) for check in check_algorithm(OneGroup)]
)
def test_one_group_meets_every_check(check):
    check()


@pytest.mark.parametrize(("faulty", "statement"), FAULTS)
def test_a_fault_is_found_by_the_check_that_names_it(faulty, statement):
    checks = [check for check in check_algorithm(faulty) if check.name == statement]
    assert checks
    assert not all(is_met(check) for check in checks)


def test_a_search_that_never_ends_is_interrupted_and_fails(monkeypatch):
    monkeypatch.setattr(ending_checks, "HANGS", 0.2)
    statement = "a search ends within its budget: defaults many-values"
    endless = next(c for c in check_algorithm(NeverEnds) if str(c) == statement)
    with pytest.raises(AssertionError, match=r"no end within 0\.2 seconds"):
        endless()
