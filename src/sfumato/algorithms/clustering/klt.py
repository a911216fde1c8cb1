"""K,L,θ clustering: groups of near rows with diverse sensitive values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from sfumato.algorithms.base import Request, Solution
from sfumato.algorithms.cellwise.cellwise_algorithm import CellwiseAlgorithm
from sfumato.algorithms.clustering.coordinates import coordinates_of
from sfumato.data.arrays import Codes, Ints
from sfumato.data.distinct_keys import first_rows, ranked_keys
from sfumato.data.grouping import Grouping
from sfumato.data.rules import Rule, View
from sfumato.errors import PolicyError, RefusedError, SearchError
from sfumato.hierarchies.sensitive_axis import roll_up
from sfumato.kernels.clustering.klt_groups import (
    BITS,
    DISTINCT,
    EVERYTHING,
    STRICT,
    TUPLE,
    VALUE,
    KltGroups,
    KltProblem,
    new_klt_groups,
)
from sfumato.kernels.clustering.klt_steps import (
    FORM,
    GROUPS,
    LEFT,
    MERGE,
    MERGE_ONCE,
    MERGES,
    NEXT,
    PLACE,
    QUEUED,
    KltWorkspace,
    advance,
    label_rows,
    new_klt_workspace,
    open_groups,
    show_groups,
)
from sfumato.kernels.clustering.neighbor_tree import (
    GONE,
    HEAD,
    RANK,
    SIZE,
    TAIL,
    WANTED,
    Items,
    build_neighbor_tree,
)
from sfumato.models.common.groups import packed

Variant = Literal["text", "boger-2020"]
Categories = Literal["sets", "hierarchy"]

STRIDE = 1 << 14
"""Rows, or merges, between two reports of progress."""


@dataclass(frozen=True, kw_only=True)
class Klt(CellwiseAlgorithm):
    """Groups of near rows with at least K rows, L values and no share above θ.

    Guarantee: every group meets every requirement; rows that cannot be placed are
    counted, reported and suppressed, or the run ends if they are too many.
    Method: (1) the first row without a place starts a group. (2) The nearest row
    joins it if its sensitive value is new there, and waits otherwise, until the group
    has L values. (3) Each waiting row joins the nearest group of fewer than K rows
    whose shares stay within θ. (4) Rows that found none start over. (5) A group that
    breaks a requirement merges with the nearest group that fixes it, else with the
    nearest that does not break θ. (6) Groups that meet everything are kept. Ties go to
    the first row or group. The distance adds up, over the columns, weight × term:
    a·b/(a+b) × the squared difference of the means for numbers scaled to 0 … 1, and 1
    for categories whose sets of values differ. K, L and θ come from the requirements; L
    is at least 1/θ, because a group within θ has that many values, and without either
    step 2 takes the nearest K rows.
    Cost: about n log n where rows repeat or columns are few.
    Limits: the groups depend on the order of the rows. Where K is far above L, step 5
    prefers groups that are large already, and they grow. Serves requirements on
    sizes, distinct values and shares, without a subject column.
    Reference: Boger 2020, section 3.1; `variant = "boger-2020"` follows the published
    program where it departs from the text.
    """

    name: ClassVar[str] = "klt"
    sentence: ClassVar[str] = (
        "Groups similar rows with different sensitive values, to swap or anatomize them."
    )

    counts_persons: ClassVar[bool] = False

    variant: Variant = "text"
    """"text": as the paper describes it; "boger-2020": as its published program
    does it."""
    categories: Categories = "sets"
    """Whether two sets of categories are the same or not, or how far up their
    hierarchy the smallest node over both is (its NCP)."""

    def __post_init__(self) -> None:
        for option, kind in (("variant", Variant), ("categories", Categories)):
            if getattr(self, option) not in get_args(kind):
                raise PolicyError(
                    f"klt: '{option}' is {getattr(self, option)!r}.",
                    hint=f"It must be one of: {', '.join(get_args(kind))}.",
                )

    def serves(self, rule: Rule) -> bool:
        joint = rule.view is not None and rule.view.others_known
        known = rule.traits.bounds_rows or rule.traits.limits_shares
        return known and not joint

    def check(self, request: Request) -> None:
        """Refuse requirements that the six steps do not support."""
        super().check(request)
        if request.missing_any and _missing_sensitive(request):
            raise RefusedError(
                "klt cannot let a missing sensitive value stand for any value "
                '(data.missing_as = "any").',
                hint="Use 'mondrian', or set data.missing_as to \"value\".",
            )

    def search(self, request: Request) -> Solution:
        """Group the rows by the six steps."""
        if request.rows == 0:
            return Solution(grouping=Grouping(np.empty(0, dtype=np.int32), 0))
        request.progress("preparing distances", 0.0)
        task = _Task.of(self, request)
        rounds, gathered = task.form()
        before = task.parts(gathered)
        task.merge()
        labels = task.labels()
        unplaced = int((labels < 0).sum())
        if unplaced > request.removable:
            raise _too_many(unplaced, request)
        grouping = Grouping.renumbered(labels)
        facts = task.facts(rounds, unplaced, grouping) | before.growth(labels)
        return Solution(grouping=grouping, facts=facts)


def _missing_sensitive(request: Request) -> bool:
    return any(coded.axis.missing >= 0 for coded in request.sensitive.values())


def _too_many(unplaced: int, request: Request) -> SearchError:
    names = ", ".join(model.name for model in request.models)
    return SearchError(
        f"klt found no group for {unplaced:,} of {request.rows:,} rows under {names}; "
        f"{request.removable:,} may be left out.",
        hint="Raise publish.max_suppressed, raise theta or lower l, "
        "or use 'mondrian' for the groups.",
    )


@dataclass(frozen=True, eq=False)
class _UnmergedGroups:
    """The groups before step 5, which merges them."""

    gathered: Ints
    """Rows of each after steps 1 and 2."""
    sizes: Ints
    """Rows of each after step 3."""
    heads: Ints
    """One row of each."""

    def growth(self, labels: Ints) -> dict[str, Any]:
        """Report which steps added rows to the largest group, as counts and in words."""
        placed = labels[labels >= 0]
        if not len(placed):
            return {}
        sizes = np.bincount(placed)
        merged = np.flatnonzero(labels[self.heads] == np.argmax(sizes))
        core = merged[np.argmax(self.sizes[merged])]
        rows = {
            "gathered": int(self.gathered[core]),
            "placed": int(self.sizes[core] - self.gathered[core]),
            "merged": int(sizes.max() - self.sizes[core]),
        }
        return {
            "largest_group_rows": rows,
            "growth": _growth(rows, len(merged)),
        }


def _growth(rows: Mapping[str, int], groups: int) -> str:
    """The step that gave the largest group most of its rows, as a sentence."""
    step = max(rows, key=lambda each: rows[each])
    said = {
        "gathered": "step 2 (gathering different values)",
        "placed": "step 3 (placing waiting rows)",
        "merged": f"step 5 (merging {groups} groups, as some broke a requirement)",
    }
    total = sum(rows.values())
    return f"In klt, {said[step]} gave the largest group {rows[step]} of {total} rows."


@dataclass(frozen=True, eq=False)
class _Task:
    """A request laid out for the kernels."""

    request: Request
    problem: KltProblem
    groups: KltGroups
    workspace: KltWorkspace

    @classmethod
    def of(cls, algorithm: Klt, request: Request) -> _Task:
        old = algorithm.variant == "boger-2020"
        coordinates = coordinates_of(
            request.quasi, old=old, hierarchy=algorithm.categories == "hierarchy"
        )
        key, _ = packed([coded.codes for coded in request.quasi])
        found, tuple_of = ranked_keys(key)
        first = first_rows(tuple_of, len(found))
        views = _views(request)
        problem = KltProblem(
            space=coordinates.space,
            points=coordinates.points([coded.codes[first] for coded in request.quasi]),
            asked=_asked(request, [least for least, _ in views.values()], old=old),
            share=np.array([share for _, share in views.values()], dtype=np.float64),
        )
        values = _values(request, tuple(views))
        categories = sum(coded.axis.size for coded in request.quasi)
        groups = new_klt_groups(problem, tuple_of, values, categories)
        return cls(
            request,
            problem,
            groups,
            new_klt_workspace(request.rows, len(request.quasi)),
        )

    @property
    def count(self) -> int:
        """How many groups were ever formed."""
        return int(self.workspace.counters[GROUPS])

    @property
    def old(self) -> bool:
        return bool(self.problem.asked[STRICT])

    def alive(self) -> Ints:
        """The groups that can be found."""
        return np.flatnonzero(self.groups.items.marks[: self.count, RANK] != GONE)

    def form(self) -> tuple[int, Ints]:
        """Steps 1 to 4: how many rounds there were, and the rows that step 2 gave."""
        rounds, waiting = 0, np.arange(self.request.rows)
        gathered: list[Ints] = []
        while len(waiting):
            rounds += 1
            if rounds > 1 and not self._diverse(waiting):
                # Departs from step 4: no further group could get L values, and each
                # round would place one row. They are left to step 5 one by one.
                gathered.append(self._gather(waiting, _single(self.problem)))
                break
            gathered.append(self._gather(waiting, self.problem))
            waiting = self._place(rounds)
        return rounds, np.concatenate(gathered)

    def _diverse(self, rows: Ints) -> bool:
        """Whether some rows have enough values for one more group."""
        return all(
            len(np.unique(values[rows])) >= least
            for values, least in zip(
                self.groups.rows[:, VALUE:].T,
                self.problem.asked[DISTINCT:],
                strict=True,
            )
        )

    def _gather(self, rows: Ints, problem: KltProblem) -> Ints:
        """Steps 1 and 2; the rows of each group that they made."""
        known = self.count
        items, queues = _queues(problem, self.groups.rows[rows, TUPLE], rows)
        tree = build_neighbor_tree(
            problem.space, items, np.flatnonzero(items.marks[:, RANK] != GONE)
        )
        counters = self.workspace.counters
        counters[[LEFT, QUEUED]] = len(rows), 0
        while counters[LEFT]:
            done = 1.0 - counters[LEFT] / len(rows)
            self.request.progress(f"{self.count} groups", 0.4 * done)
            advance(
                FORM, problem, self.groups, items, tree, self.workspace, queues, STRIDE
            )
        return self.groups.items.marks[known : self.count, SIZE].copy()

    def _place(self, rounds: int) -> Ints:
        """Step 3; the rows that found no group, ascending."""
        waiting = self.workspace.queue[: self.workspace.counters[QUEUED]].copy()
        waiting = np.ascontiguousarray(waiting[::-1]) if self.old else waiting
        self.workspace.counters[QUEUED] = 0
        open_groups(self.problem, self.groups, self.count)
        start, items = 0, self.groups.items
        values = self.groups.counts.shape[1] if self.groups.counts.size else 1
        values = values if values <= BITS else 1
        while start < len(waiting):
            share = 0.4 + 0.3 * start / len(waiting)
            self.request.progress(f"placing rows, round {rounds}", share)
            alive = self.alive()
            if not len(alive):
                break
            # Rebuilt now and then, because the groups drift.
            tree = build_neighbor_tree(self.problem.space, items, alive, values=values)
            chunk = waiting[start : start + max(len(alive) // 2, 1024)]
            advance(
                PLACE, self.problem, self.groups, items, tree, self.workspace, chunk, 0
            )
            start += len(chunk)
        left = self.workspace.queue[: self.workspace.counters[QUEUED]]
        return np.sort(np.append(left, waiting[start:]))

    def parts(self, gathered: Ints) -> _UnmergedGroups:
        """The groups as step 5 finds them."""
        marks = self.groups.items.marks[: self.count]
        return _UnmergedGroups(gathered, marks[:, SIZE].copy(), marks[:, HEAD].copy())

    def merge(self) -> None:
        """Step 5."""
        counters, items = self.workspace.counters, self.groups.items
        step = MERGE_ONCE if self.old else MERGE
        counters[[NEXT, MERGES]] = 0, 0
        show_groups(self.groups, self.count)
        while counters[NEXT] < counters[GROUPS]:
            share = 0.7 + 0.3 * counters[NEXT] / counters[GROUPS]
            self.request.progress(f"{counters[MERGES]} groups merged", share)
            alive = self.alive()
            tree = build_neighbor_tree(self.problem.space, items, alive)
            most = max(len(alive) // 16, 256)
            none = np.empty(0, dtype=np.int64)
            advance(
                step, self.problem, self.groups, items, tree, self.workspace, none, most
            )

    def labels(self) -> Ints:
        """Step 6: the group of each row, or −1."""
        labels = np.empty(self.request.rows, dtype=np.int64)
        label_rows(self.problem, self.groups, self.count, labels)
        return labels

    def facts(self, rounds: int, unplaced: int, grouping: Grouping) -> dict[str, Any]:
        """What the report says of the run."""
        return {
            "tuples": len(self.problem.points),
            "rounds": rounds,
            "groups_formed": self.count,
            "groups_merged": int(self.workspace.counters[MERGES]),
            "rows_without_a_place": unplaced,
            "largest_group": int(grouping.sizes().max(initial=0)),
        }


def _single(problem: KltProblem) -> KltProblem:
    """Return the same task with every row done with step 2."""
    asked = np.ones_like(problem.asked)
    asked[STRICT] = problem.asked[STRICT]
    return problem._replace(asked=asked)


def _views(request: Request) -> dict[View, tuple[int, float]]:
    """The least number of values and the highest share, per view."""
    found: dict[View, tuple[int, float]] = {}
    for rule in request.rules():
        if rule.view is not None:
            least, share = found.get(rule.view, (1, 1.0))
            found[rule.view] = _tightened(rule, least, share)
    return found


def _tightened(rule: Rule, least: int, share: float) -> tuple[int, float]:
    asked = rule.parameters[0]
    if rule.traits.counts_values:
        return max(least, int(asked)), share
    return max(least, math.ceil(1.0 / asked - 1e-6)), min(share, asked)


def _asked(request: Request, distinct: list[int], *, old: bool) -> Ints:
    """K, the rows at which step 2 is done, the variant, and L of each view."""
    sizes = [
        int(rule.parameters[0]) for rule in request.rules() if rule.traits.size_alone
    ]
    k = max(sizes, default=1)
    fill = 1 if max(distinct, default=1) > 1 else k
    return np.array([k, fill, old, *distinct], dtype=np.int64)


def _values(request: Request, views: tuple[View, ...]) -> Ints:
    """Each row's code in each view."""
    values = np.empty((len(views), request.rows), dtype=np.int64)
    for line, view in enumerate(views):
        column = request.sensitive[view.column]
        _, to_level = roll_up(column.axis, view.level)
        values[line] = to_level[column.codes]
    return values


def _queues(problem: KltProblem, owners: Codes, rows: Ints) -> tuple[Items, Ints]:
    """Some rows as queues of equal tuples: the tuples, and the rows by tuple."""
    tuples = len(problem.points)
    queues = rows[np.argsort(owners, kind="stable")]
    ends = np.cumsum(np.bincount(owners, minlength=tuples))
    marks = np.ones((tuples, TAIL + 1), dtype=np.int64)
    marks[:, WANTED] = EVERYTHING
    marks[:, HEAD], marks[:, TAIL] = np.append(0, ends[:-1]), ends
    some = marks[:, HEAD] < ends
    marks[:, RANK] = GONE
    marks[some, RANK] = queues[marks[some, HEAD]]
    return Items(problem.points, marks), queues
