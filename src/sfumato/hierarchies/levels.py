"""Build an axis from levels: tree order, contiguous codes and the losses of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Ints
from sfumato.data.table import Column
from sfumato.hierarchies.axis import STAR, Axis, CodedAxis, Losses, Shape
from sfumato.hierarchies.exact_numbers import float_bounds
from sfumato.hierarchies.labels import DISCRETE, parse_span


@dataclass(frozen=True, eq=False, kw_only=True)
class Rung:
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
class Ladder:
    """Everything above the leaves of a column; each rung is nested in the next."""

    rungs: tuple[Rung, ...] = ()
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


def line_rung(
    column: Column, *, nodes: Ints, labels: Sequence[str], bounds: Losses
) -> Rung:
    """A rung of neighbors on a line; `nodes` has one entry per known number."""
    every = np.full(column.size, -1, dtype=np.int64)
    if column.numbers is not None:
        every[~np.isnan(column.numbers)] = nodes
    return Rung(
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


def assemble(column: Column, ladder: Ladder, *, weight: float) -> CodedAxis:
    """Number the leaves in tree order and lay levels, labels and losses out."""
    rungs = [_with_missing(column, rung) for rung in ladder.rungs]
    order = _tree_order(column, rungs, ladder.ranks)
    rungs = [_in_order(rung, order) for rung in rungs]
    axis = _axis(column, replace(ladder, rungs=tuple(rungs)), order, weight=weight)
    place = np.empty(column.size, dtype=np.int32)
    place[order] = np.arange(column.size, dtype=np.int32)
    return CodedAxis(axis, np.ascontiguousarray(place[column.codes]))


def _with_missing(column: Column, rung: Rung) -> Rung:
    """Give a missing value that the hierarchy does not know a node of its own."""
    if column.missing < 0 or rung.nodes[column.missing] >= 0:
        return rung
    nodes = rung.nodes.copy()
    nodes[column.missing] = len(rung.labels)
    bounds = rung.bounds
    if bounds is not None:
        bounds = np.vstack([bounds, np.full((1, 2), np.nan)])
    return Rung(
        nodes=nodes,
        labels=(*rung.labels, column.labels[column.missing]),
        leaves=np.append(rung.leaves, 1.0),
        bounds=bounds,
    )


def _tree_order(column: Column, rungs: Sequence[Rung], ranks: Ints | None) -> Ints:
    """Sort leaves by branch, then twig, then rank; the missing one last of its twig."""
    ranks = np.arange(column.size) if ranks is None else ranks.copy()
    if column.missing >= 0:
        ranks[column.missing] = ranks.max() + 1
    keys = [ranks]
    for rung in rungs:
        first = np.full(len(rung.labels), np.iinfo(np.int64).max)
        np.minimum.at(first, rung.nodes, ranks)
        keys.append(first[rung.nodes])
    order: Ints = np.lexsort(keys)
    return order


def _in_order(rung: Rung, order: Ints) -> Rung:
    """Renumber the nodes that occur by their place on the axis."""
    moved = rung.nodes[order]
    nodes, starts = run_nodes(moved)
    used = moved[starts]
    return Rung(
        nodes=nodes,
        labels=tuple(rung.labels[node] for node in used),
        leaves=rung.leaves[used],
        bounds=None if rung.bounds is None else rung.bounds[used],
    )


def _axis(column: Column, ladder: Ladder, order: Ints, *, weight: float) -> Axis:
    size = column.size
    labels = tuple(column.labels[code] for code in order)
    positions = None if column.numbers is None else column.numbers[order]
    missing = (
        int(np.flatnonzero(order == column.missing)[0]) if column.missing >= 0 else -1
    )
    ncp, loss = _losses(ladder, labels, positions)
    return Axis(
        name=column.name,
        kind=column.kind,
        shape=ladder.shape,
        labels=labels,
        levels=_levels(ladder.rungs, size),
        node_labels=_chain(labels, ladder),
        node_ncp=ncp,
        node_loss=loss,
        positions=positions,
        missing=missing,
        weight=weight,
        fitted=ladder.fitted,
        node_bounds=None if positions is None else _bounds(column, ladder, positions),
    )


def _chain(labels: tuple[str, ...], ladder: Ladder) -> tuple[str, ...]:
    inner = tuple(label for rung in ladder.rungs for label in rung.labels)
    return (*labels, *inner, ladder.root)


def _levels(rungs: Sequence[Rung], size: int) -> npt.NDArray[np.int32]:
    levels = np.empty((len(rungs) + 2, size), dtype=np.int32)
    levels[0] = np.arange(size)
    start = size
    for level, rung in enumerate(rungs, start=1):
        levels[level] = rung.nodes + start
        start += len(rung.labels)
    levels[-1] = start
    return levels


def _bounds(column: Column, ladder: Ladder, positions: Losses) -> Losses:
    parts = [np.column_stack([positions, positions])]
    for rung in ladder.rungs:
        unknown = np.full((len(rung.labels), 2), np.nan)
        parts.append(unknown if rung.bounds is None else rung.bounds)
    found = parse_span(ladder.root, kind=column.kind)
    nothing = (np.nan, np.nan)
    parts.append(
        np.array([float_bounds(found, kind=column.kind) if found else nothing])
    )
    return np.vstack(parts)


def _losses(
    ladder: Ladder, labels: tuple[str, ...], positions: Losses | None
) -> tuple[Losses, Losses]:
    """NCP and generalized loss of all nodes; a node costs no less than one below it."""
    ncp = [np.zeros(len(labels))]
    loss = [np.zeros(len(labels))]
    below = np.arange(len(labels))
    for rung in ladder.rungs:
        own = _ncp(rung, ladder.total, labels, positions)
        share = (rung.leaves - 1.0) / max(ladder.total - 1.0, 1.0)
        ncp.append(_no_less(own, rung.nodes, ncp[-1][below]))
        loss.append(_no_less(share, rung.nodes, loss[-1][below]))
        below = rung.nodes
    whole = [np.ones(1)]
    return np.concatenate(ncp + whole), np.concatenate(loss + whole)


def _no_less(costs: Losses, nodes: Ints, below: Losses) -> Losses:
    raised = costs.copy()
    np.maximum.at(raised, nodes, below)
    return raised


def _ncp(
    rung: Rung, total: float, labels: tuple[str, ...], positions: Losses | None
) -> Losses:
    costs = rung.leaves / max(total, 1.0)
    if rung.bounds is not None and positions is not None:
        length = _clipped_share(rung.bounds, positions)
        costs = np.where(np.isnan(length), costs, length)
    costs[_shows_a_value(rung, labels)] = 0.0
    return costs


def _clipped_share(bounds: Losses, positions: Losses) -> Losses:
    values = positions[~np.isnan(positions)]
    if not len(values):
        return np.full(len(bounds), np.nan)
    low, high = values.min(), values.max()
    clipped = np.clip(bounds, low, high)
    return (clipped[:, 1] - clipped[:, 0]) / (high - low if high > low else 1.0)


def _shows_a_value(rung: Rung, labels: tuple[str, ...]) -> npt.NDArray[np.bool_]:
    """Nodes that pad a short branch: one leaf, under its own text."""
    _, starts = run_nodes(rung.nodes)
    same = [label == labels[at] for label, at in zip(rung.labels, starts, strict=True)]
    alone: npt.NDArray[np.bool_] = rung.leaves == 1.0
    return np.array(same, dtype=np.bool_) & alone
