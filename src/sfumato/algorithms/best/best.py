"""Best: the default. Tries what suits the data, keeps what loses least, refines it."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from sfumato.algorithms.base import Algorithm, Request, Solution
from sfumato.algorithms.best.bound_aside import BoundAside
from sfumato.algorithms.best.entropy_axes import in_bits
from sfumato.algorithms.best.grown_groups import grow_groups, tuples_of
from sfumato.algorithms.best.harvest import NODES, levels_of
from sfumato.algorithms.best.loss_bound import (
    MeanLossBound,
    cells_within,
    gap,
    lower_bound,
)
from sfumato.algorithms.best.row_prices import looks_within
from sfumato.algorithms.cellwise.cellwise_algorithm import CellwiseAlgorithm
from sfumato.algorithms.common.population_matches import People
from sfumato.algorithms.refinement.refine import looks_at_table, loss_of, meets
from sfumato.algorithms.refinement.refinement_work import summary
from sfumato.data.grouping import Grouping
from sfumato.data.rules import least_rows, only_sizes
from sfumato.errors import (
    InfeasibleError,
    PolicyError,
    RefusedError,
    SearchError,
    SfumatoError,
)
from sfumato.hierarchies.axis import Shape
from sfumato.models.base import Scope

MANY_COLUMNS = 500
"""The most quasi-identifiers for cuts by gain; with more, they would take minutes."""
SMALL_GROUPS = 20
"""Up to this k, groups that grow from single rows lose less than cuts."""
FEW_TUPLES = 40_000
"""Up to this many distinct tuples, refinement improves more on groups that grew row by
row; with more tuples, on cuts."""
FEW_CHECKS = {"node_limit": 10_000, "max_checks": 10_000}
"""The limit of a lattice search that runs as one of several trials."""
SHORT = 3.0
"""With less time than this, `harvest` tries one order, and no groups are grown."""
PATIENT = 20.0
"""With so many seconds, there is time to grow groups in a very large lattice."""
LONG = 30.0
ORDERS, MORE_ORDERS = 8, 32
"""Orders in which boxes are released by default, and with at least so many seconds."""
UNLIMITED = 1e6
"""The effort with a limit in seconds: time ends it, or a round that gains nothing."""

NOTHING = 1e-12
"""A loss that is none."""
SLACK = 1e-4
"""Percent above the optimum that are not told."""

INTERRUPTED = "The search was interrupted before refinement began."

Loss = Literal["ncp", "entropy"]


@dataclass(frozen=True, kw_only=True)
class Best(CellwiseAlgorithm):
    """Picks and combines algorithms by data and requirements, then refines.

    Guarantee: every group meets every requirement. The loss is at most that of each
        algorithm it tries on the same request.
    Method: cut the table by gain (`mondrian`; at the widest column if there are more
    than 500). If columns have hierarchies or requirements look at sensitive values,
    release boxes along the lattice (`harvest`). If there are none, or the lattice is
    too large, and groups are small, grow groups row by row (`k-member`, in parts of a
    large table). If everybody of a population must match a group, search the lattice
    (`optimal`). Take the result that loses least and refine it. The report says what
    was chosen and why and how far the result is from a lower bound.
    With `loss = "entropy"` all of this counts bits about the values, by their
        frequency; categories without a hierarchy are then searched on a learned tree.
    Cost: bounded work, near-linear in rows and columns: 29 s of CPU for 30,000 rows of
        23 numbers; 20 to 30 s for a million rows with few columns. More or less
        with `refine`. With `seconds`, that long.
    Limits: the bound may not be achievable. Without hierarchies, on a very large
        lattice or with little time it comes from a sample of rows. With a limit in
        seconds the result depends on the machine.
    Reference: ours.
    """

    name: ClassVar[str] = "best"
    sentence: ClassVar[str] = (
        "Chooses by data and requirements, then refines: the lowest loss we know of."
    )

    refine: float | bool = 1.0
    loss: Loss = "ncp"
    """What is lowered: the share of its column that a cell leaves open (`ncp`), or the
    bits about its value, by frequency, that a cell no longer tells (`entropy`)."""

    def __post_init__(self) -> None:
        if self.loss not in get_args(Loss):
            raise PolicyError(
                f"best: 'loss' is {self.loss!r}.",
                hint=f"It must be one of: {', '.join(get_args(Loss))}.",
            )
        if self.loss == "entropy" and self.partition_rows is not None:
            raise PolicyError(
                "best: 'partition_rows' is set, and 'loss' is 'entropy': the bits of a "
                "value are counted over the whole table.",
                hint="Leave out one of the two.",
            )

    def solve(self, request: Request) -> Solution:
        """Search, and tell how far the groups can be from the optimum."""
        solution = super().solve(request)
        if "loss" not in solution.facts:
            return solution
        loss = loss_of(self._weighed(request), solution.grouping)
        facts = {**solution.facts, "loss": loss}
        if facts["bound"]:
            bound = facts["bound"]
            bound |= gap(loss, bound["at_least"], bound["interval"][0])
            facts |= {"bound": bound, "gap": _gap_sentence(loss, bound, request.rows)}
        return replace(solution, facts=facts)

    def search(self, request: Request) -> Solution:
        if request.rows == 0:
            return Solution(grouping=Grouping(np.empty(0, dtype=np.int32), 0))
        started = time.monotonic()
        asked, request = request, self._weighed(request)
        trial = AlgorithmTrials(request)
        bound, stopped = None, False
        with BoundAside(request, partial(self._bound, asked)) as aside:
            try:
                for name, reason, options in self._planned(request):
                    trial.run(name, reason, options)
                bound = aside.result()
            except KeyboardInterrupt:
                if self.seconds is None or not trial.found:
                    raise
                stopped = True
        chosen, loss = trial.choose()
        return replace(
            chosen,
            guide=None if bound is None else bound.guide,
            facts={
                "choice": [*trial.sentences, *([INTERRUPTED] if stopped else [])],
                "interrupted": stopped,
                "started_from": trial.best,
                "losses": {name: found[0] for name, found in trial.found.items()},
                "loss": loss,
                "bound": bound.facts(loss) if bound and _bounds_all(asked) else None,
                "seconds_before": time.monotonic() - started,
            },
        )

    def _planned(self, request: Request) -> list[tuple[str, str, dict[str, Any]]]:
        """The algorithms to try; with a limit in seconds, the fastest comes first.

        So there is something to publish soon, if somebody interrupts the search.
        """
        patient = self.seconds is None or self.seconds >= PATIENT
        timed = self.seconds is not None and self.seconds >= LONG
        planned = plan(request, short=self._short, patient=patient, timed=timed)
        if self.seconds is not None:
            planned.sort(key=lambda row: row[0] != "mondrian")
        return planned

    def _bound(self, asked: Request, weighed: Request) -> MeanLossBound | None:
        """A lower bound on the loss; none for sets that were searched as nodes."""
        flat = any(coded.axis.shape is Shape.FLAT for coded in asked.quasi)
        if flat and self.loss == "entropy":
            return None
        # Where shares are compared with the table's, sizes bound next to nothing.
        shares = any(rule.traits.compares_with_table for rule in weighed.rules())
        looks = 0 if shares else looks_within(self.seconds)
        return lower_bound(weighed, looks=looks, cells=cells_within(self.seconds))

    def _weighed(self, request: Request) -> Request:
        """The request on axes whose losses are those to be lowered."""
        return in_bits(request) if self.loss == "entropy" else request

    @property
    def _short(self) -> bool:
        return self.seconds is not None and self.seconds < SHORT

    def improved(self, request: Request, solution: Solution) -> Solution:
        """Refine for the remaining time, and report what that gained."""
        if solution.facts.get("interrupted"):
            return replace(solution, guide=None)
        spent = float(solution.facts.get("seconds_before", 0.0))
        left = None if self.seconds is None else max(self.seconds - spent, 0.0)
        effort = UNLIMITED if self.refine and left is not None else self.refine
        limited = replace(self, seconds=left, refine=effort)
        refined = super(Best, limited).improved(self._weighed(request), solution)
        facts = dict(refined.facts)
        if "refinement" in facts and facts["refinement"]["passes"]:
            facts["loss"] = facts["refinement"]["loss"]
            facts["choice"] = [*facts["choice"], summary(facts["refinement"])]
        return replace(refined, facts=facts)


@dataclass(eq=False)
class AlgorithmTrials:
    """Algorithms tried on one request."""

    request: Request
    found: dict[str, tuple[float, Solution]] = field(default_factory=dict)
    sentences: list[str] = field(default_factory=list)
    failures: list[SfumatoError] = field(default_factory=list)
    """Why algorithms found nothing."""

    def run(self, name: str, reason: str, options: dict[str, Any]) -> None:
        """Run one algorithm, unless it is missing or refuses the request."""
        try:
            solution = searched(self.request, self.request.resolve(name)(**options))
        except (PolicyError, RefusedError):
            return
        except (InfeasibleError, SearchError) as fault:
            self.failures.append(fault)
            return
        if looks_at_table(self.request) and not meets(self.request, solution.grouping):
            return
        loss = loss_of(self.request, solution.grouping)
        self.found[name] = loss, solution
        self.sentences.append(f"{reason}: '{name}' loses {loss:.4f}.")

    @property
    def best(self) -> str:
        """Return the name of the algorithm that loses least; the first of equals."""
        return min(self.found, key=lambda name: self.found[name][0])

    def choose(self) -> tuple[Solution, float]:
        """Return the solution that loses least."""
        if not self.found and self.failures:
            raise self.failures[0]
        if not self.found:
            raise RefusedError(
                "None of the algorithms that 'best' tries can meet these requirements.",
                hint="Name an algorithm; 'sfumato list algorithms' has them all.",
            )
        loss, solution = self.found[self.best]
        if len(self.found) > 1:
            self.sentences.append(f"'{self.best}' loses least and was taken.")
        return solution, loss


def plan(
    request: Request, *, short: bool, patient: bool = True, timed: bool = False
) -> list[tuple[str, str, dict[str, Any]]]:
    """Choose the algorithms to try: name, reason, options. Order only matters for ties."""
    rules = request.rules()
    rows = [_cuts(request)]
    if any(rule.traits.needs_population for rule in rules):
        people = People.of(request)
        if people is not None and people.everybody:
            reason = "Everybody of the population must match a group"
            rows.append(("optimal", reason, FEW_CHECKS))
        return rows
    trees = sum(coded.axis.shape is Shape.TREE for coded in request.quasi)
    judged = not only_sizes(rules)
    orders = {"orders": 1 if short else MORE_ORDERS if timed else ORDERS}
    if trees:
        reason = f"{trees} of {len(request.quasi)} columns have hierarchies, along "
        rows.insert(0, ("harvest", reason + "which boxes were released", orders))
    elif judged:
        reason = (
            "Requirements look at sensitive values, so values that occur too often "
        )
        rows.insert(0, ("harvest", reason + "were kept apart", orders))
    if short or least_rows(rules) > SMALL_GROUPS:
        return rows
    bits = any(coded.axis.shares is not None for coded in request.quasi)
    if (bits or not trees) and tuples_of(request) <= FEW_TUPLES:
        reason = "no column has a hierarchy" if not bits else "losses are bits"
        reason = f"Groups are small and {reason}, so groups were grown"
        rows.insert(0, ("k-member", reason, {}))
        return rows
    alone = not judged and request.subject is None
    if trees and alone and patient and _is_wide(request):
        reason = "Groups are small and the lattice is too large, so groups were grown"
        rows.insert(0, ("k-member", reason, {}))
    return rows


def _cuts(request: Request) -> tuple[str, str, dict[str, Any]]:
    """Cut by gain, which looks at every pair of columns, unless there are too many."""
    if len(request.quasi) > MANY_COLUMNS:
        reason = f"The table was cut at the widest of {len(request.quasi)} columns"
        return ("mondrian", reason, {"cut": "widest"})
    return ("mondrian", "The table was cut where that lowers the loss most", {})


def _is_wide(request: Request) -> bool:
    """Return whether the lattice has more nodes than are visited."""
    return math.prod(len(levels_of(coded)) for coded in request.quasi) > NODES


def searched(request: Request, algorithm: Algorithm) -> Solution:
    """Run an algorithm; one that grows groups within a bounded amount of work."""
    if algorithm.name != "k-member":
        return algorithm.search(request)
    return grow_groups(request)


def _bounds_all(request: Request) -> bool:
    """Whether no release that meets the request can lose less than the bound.

    It can where rows were chosen beforehand to be left out; where groups of some size
    are only one way to meet a requirement on all groups together; or where the rows that
    are left tell how large groups must be, as weights do that stand for a population.
    """
    if request.removable and any(m.scope is Scope.POPULATION for m in request.models):
        return False
    names = tuple(request.sensitive)
    together = (m for m in request.models if m.scope is Scope.TABLE)
    rules = (rule for m in together for rule in m.rules(names, subjects=False))
    if any(rule.traits.bounds_rows for rule in rules):
        return False
    return (request.source or request).rows == request.rows


def _gap_sentence(loss: float, bound: dict[str, Any], rows: int) -> str:
    """Say how far the loss can be from the optimum, and how sure that is."""
    if loss <= NOTHING:
        return "Nothing is lost, so no grouping loses less."
    least, above = bound["interval"][0], bound["at_most_above"]
    # Rounded so that both stay true; the slack is that of the search itself.
    least = math.floor(least * 1e4) / 1e4
    if above is None or least == 0.0:
        return "No lower bound of note is known, so the optimum may be far below."
    sure = "" if bound["rows"] == rows else " (95% sure, from a sample of rows)"
    percent = math.ceil(max(above * 100 - SLACK, 0.0))
    return (
        f"No grouping loses less than {least:.4f}: the loss is at most {percent}% above "
        f"the optimum{sure}."
    )
