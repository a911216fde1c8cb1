"""Shared by the clustering algorithms: lay out units, grow groups, place what is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.base import Request, Solution
from sfumato.algorithms.common.compiled_rules import Compiled, compile_rules
from sfumato.algorithms.common.parallel_ranges import Clock
from sfumato.algorithms.common.refusals import one_group_fails
from sfumato.data.arrays import Codes, Floats, Ints
from sfumato.data.grouping import Grouping
from sfumato.data.rules import SUBJECT
from sfumato.errors import PolicyError, RefusedError
from sfumato.hierarchies.axis import Axis, Shape
from sfumato.hierarchies.sensitive_axis import is_line
from sfumato.kernels.clustering.add_unit import LAST, ROWS, add_pointer
from sfumato.kernels.clustering.block_tree import build_block_tree
from sfumato.kernels.clustering.centers import fill_clusters
from sfumato.kernels.clustering.first_unit import seed_pointer
from sfumato.kernels.clustering.group_growth import GrowthState
from sfumato.kernels.clustering.group_state import (
    GROUPS,
    ClusterRules,
    Clusters,
    PairwiseContributions,
    collect,
    insert_rest,
    make_cluster_rules,
    merge_offending_groups,
    rows_to_groups,
)
from sfumato.kernels.clustering.nearest_unit import (
    column_kinds,
    make_unit_search,
    nearest_pointer,
)
from sfumato.kernels.clustering.sensitive_state import make_sensitive_state
from sfumato.kernels.clustering.units import Units
from sfumato.kernels.common.boxes import new_boxes
from sfumato.kernels.common.geometry import (
    FIRST_WORD,
    SCALE,
    SHAPE,
    WEIGHT,
    AxisTables,
    axis_tables,
)
from sfumato.kernels.common.histograms import BoxHistograms, histograms_for
from sfumato.kernels.common.rule_layout import APART

MATRIX = 4096
"""Categories of one sensitive column that are compared pair by pair, at most."""
EFFORT = 200_000_000
"""Units × groups that are compared to place what is left over; beyond it, each unit
is compared with the groups of its neighborhood."""
NEAR = 512
"""The fewest groups in such a neighborhood."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ClusteringPlan:
    """What counts in a search, and how much."""

    quasi: float = 1.0
    """The factor on the loss of quasi-identifiers, in addition to their weights."""
    sensitive: float = 0.0
    """What the S-diversity of each sensitive column is multiplied by."""
    reach: float = 1.0
    """The estimation range of S-diversity."""
    merged: bool = True
    """Whether equal rows are one unit with copies."""
    filtered: bool = True
    """Whether a growing group may keep out rows that do not help it."""
    singles: bool = False
    """Whether a cell with one of n categories loses 1 / n, as in Q-diversity."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ClusteringTask:
    """A request in the form the kernels work on."""

    request: Request
    plan: ClusteringPlan
    compiled: Compiled
    units: Units
    contributions: PairwiseContributions
    filters: Ints
    rows: Ints
    """The table's rows, sorted by unit."""
    clock: Clock

    @property
    def room(self) -> BoxHistograms:
        return histograms_for(self.compiled.codes)


def prepare(request: Request, plan: ClusteringPlan) -> ClusteringTask:
    """Lay a request out in units."""
    refuse_infeasible(request)
    request.progress("collapsing rows", 0.0)
    compiled = compile_rules(request)
    sensitive_state = [coded.codes for coded in request.sensitive.values()]
    wanted = plan.sensitive > 0 or plan.singles
    contributions = (
        make_contributions(request, plan) if wanted else contributions_of([], plan)
    )
    filters = plain_views(request, compiled) if plan.filtered else []
    extra = (sensitive_state if wanted else []) + [compiled.codes[v] for v in filters]
    rows, starts = sort_rows(request, [*extra, *compiled.codes], merged=plan.merged)
    clock = Clock()
    with clock.running():
        units = make_units(
            request, plan, compiled, extra=extra, rows=rows, starts=starts
        )
    return ClusteringTask(
        request=request,
        plan=plan,
        compiled=compiled,
        units=units,
        contributions=contributions,
        filters=np.array(filters, dtype=np.int64),
        rows=rows,
        clock=clock,
    )


def refuse_infeasible(request: Request) -> None:
    """Refuse a table that cannot even be one group; of a part, its rows alone decide."""
    whole = Grouping(np.zeros(request.rows, dtype=np.int32), 1)
    request = replace(request, table=None)
    for model in request.models:
        if not request.meets(model, whole).holds:
            raise one_group_fails(request, [model])


def plain_views(request: Request, compiled: Compiled) -> list[int]:
    """Views whose codes are values, of one row each."""
    heads = compiled.table.heads
    return [
        v
        for v, view in enumerate(compiled.views)
        if request.subject is None and view != SUBJECT and heads[v, APART] == 0
    ]


def sort_rows(
    request: Request, columns: Sequence[Codes], *, merged: bool
) -> tuple[Ints, Ints]:
    """Rows sorted by unit, units by their codes, and where each unit begins.

    Without subjects, rows that agree on quasi-identifiers and `columns` are one unit
    if `merged`; with them, a unit is a person.
    """
    quasi = [coded.codes for coded in request.quasi]
    others = [coded.codes for coded in request.sensitive.values()]
    if request.subject is not None:
        others.append(request.subject)
    order = np.lexsort([*others[::-1], *columns[::-1], *quasi[::-1]])
    if request.subject is not None:
        return _by_person(order, request.subject)
    new = np.ones(len(order), dtype=np.bool_)
    if merged:
        new[1:] = False
        for codes in (*quasi, *columns):
            ordered = codes[order]
            new[1:] |= ordered[1:] != ordered[:-1]
    return order, np.append(np.flatnonzero(new), len(order))


def _by_person(order: Ints, subject: Codes) -> tuple[Ints, Ints]:
    """Rows sorted by person, persons by the first of their rows."""
    persons = subject[order]
    _, first, who = np.unique(persons, return_index=True, return_inverse=True)
    leader = first[who]
    place = np.argsort(leader, kind="stable")
    starts = np.flatnonzero(np.diff(leader[place], prepend=-1))
    return order[place], np.append(starts, len(order))


def make_units(
    request: Request,
    plan: ClusteringPlan,
    compiled: Compiled,
    *,
    extra: Sequence[Codes],
    rows: Ints,
    starts: Ints,
) -> Units:
    """Units of rows, with the losses that the plan asks for."""
    tables = lay_out(request, plan)
    heads = rows[starts[:-1]]
    low = np.column_stack([c.codes[heads] for c in request.quasi])
    words = tables.set_words
    high, sets = low, np.zeros((0, words), dtype=np.uint64)
    lengths = np.diff(starts)
    weight = np.ones(len(lengths), dtype=np.int64)
    if request.subject is not None:
        weight = lengths
        ordered = np.column_stack([c.codes[rows] for c in request.quasi])
        low = np.minimum.reduceat(ordered, starts[:-1], axis=0)
        high = np.maximum.reduceat(ordered, starts[:-1], axis=0)
        if (lengths > 1).any():
            sets = _sets(tables.axis, ordered, starts, words)
    values = [codes[heads] for codes in extra]
    return Units(
        axes=len(tables.axis),
        low=np.ascontiguousarray(np.column_stack([low, *values]), dtype=np.int32),
        high=np.ascontiguousarray(np.column_stack([high, *values]), dtype=np.int32),
        sets=sets,
        weight=weight.astype(np.int64),
        first=starts,
        values=np.ascontiguousarray(compiled.codes[:, rows]),
        tables=tables,
    )


def lay_out(request: Request, plan: ClusteringPlan) -> AxisTables:
    """The axes, with the losses that the plan asks for."""
    axes = [coded.axis for coded in request.quasi]
    scale = np.full(len(axes), plan.quasi)
    single = np.zeros(len(axes))
    if plan.singles:
        weights = np.array([axis.weight for axis in axes])
        single = np.array([single_loss(axis) for axis in axes]) * weights * scale
    return axis_tables(axes, scale, single)


def single_loss(axis: Axis) -> float:
    """Q-diversity of a cell with one value: 1 / values, or 0 for numbers."""
    if axis.shape is Shape.FREE or axis.kind.numeric:
        return 0.0
    return 1.0 / max(axis.size, 1)


def _sets(
    axis: Ints, ordered: Codes, starts: Ints, words: int
) -> npt.NDArray[np.uint64]:
    """The values of each unit on flat axes, as bits."""
    sets = np.zeros((len(starts) - 1, words), dtype=np.uint64)
    owner = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    for j in range(len(axis)):
        if axis[j, SHAPE] == Shape.FLAT:
            codes = ordered[:, j].astype(np.uint64)
            at = axis[j, FIRST_WORD] + (codes // np.uint64(64)).astype(np.int64)
            np.bitwise_or.at(sets, (owner, at), np.uint64(1) << codes % np.uint64(64))
    return sets


def make_contributions(request: Request, plan: ClusteringPlan) -> PairwiseContributions:
    """The sensitive columns, with pairwise contributions."""
    return contributions_of(
        [(c.axis, np.unique(c.codes)) for c in request.sensitive.values()], plan
    )


def contributions_of(
    columns: Sequence[tuple[Axis, Codes]], plan: ClusteringPlan
) -> PairwiseContributions:
    """Pairwise contributions of the values that occur, column by column."""
    start, matrices, positions, places = [], [np.zeros(0)], [np.zeros(0)], []
    for axis, occurring in columns:
        places.append(sum(map(len, positions)))
        if is_line(axis):
            start.append(-1)
            positions.append(_scaled(axis, occurring))
            continue
        start.append(sum(map(len, matrices)))
        matrices.append(_contributions(axis, occurring, plan.reach).ravel())
    return PairwiseContributions(
        columns=len(columns),
        start=np.array(start, dtype=np.int64),
        matrix=np.concatenate(matrices),
        position_start=np.array(places, dtype=np.int64),
        positions=np.concatenate(positions),
        sizes=np.array([axis.size for axis, _ in columns], dtype=np.int64),
        reach=plan.reach,
        scale=np.full(len(columns), plan.sensitive),
    )


def _scaled(axis: Axis, occurring: Codes) -> Floats:
    """Numbers scaled so that those that occur span 0 to 1."""
    numbers = np.asarray(axis.positions, dtype=np.float64)
    known = numbers[occurring][~np.isnan(numbers[occurring])]
    scaled = numbers * 0.0
    if not len(known) or known.max() == known.min():
        return scaled
    # A number that does not occur may lie beyond what a float holds in such spans.
    low, span = float(known.min()), float(known.max() - known.min())
    scaled[occurring] = (numbers[occurring] - low) / span
    return scaled


def _contributions(axis: Axis, occurring: Codes, reach: float) -> Floats:
    """How much each category reveals about each other (definition 2.3)."""
    if axis.size > MATRIX:
        raise RefusedError(
            f"S-diversity compares categories in pairs: '{axis.name}' has "
            f"{axis.size:,}, and {MATRIX:,} are the most.",
            hint="Give the column a coarser hierarchy, or a numeric kind.",
        )
    present = np.bincount(occurring, minlength=axis.size).astype(np.float64)
    total = max(present.sum(), 1.0)
    if axis.shape is Shape.TREE:
        result = np.zeros((axis.size, axis.size))
        for nodes in axis.levels[::-1]:
            leaves = np.bincount(nodes, weights=present)[nodes]
            same = nodes[:, None] == nodes[None, :]
            similarity = np.broadcast_to(1.0 - (leaves - 1.0) / total, same.shape)
            result[same] = similarity[same]
    else:
        result = np.full((axis.size, axis.size), 1.0 - 1.0 / total)
    result[result < 1.0 - reach - 1e-9] = 0.0
    np.fill_diagonal(result, 1.0)
    return result


def make_clusters(task: ClusteringTask, groups: int | None = None) -> Clusters:
    """Allocate empty groups, with room for the most there can be."""
    units = task.units
    copies = units.copies
    entries, least = int(copies.sum()) + 1, max(task.compiled.table.minimum, 1)
    if groups is None:
        groups = task.request.rows // least + 2
    return Clusters(
        number=np.zeros(2, dtype=np.int64),
        entry=np.full((entries, 3), -1, dtype=np.int64),
        chain=np.full((groups, 2), -1, dtype=np.int64),
        size=np.zeros(groups, dtype=np.int64),
        box=new_boxes(units.tables, groups),
        left=copies,
        pairs=np.zeros((groups, task.contributions.columns)),
    )


def make_work(
    task: ClusteringTask, *, seed: Any, order: Ints, parts: Ints, layout: Ints
) -> GrowthState:
    """Allocate everything that growing groups needs, for seeds drawn in `order`."""
    units, contributions = task.units, task.contributions
    kind, sizes = column_kinds(units, contributions.sizes)
    base = units.axes + contributions.columns
    spread = np.zeros(len(kind))
    factor = units.tables.factor
    spread[: units.axes] = factor[:, SCALE] * factor[:, WEIGHT]
    spread[units.axes : base] = contributions.scale
    search = make_unit_search(kind, sizes, spread > 0, new_boxes(units.tables, 1))
    index = build_block_tree(units, search.columns, spread, parts, layout)
    sensitive_state = make_sensitive_state(
        contributions, task.filters, int(sizes[base:].max(initial=1))
    )
    clusters, state = make_clusters(task), np.zeros(6, dtype=np.int64)
    state[LAST], state[ROWS] = order[0], task.request.rows
    rules = task.compiled.table
    return GrowthState(
        units=units,
        index=index,
        search=search,
        clusters=clusters,
        sensitive_state=sensitive_state,
        order=order,
        middle=np.zeros(len(units.weight), dtype=np.int64),
        state=state,
        seed=seed_pointer(seed, units, index, search, order, state),
        nearest=nearest_pointer(units, index, search),
        add=add_pointer(units, index, search, clusters, sensitive_state, rules, state),
    )


def cluster_rules_of(task: ClusteringTask, clusters: Clusters) -> ClusterRules:
    """Return the rules for groups of these units."""
    return make_cluster_rules(task.units, clusters, task.compiled.table, task.room)


def finish(
    task: ClusteringTask, clusters: Clusters, middle: Ints, *, by_rows: bool
) -> Grouping:
    """Place what is left over, merge what breaks a rule, and number the groups."""
    place_rest(task, clusters, middle, by_rows=by_rows)
    merge_offenders(task, clusters)
    units, by_unit = task.units, np.full(task.request.rows, -1, dtype=np.int32)
    with task.clock.running():
        used = np.zeros(len(units.weight), dtype=np.int64)
        rows_to_groups(units.first, units.weight, clusters, used, by_unit)
    group_of = np.empty_like(by_unit)
    group_of[task.rows] = by_unit
    return Grouping.renumbered(group_of)


def place_rest(
    task: ClusteringTask, clusters: Clusters, middle: Ints, *, by_rows: bool
) -> None:
    """Put each unit left over where the loss grows least; the rest is a group."""
    rest = np.flatnonzero(clusters.left)
    groups = int(clusters.number[GROUPS])
    if not len(rest):
        return
    window = min(groups, max(NEAR, EFFORT // len(rest)))
    step = max(1, 20_000_000 // max(window, 1))
    cluster_rules, changed = (
        cluster_rules_of(task, clusters),
        np.zeros(task.units.axes, dtype=np.int64),
    )
    losses, growth = np.full(groups, np.nan), np.empty(groups)
    for begin in range(0, len(rest) if groups else 0, step):
        with task.clock.running():
            insert_rest(
                task.units,
                clusters,
                task.contributions,
                rest,
                begin,
                min(begin + step, len(rest)),
                middle,
                by_rows,
                cluster_rules,
                losses,
                growth,
                changed,
                window,
            )
        task.request.progress("placing rows", min(1.0, (begin + step) / len(rest)))
    rest = np.flatnonzero(clusters.left)
    if len(rest):
        collect(task.units, clusters, task.contributions, rest)


def merge_offenders(task: ClusteringTask, clusters: Clusters) -> None:
    """Merge groups until every group meets the rules."""
    rules, sizes = task.compiled.table, clusters.size[: clusters.number[GROUPS]]
    if not len(rules.kinds) and not ((sizes > 0) & (sizes < rules.minimum)).any():
        return
    cluster_rules, group, groups = cluster_rules_of(task, clusters), 0, len(sizes)
    while group < groups:
        with task.clock.running():
            group = merge_offending_groups(
                task.units, clusters, task.contributions, cluster_rules, group, 64
            )
        task.request.progress("merging groups", group / groups)


def least_persons(request: Request) -> int:
    """Return how many rows, or persons, the requirements ask of every group."""
    asked = [rule.parameters[0] for rule in request.rules() if rule.counts_members]
    return max(1, int(max(asked, default=1)))


def unit_means(task: ClusteringTask, wanted: npt.NDArray[np.bool_]) -> Floats:
    """(units, axes): the mean known number of each unit on the wanted axes, else NaN."""
    starts = task.units.first[:-1]
    result = np.full((len(starts), len(wanted)), np.nan)
    for j, coded in enumerate(task.request.quasi):
        if wanted[j] and coded.axis.positions is not None:
            numbers = coded.axis.positions[coded.codes[task.rows]]
            known = ~np.isnan(numbers)
            sums = np.add.reduceat(np.where(known, numbers, 0.0), starts)
            counts = np.add.reduceat(known.astype(np.int64), starts)
            result[counts > 0, j] = sums[counts > 0] / counts[counts > 0]
    return result


def from_assignment(task: ClusteringTask, group_of: Ints, groups: int) -> Grouping:
    """Groups from a group for every unit; those that break a rule are merged."""
    clusters = make_clusters(task, groups)
    with task.clock.running():
        fill_clusters(task.units, clusters, task.contributions, group_of, groups)
    return finish(task, clusters, group_of, by_rows=True)


def facts_of(task: ClusteringTask, grouping: Grouping, **more: Any) -> dict[str, Any]:
    """What every clustering algorithm reports."""
    return {
        "tuples": len(task.units.weight),
        "groups": grouping.count,
        "rows_suppressed": 0,
        "kernel_seconds": task.clock.seconds,
        **more,
    }


def nothing() -> Solution:
    """Return the grouping of an empty table."""
    return Solution(grouping=Grouping(np.empty(0, dtype=np.int32), 0))


def require_choice(
    algorithm: str, option: str, value: object, allowed: tuple[str, ...]
) -> None:
    """Refuse a setting that is none of the choices."""
    if value not in allowed:
        raise PolicyError(
            f"{algorithm}: '{option}' is {value!r}.",
            hint=f"It must be one of: {', '.join(allowed)}.",
        )


def require_share(algorithm: str, option: str, value: float) -> None:
    """Refuse a setting that is not between 0 and 1."""
    if not 0 <= value <= 1:
        raise PolicyError(
            f"{algorithm}: '{option}' is {value}.",
            hint=f"'{option}' must be between 0 and 1.",
        )


def require_count(algorithm: str, option: str, value: float) -> None:
    """Refuse a setting that is not a whole number above 0."""
    if not (value >= 1 and value == int(value)):
        raise PolicyError(
            f"{algorithm}: '{option}' is {value}.",
            hint=f"'{option}' must be a whole number, at least 1.",
        )
