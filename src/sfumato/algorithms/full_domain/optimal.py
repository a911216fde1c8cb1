"""The proven optimum among all full-domain generalizations."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.base import Algorithm, Request, Solution
from sfumato.algorithms.full_domain.distinct_tuples import Coding
from sfumato.algorithms.full_domain.lattice import (
    Lattice,
    Node,
    require_room,
)
from sfumato.algorithms.full_domain.lattice_refusals import no_node_serves
from sfumato.algorithms.full_domain.level_losses import (
    Metric,
    check_count,
    check_metric,
)
from sfumato.algorithms.full_domain.table_wide_models import is_exact, parted
from sfumato.errors import PolicyError, SearchError
from sfumato.kernels.full_domain import lattice_search as kernel

BATCH = 64
"""Nodes checked between two looks at the clock."""
PATIENCE = 60.0
"""Seconds spent on a lattice above the node limit if nothing else is said."""


@dataclass(frozen=True, eq=False, kw_only=True)
class LatticeResult:
    """What a search over the lattice found."""

    node: Node | None
    value: float
    bound: float
    """No node within the limit loses less than this."""
    proven: bool
    checked: int
    fewest: int
    """The smallest number of rows that any checked node suppresses."""


@dataclass(frozen=True, kw_only=True)
class Optimal(Algorithm):
    """The full-domain generalization with the lowest loss, proven.

    Guarantee: no choice of one level per quasi-identifier that meets every
    requirement with at most the removable rows suppressed loses less. Among nodes
    that lose the same (up to 1e-12 of the loss) it takes the lowest sum of levels,
    then the lexicographically lowest levels. Under average risk and uniqueness, which
    look at the whole table, the smallest groups of a node are suppressed until it
    holds.
    Method: one sweep from the top of the lattice. Each checked node gives all nodes
    below a minimum of rows they must suppress, and its cost; nodes whose bound exceeds
    the best loss, or the suppression limit, are never checked.
    Cost: a check is linear in the distinct tuples; typically 1–5% of the nodes.
    Limits: above `node_limit` nodes it stops after `max_checks` checks or `seconds`
    and reports a bound instead of a proof; a lattice that does not fit into memory
    is refused. Nothing is proven for table-wide models that are enforced by a stricter
    rule on groups: uniqueness in the population, or where persons are counted; nor
    under average risk where rows may go, as other groups than the smallest may cost
    less.
    Reference: El Emam et al. 2009 (OLA), Kohlmayer et al. 2012 (Flash) for the task.
    """

    name: ClassVar[str] = "optimal"
    sentence: ClassVar[str] = (
        "Generalizes whole columns, with the lowest loss that any choice of levels has."
    )

    metric: Metric = "ncp"
    """What the published choice of levels makes small."""
    node_limit: int = 1_000_000
    """The most combinations of levels for which the search runs to the proof,
    however long it takes."""
    max_checks: int = 50_000
    """Of a larger lattice: how many combinations are checked before the best so far
    is taken."""
    seconds: float | None = None

    def __post_init__(self) -> None:
        check_metric(self.name, self.metric)
        check_count(self.name, "node_limit", self.node_limit)
        check_count(self.name, "max_checks", self.max_checks)
        if self.seconds is not None and not _positive(self.seconds):
            raise PolicyError(
                f"optimal: 'seconds' is {self.seconds!r}.",
                hint="'seconds' must be a number above 0, or left out.",
            )

    def search(self, request: Request) -> Solution:
        part, wide = parted(request)
        lattice = Lattice.of(Coding.of(part), metric=self.metric, wide=wide)
        outcome = self.find(lattice, limit=request.removable)
        if outcome.node is None:
            raise self._nothing(lattice, outcome)
        return Solution(
            grouping=lattice.grouping(outcome.node),
            facts=self._facts(lattice, outcome),
        )

    def find(self, lattice: Lattice, *, limit: int) -> LatticeResult:
        """Search a lattice for the best node that suppresses at most `limit` rows."""
        bounded = lattice.size > self.node_limit
        return find_best(
            lattice,
            limit=limit,
            checks=self.max_checks if bounded else None,
            seconds=self.seconds or (PATIENCE if bounded else None),
        )

    def _nothing(self, lattice: Lattice, outcome: LatticeResult) -> Exception:
        if outcome.proven:
            return no_node_serves(lattice, outcome.fewest)
        return SearchError(
            f"{outcome.checked:,} of {lattice.size:,} nodes were checked and none is "
            f"within the limit; the nearest suppresses {outcome.fewest:,} rows.",
            hint="Raise node_limit, max_checks or seconds, or max_suppressed.",
        )

    def _facts(self, lattice: Lattice, outcome: LatticeResult) -> dict[str, Any]:
        assert outcome.node is not None
        wide, request = lattice.wide, lattice.request
        exact = is_exact(request) and (wide is None or wide.settles(request.removable))
        return {
            **lattice.report(lattice.figures(outcome.node)),
            "metric": self.metric,
            "nodes": lattice.size,
            "nodes_checked": outcome.checked,
            "proven": outcome.proven and exact,
            "bound": outcome.bound if exact else 0.0,
        }


def _positive(value: object) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and isinstance(value, int | float) and 0 < value < math.inf


def find_best(
    lattice: Lattice,
    *,
    limit: int,
    checks: int | None = None,
    seconds: float | None = None,
    free_suppression: bool = False,
) -> LatticeResult:
    """The best node of a lattice within the limits on rows, checks and seconds."""
    require_room(lattice.size)
    problem = lattice.problem(limit=limit, free_suppression=free_suppression)
    search = start_search(lattice, problem)
    base_losses = lattice.over_nodes(lattice.base)
    if not problem.drifting:
        _descend(lattice, problem, search, base_losses)
    elif lattice.wide is not None:
        _descend_widely(lattice, search, base_losses, limit)
    order = sweep_order(lattice, base_losses)
    finished = _sweep(lattice, problem, search, order, checks, seconds)
    return _outcome(lattice, search, finished=finished)


def start_search(
    lattice: Lattice, problem: kernel.LatticeProblem
) -> kernel.LatticeSearch:
    """Set up a search: nothing checked, every node with its marginal bound."""
    separable = problem.goal == kernel.SEPARABLE
    base = lattice.over_nodes(lattice.base) if separable else np.zeros(lattice.size)
    least = np.zeros(0)
    if separable and problem.bounded and len(lattice.rules.convex.kinds):
        least = lattice.over_nodes(lattice.losses.least_extra())
    return kernel.LatticeSearch(
        status=np.zeros(lattice.size, dtype=np.uint8),
        low=base,
        rise=np.zeros(lattice.size),
        value=np.full(lattice.size, np.inf),
        least=least,
        best=np.array([np.inf]),
        counters=np.array([0, 0, lattice.rows, -1], dtype=np.int64),
    )


def sweep_order(
    lattice: Lattice, base_losses: npt.NDArray[np.float64]
) -> npt.NDArray[np.int64]:
    """From the top down; within one height the most general nodes first."""
    order = np.lexsort((-base_losses, -lattice.sums_of_levels))
    return np.asarray(order, dtype=np.int64)


def _descend(
    lattice: Lattice,
    problem: kernel.LatticeProblem,
    search: kernel.LatticeSearch,
    base_losses: npt.NDArray[np.float64],
) -> None:
    """Go down from the top, always to the most promising node within the limit."""
    counters = search.counters
    candidates = np.array([lattice.size - 1])
    while len(candidates):
        counters[kernel.CURSOR], counters[kernel.PENDING] = 0, -1
        kernel.visit(
            candidates,
            len(candidates),
            True,
            problem,
            search,
            *lattice.kernel_arguments,
        )
        node = int(counters[kernel.PENDING])
        levels = lattice.node(node) if node >= 0 else ()
        below = [
            node - int(stride)
            for level, stride in zip(levels, lattice.strides, strict=False)
            if level > 0
        ]
        candidates = np.array(
            sorted(below, key=lambda n: base_losses[n]), dtype=np.int64
        )
    counters[kernel.CURSOR], counters[kernel.PENDING] = 0, -1


def _descend_widely(
    lattice: Lattice,
    search: kernel.LatticeSearch,
    base_losses: npt.NDArray[np.float64],
    limit: int,
) -> None:
    """The same under requirements on the whole table, which no kernel judges."""
    node: int | None = lattice.size - 1
    while node is not None and _judged(lattice, search, node, limit):
        below = [
            node - int(stride)
            for level, stride in zip(lattice.node(node), lattice.strides, strict=True)
            if level > 0
        ]
        nearest = sorted(below, key=lambda number: float(base_losses[number]))
        node = next((n for n in nearest if _judged(lattice, search, n, limit)), None)


def _sweep(
    lattice: Lattice,
    problem: kernel.LatticeProblem,
    search: kernel.LatticeSearch,
    order: npt.NDArray[np.int64],
    checks: int | None,
    seconds: float | None,
) -> bool:
    """Run the sweep in batches; False if a budget ran out."""
    deadline = np.inf if seconds is None else time.monotonic() + seconds
    finished = False
    while not finished:
        checked = int(search.counters[kernel.CHECKED])
        batch = BATCH if checks is None else min(BATCH, checks - checked)
        if batch <= 0 or time.monotonic() > deadline:
            return False
        finished = kernel.visit(
            order, batch, False, problem, search, *lattice.kernel_arguments
        )
        if search.counters[kernel.PENDING] >= 0:
            _judge_pending(lattice, search, problem.limit)
            continue
        done = search.counters[kernel.CURSOR] / lattice.size
        lattice.request.progress(
            f"{search.counters[kernel.CHECKED]} nodes checked", done
        )
    return True


def _judge_pending(lattice: Lattice, search: kernel.LatticeSearch, limit: int) -> None:
    """Judge the node that waits by the rules asked for."""
    number = int(search.counters[kernel.PENDING])
    search.counters[kernel.PENDING] = -1
    _judged(lattice, search, number, limit)


def _judged(
    lattice: Lattice, search: kernel.LatticeSearch, number: int, limit: int
) -> bool:
    """Return whether a node is as good as the best; record what it implies for others."""
    best, node = float(search.best[0]), lattice.node(number)
    enough = best + kernel.tolerance(best)
    figures = lattice.figures(node, enough=enough)
    within = figures.suppressed <= limit and figures.groups > 0
    if within and figures.loss <= enough:
        search.value[number] = figures.loss
        search.best[0] = min(search.best[0], figures.loss)
        return True
    if lattice.wide is not None and not within:
        _rule_out_below(lattice, search, node, limit)
    return False


def _rule_out_below(
    lattice: Lattice, search: kernel.LatticeSearch, node: Node, limit: int
) -> None:
    """Rule out all nodes below one that fails: smaller groups do not help."""
    assert lattice.wide is not None
    if not lattice.wide.within(lattice.sizes(), limit):
        status = search.status.reshape(lattice.heights)
        status[tuple(slice(0, level + 1) for level in node)] = kernel.DEAD


def _outcome(
    lattice: Lattice, search: kernel.LatticeSearch, *, finished: bool
) -> LatticeResult:
    best = float(search.best[0])
    bound = best
    if not finished:
        still_open = search.status == kernel.OPEN
        rest = (search.low + search.rise)[still_open].min(initial=np.inf)
        bound = min(best, float(rest))
    node = None
    if np.isfinite(best):
        node = lattice.node(_first_of_ties(lattice, search.value, best))
    return LatticeResult(
        node=node,
        value=best,
        bound=bound,
        proven=finished or bound >= best,
        checked=int(search.counters[kernel.CHECKED]),
        fewest=int(search.counters[kernel.FEWEST]),
    )


def _first_of_ties(
    lattice: Lattice, value: npt.NDArray[np.float64], best: float
) -> int:
    """Of the nodes as good as the best: lowest sum of levels, then lowest levels."""
    tied = np.flatnonzero(value <= best + kernel.tolerance(best))
    heights = [sum(lattice.node(number)) for number in tied]
    return int(tied[np.argmin(heights)])
