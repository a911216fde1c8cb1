"""Search groups inside the cells of a Mondrian pre-partition, one cell at a time.

What an algorithm does to a cell depends on the rows of the cell, on a seed of the cell
and on the distribution of the whole table, so that neither the engine nor the number of
threads can be seen in the result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.base import Algorithm, Request, Solution, silent
from sfumato.algorithms.cellwise.mondrian_cells import mondrian_cells
from sfumato.algorithms.common.parallel_ranges import Range, work_through
from sfumato.data.arrays import Ints
from sfumato.data.grouping import SUPPRESSED, Grouping
from sfumato.data.shared_tuples import SharedTuples
from sfumato.errors import InfeasibleError, PolicyError, RefusedError, SearchError
from sfumato.models.base import Scope

ADDED = ("tuples", "rows_suppressed", "kernel_seconds")
"""Facts that are added up over the cells."""


@dataclass(frozen=True, kw_only=True)
class CellwiseAlgorithm(Algorithm):
    """An algorithm that compares rows with rows, and can do so cell by cell."""

    partition_rows: int | None = None
    """Cut a larger table into cells of at most this many rows, by Mondrian, and search
    each cell by itself: time and memory then grow with the rows alone. Groups stay
    within cells, which costs some detail. Left out: the table is one cell."""

    def __new__(cls, **options: Any) -> Self:
        """Check the number of rows, whatever a subclass checks."""
        _require_rows(cls.name, options.get("partition_rows"))
        return super().__new__(cls, **options)

    def check(self, request: Request) -> None:
        """Refuse what no cell can promise for the whole table."""
        super().check(request)
        if self.partition_rows is not None:
            _refuse_whole_table(self.name, request)

    def found(self, request: Request) -> Solution:
        """Search the table, or each of its cells."""
        most = self.partition_rows
        if most is None or request.rows <= most:
            return super().found(request)
        cells = mondrian_cells(request, most)
        parts = self._searched(request, cells)
        return Solution(
            grouping=_together(cells, [part.grouping for part in parts], request.rows),
            facts=_facts(cells, parts, most),
        )

    def _searched(self, request: Request, cells: Sequence[Ints]) -> list[Solution]:
        """A solution for each cell, whoever finds it and when."""
        found: dict[int, Solution] = {}
        budgets = shared_out(request.removable, [len(rows) for rows in cells])

        def step(first: int, last: int) -> Iterable[Range]:
            for number in range(first, last):
                rows, budget = cells[number], int(budgets[number])
                part = _cell(request, rows, number, budget)
                found[number] = self._limited(part, request.rows)
            return []

        finished = 0

        def done(count: int) -> None:
            nonlocal finished
            finished += count
            request.progress("searching cells", finished / len(cells))

        ranges = [(number, number + 1) for number in reversed(range(len(cells)))]
        work_through(ranges, step, threads=max(1, request.threads), done=done)
        return [found[number] for number in range(len(cells))]

    def _limited(self, part: Request, rows: int) -> Solution:
        """Search a cell, within its share of the seconds; else it is one group."""
        seconds = None if self.seconds is None else self.seconds * part.rows / rows
        try:
            return super(CellwiseAlgorithm, replace(self, seconds=seconds)).found(part)
        except (InfeasibleError, SearchError):
            # As one group, a cell meets every rule: it would not be a cell otherwise.
            return Solution(
                grouping=Grouping(np.zeros(part.rows, dtype=np.int32), 1), facts={}
            )


def shared_out(total: int, sizes: Sequence[int]) -> Ints:
    """A number of rows in proportion to the cells; the first of equals get the rest."""
    rows = np.asarray(sizes, dtype=np.int64)
    whole = max(int(rows.sum()), 1)
    shares, rest = np.divmod(total * rows, whole)
    most = np.argsort(-rest, kind="stable")[: total - int(shares.sum())]
    shares[most] += 1
    return np.asarray(shares, dtype=np.int64)


def _cell(request: Request, rows: Ints, number: int, removable: int) -> Request:
    """The request on the rows of a cell, compared with the whole table."""
    return replace(
        request.only(rows),
        table=request.table or request,
        removable=removable,
        seed=request.seed.child("cell", number),
        threads=1,
        progress=silent,
        tuples=SharedTuples(),
        look=None,
    )


def _together(
    cells: Sequence[Ints], groupings: Sequence[Grouping], rows: int
) -> Grouping:
    """The groups of all cells, numbered one cell after the other."""
    group_of, count = np.full(rows, SUPPRESSED, dtype=np.int32), 0
    for at, grouping in zip(cells, groupings, strict=True):
        kept = grouping.kept
        group_of[at[kept]] = grouping.group_of[kept] + count
        count += grouping.count
    return Grouping(group_of, count, hidden=_hidden(groupings))


def _hidden(groupings: Sequence[Grouping]) -> npt.NDArray[np.bool_] | None:
    """Which cells hide a value that all rows share, where any does."""
    width = next((g.hidden.shape[1] for g in groupings if g.hidden is not None), None)
    if width is None:
        return None
    return np.concatenate(
        [
            np.zeros((g.count, width), dtype=np.bool_) if g.hidden is None else g.hidden
            for g in groupings
        ]
    )


def _facts(
    cells: Sequence[Ints], parts: Sequence[Solution], most: int
) -> dict[str, Any]:
    """What is reported of all cells together."""
    facts = [part.facts for part in parts]
    found: dict[str, Any] = {
        "partition": {
            "rows": most,
            "cells": len(cells),
            "largest_cell": max(len(rows) for rows in cells),
        },
        "groups": sum(part.grouping.count for part in parts),
    }
    for name in ADDED:
        told = [each[name] for each in facts if name in each]
        if told:
            found[name] = sum(told)
    return found | _choices(facts)


def _choices(facts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """How often each algorithm was taken, where one of several was."""
    taken = Counter(each["started_from"] for each in facts if "started_from" in each)
    return {"started_from": dict(sorted(taken.items()))} if taken else {}


def _require_rows(algorithm: str, value: Any) -> None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    if value is not None and not (whole and value >= 1):
        raise PolicyError(
            f"{algorithm}: 'partition_rows' is {value!r}.",
            hint="'partition_rows' must be a whole number of at least 1.",
        )


def _refuse_whole_table(name: str, request: Request) -> None:
    """Refuse requirements that count over the whole table or beyond it."""
    if any(model.targets() for model in request.models):
        raise RefusedError(
            f"'{name}' with 'partition_rows' cannot promise how many rows show a value: "
            "that counts over all cells.",
            hint="Leave out algorithm.partition_rows, or the diversity requirement.",
        )
    if any(model.scope is Scope.POPULATION for model in request.models):
        raise RefusedError(
            f"'{name}' with 'partition_rows' cannot count a population cell by cell.",
            hint="Leave out algorithm.partition_rows, or take 'mondrian'.",
        )
