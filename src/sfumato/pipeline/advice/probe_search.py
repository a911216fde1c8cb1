"""Measure what a changed request would lose, on a fast search."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sfumato.algorithms.base import Algorithm, Progress, Request, Solution, silent
from sfumato.algorithms.partition.mondrian import Mondrian
from sfumato.data.arrays import Floats
from sfumato.data.seeds import Seed
from sfumato.data.table import Table
from sfumato.errors import (
    GuaranteeError,
    InfeasibleError,
    PolicyError,
    RefusedError,
    SearchError,
)
from sfumato.pipeline.code_table import take
from sfumato.publish.base import CellOperator, Material, Operator
from sfumato.publish.generalize import Generalize

MOST_ROWS = 100_000
"""A table of more rows is searched on a sample of this many."""
REFINEMENT = 0.3
"""The refinement of the search that the best suggestions are measured with again: with
it, gains were within a seventh of those that 'best' then had."""
OWN_SECONDS = 1.0
"""The policy's own algorithm is used for every measurement if it is as fast as this."""
FEW_ROWS = 2_000
"""With more rows, algorithms that compare rows with each other are not tried."""
NOTHING_FOUND = (
    InfeasibleError,
    SearchError,
    RefusedError,
    PolicyError,
    GuaranteeError,
)


class _TooLongError(Exception):
    """A search took longer than it may."""


@dataclass(frozen=True, eq=False)
class ProbedLoss:
    """What a search lost, as a share of all detail."""

    by_column: Floats
    """The mean loss of each quasi-identifier; a row left out loses everything."""
    groups: int
    left_out: int

    @property
    def mean(self) -> float:
        return float(self.by_column.mean()) if len(self.by_column) else 0.0


@dataclass(frozen=True, eq=False, kw_only=True)
class ProbeSearch:
    """A fast search on the rows, or on a sample of them, and what it loses."""

    request: Request
    """The request that suggestions change, on the rows searched."""
    table: Table
    operator: Operator
    quick: Algorithm
    thorough: Algorithm | None
    """A slower search for the best suggestions; None: the quick one is the policy's."""
    rows: int
    """All rows, of which the request may have a sample."""

    @property
    def sampled(self) -> bool:
        return self.request.rows < self.rows

    def loss(
        self, request: Request, algorithm: Algorithm | None = None
    ) -> ProbedLoss | None:
        """What a request loses; None if the search finds no release of it."""
        try:
            return self._measured(request, algorithm or self.quick)
        except NOTHING_FOUND:
            return None

    def mean(self, request: Request) -> float | None:
        """The mean loss of a request; None if the search finds no release of it."""
        found = self.loss(request)
        return None if found is None else found.mean

    def _measured(self, request: Request, algorithm: Algorithm) -> ProbedLoss:
        solution = algorithm.solve(without_counting(request))
        grouping = solution.grouping
        sizes = grouping.sizes()
        lost = request.rows - int(sizes.sum())
        cells = self._cells(request, solution)
        return ProbedLoss(
            by_column=np.array([float(sizes @ each) + lost for each in cells])
            / max(request.rows, 1),
            groups=len(sizes),
            left_out=lost,
        )

    def _cells(self, request: Request, solution: Solution) -> list[Floats]:
        """The loss of each group's cells, as the operator would show them."""
        quasi = solution.quasi or request.quasi
        show = self.operator
        shown = show if isinstance(show, CellOperator) else Generalize()
        material = Material(
            table=self.table,
            quasi=quasi,
            grouping=solution.grouping,
            rows=np.flatnonzero(solution.grouping.kept),
            seed=request.seed,
        )
        return [shown.show(material, place).ncp for place in range(len(quasi))]


def probe_of(
    request: Request, table: Table, operator: Operator, own: Algorithm
) -> ProbeSearch:
    """Choose the search: the policy's own algorithm if it is fast, else `mondrian`."""
    whole = request.rows
    part, rows = _sampled(replace(request, progress=silent), table)
    quick: Algorithm = Mondrian()
    probe = ProbeSearch(
        request=part,
        table=rows,
        operator=operator,
        quick=quick,
        thorough=Mondrian(refine=REFINEMENT),
        rows=whole,
    )
    return replace(probe, quick=own, thorough=None) if _fast(probe, own) else probe


def _fast(probe: ProbeSearch, own: Algorithm) -> bool:
    """Whether the policy's own algorithm may be used for every measurement."""
    if isinstance(own, Mondrian) and not own.refine:
        return True
    if own.refine or own.certifies or not _promising(probe, own):
        return False
    began = time.monotonic()
    try:
        limited = replace(probe.request, progress=_until(began + OWN_SECONDS))
        found = probe.loss(limited, own)
    except _TooLongError:
        return False
    return found is not None and time.monotonic() - began <= OWN_SECONDS


def _promising(probe: ProbeSearch, own: Algorithm) -> bool:
    """Whether it is worth a try: not what grows groups row by row of a large table."""
    family = type(own).__module__
    return probe.request.rows <= FEW_ROWS or ".clustering." not in family


def _until(end: float) -> Progress:
    """A progress callback that ends a search at a time."""

    def check(_step: str, _share: float) -> None:
        if time.monotonic() > end:
            raise _TooLongError

    return check


def _sampled(request: Request, table: Table) -> tuple[Request, Table]:
    """A sample of the rows of a large table."""
    if request.rows <= MOST_ROWS:
        return request, table
    order = Seed.guessable(0).child("advise").permutation(request.rows)
    rows = np.sort(order[:MOST_ROWS])
    share = request.removable / request.rows
    part = replace(request.only(rows), removable=int(share * MOST_ROWS), source=None)
    return part, take(table, rows)


def without_counting(request: Request) -> Request:
    """The request without constraints on shown values, which few searches serve."""
    models = tuple(model for model in request.models if not model.counts_values)
    return replace(request, models=models)


Changed = Callable[[Request], Request]
"""Makes another request of one."""
