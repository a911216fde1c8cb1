"""Refine a grouping from any algorithm: lower its loss while every requirement holds.

Groups near each other are put into pools of two to five; in each pool rows are moved
and swapped, and all its rows dealt out anew from random seeds, so that groups may also
split, merge or vanish. A change is kept only if every group of the pool meets every rule
and the loss falls; while pools are warm, it may also rise a little (`cooling`). Where all
columns have hierarchies, groups are also closed and opened in larger blocks
(`reopening`), which may lose a little at first. The best grouping seen is returned, so
the loss never rises, and refinement can stop at any time.

Once it is cold, a *round* has four passes over all groups, one for each size of pool, and
is repeated where groups are few, because one random pass then misses much of the gain.
Refinement stops when a cold round gains nothing (or next to nothing), when its work is
spent, or when its time is over. Work is counted in groups that were weighed up, not in
seconds, so that a seed repeats a result whatever the machine and the number of threads;
a limit in seconds gives that up.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.common.compiled_rules import compile_rules
from sfumato.algorithms.common.parallel_ranges import Clock, Range
from sfumato.algorithms.refinement.cooling import Cooling, cooling_of
from sfumato.algorithms.refinement.dealing import can_deal, deal_rows
from sfumato.algorithms.refinement.refinement_task import (
    RefinementTask,
    StopConditions,
    prepare,
    rows_of_blocks,
    split_randomly,
    through_blocks,
)
from sfumato.algorithms.refinement.refinement_work import (
    LossHistory,
    block_limit,
    history_of,
    step_text,
    total_of,
    usual_work,
    work_with_reopening,
)
from sfumato.algorithms.refinement.reopening import (
    TIMES_PER_GROUP,
    Reopening,
    can_reopen,
    reopen_groups,
    reopening_of,
)
from sfumato.algorithms.request import PriceGuide, Request
from sfumato.data.arrays import Floats, Ints
from sfumato.data.grouping import Grouping
from sfumato.data.rules import Rule
from sfumato.data.seeds import Seed
from sfumato.kernels.refinement.pools import (
    LIMIT,
    MOST_ITEMS,
)
from sfumato.kernels.refinement.refinement_round import (
    GAIN,
    WEIGHED,
    RefinedGroups,
    lay_out,
    make_round_steps,
    number_groups,
    refine_blocks,
    total_loss,
)
from sfumato.models.base import Scope
from sfumato.publish.group_spans import Extent

POOLED, POOLED_WARM = (2, 3, 4, 5), (3, 4, 5)
"""Groups per pool, pass by pass, and while it is warm."""
MANY_PASSES = 100
"""With so many passes more than a few, pools are fully warm at first."""
REGROUPED = 0.15
"""How much regrouping a pool may lose on average at full warmth: this share of what a
group loses."""
MOST_WARM_ROWS = 32
"""Pools stay cold where groups have more rows than this on average."""
DEALT = 8
"""With a limit in seconds, rows are dealt out among all boxes every so many cold passes."""
FEW_GROUPS = 2000
MOST_REPEATS = 8
"""With fewer groups than this, a round repeats its passes, up to this many times."""
SPLITS = 2
"""How often groups are split at random seeds, each time those that gain by it."""
BLOCK = 128
"""Groups among which those near each other are looked for."""
LITTLE = 6e-4
LITTLE_OF_GAIN = 0.01
PATIENCE = 2
"""Refinement ends at effort 1 after this many rounds in a row that gain less than these
shares of the loss and of the total gain; more effort accepts smaller gains."""
NOTHING = 1e-12
"""A loss that cannot be lowered."""
IDLE = 4
"""With a limit in seconds, so many rounds in a row may gain nothing."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Refined:
    """A grouping that loses no more than the one it comes from."""

    grouping: Grouping
    loss_before: float = 0.0
    loss: float = 0.0
    loss_at_half: float = 0.0
    """What was lost after half of the work."""
    passes: int = 0
    work: int = 0
    seconds: float = 0.0
    warm: bool = False
    """Whether it accepted losses for a while."""
    stopped: str = ""
    """Why it ended: "no gain", "little gain", "effort", "time" or "interrupted"; or why
    it did not begin."""

    def facts(self) -> dict[str, Any]:
        """For the report."""
        return {
            "loss_before": self.loss_before,
            "loss": self.loss,
            "loss_at_half": self.loss_at_half,
            "passes": self.passes,
            "work": self.work,
            "kernel_seconds": self.seconds,
            "warm": self.warm,
            "stopped": self.stopped,
        }


def refine(
    request: Request,
    grouping: Grouping,
    *,
    effort: float = 1.0,
    seconds: float | None = None,
    bound: float | None = None,
    guide: PriceGuide | None = None,
) -> Refined:
    """Lower the loss of a grouping while every requirement stays met.

    With a limit in seconds, an interrupt ends it early instead of being raised. The
    bound is only shown in the progress. A guide tells where something can be gained.
    """
    kept = np.flatnonzero(grouping.kept)
    part = request if len(kept) == request.rows else _only(request, kept)
    compiled = compile_rules(part)
    # No pool can count a population.
    if any(rule.traits.needs_population for rule in compiled.rules):
        return Refined(grouping=grouping, stopped="a rule looks at a population")
    if len(kept) == 0:
        return Refined(grouping=grouping, stopped="no gain")
    known = None if guide is None else guide.only(kept)
    task = prepare(part, compiled, grouping.group_of[kept], known)
    # A bound counts all rows, and the progress only those that are kept.
    shown = bound if part is request else None
    outcome = _run(
        part, task, compiled.rules, effort=effort, seconds=seconds, bound=shown
    )
    group_of = grouping.group_of.copy()
    group_of[kept] = task.group_of()
    refined = Grouping(group_of, len(task.starts) - 1)
    if looks_at_table(request) and not meets(request, refined):
        return Refined(grouping=grouping, stopped="a rule looks at all groups together")
    for name in ("loss_before", "loss", "loss_at_half"):
        outcome[name] = _of_all_rows(request, part, outcome[name])
    return Refined(grouping=refined, **outcome)


def _only(request: Request, rows: Ints) -> Request:
    """The request on some rows, with what these lose anyway."""
    part = request.only(rows)
    if not request.lossless:
        return part
    alone = Grouping(np.arange(len(rows), dtype=np.int32), len(rows))
    anyway = loss_of(replace(part, lossless=0.0), alone)
    return replace(part, lossless=anyway)


def _of_all_rows(request: Request, part: Request, loss: float) -> float:
    """The loss of all rows, from that of the part that is kept; see `loss_of`."""
    kept = part.rows
    weights = sum(coded.axis.weight for coded in request.quasi)
    lost = kept * (loss + part.lossless) + (request.rows - kept if weights > 0 else 0)
    return lost / request.rows - request.lossless


def looks_at_table(request: Request) -> bool:
    """Whether rules on each group may not suffice for all groups together."""
    table = any(model.scope is Scope.TABLE for model in request.models)
    return table or request.subject is not None


def meets(request: Request, grouping: Grouping) -> bool:
    """Whether all groups together meet every model; cells show who matches them."""
    judged = (m for m in request.models if m.scope is not Scope.POPULATION)
    return all(request.meets(model, grouping).holds for model in judged)


def split_groups(request: Request, grouping: Grouping, clock: Clock) -> Grouping:
    """Split groups where that lowers the loss: passes over pools of one group."""
    task = prepare(request, compile_rules(request), grouping.group_of)
    for number in range(SPLITS):
        seed = request.seed.child("split", number)
        _pass(request, task, seed, 1, StopConditions(), clock)
        task.rows, task.starts = number_groups(task.label)
    return Grouping(task.group_of(), len(task.starts) - 1)


def loss_of(request: Request, grouping: Grouping) -> float:
    """The weighted mean loss of a cell; suppressed cells are lost in full."""
    weights = [coded.axis.weight for coded in request.quasi]
    sizes = grouping.sizes()
    lost = (request.rows - int(sizes.sum())) * sum(weights)
    for j, coded in enumerate(request.quasi):
        level = None if grouping.levels is None else grouping.levels[:, j]
        lost += weights[j] * float(sizes @ Extent(coded, grouping, level).ncp())
    return float(lost / max(request.rows * sum(weights), 1e-300)) - request.lossless


def _run(
    request: Request,
    task: RefinementTask,
    rules: Sequence[Rule],
    *,
    effort: float,
    seconds: float | None,
    bound: float | None,
) -> dict[str, Any]:
    """Pass after pass, until nothing is gained or the budget is spent."""
    deadline = math.inf if seconds is None else time.monotonic() + seconds
    groups = lay_out(task.space, task.item_of, task.rows, task.starts)
    scale = len(task.rows) * (task.space.weight or 1.0)
    history = history_of(total_loss(task.space, groups) / scale - request.lossless)
    reopened = can_reopen(request, task, rules)
    plain = task.pool_rules.plain
    budget = effort * usual_work(request, plain=plain, reopened=reopened)
    more = work_with_reopening(request, budget, effort) if reopened else None
    timed = seconds is not None
    how = None if more is None else reopening_of(request, task, timed=timed)
    limits = StopConditions(deadline=deadline, budget=more or budget)
    clock = Clock()
    try:
        stopped = _repeat(request, task, how, history, limits, clock, effort, bound)
    except KeyboardInterrupt:
        if seconds is None:
            raise
        stopped = "interrupted"
    # An interrupt may come between two steps; the best labels are whole at any time.
    task.label = task.best
    task.rows, task.starts = number_groups(task.label)
    groups = lay_out(task.space, task.item_of, task.rows, task.starts)
    return {
        "loss_before": history.losses[0],
        "loss": total_loss(task.space, groups) / scale - request.lossless,
        "loss_at_half": history.at_half,
        "passes": len(history.losses) - 1,
        "work": history.spent,
        "seconds": clock.seconds,
        "stopped": stopped,
        "warm": history.warm,
    }


def _repeat(
    request: Request,
    task: RefinementTask,
    how: Reopening | None,
    history: LossHistory,
    limits: StopConditions,
    clock: Clock,
    effort: float,
    bound: float | None,
) -> str:
    """Make passes, and reopen groups between them; return why they ended."""
    timed = math.isfinite(limits.deadline)
    cold = ColdRounds(history, task.count, effort, timed=timed)
    every = 1 if how is None else how.every
    deals = timed and how is not None and can_deal(request, task)
    cooling = _cooling(task, how)
    passes = 0
    while history.spent < limits.budget:
        step = step_text(history.least, bound)
        limits = replace(limits, spent=history.spent, step=step)
        if passes == every:
            cooling = cooling.warmed(limits.share)
        warmth = cooling.warmth(limits.share, passes // every)
        if (how is not None or warmth > 0.0) and history.least <= NOTHING:
            return "no gain"
        history.warm = history.warm or warmth > 0.0
        if how is not None and passes % every == 0:
            figures = reopen_groups(
                request,
                task,
                how,
                seed=request.seed.child("reopen", passes),
                heat=how.heat(task, history.loss, warmth),
                searched=how.searches(passes // every),
                limits=limits,
                clock=clock,
            )
            _note(task, history, figures)
        if deals and warmth <= 0.0 and passes % DEALT == DEALT - 1:
            seed = request.seed.child("deal", passes)
            figures = deal_rows(request, task, seed=seed, limits=limits, clock=clock)
            _note(task, history, figures)
        seed = request.seed.child("refine", passes)
        heat = 0.0 if how is not None else _heat(task, history.loss, warmth)
        sizes = POOLED_WARM if heat > 0.0 else POOLED
        pooled = sizes[passes % len(sizes)]
        figures = _pass(request, task, seed, pooled, limits, clock, heat)
        _note(task, history, figures)
        passes += 1
        if time.monotonic() > limits.deadline:
            return "time"
        warm = warmth > 0.0 or (how is not None and passes <= every)
        ended = cold.ended(history, task.count, passes, warm=warm)
        if ended:
            return ended
    return "effort"


def _cooling(task: RefinementTask, how: Reopening | None) -> Cooling:
    """How warm it is where groups are reopened, or else in pools.

    Groups of equal rows have nothing to gain, and do not count in pools.
    """
    if how is not None:
        return cooling_of(TIMES_PER_GROUP * task.count, many=how.many)
    small = len(task.rows) <= MOST_WARM_ROWS * task.count
    groups = lay_out(task.space, task.item_of, task.rows, task.starts)
    mixed = np.count_nonzero((groups.low != groups.high).any(axis=1))
    return cooling_of(int(mixed) if small else 0, many=MANY_PASSES)


def _heat(task: RefinementTask, loss: float, warmth: float) -> float:
    """How much regrouping a pool may lose on average."""
    group = loss * task.space.weight * len(task.rows) / task.count
    return REGROUPED * warmth * group


def _note(task: RefinementTask, history: LossHistory, figures: Floats) -> None:
    """Number the groups anew after a pass; note what it gained, and the best so far."""
    scale = len(task.rows) * (task.space.weight or 1.0)
    history.add(total_of(figures, GAIN) / scale, int(total_of(figures, WEIGHED)))
    if history.loss <= history.least:
        task.best = task.label.copy()
    task.rows, task.starts = number_groups(task.label)


class ColdRounds:
    """Rounds of passes in which nothing may lose, and when there have been enough."""

    def __init__(
        self, history: LossHistory, groups: int, effort: float, *, timed: bool
    ) -> None:
        self.effort = effort
        self.most_idle = IDLE if timed else 1
        self.slow, self.idle = 0, 0
        self._begin(history, groups, 0)

    def _begin(self, history: LossHistory, groups: int, passes: int) -> None:
        self.began, self.last = history.loss, passes + _passes(groups)

    def ended(
        self, history: LossHistory, groups: int, passes: int, *, warm: bool
    ) -> str:
        """Return why passes end now, or nothing."""
        if warm:
            self._begin(history, groups, passes)
        if passes != self.last:
            return ""
        gain = self.began - history.loss
        self._begin(history, groups, passes)
        total = history.losses[0] - history.loss
        little = min(LITTLE * history.loss, LITTLE_OF_GAIN * total)
        self.slow = self.slow + 1 if gain * self.effort <= little else 0
        self.idle = self.idle + 1 if gain <= 0.0 else 0
        if self.idle == self.most_idle or self.slow == max(PATIENCE, self.most_idle):
            return "little gain" if gain > 0.0 else "no gain"
        return ""


def _passes(groups: int) -> int:
    """How many passes the next round has."""
    if groups <= POOLED[0]:
        return len(POOLED)
    return len(POOLED) * min(MOST_REPEATS, 1 + FEW_GROUPS // groups)


def _pass(
    request: Request,
    task: RefinementTask,
    seed: Seed,
    most: int,
    limits: StopConditions,
    clock: Clock,
    heat: float = 0.0,
) -> npt.NDArray[np.float64]:
    """One pass over all groups; the figures of each block."""
    groups = lay_out(task.space, task.item_of, task.rows, task.starts)
    blocks, bounds = make_blocks(task, groups, seed.child("blocks"))
    figures = np.zeros((len(bounds) - 1, 4))
    starts = seed.child("pools").words(len(bounds) - 1)
    most_weighed = block_limit(limits.budget, limits.spent, len(bounds) - 1)
    with task.pool() as pool:
        steps = make_round_steps(task.space, task.pool_rules, task.targets, pool)

    def step(first: int, last: int) -> Iterable[Range]:
        if time.monotonic() > limits.deadline:
            return []
        with task.pool() as pool, clock.running():
            pool.numbers[LIMIT] = most_weighed
            refine_blocks(
                task.space,
                task.pool_rules,
                task.targets,
                task.values,
                groups,
                task.item_of,
                blocks,
                bounds,
                first,
                last,
                starts,
                most,
                heat,
                task.enough,
                task.label,
                figures,
                pool,
                steps,
            )
        return []

    through_blocks(request, limits, rows_of_blocks(task, blocks, bounds), step)
    return figures


def make_blocks(
    task: RefinementTask, groups: RefinedGroups, seed: Seed
) -> tuple[Ints, Ints]:
    """Split the groups by a random tree into blocks of groups that are alike."""
    sizes = np.diff(task.starts)
    chosen = np.flatnonzero(np.diff(groups.item_starts) <= MOST_ITEMS)
    inside = (seed.child("rows").uniform(len(sizes)) * sizes).astype(np.int64)
    points = task.space.points[task.rows[task.starts[:-1] + inside]]
    order = seed.child("order").permutation(len(chosen))
    parts = split_randomly(chosen[order], points, seed.child("cuts"), BLOCK)
    bounds = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    blocks = np.concatenate([np.zeros(0, dtype=np.int64), *parts])
    return blocks, bounds.astype(np.int64)
