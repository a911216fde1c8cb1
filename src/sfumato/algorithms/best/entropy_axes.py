"""Put a request on axes whose losses are bits: the objective `loss = "entropy"`.

A cell that shows a node, an interval or a set leaves open −log of the share of a row's
own value among the rows that it covers (Gionis and Tassa 2009). Over a table that is the
logarithm of the share that each cell covers, less a sum that no grouping changes. So a
box loses the logarithm of its share of rows, above that of the rarest value, and what
the source itself costs by this count (`Request.lossless`) is taken off what is reported.

The logarithm of a set's share does not follow from how many values it has. Categories
without a hierarchy are therefore searched on a learned tree; they are still
shown as sets, which lose no more than its nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sfumato.algorithms.request import Request
from sfumato.data.arrays import Floats
from sfumato.data.shared_tuples import SharedTuples
from sfumato.data.table import Column
from sfumato.hierarchies.axis import Axis, CodedAxis, Shape
from sfumato.hierarchies.learned_tree import learned_table
from sfumato.hierarchies.levels import UpperLevels, assemble
from sfumato.hierarchies.tree import table_levels


def in_bits(request: Request) -> Request:
    """The same request on axes whose losses are bits; groups are the same groups."""
    if request.rows == 0 or not request.quasi:
        return request
    quasi = request.quasi
    if request.population is None:
        quasi = tuple(_as_tree(coded, quasi) for coded in quasi)
    bits = [_entropy(coded) for coded in quasi]
    scale = 1.0 / (float(np.mean(bits)) or 1.0)
    quasi = tuple(_counted_in_bits(coded, scale) for coded in quasi)
    return replace(
        request,
        quasi=quasi,
        lossless=_own_bits(quasi),
        tuples=SharedTuples(),
        look=None,
    )


def _as_tree(coded: CodedAxis, all_axes: Sequence[CodedAxis]) -> CodedAxis:
    """A flat axis as a tree that is learned from the others; any other as it is."""
    axis = coded.axis
    if axis.shape is not Shape.FLAT:
        return coded
    column = _column(coded)
    if axis.size < 3:
        return assemble(column, UpperLevels(total=axis.size), weight=axis.weight)
    others = [_column(other) for other in all_axes if other is not coded]
    table = learned_table(column, others or [column])
    return assemble(column, table_levels(column, table, trust=True), weight=axis.weight)


def _column(coded: CodedAxis) -> Column:
    axis = coded.axis
    return Column(
        name=axis.name,
        kind=axis.kind,
        codes=coded.codes,
        labels=axis.labels,
        numbers=axis.positions,
        missing=axis.missing,
    )


def _shares(coded: CodedAxis) -> Floats:
    """The share of rows with each code; a code without rows counts for half of one."""
    counts = np.bincount(coded.codes, minlength=coded.axis.size).astype(np.float64)
    counts = np.maximum(counts, 0.5)
    return np.asarray(counts / counts.sum())


def _entropy(coded: CodedAxis) -> float:
    shares = _shares(coded)
    return float(-(shares * np.log(shares)).sum())


def _counted_in_bits(coded: CodedAxis, scale: float) -> CodedAxis:
    """An axis with the logarithms of shares as losses; one that stayed flat as it is."""
    if coded.axis.shape is Shape.FLAT:
        return coded
    shares = _shares(coded)
    axis = replace(
        coded.axis,
        node_ncp=_node_bits(coded.axis, shares, scale),
        shares=np.cumsum(shares),
        per_bit=scale,
    )
    return CodedAxis(axis, coded.codes)


def _node_bits(axis: Axis, shares: Floats, scale: float) -> Floats:
    """What a cell that shows each node loses, above a cell with the rarest value."""
    covered = np.zeros(len(axis.node_ncp))
    for nodes in axis.levels:
        covered[nodes] = np.bincount(nodes, shares, len(covered))[nodes]
    known = np.maximum(covered, shares.min())
    return np.asarray(scale * np.log(known / shares.min()))


def _own_bits(quasi: Sequence[CodedAxis]) -> float:
    """What the source itself costs: the weighted mean of its cells."""
    weights = np.array([coded.axis.weight for coded in quasi])
    own = [
        coded.axis.node_ncp[coded.codes].mean()
        if coded.axis.shares is not None
        else 0.0
        for coded in quasi
    ]
    return float(weights @ np.array(own) / max(weights.sum(), 1e-300))
