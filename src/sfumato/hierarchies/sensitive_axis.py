"""Sensitive axes as models see them: rolled up to a level, with a ground distance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sfumato.data.rules import Distance
from sfumato.data.schema import Kind
from sfumato.errors import PolicyError
from sfumato.hierarchies.axis import Axis, Shape

CodeMap = npt.NDArray[np.int32]


def roll_up(axis: Axis, level: int) -> tuple[Axis, CodeMap]:
    """The axis whose leaves are the nodes of a level, and each old leaf's new code."""
    if not 0 <= level < axis.height:
        raise PolicyError(
            f"Level {level} of '{axis.name}' does not exist; "
            f"its hierarchy has levels 0 to {axis.height - 1}.",
            hint=f"Set level to at most {axis.height - 1}, or add levels.",
        )
    if level == 0:
        return axis, np.arange(axis.size, dtype=np.int32)
    firsts, codes = _ranked(axis.levels[level])
    nodes, levels = _renumbered(axis.levels[level:, firsts])
    return _with_leaves(axis, nodes, levels, _missing(axis, level, codes)), codes


def ground_distance(axis: Axis, asked: Distance) -> Distance:
    """The distance asked for, or the one that fits the axis."""
    if asked is not Distance.DEFAULT:
        return asked
    if axis.kind is Kind.ORDERED or (axis.kind.numeric and _in_order(axis)):
        return Distance.ORDERED
    if axis.shape is Shape.TREE:
        return Distance.HIERARCHICAL
    return Distance.EQUAL


def is_line(axis: Axis) -> bool:
    """Whether the codes follow numbers, so that values have distances on a line."""
    return axis.positions is not None and _in_order(axis)


def _in_order(axis: Axis) -> bool:
    """Whether the tree keeps the order of the numbers (a trusted one need not)."""
    if axis.positions is None:
        return True
    known = axis.positions[~np.isnan(axis.positions)]
    return bool((np.diff(known) >= 0).all())


def _ranked(nodes: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int64], CodeMap]:
    """The first leaf of each node in axis order, and each leaf's rank of node."""
    _, first, inverse = np.unique(nodes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return first[order], rank[inverse]


def _renumbered(
    levels: npt.NDArray[np.int32],
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Old node of each new node, and levels in new nodes: leaves first, in order."""
    size = levels.shape[1]
    upper = np.setdiff1d(levels[1:], levels[0])
    nodes = np.concatenate([levels[0], upper]).astype(np.int32)
    new = np.full(int(nodes.max()) + 1, -1, dtype=np.int32)
    new[nodes] = np.arange(len(nodes), dtype=np.int32)
    if levels.shape[0] == 1:
        return nodes, np.zeros((1, size), dtype=np.int32)
    return nodes, new[levels]


def _missing(axis: Axis, level: int, codes: CodeMap) -> int:
    """The missing value's new code, unless it now shares a node with known values."""
    if axis.missing < 0:
        return -1
    nodes = axis.levels[level]
    alone = int((nodes == nodes[axis.missing]).sum()) == 1
    return int(codes[axis.missing]) if alone else -1


def _with_leaves(
    axis: Axis,
    nodes: npt.NDArray[np.int32],
    levels: npt.NDArray[np.int32],
    missing: int,
) -> Axis:
    size = levels.shape[1]
    labels = tuple(axis.node_labels[node] for node in nodes)
    ncp, loss = axis.node_ncp[nodes].copy(), axis.node_loss[nodes].copy()
    ncp[:size] = loss[:size] = 0.0
    bounds = None if axis.node_bounds is None else axis.node_bounds[nodes]
    return replace(
        axis,
        shape=Shape.FLAT if axis.shape is Shape.FREE else axis.shape,
        labels=labels[:size],
        levels=levels,
        node_labels=labels,
        node_ncp=ncp,
        node_loss=loss,
        node_bounds=bounds,
        positions=None,
        missing=missing,
    )
