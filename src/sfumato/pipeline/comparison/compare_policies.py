"""Compare candidate releases of one source, from a policy to a front."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sfumato.algorithms.base import Progress, silent
from sfumato.data.safe_repr import SafeRepr, counted
from sfumato.data.schema import Role
from sfumato.data.seeds import Seed
from sfumato.dp.cost import sequential
from sfumato.errors import (
    BudgetError,
    InfeasibleError,
    PolicyError,
    RefusedError,
    UsageError,
)
from sfumato.pipeline.comparison.candidate_policies import (
    Candidate,
    candidates,
    dialed,
    left_out,
    left_out_note,
)
from sfumato.pipeline.comparison.compared_candidates import Comparison
from sfumato.pipeline.comparison.comparison_figures import Measuring
from sfumato.pipeline.comparison.figure_catalogue import (
    DEFAULT_RISK,
    DEFAULT_UTILITY,
    ComparedFigure,
    FigureSide,
    FigureSource,
    find_figure,
)
from sfumato.pipeline.comparison.picking import AcceptLimit, accept_limits
from sfumato.pipeline.comparison.trade_off_dial import EXPOSURE, LOSS
from sfumato.pipeline.comparison.try_candidate import SharedWork
from sfumato.pipeline.comparison.worker_pool import run_candidates
from sfumato.policy import Policy
from sfumato.risk.learned.scikit import insist_on_scikit

if TYPE_CHECKING:
    from sfumato.workload.queries import Workload

LEAST_STEPS = 3
UNPUBLISHED = (None, Role.IDENTIFIER)
"""The roles of columns that no release shows; None: left out, or not in the source."""
SPENT = (
    "Every candidate was charged to the ledger; its figures follow from what was paid."
)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ComparisonTask(SafeRepr):
    """What to compare, and how."""

    policy: Policy
    source: pa.Table
    base: Path | None = None
    risk: str | None = None
    utility: str | None = None
    workload: Workload | None = None
    target: str | None = None
    sample: int | None = None
    dial: int | None = None
    """Sweep `utility_weight` in so many steps, instead of `[compare]`."""
    spend: bool = False
    """Whether candidates may be charged to the ledger."""
    allow_weaker: bool = False
    """Whether candidates may ask for less than the policy."""
    seed: Seed = field(default_factory=Seed.fresh)
    workers: int | None = None
    threads: int | None = None
    progress: Progress = silent
    stop: threading.Event | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def axes(self) -> tuple[ComparedFigure, ComparedFigure]:
        """The figures of risk and of utility."""
        risk = self.risk or (EXPOSURE if self.dial else DEFAULT_RISK)
        utility = self.utility or (LOSS if self.dial else DEFAULT_UTILITY)
        return (
            find_figure(risk, side=FigureSide.RISK),
            find_figure(utility, side=FigureSide.UTILITY),
        )


def compare(task: ComparisonTask) -> Comparison:
    """Run every candidate, and put them side by side."""
    risk, utility = task.axes()
    limits = accept_limits(task.policy.accept)
    tried = _candidates(task)
    _refuse_figures(task, (risk, utility), limits)
    spends = _insist_on_spending(task, tried)
    work = _work(task, tried, (risk, utility), limits)
    task.progress("code", 0.0)
    work.prepare(tried[0].policy)
    _refuse_out_of_reach(work, tried)
    outcomes, stopped = run_candidates(
        work,
        tried,
        workers=_workers(task, tried),
        progress=task.progress,
        stop=task.stop,
    )
    return Comparison(
        tried=tried,
        outcomes=outcomes,
        risk=risk,
        utility=utility,
        limits=limits,
        stopped=stopped,
        notes=tuple(_notes(task, spends)),
        dial=task.dial is not None,
        # A release that is made afterwards has the machine to itself.
        work=replace(work, threads=task.threads or _cores()),
        provenance=task.provenance,
    )


def _refuse_out_of_reach(work: SharedWork, tried: Sequence[Candidate]) -> None:
    """Start no candidate where arithmetic shows that none can give a release."""
    policies = {_asked(each.policy): each.policy for each in tried}
    first: InfeasibleError | None = None
    for policy in policies.values():
        fault = work.out_of_reach(policy)
        if fault is None:
            return
        first = first or fault
    if first is not None:
        raise first


def _asked(policy: Policy) -> str:
    """What a policy asks of any algorithm and operator, as a key."""
    return policy.model_dump_json(exclude={"algorithm", "compare", "accept"})


def _candidates(task: ComparisonTask) -> tuple[Candidate, ...]:
    if task.source.num_rows and not task.policy.process_models():
        task.policy.check_columns(task.source.column_names)
    if task.dial is None:
        return candidates(
            task.policy, rows=task.source.num_rows, allow_weaker=task.allow_weaker
        )
    if task.dial < LEAST_STEPS:
        raise UsageError(
            f"A dial has at least {LEAST_STEPS} steps; {task.dial} are asked for.",
            hint="11 steps are the weights 0, 0.1, … 1.",
        )
    return dialed(task.policy, steps=task.dial, allow_weaker=task.allow_weaker)


def _notes(task: ComparisonTask, spends: bool) -> Iterator[str]:
    """What else to know: what was paid, and which candidates were not tried."""
    if spends:
        yield SPENT
    if task.allow_weaker:
        return
    rows = task.source.num_rows
    weaker = left_out(task.policy, rows=rows, steps=task.dial)
    if weaker:
        yield left_out_note(weaker)


def _refuse_figures(
    task: ComparisonTask,
    axes: tuple[ComparedFigure, ComparedFigure],
    limits: Sequence[AcceptLimit],
) -> None:
    """Refuse figures that cannot be measured here, before any work."""
    for figure in (*axes, *(limit.figure for limit in limits)):
        if figure.source is FigureSource.WORKLOAD and task.workload is None:
            raise UsageError(
                f"'{figure.name}' needs the queries that analysts ask.",
                hint="Name their file with --workload (from Python: workload=…).",
            )
        if figure.source is FigureSource.LEARNING:
            _refuse_learning(task)
        outside = figure.source is not FigureSource.RELEASE
        if outside and task.policy.process_models():
            raise RefusedError(
                f"'{figure.name}' compares with the source, and no ledger pays for a "
                "choice by it.",
                hint="Choose by figures of the release: ncp, prosecutor_max, ….",
            )


def _refuse_learning(task: ComparisonTask) -> None:
    """Refuse figures of models that cannot be trained on any candidate."""
    insist_on_scikit()
    roles = {name: task.policy.role(name) for name in task.source.column_names}
    if task.target is None and Role.SENSITIVE not in roles.values():
        raise UsageError(
            "Nothing says which column is to be learned: none is sensitive.",
            hint="Name one with --target (from Python: target=…).",
        )
    if task.target is not None and roles.get(task.target) in UNPUBLISHED:
        raise UsageError(
            f"No candidate shows a column '{task.target}' that models could learn.",
            hint="Name a column that the policy publishes.",
        )


def _insist_on_spending(task: ComparisonTask, tried: Sequence[Candidate]) -> bool:
    """Refuse to spend privacy budget that nobody agreed to; whether any is spent."""
    costs = [m.cost for each in tried for m in each.policy.process_models()]
    if not costs:
        return False
    if task.policy.privacy.ledger is None:
        raise PolicyError(
            "Candidates under a process model are charged to a ledger, and the policy "
            "names none.",
            hint="Add privacy.ledger, and privacy.epsilon for a new one.",
        )
    total = sequential(costs)
    if not task.spend:
        raise BudgetError(
            f"Comparing {counted(len(costs), 'candidate')} would cost epsilon "
            f"{total.epsilon:.6g}, delta {total.delta:.3g}; nothing was charged.",
            hint="Say --spend (from Python: spend=True) to charge each to the ledger.",
        )
    return True


def _work(
    task: ComparisonTask,
    tried: Sequence[Candidate],
    axes: tuple[ComparedFigure, ComparedFigure],
    limits: Sequence[AcceptLimit],
) -> SharedWork:
    asked = [*axes, *(limit.figure for limit in limits)]
    names = [figure.name for figure in asked] + ([LOSS, EXPOSURE] if task.dial else [])
    return SharedWork(
        source=task.source,
        base=None if task.base is None else task.base.resolve(),
        seed=task.seed,
        threads=task.threads or max(1, _cores() // _workers(task, tried)),
        measuring=Measuring(
            names=tuple(dict.fromkeys(names)),
            workload=task.workload,
            target=task.target,
            sample=task.sample,
        ),
    )


def _workers(task: ComparisonTask, tried: Sequence[Candidate]) -> int:
    return min(task.workers or _cores(), len(tried))


def _cores() -> int:
    return os.cpu_count() or 1
