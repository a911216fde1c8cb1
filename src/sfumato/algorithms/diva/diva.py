"""DIVA: releases that keep values visible, by coloring a graph of constraints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice
from threading import Lock
from typing import Any, ClassVar

import numpy as np

from sfumato.algorithms.base import Algorithm, Request, Solution
from sfumato.algorithms.cellwise.cellwise_algorithm import CellwiseAlgorithm
from sfumato.algorithms.diva.candidate_clusterings import Source
from sfumato.algorithms.diva.coloring import (
    Budget,
    Clustering,
    NextNode,
    OutOfBudgetError,
    State,
    clustering_of,
    colorings,
    fewest_choices,
    in_order,
    most_neighbors,
)
from sfumato.algorithms.diva.constraint_targets import Sigma
from sfumato.algorithms.diva.leftover_clusters import hide_excess, place_other_rows
from sfumato.algorithms.diva.row_subsets import SubsetGrouper, SubsetRules, starred_axis
from sfumato.data.arrays import Ints
from sfumato.data.grouping import Grouping
from sfumato.data.option_examples import OptionExamples
from sfumato.data.rules import least_rows
from sfumato.errors import InfeasibleError, PolicyError, RefusedError, SearchError
from sfumato.models.common.targets import rows_of
from sfumato.models.diversity import Diversity

STRATEGIES = ("basic", "min-choice", "max-fan-out")
LOSSES = ("ncp", "stars")
SMALL = 20_000
"""The most rows that are grouped repeatedly to compare answers."""
MANY = 2_000
"""Target rows beyond which clusters are cut by 'mondrian', whatever the base."""


@dataclass(frozen=True, kw_only=True)
class Diva(CellwiseAlgorithm):
    """Clusters that keep the values constraints ask for, then any algorithm.

    Guarantee: every group meets every requirement on groups, and every value that
    `diversity` names is shown as often as it asks. No row is left out for this.
    Method: each constraint with a lower bound is a node of a graph; two with common
    target rows are neighbors. A node is colored by a clustering: disjoint groups of its
    target rows, as many as it needs, that break no upper bound. Nodes are taken in an
    order (`strategy`), clusterings best first, and the search backtracks. Parts of the
    graph that share no row are colored side by side. The remaining rows are grouped by
    `base`; values that exceed an upper bound there are hidden in as few rows as a greedy
    choice finds. Rows too few for a group join a cluster, or the search goes on.
    Departs from the paper: nodes share clusters wherever they serve both; many target
    rows are clustered by another algorithm; a cluster may hide a value that would break
    another constraint, if all else fails.
    Cost: `budget` rows are looked at, at most, for each part of the graph; then it ends
    without an answer.
    Limits: greedy except for few target rows; readers of the policy know which values
    must survive.
    Reference: Milani, Huang and Chiang, Preserving Diversity in Anonymized Data, EDBT
    2021.
    """

    name: ClassVar[str] = "diva"
    sentence: ClassVar[str] = (
        "Shows values as often as diversity constraints ask, by coloring their graph."
    )
    counts_population: ClassVar[bool] = False
    examples: ClassVar[OptionExamples] = (
        {"base": "mondrian", "loss": "stars", "strategy": "min-choice"},
        {"tries": 2},
    )
    keeps_values: ClassVar[bool] = True

    strategy: str = "max-fan-out"
    """Which constraint comes next: "basic" (at random), "min-choice" (fewest
    clusterings), "max-fan-out" (most uncolored neighbors)."""
    base: str = "k-member"
    """The algorithm for the rows that no constraint needs."""
    loss: str = "ncp"
    """What groups are to lose least of: "ncp", or "stars" for `suppress`."""
    budget: int = 20_000_000
    """How many rows the search may look at before it gives up."""
    tries: int = 20
    """How many answers of a small table are compared; the one with fewest stars is
    taken."""

    def __post_init__(self) -> None:
        self._require_choice("strategy", self.strategy, STRATEGIES)
        self._require_choice("loss", self.loss, LOSSES)
        if self.base == self.name:
            raise PolicyError(
                f"{self.name}: 'base' is '{self.base}'.",
                hint="Name another algorithm, such as 'k-member' or 'mondrian'.",
            )
        self._require_count("budget", self.budget)
        self._require_count("tries", self.tries)

    def _require_count(self, option: str, value: int) -> None:
        if not (value >= 1 and value % 1 == 0):
            raise PolicyError(
                f"{self.name}: '{option}' is {value}.",
                hint=f"'{option}' must be a whole number of at least 1.",
            )

    def _require_choice(self, option: str, value: str, known: tuple[str, ...]) -> None:
        if value not in known:
            raise PolicyError(
                f"{self.name}: '{option}' is '{value}'.",
                hint=f"Choose one of: {', '.join(known)}.",
            )

    def check(self, request: Request) -> None:
        super().check(request)
        if request.resolve(self.base).certifies:
            raise PolicyError(
                f"{self.name}: 'base' is '{self.base}', whose groups are private.",
                hint="Name another algorithm, such as 'k-member' or 'mondrian'.",
            )
        base: Algorithm = request.resolve(self.base)()
        base.check(_plain(request))
        sigma = Sigma.of(request, k=least_rows(request.rules()))
        sigma.refuse_absent(removable=request.removable)
        _refuse_frequent(request)

    def search(self, request: Request) -> Solution:
        """Color, group the rest, and hide what is shown too often."""
        if request.rows == 0:
            return Solution(grouping=Grouping(np.empty(0, dtype=np.int32), 0))
        order = canonical_order(request)
        task = DivaRun.of(self, request.only(order))
        if not task.sigma.count:
            return self._without_constraints(request)
        task.sigma.refuse_impossible()
        request.progress("coloring constraints", 0.0)
        found = task.solved()
        grouping, facts = task.grouping(found)
        group_of = np.empty(request.rows, dtype=np.int32)
        group_of[order] = grouping.group_of
        return Solution(grouping=replace(grouping, group_of=group_of), facts=facts)

    def _without_constraints(self, request: Request) -> Solution:
        """Let the base group all rows, as there is nothing to color."""
        base: Algorithm = request.resolve(self.base)()
        part = _plain(request)
        base.check(part)
        return base.improved(part, base.search(part))


def _refuse_frequent(request: Request) -> None:
    """Refuse sensitive values that occur too often: no row is left out for them."""
    columns = dict(request.sensitive)
    for model in request.models:
        if not isinstance(model, Diversity) or not set(model.where) <= set(columns):
            continue
        rows = int(rows_of(model.target, columns, request.rows).sum())
        _, high = model.bounds(request.rows)
        if rows > high:
            names = ", ".join(f"'{name}'" for name in model.where)
            raise RefusedError(
                f"diversity on {names} allows {high:,} rows that show its values; the "
                f"source has {rows:,}, and 'diva' leaves out no rows for that.",
                hint=f"Raise at_most to {rows:,}, or leave rows out of the source.",
            )


def _plain(request: Request) -> Request:
    """Return the request without constraints; no row may go, as they may count it."""
    models = tuple(m for m in request.models if not isinstance(m, Diversity))
    if len(models) == len(request.models):
        return request
    return replace(request, models=models, removable=0)


def canonical_order(request: Request) -> Ints:
    """Rows by their codes, so that their order in the table does not matter."""
    keys = [coded.codes for coded in (*request.sensitive.values(), *request.quasi)]
    if request.subject is not None:
        keys.insert(0, request.subject)
    return np.asarray(np.lexsort(keys), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Found:
    """Clusters for the constraints, and groups of all other rows."""

    diverse: Clustering
    rest: Clustering

    @property
    def stars(self) -> int:
        """Cells that show no value."""
        return int(self.diverse.stars.sum() + self.rest.stars.sum())


@dataclass(frozen=True, eq=False, kw_only=True)
class DivaRun:
    """One run of the algorithm."""

    options: Diva
    request: Request
    sigma: Sigma
    source: Source
    budget: Budget

    @classmethod
    def of(cls, options: Diva, request: Request) -> DivaRun:
        part = _plain(request)
        judge = SubsetRules.of(part)
        if options.loss == "stars":
            part = replace(part, quasi=tuple(map(starred_axis, part.quasi)))
        base = request.resolve(options.base)()
        quick = base if options.base == "mondrian" else request.resolve("mondrian")()
        sigma = Sigma.of(request, k=judge.minimum)
        budget = Budget(options.budget)
        source = Source(
            sigma=sigma,
            points=np.column_stack([coded.codes for coded in request.quasi]),
            maker=SubsetGrouper(
                replace(part, progress=_quiet), judge, base, quick, MANY
            ),
            seed=request.seed,
            budget=budget,
            plan=once(lambda: source.planned()),
            random=options.strategy == "basic",
        )
        return cls(
            options=options, request=request, sigma=sigma, source=source, budget=budget
        )

    def solved(self) -> Found:
        """Return the best of a few colorings whose remaining rows can be grouped."""
        best: Found | None = None
        tries = max(1, min(self.options.tries, SMALL // self.request.rows))
        try:
            for found in islice(self._completions(), tries):
                if best is None:
                    self.budget.answered()
                if best is None or found.stars < best.stars:
                    best = found
        except OutOfBudgetError:
            if best is None:
                raise self._out_of_budget() from None
        if best is None:
            raise self._no_answer()
        return best

    def _completions(self) -> Iterator[Found]:
        for state in self._states():
            found = self._completed(state)
            if found is not None:
                yield found

    def _states(self) -> Iterator[State]:
        """The parts of the graph colored side by side; then all ways, one by one."""
        parts = self.sigma.components()
        if len(parts) > 1:
            with ThreadPoolExecutor(max_workers=self.request.threads) as pool:
                states = list(pool.map(self._first, parts))
            whole = State.empty(self.sigma)
            for state, spent in states:
                self.budget.add(spent)
                for node, color in state.colors.items():
                    whole.put(node, color)
            yield whole
        yield from self._all(self.sigma.nodes, self.budget)

    def _first(self, nodes: tuple[int, ...]) -> tuple[State, Budget]:
        budget = Budget(self.options.budget)
        try:
            for state in self._all(nodes, budget):
                return state, budget
        except OutOfBudgetError:
            self.budget.add(budget)
            self.budget.at = budget.at
            raise
        self.budget.add(budget)
        raise self._no_answer()

    def _all(self, nodes: tuple[int, ...], budget: Budget) -> Iterator[State]:
        source = replace(self.source, budget=budget)
        state, choose = State.empty(self.sigma), self._next_node()
        return colorings(
            state, nodes, source.candidates, next_node=choose, budget=budget
        )

    def _next_node(self) -> NextNode:
        drawn = self.request.seed.child("nodes").permutation(self.sigma.count)
        ways: dict[str, Callable[..., int]] = {
            "basic": in_order(drawn.tolist()),
            "min-choice": fewest_choices,
            "max-fan-out": most_neighbors,
        }
        return ways[self.options.strategy]

    def _completed(self, state: State) -> Found | None:
        """The clusters of a coloring, and the rest grouped, if it can be."""
        self.budget.look(self.request.rows)
        points = self.source.points
        colors = [state.colors[node] for node in sorted(state.colors)]
        clusters = [cluster for color in colors for cluster in color.clusters()]
        hidden = [line for color in colors for line in color.hidden]
        diverse = clustering_of(
            self.sigma, points, clusters, np.array(hidden) if hidden else None
        )
        settled = place_other_rows(self.sigma, points, self.source.maker.judge, diverse)
        if settled is None:
            self.budget.stranded = self.request.rows - len(diverse.rows)
            return None
        self.request.progress("grouping the rest", 0.5)
        used = np.zeros(self.request.rows, dtype=np.bool_)
        used[settled.rows] = True
        rest = self._rest(np.flatnonzero(~used))
        if rest is None:
            return None
        return Found(settled, hide_excess(self.sigma, points, settled, rest))

    def _rest(self, rows: Ints) -> Clustering | None:
        """The remaining rows, grouped by the base."""
        maker = self.source.maker
        loud = replace(maker, request=replace(maker.request, progress=self._progress))
        seed = self.request.seed.child("rest")
        groups = loud.groups(rows, seed=seed, quick=False) if len(rows) else []
        if len(rows) and not groups:
            return None
        return clustering_of(self.sigma, self.source.points, groups)

    def _progress(self, step: str, share: float) -> None:
        self.request.progress(step, 0.5 + share / 2)

    def grouping(self, found: Found) -> tuple[Grouping, dict[str, Any]]:
        """The groups of all rows, and what there is to say about them."""
        parts = (found.diverse, found.rest)
        rows = np.concatenate([part.rows for part in parts])
        sizes = np.concatenate([part.sizes for part in parts])
        hidden = np.concatenate([part.hidden for part in parts])
        group_of = np.empty(self.request.rows, dtype=np.int32)
        group_of[rows] = np.repeat(np.arange(len(sizes)), sizes)
        made = Grouping(group_of, len(sizes), hidden=hidden if hidden.any() else None)
        return made, self._facts(found, hidden, sizes)

    def _facts(self, found: Found, hidden: Any, sizes: Ints) -> dict[str, Any]:
        tried, backtracks = self.budget.first or (0, 0)
        return {
            "constraints": self.sigma.count,
            "conflict_rate": self.sigma.conflict_rate,
            "components": len(self.sigma.components()),
            "clusterings_tried": tried,
            "backtracks": backtracks,
            "diverse_groups": found.diverse.count,
            "diverse_rows": len(found.diverse.rows),
            "hidden_cells": int(hidden.sum(axis=1) @ sizes),
            "stars": found.stars,
        }

    def _no_answer(self) -> InfeasibleError | SearchError:
        names = self._in_conflict()
        if not self.source.maker.judge.plain:
            return SearchError(
                f"No release was found that meets {self.sigma.count:,} diversity "
                f"constraints beside the other requirements; in conflict: {names}.",
                hint="Lower at_least or raise at_most of one of them.",
            )
        return InfeasibleError(
            f"No table with all {self.request.rows:,} rows in groups of {self.sigma.k:,} "
            f"meets all {self.sigma.count:,} diversity constraints: every way was tried; "
            f"in conflict: {names}.",
            hint="Lower at_least or raise at_most of one of them, or lower k.",
        )

    def _out_of_budget(self) -> SearchError:
        return SearchError(
            f"Not found within the budget of {self.options.budget:,} rows, after "
            f"{self.budget.tried:,} clusterings for {self.sigma.count:,} diversity "
            f"constraints; whether there is a release is not known. In conflict: "
            f"{self._in_conflict()}.",
            hint="Raise algorithm.budget, or relax one of the constraints named.",
        )

    def _in_conflict(self) -> str:
        """The constraints that were left without a color, and who was in the way."""
        failed = [node for node, _ in self.budget.failed.most_common(3)]
        others = [n for n, _ in self.budget.against.most_common(5) if n not in failed]
        if not failed and self.budget.at is not None:
            failed = [self.budget.at]
            near = self.sigma.neighbors[self.budget.at]
            shared = self.sigma.overlaps[self.budget.at]
            others = sorted(near, key=lambda n: (-int(shared[n]), n))
        numbers = sorted({*failed, *others[:3]})
        named = list(map(self.sigma.name, numbers))
        if self.budget.stranded:
            left = f"{self.budget.stranded} rows were left over that fit no group"
            named.append(left)
        return "; ".join(named) or "the other requirements"


def once(make: Callable[[], Clustering]) -> Callable[[], Clustering]:
    """Compute something on first use, in whichever thread asks first.

    `functools.cache` may make it once per thread, and the budget would be spent twice.
    """
    lock, made = Lock(), list[Clustering]()

    def get() -> Clustering:
        with lock:
            if not made:
                made.append(make())
            return made[0]

    return get


def _quiet(_step: str, _share: float) -> None:
    """Ignore the progress of parts."""
