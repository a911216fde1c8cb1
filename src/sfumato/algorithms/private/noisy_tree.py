"""Grow a tree of cuts from public domains, a public depth and noisy counts only.

Whether and where a cell may be cut depends on its box, never on its rows. All cells of
a level are disjoint, so that one level costs what one cell costs; levels add up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.base import Progress
from sfumato.data.arrays import Codes, Flags, Floats
from sfumato.dp.additive_noise import Geometric
from sfumato.dp.cost import Cost, Relation
from sfumato.dp.ledger import Ledger
from sfumato.dp.noisy_choice import Exponential
from sfumato.dp.sampling import coins
from sfumato.errors import PolicyError, RefusedError
from sfumato.hierarchies.axis import Axis, CodedAxis
from sfumato.kernels.common.group_boxes import group_bounds

MOST_DEPTH = 16
MOST_COUNTS = 4_000_000
"""Noisy counts that one level may need."""


class CellCut(NamedTuple):
    """A cell that was cut: the lower part keeps its number, the upper has a new one."""

    cell: int
    new: int


@dataclass(frozen=True, eq=False, kw_only=True)
class TreePlan:
    """How a tree is grown; all of it is public."""

    depth: int
    selection: float
    """ε of choosing an attribute, per level; 0: the widest box decides, at no cost."""
    count: float
    """ε of the noisy counts, per level."""
    hierarchies: bool = True
    """Whether cuts fall between children of a node, or between any two leaves."""
    relaxed: bool = False
    """Whether rows at the median may go to either side."""

    @classmethod
    def within(
        cls,
        epsilon: float,
        *,
        depth: int,
        selection: float,
        count: float,
        relation: Relation,
        hierarchies: bool,
        relaxed: bool,
    ) -> TreePlan:
        """The plan that spends ε whole: depth × (selection + count), by their shares.

        A substituted row is in two cells, and costs twice.
        """
        if count <= 0:
            raise PolicyError(
                "No budget is left to count the values in cells.",
                hint="Give budget.count a share above 0.",
            )
        touched = 1 if relation is Relation.ADD_REMOVE else 2
        level = epsilon / depth / touched / (selection + count)
        return cls(
            depth=depth,
            selection=level * selection,
            count=level * count,
            hierarchies=hierarchies,
            relaxed=relaxed,
        )


@dataclass(eq=False, kw_only=True)
class CellTree:
    """Disjoint cells that cover the whole domain, and the rows in them."""

    cell_of: Codes
    low: Codes
    """(cells, axes): the box of each cell."""
    high: Codes
    sizes: Floats
    """Rows per cell, as noisy counts have it."""
    splits: list[CellCut] = field(default_factory=list)

    @property
    def count(self) -> int:
        return len(self.low)


@dataclass(frozen=True, eq=False)
class AxisCuts:
    """The public structure of one axis: where it may be cut."""

    axis: Axis
    hierarchies: bool

    @cached_property
    def _breaks(self) -> Flags:
        """(levels, leaves − 1): whether neighbors have different nodes."""
        return np.asarray(self.axis.levels[:, 1:] != self.axis.levels[:, :-1])

    def breaks(self, low: int, high: int) -> Flags:
        """Behind which of the leaves low … high − 1 a cut may fall."""
        if not self.hierarchies:
            return np.ones(high - low, dtype=np.bool_)
        levels = self.axis.levels
        cover = int(np.argmax(levels[:, low] == levels[:, high]))
        return self._breaks[max(cover - 1, 0), low:high]

    def width(self, low: Codes, high: Codes) -> Floats:
        """The normalized width of runs of leaves; 0 where there is none."""
        span = np.maximum(high - low, 0) / max(self.axis.size - 1, 1)
        return np.where(high < 0, 0.0, span)


def grow(
    quasi: tuple[CodedAxis, ...], plan: TreePlan, ledger: Ledger, progress: Progress
) -> CellTree:
    """Grow the tree, charging every level before it looks at the rows."""
    grower = _Grower(quasi, plan, ledger)
    for level in range(plan.depth):
        progress("cuts", level / plan.depth)
        if not grower.level(level + 1):
            break
    return grower.tree


class _Grower:
    def __init__(
        self, quasi: tuple[CodedAxis, ...], plan: TreePlan, ledger: Ledger
    ) -> None:
        self.plan, self.ledger = plan, ledger
        self.axis_cuts = [AxisCuts(coded.axis, plan.hierarchies) for coded in quasi]
        self.codes = np.array([coded.codes for coded in quasi], dtype=np.int32)
        sizes = np.array([coded.axis.size for coded in quasi], dtype=np.int32)
        self.tree = CellTree(
            cell_of=np.zeros(self.codes.shape[1], dtype=np.int32),
            low=np.zeros((1, len(quasi)), dtype=np.int32),
            high=sizes[None, :] - 1,
            sizes=np.zeros(1),
        )
        self.noise = Geometric(epsilon=plan.count)
        self.choice: Callable[[Floats], int] = _widest
        if plan.selection > 0:
            self.choice = Exponential(epsilon=plan.selection).select  # type: ignore[assignment]

    def level(self, number: int) -> bool:
        """Cut every cell that its box lets cut; whether there was one."""
        allowed = self._cuttable()
        cells = np.flatnonzero(allowed.any(axis=1))
        if not len(cells):
            return False
        self._charge(number)
        axes = self._chosen_axes(cells, allowed)
        counts, starts = self._noisy_counts(cells, axes)
        self._cut(cells, axes, counts, starts)
        return True

    def _cuttable(self) -> Flags:
        """(cells, axes): whether the box can be cut on the axis; looks at no row."""
        allowed = self.tree.high > self.tree.low
        return np.asarray(allowed, dtype=np.bool_)

    def _charge(self, number: int) -> None:
        where = "disjoint cells"
        if self.plan.selection > 0:
            self.ledger.charge_parts(
                f"attribute of every cell, level {number}",
                [Cost(self.plan.selection)] * 2,
                rows=where,
            )
        self.ledger.charge_parts(
            f"counts of every value in every cell, level {number}",
            [Cost(self.plan.count)] * 2,
            rows=where,
        )

    def _chosen_axes(self, cells: npt.NDArray[np.int64], allowed: Flags) -> Codes:
        scores = self._widths()
        chosen = np.empty(len(cells), dtype=np.int32)
        for place, cell in enumerate(cells):
            candidates = np.flatnonzero(allowed[cell])
            best = 0
            if len(candidates) > 1:
                best = self.choice(scores[cell, candidates])
            chosen[place] = candidates[best]
        return chosen

    def _widths(self) -> Floats:
        """(cells, axes): of the rows where choosing is paid for, else of the boxes."""
        tree = self.tree
        widths = np.empty((tree.count, len(self.axis_cuts)))
        for axis, cuts in enumerate(self.axis_cuts):
            low, high = tree.low[:, axis], tree.high[:, axis]
            if self.plan.selection > 0:
                low, high = group_bounds(tree.cell_of, self.codes[axis], tree.count)
            widths[:, axis] = cuts.width(low, high)
        return widths

    def _noisy_counts(
        self, cells: npt.NDArray[np.int64], axes: Codes
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Counts of every leaf of every cell's box on its axis, one batch of noise."""
        low = self.tree.low[cells, axes].astype(np.int64)
        widths = self.tree.high[cells, axes] - low + 1
        starts = np.concatenate([[0], np.cumsum(widths)])
        if starts[-1] > MOST_COUNTS:
            raise RefusedError(
                f"One level of cuts needs {starts[-1]} noisy counts; {MOST_COUNTS} are "
                "drawn at most.",
                hint="Declare coarser domains, or lower 'depth'.",
            )
        axis_of = np.full(self.tree.count, -1, dtype=np.int32)
        offset = np.zeros(self.tree.count, dtype=np.int64)
        axis_of[cells], offset[cells] = axes, starts[:-1] - low
        rows = np.flatnonzero(axis_of[self.tree.cell_of] >= 0)
        cell = self.tree.cell_of[rows]
        places = self.codes[axis_of[cell], rows] + offset[cell]
        counts = np.bincount(places, minlength=int(starts[-1]))
        return self.noise.release(counts), starts

    def _cut(
        self,
        cells: npt.NDArray[np.int64],
        axes: Codes,
        counts: npt.NDArray[np.int64],
        starts: npt.NDArray[np.int64],
    ) -> None:
        cuts = [
            self._place(int(c), int(a), counts[starts[i] : starts[i + 1]])
            for i, (c, a) in enumerate(zip(cells, axes, strict=True))
        ]
        self._route(cells, axes, cuts)
        self._divide(cells, axes, cuts)

    def _place(self, cell: int, axis: int, counts: npt.NDArray[np.int64]) -> _Cut:
        """The cut nearest to the noisy median, among those the box allows."""
        low, high = int(self.tree.low[cell, axis]), int(self.tree.high[cell, axis])
        breaks = np.flatnonzero(self.axis_cuts[axis].breaks(low, high))
        total, below = int(counts.sum()), np.cumsum(counts)
        if self.plan.relaxed:
            return _relaxed_cut(breaks, below, low, high)
        best = breaks[np.argmin(np.abs(2 * below[breaks] - total))]
        edge = low + int(best)
        return _Cut(edge, edge + 1, 1.0, float(below[best]), float(total - below[best]))

    def _route(
        self, cells: npt.NDArray[np.int64], axes: Codes, cuts: list[_Cut]
    ) -> None:
        """Send rows to the upper cells. Where a row goes depends only on itself."""
        tree = self.tree
        axis_of = np.full(tree.count, -1, dtype=np.int32)
        axis_of[cells] = axes
        last, first, chance, new = (np.zeros(tree.count) for _ in range(4))
        last[cells] = [cut.last_below for cut in cuts]
        first[cells] = [cut.first_above for cut in cuts]
        chance[cells] = [cut.chance_below for cut in cuts]
        new[cells] = tree.count + np.arange(len(cells))
        rows = np.flatnonzero(axis_of[tree.cell_of] >= 0)
        cell = tree.cell_of[rows]
        code = self.codes[axis_of[cell], rows]
        above = code > last[cell]
        # Halving ties by rank, as in the thesis, would let one row move others to
        # another cell. Cells would no longer be independent, so each tie gets its own
        # coin.
        either = ~above & (code >= first[cell])
        above[either] = ~coins(chance[cell[either]])
        tree.cell_of[rows[above]] = new[cell[above]].astype(np.int32)

    def _divide(
        self, cells: npt.NDArray[np.int64], axes: Codes, cuts: list[_Cut]
    ) -> None:
        tree = self.tree
        low, high = tree.low[cells].copy(), tree.high[cells].copy()
        for place, (cell, axis) in enumerate(zip(cells, axes, strict=True)):
            cut = cuts[place]
            tree.splits.append(CellCut(int(cell), tree.count + place))
            tree.high[cell, axis] = cut.last_below
            low[place, axis] = cut.first_above
            tree.sizes[cell] = cut.below
        tree.low, tree.high = np.vstack([tree.low, low]), np.vstack([tree.high, high])
        tree.sizes = np.append(tree.sizes, [cut.above for cut in cuts])


class _Cut(NamedTuple):
    last_below: int
    first_above: int
    """At most `last_below` in a relaxed cut: the leaves between may go either way."""
    chance_below: float
    below: float
    above: float


def _relaxed_cut(
    breaks: npt.NDArray[np.int64], below: npt.NDArray[np.int64], low: int, high: int
) -> _Cut:
    """The unit that holds the median goes to both sides, by coins that balance them."""
    ends = np.append(breaks, high - low)
    total = float(below[-1])
    unit = min(int(np.argmax(below[ends] >= total / 2)), len(ends) - 1)
    start = int(ends[unit - 1]) + 1 if unit else 0
    before = float(below[start - 1]) if start else 0.0
    inside = float(below[ends[unit]]) - before
    chance = (total / 2 - before) / inside if inside > 0 else 0.5
    chance = min(max(chance, 0.0), 1.0)
    size = before + chance * inside
    return _Cut(low + int(ends[unit]), low + start, chance, size, total - size)


def _widest(scores: Floats) -> int:
    return int(np.argmax(scores))
