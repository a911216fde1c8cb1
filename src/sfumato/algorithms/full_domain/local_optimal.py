"""Local recoding by repeated full-domain search on the rows left over."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.base import Algorithm, Request, Solution
from sfumato.algorithms.full_domain.distinct_tuples import Coding, comparing
from sfumato.algorithms.full_domain.lattice import Lattice, Node
from sfumato.algorithms.full_domain.lattice_refusals import no_node_serves
from sfumato.algorithms.full_domain.level_losses import SEPARABLE, check_metric
from sfumato.algorithms.full_domain.optimal import find_best
from sfumato.data.arrays import Ints
from sfumato.data.grouping import Grouping
from sfumato.data.option_examples import OptionExamples
from sfumato.errors import PolicyError

CHECKS = 20_000
"""Nodes checked per round, at most; a round need not be proven."""


@dataclass(eq=False)
class _Rounds:
    """The rows published so far, round by round, and those left over."""

    rest: Ints
    parts: list[tuple[Ints, Grouping]] = field(default_factory=list)
    checked: int = 0

    def add(self, lattice: Lattice, node: Node) -> None:
        """Publish at `node` whatever groups of the rest may be published there."""
        grouping = lattice.grouping(node)
        kept = Grouping(
            grouping.group_of[grouping.kept], grouping.count, grouping.levels
        )
        self.parts.append((self.rest[grouping.kept], kept))
        self.rest = self.rest[~grouping.kept]

    def dissolve_last(self) -> None:
        """Undo the last round."""
        rows, _ = self.parts.pop()
        self.rest = np.sort(np.concatenate([self.rest, rows]))


@dataclass(frozen=True, kw_only=True)
class LocalOptimal(Algorithm):
    """Each row as specific as a run of full-domain generalizations allows.

    Guarantee: every group meets every requirement; at most the removable rows are
    suppressed. Finds an answer whenever `optimal` does.
    Method: find the node with the lowest loss of generalization at which at least
    `min_share` of the table's rows are in groups that may be published; publish these
    at its levels; go on with the rows left over. If in the end more rows are left
    than may be suppressed, the last rounds are undone and their rows published
    together. Groups of different rounds with the same cells are one group.
    Cost: one lattice search per round, on ever fewer rows.
    Limits: truthful and bound to the hierarchies, but not minimal: a round
    never looks ahead.
    Reference: what ARX calls local recoding (Prasser et al. 2016).
    """

    name: ClassVar[str] = "local-optimal"
    sentence: ClassVar[str] = (
        "Generalizes whole columns again and again, each time for the rows left over."
    )
    examples: ClassVar[OptionExamples] = ({"min_share": 0.2},)

    metric: Literal["ncp", "generalized_loss", "entropy"] = "ncp"
    """What each round makes small."""
    min_share: float = 0.005
    """The share of the rows that a round must be able to publish."""

    def __post_init__(self) -> None:
        check_metric(self.name, self.metric, SEPARABLE)
        if isinstance(self.min_share, bool) or not 0 < self.min_share <= 1:
            raise PolicyError(
                f"local-optimal: 'min_share' is {self.min_share!r}.",
                hint="'min_share' must be above 0 and at most 1.",
            )

    def search(self, request: Request) -> Solution:
        coding = Coding.of(request, removable=0)
        rounds = _Rounds(np.arange(request.rows))
        while len(rounds.rest) and self._round(coding, rounds):
            share = 1 - len(rounds.rest) / request.rows
            request.progress(f"{len(rounds.parts)} rounds", share)
        self._dissolve_until_met(coding, rounds)
        grouping = _merged(request, rounds)
        return Solution(
            grouping=grouping,
            facts={
                "rounds": len(rounds.parts),
                "nodes_checked": rounds.checked,
                "rows_suppressed": len(rounds.rest),
                "groups": grouping.count,
            },
        )

    def _round(self, coding: Coding, rounds: _Rounds) -> bool:
        """Publish some of the rows left over; False if none can be."""
        lattice = self._lattice(coding, rounds.rest)
        enough = math.ceil(self.min_share * coding.request.rows)
        for least in (min(enough, lattice.rows), 1):
            node = self._best(lattice, rounds, limit=lattice.rows - least)
            if node is not None:
                rounds.add(lattice, node)
                return True
        return False

    def _dissolve_until_met(self, coding: Coding, rounds: _Rounds) -> None:
        """Undo rounds until no more rows are left over than allowed.

        If groups are compared with the rows that are kept, none may be left over:
        then all rounds were judged by the right distribution.
        """
        spare = 0 if comparing(coding.compiled) else coding.request.removable
        while len(rounds.rest) > spare:
            if not rounds.parts:
                lattice = self._lattice(coding, rounds.rest)
                raise no_node_serves(lattice, lattice.figures(lattice.top).suppressed)
            rounds.dissolve_last()
            lattice = self._lattice(coding, rounds.rest)
            node = self._best(lattice, rounds, limit=spare)
            if node is not None:
                rounds.add(lattice, node)

    def _lattice(self, coding: Coding, rows: Ints) -> Lattice:
        return Lattice.of(coding, metric=self.metric, chosen=rows)

    def _best(self, lattice: Lattice, rounds: _Rounds, *, limit: int) -> Node | None:
        outcome = find_best(lattice, limit=limit, checks=CHECKS, free_suppression=True)
        rounds.checked += outcome.checked
        return outcome.node


def _merged(request: Request, rounds: _Rounds) -> Grouping:
    """All rounds as one grouping; groups that show the same cells are one."""
    group_of = np.full(request.rows, -1, dtype=np.int64)
    cells, levels = [], []
    count = 0
    for rows, grouping in rounds.parts:
        assert grouping.levels is not None
        group_of[rows] = grouping.group_of + count
        count += grouping.count
        cells.append(_cells(request, rows, grouping))
        levels.append(grouping.levels)
    if not cells:
        return Grouping.renumbered(group_of)
    _, first, same = np.unique(
        np.concatenate(cells), axis=0, return_index=True, return_inverse=True
    )
    kept = group_of >= 0
    group_of[kept] = same.ravel()[group_of[kept]]
    return Grouping.renumbered(group_of, np.concatenate(levels)[first])


def _cells(request: Request, rows: Ints, grouping: Grouping) -> npt.NDArray[np.int32]:
    """(groups, quasi-identifiers): the node that each group shows."""
    assert grouping.levels is not None
    _, first = np.unique(grouping.group_of, return_index=True)
    return np.column_stack(
        [
            coded.axis.levels[grouping.levels[:, j], coded.codes[rows[first]]]
            for j, coded in enumerate(request.quasi)
        ]
    )
