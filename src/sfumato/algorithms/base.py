"""The contract of an algorithm: check the request, search, self-check."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.common.refusals import (
    refuse_counting,
    refuse_persons,
    refuse_population,
    refuse_rules,
    refuse_split_persons,
)
from sfumato.algorithms.common.rows_to_remove import rows_to_keep
from sfumato.algorithms.request import Progress, Request, Solution, silent
from sfumato.data.grouping import SUPPRESSED, Grouping
from sfumato.data.option_examples import OptionExamples
from sfumato.data.rules import Rule
from sfumato.errors import (
    GuaranteeError,
    PolicyError,
    RefusedError,
    SearchError,
)
from sfumato.models.base import Scope

__all__ = ["Algorithm", "Progress", "Request", "Solution", "rows_to_keep", "silent"]


@dataclass(frozen=True, kw_only=True)
class Algorithm(ABC):
    """A named way of grouping rows; its fields are its options in the policy."""

    name: ClassVar[str]
    sentence: ClassVar[str]
    examples: ClassVar[OptionExamples] = ()
    """Options that the conformance checks try, where types do not tell the choices."""
    certifies: ClassVar[frozenset[str]] = frozenset()
    """The process models whose guarantee its releases have."""
    keeps_values: ClassVar[bool] = False
    """Whether it ensures that values are shown as often as `diversity` asks."""
    counts_persons: ClassVar[bool] = True
    """Whether it serves tables with a subject column; it refuses them otherwise."""
    counts_population: ClassVar[bool] = True
    """Whether it serves requirements on a population; it refuses them otherwise."""

    refine: float | bool = False
    """How much work goes into lowering the loss of what was found: nothing, 1 (or
    true) for the usual, 2 for twice as much."""
    seconds: float | None = None
    """Stop refining after this many seconds, whatever work is left; the result then
    depends on the machine."""

    def __new__(cls, **options: Any) -> Self:
        """Check the options that all algorithms share, whatever a subclass checks."""
        for option in ("refine", "seconds"):
            _require_amount(cls.name, option, options.get(option))
        return super().__new__(cls)

    def serves(self, rule: Rule) -> bool:
        """Whether it supports a rule; requests with unsupported rules are refused."""
        return True

    def check(self, request: Request) -> None:
        """Refuse, with a reason, a request this algorithm cannot serve.

        An algorithm that refuses more calls this first.
        """
        if not self.counts_population:
            refuse_population(self.name, request)
        if not self.counts_persons:
            refuse_persons(self.name, request)
        refuse_rules(self.name, request, self.serves)

    def solve(self, request: Request) -> Solution:
        """Group the rows so that every requirement is met, or raise an error."""
        self.check(request)
        self._refuse_refining()
        if not self.keeps_values:
            refuse_counting(self.name, request)
        refuse_split_persons(request)
        keep = rows_to_keep(request)
        part = request if len(keep) == request.rows else request.only(keep)
        solution = self.found(part)
        spread = _spread(solution.grouping.group_of, keep, request.rows)
        whole = replace(solution.grouping, group_of=spread)
        whole = _as_a_recipient_sees(request, whole)
        _self_check(self, request, whole)
        return replace(solution, grouping=whole)

    def found(self, request: Request) -> Solution:
        """Search, and refine what was found; rows that had to go are gone."""
        return self.improved(request, self.search(request))

    def _refuse_refining(self) -> None:
        if self.refine and self.certifies:
            raise RefusedError(
                f"'{self.name}' cannot be refined: refinement looks at the data "
                "outside the privacy budget.",
                hint="Leave out 'refine', or name another algorithm.",
            )

    def improved(self, request: Request, solution: Solution) -> Solution:
        """A solution after as much refinement as the options ask for."""
        if not self.refine:
            return replace(solution, guide=None)
        # Imported late, so that checking a table does not load the compiler.
        from sfumato.algorithms.refinement.refine import refine

        found = refine(
            request,
            solution.grouping,
            effort=float(self.refine),
            seconds=self.seconds,
            bound=_least_loss(solution),
            guide=solution.guide,
        )
        facts = {**solution.facts, "refinement": found.facts()}
        return replace(solution, grouping=found.grouping, facts=facts, guide=None)

    @abstractmethod
    def search(self, request: Request) -> Solution:
        """Find a grouping that meets every requirement; the request is feasible."""


def _least_loss(solution: Solution) -> float | None:
    """The bound that holds for any grouping; one on nodes of a lattice does not."""
    bound = solution.facts.get("bound")
    return bound.get("at_least") if isinstance(bound, dict) else None


def _require_amount(algorithm: str, option: str, value: float | None) -> None:
    if value is not None and not (math.isfinite(value) and value >= 0):
        raise PolicyError(
            f"{algorithm}: '{option}' is {value}.",
            hint=f"'{option}' must be a number of at least 0.",
        )


def _spread(
    group_of: npt.NDArray[np.int32], keep: npt.NDArray[np.int64], rows: int
) -> npt.NDArray[np.int32]:
    whole = np.full(rows, SUPPRESSED, dtype=np.int32)
    whole[keep] = group_of
    return whole


def _as_a_recipient_sees(request: Request, grouping: Grouping) -> Grouping:
    """A grouping that also holds where a recipient cannot tell groups apart."""
    if request.look is None or grouping.count < 2:
        return grouping
    # Imported late, so that checking a table does not load the compiler.
    from sfumato.algorithms.common.groups_alike import holding_together

    return holding_together(request, grouping)


def _self_check(algorithm: Algorithm, request: Request, grouping: Grouping) -> None:
    """Fail early, by name, if a search broke its promise; `verify` checks again."""
    removed = request.rows - int(grouping.kept.sum())
    if removed > request.removable:
        raise GuaranteeError(
            f"'{algorithm.name}' left out {removed} rows; at most "
            f"{request.removable:,} may be left out."
        )
    # Matches in the population depend on published cells: `verify` counts them.
    seen = request.seen(grouping)
    for model in (m for m in request.models if m.scope is not Scope.POPULATION):
        verdict = request.meets(model, grouping if model.targets() else seen)
        if not verdict.holds and model.targets():
            raise SearchError(
                f"'{algorithm.name}' did not meet {model.name}: "
                f"{verdict.measured or 0:.0f} rows show the values; "
                f"{verdict.details['range'][0]} to {verdict.details['range'][1]} are "
                "allowed.",
                hint="Leave out fewer rows: lower publish.max_suppressed.",
            )
        if not verdict.holds:
            raise GuaranteeError(
                f"'{algorithm.name}' returned {verdict.offending} groups "
                f"that do not meet {model}."
            )
