"""Build an axis from levels: tree order, contiguous codes and the losses of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Codes, Ints
from sfumato.data.number_grid import Ends
from sfumato.data.table import Column
from sfumato.hierarchies.axis import STAR, Axis, CodedAxis, Losses, Shape
from sfumato.hierarchies.exact_numbers import float_bounds
from sfumato.hierarchies.labels import DISCRETE, parse_span


@dataclass(frozen=True, eq=False, kw_only=True)
class HierarchyLevel:
    """One level between the leaves and the root."""

    nodes: Ints
    """The node of each of the column's codes, 0 … m − 1; −1 for a missing value
    that the hierarchy does not know."""
    labels: tuple[str, ...]
    leaves: Losses
    """How many leaves of the whole hierarchy each node covers."""
    bounds: Losses | None = None
    """(m, 2): lowest and highest number each label stands for (numeric kinds)."""


@dataclass(frozen=True, eq=False, kw_only=True)
class UpperLevels:
    """Everything above the leaves of a column; each level is nested in the next."""

    inner_levels: tuple[HierarchyLevel, ...] = ()
    total: float = 1.0
    """Leaves of the whole hierarchy, occurring or not."""
    root: str = STAR
    ranks: Ints | None = None
    """The position of a leaf among its siblings; the column's own order if None."""
    shape: Shape = Shape.TREE
    fitted: bool = False


def known_numbers(column: Column) -> Losses:
    """The numbers of a column without the missing one, ascending."""
    numbers = np.empty(0) if column.numbers is None else column.numbers
    known: Losses = numbers[~np.isnan(numbers)]
    return known


def possible_leaves(column: Column) -> float:
    """How many leaves a line of values has: each step where there are steps."""
    values = known_numbers(column)
    missing = 1.0 if column.missing >= 0 else 0.0
    if column.kind in DISCRETE and len(values):
        return float(values[-1] - values[0]) + 1.0 + missing
    return len(values) + missing


def line_level(
    column: Column, *, nodes: Ints, labels: Sequence[str], bounds: Losses
) -> HierarchyLevel:
    """A level of neighbors on a line; `nodes` has one entry per known number."""
    every = np.full(column.size, -1, dtype=np.int64)
    if column.numbers is not None:
        every[~np.isnan(column.numbers)] = nodes
    return HierarchyLevel(
        nodes=every,
        labels=tuple(labels),
        leaves=_leaves_between(column, nodes, bounds),
        bounds=bounds,
    )


def _leaves_between(column: Column, nodes: Ints, bounds: Losses) -> Losses:
    values = known_numbers(column)
    if column.kind in DISCRETE and len(values):
        clipped = np.clip(bounds, values[0], values[-1])
        return clipped[:, 1] - clipped[:, 0] + 1.0
    return np.bincount(nodes, minlength=len(bounds)).astype(np.float64)


def run_nodes(*keys: Ints) -> tuple[Ints, Ints]:
    """Number the runs of equal keys; also where each run starts."""
    size = len(keys[0])
    fresh = np.zeros(size, dtype=bool)
    fresh[:1] = True
    for key in keys:
        fresh[1:] |= key[1:] != key[:-1]
    return np.cumsum(fresh) - 1, np.flatnonzero(fresh)


def assemble(column: Column, upper: UpperLevels, *, weight: float) -> CodedAxis:
    """Number the leaves in tree order and lay levels, labels and losses out."""
    inner_levels = [_with_missing(column, level) for level in upper.inner_levels]
    order = _tree_order(column, inner_levels, upper.ranks)
    inner_levels = [_in_order(level, order) for level in inner_levels]
    axis = _axis(
        column,
        replace(upper, inner_levels=tuple(inner_levels)),
        order,
        weight=weight,
    )
    return CodedAxis(axis, _codes_in_order(column.codes, order))


def _codes_in_order(codes: Codes, order: Ints) -> Codes:
    """The place of each row's leaf; the codes themselves where no leaf moved."""
    leaves = np.arange(len(order), dtype=np.int32)
    if np.array_equal(order, leaves):
        return np.ascontiguousarray(codes)
    place = np.empty(len(order), dtype=np.int32)
    place[order] = leaves
    return place[codes]


def _with_missing(column: Column, level: HierarchyLevel) -> HierarchyLevel:
    """Give a missing value that the hierarchy does not know a node of its own."""
    if column.missing < 0 or level.nodes[column.missing] >= 0:
        return level
    nodes = level.nodes.copy()
    nodes[column.missing] = len(level.labels)
    bounds = level.bounds
    if bounds is not None:
        bounds = np.vstack([bounds, np.full((1, 2), np.nan)])
    return HierarchyLevel(
        nodes=nodes,
        labels=(*level.labels, column.labels[column.missing]),
        leaves=np.append(level.leaves, 1.0),
        bounds=bounds,
    )


def _tree_order(
    column: Column, inner_levels: Sequence[HierarchyLevel], ranks: Ints | None
) -> Ints:
    """Sort leaves by branch, then twig, then rank; the missing one last of its twig."""
    ranks = np.arange(column.size) if ranks is None else ranks.copy()
    if column.missing >= 0:
        ranks[column.missing] = ranks.max() + 1
    keys = [ranks]
    for level in inner_levels:
        first = np.full(len(level.labels), np.iinfo(np.int64).max)
        np.minimum.at(first, level.nodes, ranks)
        keys.append(first[level.nodes])
    order: Ints = np.lexsort(keys)
    return order


def _in_order(level: HierarchyLevel, order: Ints) -> HierarchyLevel:
    """Renumber the nodes that occur by their place on the axis."""
    moved = level.nodes[order]
    nodes, starts = run_nodes(moved)
    used = moved[starts]
    return HierarchyLevel(
        nodes=nodes,
        labels=tuple(level.labels[node] for node in used),
        leaves=level.leaves[used],
        bounds=None if level.bounds is None else level.bounds[used],
    )


def _axis(column: Column, upper: UpperLevels, order: Ints, *, weight: float) -> Axis:
    size = column.size
    labels = tuple(column.labels[code] for code in order)
    positions = None if column.numbers is None else column.numbers[order]
    missing = (
        int(np.flatnonzero(order == column.missing)[0]) if column.missing >= 0 else -1
    )
    ncp, loss = _losses(upper, labels, positions)
    return Axis(
        name=column.name,
        kind=column.kind,
        shape=upper.shape,
        labels=labels,
        levels=_levels(upper.inner_levels, size),
        node_labels=_chain(labels, upper),
        node_ncp=ncp,
        node_loss=loss,
        positions=positions,
        missing=missing,
        weight=weight,
        fitted=upper.fitted,
        steps=_steps(column, order),
        node_bounds=None if positions is None else _bounds(column, upper, positions),
    )


def _steps(column: Column, order: Ints) -> tuple[Ends, ...] | None:
    if column.steps is None:
        return None
    return tuple(column.steps[code] for code in order)


def _chain(labels: tuple[str, ...], upper: UpperLevels) -> tuple[str, ...]:
    inner = tuple(label for level in upper.inner_levels for label in level.labels)
    return (*labels, *inner, upper.root)


def _levels(inner_levels: Sequence[HierarchyLevel], size: int) -> npt.NDArray[np.int32]:
    levels = np.empty((len(inner_levels) + 2, size), dtype=np.int32)
    levels[0] = np.arange(size)
    start = size
    for number, level in enumerate(inner_levels, start=1):
        levels[number] = level.nodes + start
        start += len(level.labels)
    levels[-1] = start
    return levels


def _bounds(column: Column, upper: UpperLevels, positions: Losses) -> Losses:
    parts = [np.column_stack([positions, positions])]
    for level in upper.inner_levels:
        unknown = np.full((len(level.labels), 2), np.nan)
        parts.append(unknown if level.bounds is None else level.bounds)
    found = parse_span(upper.root, kind=column.kind)
    nothing = (np.nan, np.nan)
    parts.append(
        np.array([float_bounds(found, kind=column.kind) if found else nothing])
    )
    return np.vstack(parts)


def _losses(
    upper: UpperLevels, labels: tuple[str, ...], positions: Losses | None
) -> tuple[Losses, Losses]:
    """NCP and generalized loss of all nodes; a node costs no less than one below it."""
    ncp = [np.zeros(len(labels))]
    loss = [np.zeros(len(labels))]
    below = np.arange(len(labels))
    for level in upper.inner_levels:
        own = _ncp(level, upper.total, labels, positions)
        share = (level.leaves - 1.0) / max(upper.total - 1.0, 1.0)
        ncp.append(_no_less(own, level.nodes, ncp[-1][below]))
        loss.append(_no_less(share, level.nodes, loss[-1][below]))
        below = level.nodes
    whole = [np.ones(1)]
    return np.concatenate(ncp + whole), np.concatenate(loss + whole)


def _no_less(costs: Losses, nodes: Ints, below: Losses) -> Losses:
    raised = costs.copy()
    np.maximum.at(raised, nodes, below)
    return raised


def _ncp(
    level: HierarchyLevel,
    total: float,
    labels: tuple[str, ...],
    positions: Losses | None,
) -> Losses:
    costs = level.leaves / max(total, 1.0)
    if level.bounds is not None and positions is not None:
        length = _clipped_share(level.bounds, positions)
        costs = np.where(np.isnan(length), costs, length)
    costs[_shows_a_value(level, labels)] = 0.0
    return costs


def _clipped_share(bounds: Losses, positions: Losses) -> Losses:
    values = positions[~np.isnan(positions)]
    if not len(values):
        return np.full(len(bounds), np.nan)
    low, high = values.min(), values.max()
    clipped = np.clip(bounds, low, high)
    return (clipped[:, 1] - clipped[:, 0]) / (high - low if high > low else 1.0)


def _shows_a_value(
    level: HierarchyLevel, labels: tuple[str, ...]
) -> npt.NDArray[np.bool_]:
    """Nodes that pad a short branch: one leaf, under its own text."""
    _, starts = run_nodes(level.nodes)
    same = [label == labels[at] for label, at in zip(level.labels, starts, strict=True)]
    alone: npt.NDArray[np.bool_] = level.leaves == 1.0
    return np.array(same, dtype=np.bool_) & alone
