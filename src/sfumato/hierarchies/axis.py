"""Represent a quasi-identifier as an ordered axis and a hierarchy as nested intervals.

Leaves are numbered in tree order, so that every node covers one contiguous run of
codes and the lowest common ancestor of any set of values is the smallest node that
covers its lowest and highest code.

- A *tree* axis has a hierarchy: a group shows the smallest node that covers it.
- A *free* axis is a line of numbers or dates: any interval is a node.
- A *flat* axis is a bag of categories: a group shows the set of values in it.

For lattice algorithms every axis has levels; a free or flat one has two, raw and `*`.
Only values that occur have codes; losses are those of the whole hierarchy.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Codes
from sfumato.data.html_fragment import html_fragment
from sfumato.data.number_grid import Ends
from sfumato.data.safe_repr import SafeRepr, counted
from sfumato.data.schema import Kind

STAR = "*"

Losses = npt.NDArray[np.float64]
Indices = npt.NDArray[np.integer[Any]]


class Shape(IntEnum):
    """How a group is shown on an axis; the numbers are the kernels' contract."""

    TREE = 0
    FREE = 1
    FLAT = 2


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Axis(SafeRepr):
    """One quasi-identifier (or ordered sensitive attribute) as an axis of codes."""

    name: str
    kind: Kind
    shape: Shape
    labels: tuple[str, ...]
    """The text of each leaf, in axis order."""
    levels: Codes
    """(height, leaves): the node of each leaf at each level. Level 0 is the leaf
    itself (node i = leaf i); at the last level all leaves share the root."""
    node_labels: tuple[str, ...]
    """The text of each node; the first `size` are the leaves."""
    node_ncp: Losses
    """NCP of a cell that shows the node: 0 for a leaf, 1 for the root."""
    node_loss: Losses
    """Generalized loss of a cell that shows the node."""
    positions: Losses | None = None
    """The number behind each leaf (numeric kinds), NaN for the missing leaf."""
    missing: int = -1
    """The leaf of the missing value, or -1; always the last leaf of its parent."""
    weight: float = 1.0
    fitted: bool = False
    """Whether the axis was shaped by the data (free, flat, automatic, quantiles)
    rather than declared; such an axis carries no differential privacy."""
    shares: Losses | None = None
    """The share of rows up to each leaf, where losses are bits; then `node_ncp` has
    those of nodes, which are not 0 for a leaf."""
    per_bit: float = 0.0
    """What the natural logarithm of a share is multiplied by, where losses are bits."""
    steps: tuple[Ends, ...] | None = None
    """The ends of each leaf, where leaves are steps of a grid."""
    node_bounds: npt.NDArray[np.float64] | None = None
    """(nodes, 2): for numeric kinds the lowest and highest number a node's label
    stands for, NaN where it has none."""

    def _summary(self) -> str:
        return f"{self.shape.name.lower()}, {counted(self.size, 'value')}"

    def _repr_html_(self) -> str:
        """The levels for a notebook: how many labels each has, and none of them."""
        rows = [
            (
                str(level),
                f"{len(np.unique(nodes)):,}",
                f"{self.node_ncp[nodes].max():.3f}",
            )
            for level, nodes in enumerate(self.levels)
        ]
        title = f"Hierarchy of {self.name}: {self._summary()}"
        return html_fragment(title, ("level", "labels", "highest NCP"), rows)

    @property
    def size(self) -> int:
        """How many leaves have codes."""
        return len(self.labels)

    @property
    def height(self) -> int:
        """How many levels there are, leaves and root included."""
        return int(self.levels.shape[0])

    @property
    def root(self) -> int:
        """The node that covers everything."""
        return int(self.levels[-1, 0])

    @cached_property
    def span(self) -> float:
        """The length of the line from the lowest to the highest number."""
        known = self._numbers[~np.isnan(self._numbers)]
        return float(known.max() - known.min()) if len(known) else 0.0

    def covering(self, low: Indices, high: Indices) -> Codes:
        """The smallest node over each run of codes low … high."""
        nodes: Codes = self.levels[-1, low].copy()
        for level in range(self.height - 2, -1, -1):
            at_level = self.levels[level]
            same = at_level[low] == at_level[high]
            nodes[same] = at_level[low[same]]
        return nodes

    def run_bits(self, low: Indices, high: Indices) -> Losses:
        """The loss of the runs low … high where losses are bits."""
        if self.shares is None:
            raise TypeError(f"Losses of axis '{self.name}' are not bits.")
        if self.shape is Shape.TREE:
            return self.node_ncp[self.covering(low, high)]
        whole = float(self.node_ncp[self.root])
        before = np.where(low > 0, self.shares[low - 1], 0.0)
        found = whole + self.per_bit * np.log(self.shares[high] - before)
        if self.missing >= 0:
            found = np.where((high == self.missing) & (low != high), whole, found)
        return np.where(low == high, self.node_ncp[low], found)

    def interval_ncp(self, low: Indices, high: Indices) -> Losses:
        """NCP of the runs low … high on a free axis."""
        if self.shares is not None:
            return self.run_bits(low, high)
        length = self._numbers[high] - self._numbers[low]
        mixed = np.where(low == high, 0.0, 1.0)
        scaled = length / self.span if self.span > 0 else 0.0 * length
        return np.where(np.isnan(scaled), mixed, scaled)

    def set_ncp(self, counts: Indices) -> Losses:
        """NCP of sets of `counts` values on a flat axis: size / occurring values."""
        return np.where(counts <= 1, 0.0, counts / max(self.size, 1))

    def set_loss(self, counts: Indices) -> Losses:
        """Generalized loss of sets on a flat axis: (size − 1) / (occurring − 1)."""
        return (counts - 1) / max(self.size - 1, 1)

    @property
    def _numbers(self) -> Losses:
        if self.positions is None:
            raise TypeError(f"Axis '{self.name}' is not a line of numbers.")
        return self.positions


@dataclass(frozen=True, eq=False, repr=False)
class CodedAxis(SafeRepr):
    """An axis and the rows' codes on it."""

    axis: Axis
    codes: npt.NDArray[np.int32]

    def _summary(self) -> str:
        return f"{counted(len(self.codes), 'row')}, {self.axis!r}"

    def _repr_html_(self) -> str:
        return self.axis._repr_html_()

    @property
    def name(self) -> str:
        return self.axis.name

    @cached_property
    def counts(self) -> npt.NDArray[np.int64]:
        """How many rows have each code; not to be changed."""
        return np.bincount(self.codes, minlength=self.axis.size)
