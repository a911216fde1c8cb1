"""Incognito: all minimal full-domain generalizations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.base import Algorithm, Request, Solution
from sfumato.algorithms.full_domain.distinct_tuples import Coding
from sfumato.algorithms.full_domain.lattice import (
    Figures,
    Lattice,
    require_room,
)
from sfumato.algorithms.full_domain.lattice_refusals import no_node_serves
from sfumato.algorithms.full_domain.level_losses import (
    Metric,
    check_count,
    check_metric,
)
from sfumato.errors import RefusedError
from sfumato.kernels.full_domain import lattice_search as kernel
from sfumato.kernels.full_domain.minimal_nodes import mark_above, visit_subsets

BATCH = 64
"""Nodes checked between two reports of progress."""


@dataclass(frozen=True, kw_only=True)
class Incognito(Algorithm):
    """All minimal full-domain generalizations; the best of them is published.

    Guarantee: finds exactly the nodes that meet every requirement with at most the
    removable rows suppressed while no node below them does. Publishes the one with
    the lowest metric (then the lowest sum of levels, then the lowest levels); the
    others are the solution's alternatives, best first.
    Method: breadth-first from the bottom over ever larger subsets of the
    quasi-identifiers. A subset is the whole table with all other columns at their
    top, so that one status per lattice node serves all subsets. A node that loses
    too many rows takes all nodes below with it, in particular all that add a
    column (a-priori pruning). Nodes above one that qualifies are not minimal, and
    are not checked. Frequency sets are rolled up from the distinct tuples.
    Cost: exponential in the number of columns; a check is linear in the tuples.
    Limits: the lowest loss need not be at a minimal node once rows may be suppressed:
    `optimal` looks at all nodes. With models that suppression may break (entropy,
    recursive, t-closeness) fewer nodes can be skipped. Average risk and uniqueness are
    enforced by a sufficient rule on groups: nodes are minimal under that rule.
    Reference: LeFevre, DeWitt and Ramakrishnan 2005.
    """

    name: ClassVar[str] = "incognito"
    sentence: ClassVar[str] = (
        "Finds all minimal generalizations of whole columns and publishes the best."
    )

    metric: Metric = "ncp"
    """What the published choice of levels makes small."""
    node_limit: int = 1_000_000
    """The most combinations of levels that are looked at; a larger lattice is
    refused."""

    def __post_init__(self) -> None:
        check_metric(self.name, self.metric)
        check_count(self.name, "node_limit", self.node_limit)

    def search(self, request: Request) -> Solution:
        lattice = Lattice.of(Coding.of(request), metric=self.metric)
        self._require_few_nodes(lattice)
        minimal, counters = minimal_nodes(lattice)
        if not len(minimal):
            raise no_node_serves(lattice, int(counters[kernel.FEWEST]))
        ranked = _ranked(lattice, minimal)
        return Solution(
            grouping=lattice.grouping(ranked[0].node),
            facts={
                **lattice.report(ranked[0]),
                "metric": self.metric,
                "nodes": lattice.size,
                "nodes_checked": int(counters[kernel.CHECKED]),
                "minimal_nodes": len(ranked),
            },
            alternatives=tuple(lattice.report(figures) for figures in ranked[1:]),
        )

    def _require_few_nodes(self, lattice: Lattice) -> None:
        require_room(lattice.size)
        if lattice.size > self.node_limit:
            raise RefusedError(
                f"The lattice has {lattice.size:,} nodes; "
                f"node_limit is {self.node_limit:,}.",
                hint="Raise node_limit, or use 'optimal', which need not list all "
                "minimal nodes.",
            )


def minimal_nodes(
    lattice: Lattice,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The numbers of all minimal nodes within the limit, and the search's counters."""
    problem = lattice.problem(limit=lattice.request.removable, free_suppression=True)
    status = np.zeros(lattice.size, dtype=np.uint8)
    within = np.zeros(lattice.size, dtype=np.bool_)
    counters = np.array([0, 0, lattice.rows, -1], dtype=np.int64)
    order = _subset_order(lattice)
    finished = False
    while not finished:
        finished = visit_subsets(
            order, BATCH, problem, status, counters, *lattice.kernel_arguments
        )
        waiting = int(counters[kernel.PENDING])
        if waiting >= 0:
            counters[kernel.PENDING] = -1
            within[waiting] = _qualifies(lattice, waiting)
            if within[waiting]:
                mark_above(waiting, lattice.heights, lattice.strides, status)
        share = counters[kernel.CURSOR] / lattice.size
        lattice.request.progress(f"{counters[kernel.CHECKED]} nodes checked", share)
    return np.flatnonzero(within & (status != kernel.ABOVE)), counters


def _qualifies(lattice: Lattice, number: int) -> bool:
    """Whether a node within the limit by the kernel's rules is so by those asked for."""
    if not lattice.judged_again:
        return True
    figures = lattice.figures(lattice.node(number))
    return figures.suppressed <= lattice.request.removable and figures.groups > 0


def _subset_order(lattice: Lattice) -> npt.NDArray[np.int64]:
    """Small subsets of columns first; within a subset from the bottom up."""
    below_top = [np.arange(h) < h - 1 for h in lattice.heights]
    size = lattice.over_nodes([b.astype(np.int8) for b in below_top])
    bits = [b.astype(np.int64) << j for j, b in enumerate(below_top)]
    order = np.lexsort((lattice.sums_of_levels, lattice.over_nodes(bits), size))
    return np.asarray(order, dtype=np.int64)


def _ranked(lattice: Lattice, nodes: npt.NDArray[np.int64]) -> list[Figures]:
    """Nodes with their figures, best first."""
    figures = [lattice.figures(lattice.node(int(number))) for number in nodes]
    best = min(each.loss for each in figures)
    slack = kernel.tolerance(best)
    return sorted(
        figures,
        key=lambda f: (max(f.loss, best + slack), sum(f.node), f.node),
    )
