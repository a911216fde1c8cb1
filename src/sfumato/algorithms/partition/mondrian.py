"""Mondrian: cut the table in two, recursively, while both parts meet the requirements."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import ClassVar, Literal, get_args

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.base import Algorithm, Request, Solution
from sfumato.algorithms.common.compiled_rules import Compiled, compile_rules
from sfumato.algorithms.common.parallel_ranges import Clock, Range, work_through
from sfumato.algorithms.common.population_matches import (
    People,
    joined,
    known_people,
    require_everybody,
)
from sfumato.algorithms.common.refusals import one_group_fails
from sfumato.algorithms.partition.category_order import likeness_ranks
from sfumato.data.arrays import Ints
from sfumato.data.grouping import SUPPRESSED, Grouping
from sfumato.data.option_examples import OptionExamples
from sfumato.data.rules import least_rows, only_sizes
from sfumato.errors import PolicyError
from sfumato.hierarchies.axis import Shape
from sfumato.kernels.common.geometry import axis_tables
from sfumato.kernels.common.packed_records import (
    NUMBER,
    Collapsed,
    Fields,
    Records,
    collapse,
    fields_for,
    make_records,
    recode,
    spread,
)
from sfumato.kernels.partition.cut_rules import whole_ok
from sfumato.kernels.partition.cut_workspace import (
    CutRules,
    CutSettings,
    CutWorkspace,
    make_cut_rules,
    make_cut_workspace,
)
from sfumato.kernels.partition.dense_rows import can_be_dense
from sfumato.kernels.partition.gain_cut import cut_gain
from sfumato.kernels.partition.outlier_removal import trim_groups
from sfumato.kernels.partition.widest_cut import cut_widest
from sfumato.models.base import Scope

PIECE = 1 << 15
"""A range of up to this many records is cut to the end in one call."""
SERIAL = 50_000
"""A table of fewer records than this is cut on one thread."""

BLOCK = 1 << 20
"""Records that are numbered together, so that large tables need little room."""

Mode = Literal["strict", "relaxed"]
Cut = Literal["gain", "widest"]
FlatOrder = Literal["frequency", "likeness"]
OPTIONS = {
    "mode": get_args(Mode),
    "cut": get_args(Cut),
    "flat_order": get_args(FlatOrder),
}


@dataclass(frozen=True, kw_only=True)
class Mondrian(Algorithm):
    """Cuts the table into boxes, one axis at a time, until no cut is allowed.

    Guarantee: every group meets every group and population rule. Strict: rows with
    equal quasi-identifiers are never separated. The loss is at most that of one group.
    Method: start with one group; cut it where that lowers the loss most (`gain`) or at
        the median of its widest axis (`widest`); go on with both parts. If rows may be
        left out, leave out those whose removal lowers the loss of the rest most.
    Cost: about n log n. Per group and cut, `widest` looks at each record once per axis,
        `gain` once per pair of axes, the first of each pair among the 24 costliest.
    Limits: greedy; a cut is never undone. Models that compare groups with each
        other are enforced by stricter rules on groups.
    Reference: LeFevre, DeWitt and Ramakrishnan, Mondrian multidimensional
        k-anonymity, ICDE 2006.
    """

    name: ClassVar[str] = "mondrian"
    sentence: ClassVar[str] = (
        "Cuts the table into ever smaller boxes while every box stays allowed."
    )
    examples: ClassVar[OptionExamples] = ({"mode": "relaxed", "cut": "widest"},)

    mode: Mode = "strict"
    """"strict": rows with equal quasi-identifiers stay together; "relaxed": they
    may be separated, which makes more cuts possible."""
    cut: Cut = "gain"
    """"gain": cut where that lowers the loss most; "widest": at the median of the
    widest column, as in the paper."""
    flat_order: FlatOrder = "frequency"
    """How categories without a hierarchy are ordered before cuts: by "frequency",
    or by "likeness" of the other columns of their rows."""

    def __post_init__(self) -> None:
        for option, allowed in OPTIONS.items():
            value = getattr(self, option)
            if value not in allowed:
                raise PolicyError(
                    f"mondrian: '{option}' is {value!r}.",
                    hint=f"It must be one of: {', '.join(allowed)}.",
                )

    def search(self, request: Request) -> Solution:
        """Find a grouping that meets every requirement."""
        if request.rows == 0:
            return Solution(grouping=Grouping(np.empty(0, dtype=np.int32), 0))
        clock = Clock()
        request.progress("collapsing rows", 0.0)
        with clock.running():
            task = prepare(self, request)
        refuse_infeasible(request, task)
        bounds = cut_into_groups(self, request, task, clock)
        removed = remove_outliers(request, task, bounds, clock)
        task = without_room(task)
        with clock.running():
            grouping = group_rows(request, task, bounds, removed)
        if len(removed) and not still_met(request, task, grouping):
            grouping = group_rows(request, task, bounds, removed[:0])
        if task.people is not None and task.people.by_text:
            grouping = joined(request, task.people, task.compiled, grouping)
        return Solution(
            grouping=grouping,
            facts={
                "tuples": task.samples,
                "cuts": len(bounds) - 2,
                "groups": grouping.count,
                "threads": task.threads,
                "cut": self.cut,
                "mode": self.mode,
                "suppressed": int((~grouping.kept).sum()),
                "kernel_seconds": clock.seconds,
            },
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class CutTask:
    """A request in the form the kernels work on."""

    settings: CutSettings
    compiled: Compiled
    judged: bool
    """Whether there are rules beyond the least size."""
    samples: int
    """How many records are of the table itself."""
    records: Records
    rows: Collapsed
    threads: int
    people: People | None = None
    """The population, where a rule counts it."""
    workspaces: list[tuple[CutWorkspace, CutRules | None]] = field(default_factory=list)
    """Desks that no thread is using."""

    @contextmanager
    def workspace(self, size: int) -> Iterator[tuple[CutWorkspace, CutRules | None]]:
        """A workspace for `size` records, and a judge if one is needed."""
        if size > PIECE:
            yield self.new_workspace(size)
            return
        try:
            pair = self.workspaces.pop()
        except IndexError:
            pair = self.new_workspace(min(PIECE, self.records.planes.shape[1]))
        yield pair
        self.workspaces.append(pair)

    def new_workspace(self, capacity: int) -> tuple[CutWorkspace, CutRules | None]:
        """A new workspace for up to `capacity` records."""
        judge = make_cut_rules(
            self.settings,
            self.compiled.table,
            views=len(self.compiled.views),
            samples=self.samples,
            capacity=capacity,
        )
        return make_cut_workspace(
            self.settings, capacity
        ), judge if self.judged else None


def without_room(task: CutTask) -> CutTask:
    """The same task after all cuts: the room that cutting needs is given up."""
    nothing = task.records.spare[:, :0].copy()
    return replace(task, records=task.records._replace(spare=nothing), workspaces=[])


def prepare(options: Mondrian, request: Request) -> CutTask:
    """Collapse rows to records and lay out axes, views and rules."""
    compiled = compile_rules(request)
    codes = compiled.codes
    axes = [coded.axis for coded in request.quasi]
    fields = fields_for(
        [*(axis.size for axis in axes), *(int(line.max()) + 1 for line in codes)]
    )
    columns = [*(coded.codes for coded in request.quasi), *codes]
    rows = collapse(columns, fields, merge=options.mode == "strict")
    settings = CutSettings(
        tables=axis_tables(axes),
        fields=np.stack([fields.word, fields.shift, fields.mask]),
        axes=len(axes),
        least=least_rows(compiled.rules),
        by_frequency=options.flat_order == "frequency",
        relaxed=options.mode == "relaxed",
        dense=options.mode == "strict" and can_be_dense(axes),
    )
    judged = not only_sizes(compiled.rules)
    words, weights = rows.words, np.diff(rows.starts)
    samples = len(weights)
    if request.population is not None and judged:
        words, weights = add_population(request, fields, words, weights)
    if options.flat_order == "likeness":
        order_by_likeness(request, fields, words, weights, samples=samples)
    # Records hold the words from here on, and large tables would hold them twice.
    rows = rows._replace(words=rows.words[:, :0].copy())
    large = len(weights) >= SERIAL
    return CutTask(
        settings=settings,
        compiled=compiled,
        judged=judged,
        samples=samples,
        records=make_records(words, weights),
        rows=rows,
        threads=max(1, request.threads) if large else 1,
        people=People.of(request),
    )


def add_population(
    request: Request, fields: Fields, words: Ints, weights: Ints
) -> tuple[Ints, Ints]:
    """The table's records and, behind them, those of the population."""
    columns = known_people(request)
    assert columns is not None
    people = collapse(columns, fields, merge=True)
    return (
        np.concatenate([words, people.words], axis=1),
        np.concatenate([weights, np.diff(people.starts)]),
    )


def order_by_likeness(
    request: Request, fields: Fields, words: Ints, weights: Ints, *, samples: int
) -> None:
    """Renumber the values of flat axes by likeness, inside the records."""
    axes = [coded.axis for coded in request.quasi]
    word, shift, mask, _ = fields
    columns = [
        (words[word[j], :samples] >> shift[j]) & mask[j] for j in range(len(axes))
    ]
    ranks = likeness_ranks(columns, [axis.size for axis in axes], weights[:samples])
    for j, axis in enumerate(axes):
        if axis.shape is Shape.FLAT:
            recode(words[word[j]], shift[j], mask[j], ranks[j])


def refuse_infeasible(request: Request, task: CutTask) -> None:
    """Refuse a table that cannot even be one group."""
    allowed = request.rows >= task.settings.least
    with task.workspace(task.records.planes.shape[1]) as (workspace, judge):
        if judge is not None:
            allowed = whole_ok(task.settings, task.records.planes, workspace, judge)
    if not allowed:
        raise one_group_fails(request)
    if task.people is not None:
        require_everybody(request, task.people)


def cut_into_groups(
    options: Mondrian, request: Request, task: CutTask, clock: Clock
) -> Ints:
    """Cut the records; where each group starts, and the end."""
    kernel = cut_gain if options.cut == "gain" else cut_widest
    settings, records = task.settings, task.records
    total = records.planes.shape[1]
    borders = np.zeros(total, dtype=np.uint8)

    def step(low: int, high: int) -> Iterable[Range]:
        once = high - low > PIECE
        with clock.running(), task.workspace(high - low) as (workspace, judge):
            middle = int(
                kernel(settings, records, low, high, once, borders, workspace, judge)
            )
        return [(low, middle), (middle, high)] if middle >= 0 else []

    progress = _share(request, "cutting", total)
    work_through([(0, total)], step, threads=task.threads, done=progress)
    return np.append(np.flatnonzero(borders), total)


def remove_outliers(
    request: Request, task: CutTask, bounds: Ints, clock: Clock
) -> Ints:
    """The numbers of the records that are left out."""
    # People who are like a row that is left out would match no group.
    covered = task.people is not None and task.people.everybody
    if request.removable < 1 or covered:
        return np.empty(0, dtype=np.int64)
    total = task.records.planes.shape[1]
    step_of = np.full(total, -1, dtype=np.int32)
    rows = np.zeros(total + 1, dtype=np.int64)
    gains = np.zeros(total + 1)

    def step(first: int, last: int) -> Iterable[Range]:
        part = bounds[first : last + 1]
        largest = int(np.diff(part).max())
        with clock.running(), task.workspace(largest) as (workspace, judge):
            trim_groups(
                task.settings,
                task.records,
                part,
                request.removable,
                step_of,
                rows,
                gains,
                workspace,
                judge,
            )
        return []

    parts = _parts(bounds)
    progress = _share(request, "leaving out rows", len(bounds) - 1)
    work_through(parts, step, threads=task.threads, done=progress)
    steps = choose_removals(bounds, rows, gains, request.removable)
    group_of = group_of_records(task.records, bounds)
    return np.flatnonzero((step_of >= 0) & (step_of < steps[group_of]))


def still_met(request: Request, task: CutTask, grouping: Grouping) -> bool:
    """Whether leaving out rows kept the models that compare groups with the table."""
    compared = any(rule.traits.compares_with_table for rule in task.compiled.rules)
    if not compared and all(m.scope is not Scope.TABLE for m in request.models):
        return True
    return all(
        request.meets(model, grouping).holds
        for model in request.models
        if model.scope is not Scope.POPULATION
    )


def _parts(bounds: Ints) -> list[Range]:
    """Runs of groups with about `PIECE` records each."""
    goals = np.arange(PIECE, bounds[-1], PIECE)
    cuts = np.unique(np.searchsorted(bounds, goals).clip(1, len(bounds) - 1))
    edges = np.unique(np.concatenate([[0], cuts, [len(bounds) - 1]])).tolist()
    return list(pairwise(edges))


def choose_removals(
    bounds: Ints, rows: Ints, gains: npt.NDArray[np.float64], budget: int
) -> Ints:
    """How many steps of each group's chain to take: greatest gain per row first."""
    steps = np.zeros(len(bounds) - 1, dtype=np.int64)
    heads = np.flatnonzero(rows[bounds[:-1]])
    heap = [(-gains[bounds[g]] / rows[bounds[g]], int(g)) for g in heads]
    heapq.heapify(heap)
    while heap:
        _, group = heapq.heappop(heap)
        at = bounds[group] + steps[group]
        if rows[at] > budget:
            continue
        budget -= int(rows[at])
        steps[group] += 1
        if rows[at + 1] > 0 and at + 1 < bounds[group + 1]:
            heapq.heappush(heap, (-gains[at + 1] / rows[at + 1], group))
    return steps


def group_of_records(records: Records, bounds: Ints) -> npt.NDArray[np.int32]:
    """The group of each record, by its number."""
    groups = np.repeat(np.arange(len(bounds) - 1, dtype=np.int32), np.diff(bounds))
    result = np.empty(len(groups), dtype=np.int32)
    tags = records.planes[-1]
    for start in range(0, len(groups), BLOCK):
        block = slice(start, start + BLOCK)
        result[tags[block] & NUMBER] = groups[block]
    return result


def group_rows(
    request: Request, task: CutTask, bounds: Ints, removed: Ints
) -> Grouping:
    """The group of each row; groups are numbered in the order of the cuts."""
    group_of = group_of_records(task.records, bounds)
    group_of[removed] = SUPPRESSED
    result = np.empty(request.rows, dtype=np.int32)
    spread(group_of, task.rows.starts, task.rows.order, result)
    return Grouping(result, len(bounds) - 1)


def _share(request: Request, step: str, total: int) -> Callable[[int], None]:
    """A listener that turns finished work into progress."""
    finished = 0

    def done(length: int) -> None:
        nonlocal finished
        finished += length
        request.progress(step, finished / max(total, 1))

    return done
