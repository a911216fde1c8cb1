"""Represent a request as a lattice of nodes, for all full-domain algorithms.

A node is one level per quasi-identifier; all rows are shown at these levels. Groups
that break a rule are suppressed; a node is *within the limit* if these are at most as
many rows as may be left out, and some group is kept.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.base import Request
from sfumato.algorithms.common.population_matches import People, persons
from sfumato.algorithms.full_domain.distinct_tuples import (
    Coding,
    Rules,
    least_published,
)
from sfumato.algorithms.full_domain.level_losses import (
    SEPARABLE,
    CellLosses,
    cell_losses,
)
from sfumato.algorithms.full_domain.table_wide_models import TableWide
from sfumato.data.arrays import Floats, Ints
from sfumato.data.grouping import Grouping
from sfumato.data.rules import SUBJECT, View
from sfumato.errors import RefusedError
from sfumato.kernels.common.group_rules import RuleTable
from sfumato.kernels.common.tuple_chunks import (
    Chunks,
    Layout,
    chunk_weights,
    tuples_of_rows,
)
from sfumato.kernels.full_domain import lattice_search as kernel
from sfumato.kernels.full_domain.node_judging import (
    NodeRules,
    TupleHistograms,
    drop_groups,
    groups_kept,
    judge,
    judging_for,
    penalty_of_dropped,
)
from sfumato.kernels.full_domain.node_rollup import NodeWorkspace, workspace
from sfumato.models.base import OutputModel
from sfumato.models.common.groups import normalized

MOST_SHOWN = 10**18
"""Numbers above this are not printed."""
BYTES_PER_NODE = 64
"""The memory of a node at the peak of a search, rounded up."""
DEFAULT_MEMORY = 4 << 30
"""The memory assumed to be free if the system does not say."""

Node = tuple[int, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Figures:
    """What a node does to the table."""

    node: Node
    loss: float
    suppressed: int
    groups: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Lattice:
    """A request as distinct tuples, rules and levels, with one metric."""

    coding: Coding
    metric: str
    chunks: Chunks
    layout: Layout
    runs: TupleHistograms
    rows: int
    leaves: tuple[Ints, ...]
    """Rows with each leaf, per column."""
    chosen: Ints
    """The rows of the request that are laid out."""
    wide: TableWide | None = None
    """Requirements on all groups at once, beside the rules on each."""

    @classmethod
    def of(
        cls,
        coding: Coding,
        *,
        metric: str,
        chosen: Ints | None = None,
        wide: TableWide | None = None,
    ) -> Lattice:
        """Lay out all or the chosen rows of a request."""
        chunks, layout, runs = coding.tuples(chosen)
        rows = coding.request.rows if chosen is None else len(chosen)
        return cls(
            coding=coding,
            metric=metric,
            chunks=chunks,
            layout=layout,
            runs=runs,
            rows=rows,
            leaves=_leaves(coding.request, chosen),
            chosen=np.arange(rows) if chosen is None else chosen,
            wide=wide,
        )

    @property
    def request(self) -> Request:
        return self.coding.request

    @property
    def judged_again(self) -> bool:
        """Whether kernels judge by weaker rules than those asked for."""
        people = self.coding.people
        by_text = people is not None and people.by_text
        return self.rules.drifting or by_text or self.wide is not None

    @property
    def models(self) -> tuple[OutputModel, ...]:
        """Return all requirements, on single groups and on the table."""
        return self.request.models + (() if self.wide is None else self.wide.models)

    @property
    def rules(self) -> Rules:
        return self.coding.rules

    @cached_property
    def heights(self) -> Ints:
        """How many levels each column has."""
        heights = [coded.axis.height for coded in self.request.quasi]
        return np.array(heights, dtype=np.int64)

    @property
    def size(self) -> int:
        """How many nodes there are."""
        return math.prod(int(height) for height in self.heights)

    @property
    def top(self) -> Node:
        return tuple(int(height) - 1 for height in self.heights)

    @cached_property
    def strides(self) -> Ints:
        """What one level of each column adds to a node's number."""
        steps = np.cumprod(np.append(1, self.heights[:0:-1]))[::-1]
        return np.ascontiguousarray(steps).astype(np.int64)

    @cached_property
    def losses(self) -> CellLosses:
        axes = [coded.axis for coded in self.request.quasi]
        return cell_losses(self.metric, axes, self.leaves)

    @cached_property
    def base(self) -> list[Floats]:
        """Per column and level, the loss of generalization alone."""
        return self.losses.base(self.leaves)

    @cached_property
    def weights(self) -> Floats:
        """What suppressing a row adds, laid out like the chunks' tables."""
        return chunk_weights(self.chunks, self.layout, self.losses.extra)

    @cached_property
    def work(self) -> NodeWorkspace:
        return workspace(len(self.chunks.counts))

    @cached_property
    def judging(self) -> NodeRules | None:
        """The rules beyond a least size, for kernels; None if there are none."""
        if self.rules.plain:
            return None
        return judging_for(
            len(self.chunks.counts),
            self.runs,
            self.rules.inherited,
            self.rules.convex,
            self.rules.other,
        )

    @property
    def kernel_arguments(self) -> tuple[Chunks, NodeWorkspace, NodeRules | None]:
        """What every kernel works on."""
        return self.chunks, self.work, self.judging

    def problem(
        self, *, limit: int, free_suppression: bool = False
    ) -> kernel.LatticeProblem:
        """The search for the best node that suppresses at most `limit` rows."""
        goal = _goal(self.metric)
        weighed = goal == kernel.SEPARABLE and not free_suppression
        return kernel.LatticeProblem(
            weights=self.weights if weighed else np.zeros(0),
            goal=goal,
            rows=self.rows,
            minimum=self.rules.minimum,
            limit=min(limit, self._droppable),
            heights=self.heights,
            strides=self.strides,
            bounded=goal == kernel.DISCERNIBILITY or (weighed and self.losses.bounded),
            drifting=self.judged_again,
        )

    @property
    def _droppable(self) -> int:
        """Count the rows that can be left out so that everybody still matches a group.

        Where no two nodes overlap, those that nobody of the population is like.
        """
        people = self.coding.people
        if people is None or not (people.everybody and people.tidy):
            return self.rows
        return int(self.chunks.counts[self.chunks.population == 0].sum())

    def figures(self, node: Sequence[int], *, enough: float = math.inf) -> Figures:
        """Judge one node; figures may be too low once the loss is above `enough`."""
        group_of = self.groups_of_tuples(node, enough=enough)
        kept = group_of >= 0
        _, groups = np.unique(group_of[kept], return_inverse=True)
        rows = self.chunks.counts[kept].astype(np.float64)
        sizes = np.bincount(groups, weights=rows).astype(np.float64)
        suppressed = self.rows - int(sizes.sum())
        return Figures(
            node=tuple(int(level) for level in node),
            loss=self._loss(node, group_of, sizes),
            suppressed=suppressed,
            groups=len(sizes),
        )

    def _loss(self, node: Sequence[int], group_of: Ints, sizes: Floats) -> float:
        kept = float(sizes.sum())
        if self.metric == "discernibility":
            return float((sizes**2).sum() + self.rows * (self.rows - kept))
        if self.metric == "average_class_size":
            groups = len(sizes) * self.rules.minimum
            return kept / groups if groups else math.inf
        base = sum(b[level] for b, level in zip(self.base, node, strict=True))
        levels = np.array(node, dtype=np.int64)
        return float(base) + self._penalty(group_of, levels)

    def grouping(self, node: Sequence[int]) -> Grouping:
        """The groups of a node, those that break a rule suppressed."""
        group_of = self.groups_of_tuples(node)
        kept, number = np.unique(group_of[group_of >= 0], return_inverse=True)
        renumbered = np.full(len(group_of), -1, dtype=np.int32)
        renumbered[group_of >= 0] = number
        levels = np.tile(np.array(node, dtype=np.int16), (len(kept), 1))
        return Grouping(renumbered[self.tuples], len(kept), levels)

    def groups_of_tuples(
        self, node: Sequence[int], *, enough: float = math.inf
    ) -> Ints:
        """A number for the group of each tuple, −1 where it is suppressed."""
        people = self.coding.people
        group_of = self._judged(node, enough)
        if people is None or not people.by_text:
            return group_of
        return self._matched(people, node, group_of)

    def _judged(self, node: Sequence[int], enough: float) -> Ints:
        """The groups that the rules on codes allow."""
        levels = np.array(node, dtype=np.int64)
        if self.rules.drifting:
            base = sum(
                float(b[level]) for b, level in zip(self.base, node, strict=True)
            )
            return self._groups_of_kept_rows(levels, enough - base)
        minimum = self.rules.minimum
        nothing = np.zeros(0)
        chunks, work, judging = self.kernel_arguments
        judge(chunks, nothing, levels, minimum, self.rows, work, judging)
        group_of = groups_kept(work, minimum, judging)
        return group_of if self.wide is None else self._widely(group_of, levels)

    def _widely(self, group_of: Ints, levels: Ints) -> Ints:
        """Without the smallest groups, the cheapest first, as the table asks."""
        assert self.wide is not None
        kept = np.flatnonzero(group_of >= 0)
        _, number = np.unique(group_of[kept], return_inverse=True)
        sizes = _summed(number, self.chunks.counts[kept])
        costs = _summed(number, self._penalties(levels)[kept])
        order = np.lexsort((np.arange(len(sizes)), costs, sizes))
        gone = np.zeros(len(sizes), dtype=np.bool_)
        gone[order[: self.wide.fewest(sizes[order].astype(np.int64))]] = True
        result = group_of.copy()
        result[kept[gone[number]]] = -1
        return result

    def sizes(self) -> Ints:
        """Return the rows of every group of the last judged node, allowed or not."""
        sizes = _summed(self.work.cell, self.chunks.counts).astype(np.int64)
        return np.asarray(sizes[sizes > 0])

    def _penalties(self, levels: Ints) -> Floats:
        """What suppressing each tuple adds to the loss."""
        if self.metric not in SEPARABLE:
            return np.zeros(len(self.chunks.counts))
        chunks = self.chunks
        places = chunks.start + (chunks.step @ levels) * chunks.width
        cells = places[:, None] + chunks.ids.astype(np.int64)
        return np.asarray(self.weights[cells].sum(axis=0) * chunks.counts)

    def _matched(self, people: People, node: Sequence[int], group_of: Ints) -> Ints:
        """Keep the groups that match as many people as asked; none if anybody is out."""
        if people.tidy:
            outside = int(self.chunks.population[group_of < 0].sum())
        else:
            group_of, outside = self._matched_by_text(people, node, group_of)
        missed = people.everybody and outside
        return np.full_like(group_of, -1) if missed else group_of

    def _matched_by_text(
        self, people: People, node: Sequence[int], group_of: Ints
    ) -> tuple[Ints, int]:
        """The groups that match enough people by their texts, and who matches none."""
        rows = np.full(self.request.rows, -1, dtype=np.int64)
        rows[self.chosen] = group_of[self.tuples]
        found, of_row = np.unique(rows[rows >= 0], return_inverse=True)
        groups = np.full(self.request.rows, -1, dtype=np.int32)
        groups[rows >= 0] = of_row
        levels = np.tile(np.array(node, dtype=np.int16), (len(found), 1))
        covers, cells = people.shown(Grouping(groups, len(found), levels))
        inside, _ = people.matching(covers, cells)
        good = people.allowed(persons(self.request, groups, len(found)), inside)
        _, outside = people.matching(covers, cells[good])
        return np.where(np.isin(group_of, found[good]), group_of, -1), outside

    def _groups_of_kept_rows(self, levels: Ints, enough: float = math.inf) -> Ints:
        """Groups where what they are compared with depends on which are kept.

        First those go that break a rule on their own. Then those go that break a
        rule beside the rows still kept, again and again, until all meet it, or until
        what has gone already costs more than `enough`.
        """
        group_of = np.zeros(len(self.chunks.counts), dtype=np.int64)
        self._drop(self.coding.steady, group_of, levels)
        dropped = 1
        while dropped and (group_of >= 0).any():
            table = self.coding.exact(self.references(group_of >= 0))
            dropped = self._drop(table, group_of, levels)
            if enough < math.inf and self._penalty(group_of, levels) > enough:
                break
        kept = group_of >= 0
        if self._published(kept) < least_published(self.coding.compiled):
            kept[:] = False
        return np.where(kept, self.work.cell, -1)

    def _published(self, kept: npt.NDArray[np.bool_]) -> int:
        """How many rows, or persons, the kept tuples have."""
        if self.request.subject is None:
            return int(self.chunks.counts[kept].sum())
        rows = self.chosen[kept[self.tuples]]
        return len(np.unique(self.request.subject[rows]))

    def _drop(self, table: RuleTable, group_of: Ints, levels: Ints) -> int:
        chunks, work, judging = self.kernel_arguments
        assert judging is not None
        return int(drop_groups(chunks, table, group_of, levels, work, judging.room))

    def references(self, kept: npt.NDArray[np.bool_]) -> dict[View, Floats]:
        """What groups are compared with if only these tuples are kept."""
        compiled, request = self.coding.compiled, self.request
        found = {}
        for line, view in enumerate(compiled.views):
            if view == SUBJECT or view.reference != "published":
                continue
            if view.others_known or request.subject is not None:
                found[view] = self.coding.shares(view, self.chosen[kept[self.tuples]])
            else:
                start, end = self.runs.starts[line, 0], self.runs.starts[line, -1]
                counts = self.runs.counts[start:end] * kept[self.owners[line]]
                summed = np.bincount(
                    self.runs.codes[start:end],
                    weights=counts,
                    minlength=compiled.axes[view].size,
                )
                shares = summed.astype(np.float64)
                opened = request.missing_any and not view.closed
                axis = compiled.axes[view]
                found[view] = normalized(axis, shares, missing_any=opened)
        return found

    @cached_property
    def owners(self) -> list[Ints]:
        """The tuple of each entry of each view."""
        tuples = np.arange(len(self.chunks.counts))
        return [np.repeat(tuples, np.diff(starts)) for starts in self.runs.starts]

    def _penalty(self, group_of: Ints, levels: Ints) -> float:
        if self.metric not in SEPARABLE:
            return 0.0
        return float(penalty_of_dropped(self.chunks, self.weights, group_of, levels))

    @cached_property
    def tuples(self) -> Ints:
        """The tuple of each row."""
        return tuples_of_rows(self.layout, self.rows)

    def describe(self, node: Sequence[int]) -> dict[str, int]:
        """The levels of a node by column."""
        names = (coded.name for coded in self.request.quasi)
        return {name: int(level) for name, level in zip(names, node, strict=True)}

    def report(self, figures: Figures) -> dict[str, Any]:
        """A node and its figures, for facts and alternatives."""
        return {
            "node": self.describe(figures.node),
            self.metric: figures.loss,
            "rows_suppressed": figures.suppressed,
            "groups": figures.groups,
        }

    def node(self, number: int) -> Node:
        """The levels of a node."""
        return tuple(int(v) for v in np.unravel_index(number, self.heights))

    def over_nodes(self, per_level: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """Sums of per-column, per-level numbers for all nodes in order."""
        return reduce(np.add.outer, per_level).ravel()

    @property
    def sums_of_levels(self) -> npt.NDArray[Any]:
        """The height of every node: the sum of its levels."""
        return self.over_nodes([np.arange(h, dtype=np.int32) for h in self.heights])


def _summed(number: Ints, values: npt.NDArray[Any]) -> Floats:
    return np.asarray(np.bincount(number, weights=values), dtype=np.float64)


def _leaves(request: Request, chosen: Ints | None) -> tuple[Ints, ...]:
    rows = slice(None) if chosen is None else chosen
    return tuple(
        np.bincount(coded.codes[rows], minlength=coded.axis.size)
        for coded in request.quasi
    )


def _goal(metric: str) -> int:
    if metric in SEPARABLE:
        return kernel.SEPARABLE
    discerning = metric == "discernibility"
    return kernel.DISCERNIBILITY if discerning else kernel.AVERAGE_SIZE


def available_memory() -> int:
    """Bytes of memory that are free, as far as the system tells."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return DEFAULT_MEMORY


def require_room(nodes: int) -> None:
    """Refuse a lattice that would not fit into half of the free memory."""
    room = available_memory() // (2 * BYTES_PER_NODE)
    if nodes > room:
        # A number with thousands of digits cannot be printed.
        shown = f"{nodes:,}" if nodes < MOST_SHOWN else f"more than {MOST_SHOWN:,}"
        raise RefusedError(
            f"The lattice has {shown} nodes; there is memory for {room:,}.",
            hint="Use fewer quasi-identifiers or levels, or another algorithm: "
            "'datafly' and 'mondrian' need no lattice.",
        )
