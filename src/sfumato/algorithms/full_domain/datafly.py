"""Datafly: generalize the column with most values until few rows are left over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.algorithms.base import Algorithm, Request, Solution
from sfumato.algorithms.full_domain.distinct_tuples import Coding
from sfumato.algorithms.full_domain.lattice import Figures, Lattice
from sfumato.algorithms.full_domain.lattice_refusals import no_node_serves


@dataclass(frozen=True, kw_only=True)
class Datafly(Algorithm):
    """Full-domain generalization by Sweeney's rule.

    Guarantee: every group that is published meets every requirement, and at most the
    removable rows are suppressed.
    Method: while too many rows are in groups that break a requirement, the column with
    most distinct values goes up one level of its hierarchy (of equals, the first).
    What is left over is suppressed. Values are counted at the column's current level,
    and a column at its top is skipped.
    Cost: one check of the table per step; at most the sum of the heights.
    Limits: a greedy rule that does not look at the loss: it generalizes more than
    needed, and wide columns first. `optimal` never loses more.
    Reference: Sweeney 1997, 2002.
    """

    name: ClassVar[str] = "datafly"
    sentence: ClassVar[str] = (
        "Generalizes the column with most distinct values until few rows are left over."
    )

    def search(self, request: Request) -> Solution:
        lattice = Lattice.of(Coding.of(request), metric="ncp")
        figures, steps = _climb(lattice)
        return Solution(
            grouping=lattice.grouping(figures.node),
            facts={**lattice.report(figures), "steps": steps},
        )


def _climb(lattice: Lattice) -> tuple[Figures, int]:
    """Generalize until a node is within the limit."""
    distinct = _distinct_values(lattice)
    node = [0] * len(lattice.heights)
    most = sum(lattice.top)
    fewest = lattice.rows
    for step in range(most + 1):
        lattice.request.progress(f"{step} generalizations", step / max(most, 1))
        figures = lattice.figures(node)
        fewest = min(fewest, figures.suppressed)
        if figures.suppressed <= lattice.request.removable and figures.groups:
            return figures, step
        widest = _widest(distinct, node, lattice.top)
        if widest is not None:
            node[widest] += 1
    raise no_node_serves(lattice, fewest)


def _distinct_values(lattice: Lattice) -> list[list[int]]:
    """How many values each column shows at each level."""
    return [
        [len(np.unique(nodes[count > 0])) for nodes in coded.axis.levels]
        for coded, count in zip(lattice.request.quasi, lattice.leaves, strict=True)
    ]


def _widest(
    distinct: list[list[int]], node: list[int], top: tuple[int, ...]
) -> int | None:
    """The column with most distinct values that can still be generalized."""
    able = [j for j, level in enumerate(node) if level < top[j]]
    return max(able, key=lambda j: (distinct[j][node[j]], -j), default=None)
