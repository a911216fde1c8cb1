"""Grow a tree of cuts from public domains, a public depth and noisy counts only.

Whether and where a cell may be cut depends on its box, never on its rows. All cells of
a level are disjoint, so that one level costs what one cell costs; levels add up.

A deep tree has more cells than can be kept. What is published shows only cells that have
rows, and the noise of a cell is independent of all other noise: so a tree that keeps
occupied cells alone gives every release the same probability as the whole tree would.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sfumato.algorithms.base import Progress
from sfumato.algorithms.private.tree_plan import TreePlan
from sfumato.data.arrays import Codes, Flags, Floats, Ints
from sfumato.dp.additive_noise import Geometric
from sfumato.dp.batch_choice import BatchExponential
from sfumato.dp.cost import Cost
from sfumato.dp.ledger import Ledger
from sfumato.dp.sampling import coins
from sfumato.errors import RefusedError
from sfumato.hierarchies.axis import Axis, CodedAxis
from sfumato.kernels.common.group_boxes import group_bounds

WHOLE_DEPTH = 16
"""Most levels of a tree whose cells are all kept."""
MOST_COUNTS = 4_000_000
"""Noisy counts that one level of a whole tree may need, or one batch of another."""


class CellCut(NamedTuple):
    """A cell that was cut: the lower part keeps its number, the upper has a new one."""

    cell: int
    new: int


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
        leaves = np.arange(low, high)
        ends = np.full(len(leaves), low), np.full(len(leaves), high)
        return self.breaks_at(leaves, *ends)

    def breaks_at(self, leaves: Ints, low: Ints, high: Ints) -> Flags:
        """Whether a cut may fall behind leaves of the runs low … high."""
        inside = np.asarray(leaves < high)
        if self.hierarchies:
            levels, place = self.axis.levels, np.flatnonzero(inside)
            ends = levels[:, low[place]] == levels[:, high[place]]
            below = np.maximum(np.argmax(ends, axis=0) - 1, 0)
            inside[place] = self._breaks[below, leaves[place]]
        return inside

    def width(self, low: Codes, high: Codes) -> Floats:
        """The normalized width of runs of leaves; 0 where there is none."""
        span = np.maximum(high - low, 0) / max(self.axis.size - 1, 1)
        return np.where(high < 0, 0.0, span)


def grow(
    quasi: tuple[CodedAxis, ...], plan: TreePlan, ledger: Ledger, progress: Progress
) -> CellTree:
    """Charge every level of the plan, then grow the tree.

    Levels that nothing is left to cut at are charged as well: that a tree ended early
    is an outcome, and the claim is about all outcomes.
    """
    for what, epsilon in plan.charges():
        ledger.charge_parts(what, [Cost(epsilon)] * 2, rows="disjoint cells")
    grower = _Grower(quasi, plan)
    level, most = 1, longest_path(quasi)
    while plan.has(level):
        progress("cuts", min(level / most, 0.99))
        if not grower.level(level):
            break
        level += 1
    return grower.tree


def longest_path(quasi: tuple[CodedAxis, ...]) -> int:
    """The most levels that strict cuts can have: each leaves a leaf of a box behind."""
    return max(sum(coded.axis.size - 1 for coded in quasi), 1)


class CutCells(NamedTuple):
    """The cells that a level cuts, and the attribute of each."""

    cells: Ints
    axes: Codes

    def part(self, start: int, stop: int) -> CutCells:
        return CutCells(self.cells[start:stop], self.axes[start:stop])


class _Grower:
    def __init__(self, quasi: tuple[CodedAxis, ...], plan: TreePlan) -> None:
        self.plan = plan
        self.axis_cuts = [AxisCuts(coded.axis, plan.hierarchies) for coded in quasi]
        self.codes = np.array([coded.codes for coded in quasi], dtype=np.int32)
        sizes = np.array([coded.axis.size for coded in quasi], dtype=np.int32)
        self.tree = CellTree(
            cell_of=np.zeros(self.codes.shape[1], dtype=np.int32),
            low=np.zeros((1, len(quasi)), dtype=np.int32),
            high=sizes[None, :] - 1,
            sizes=np.zeros(1),
        )

    def level(self, number: int) -> bool:
        """Cut every cell that its box lets cut; whether there was one."""
        allowed = self._cuttable()
        cells = np.flatnonzero(allowed.any(axis=1))
        if not len(cells):
            return False
        axes = self._chosen_axes(cells, allowed[cells], number)
        asked = CutCells(cells, axes)
        parts = list(self._parts(asked))
        noise = Geometric(epsilon=self.plan.at(number).count)
        cuts = [self._places(part, self._noisy_counts(part, noise)) for part in parts]
        self._apply(asked, _ChosenCuts.joined(cuts))
        return True

    def _cuttable(self) -> Flags:
        """(cells, axes): whether the box can be cut on the axis; looks at no row."""
        return np.asarray(self.tree.high > self.tree.low, dtype=np.bool_)

    def _chosen_axes(self, cells: Ints, allowed: Flags, number: int) -> Codes:
        widths = np.where(allowed, self._widths()[cells], -1.0)
        selection = self.plan.at(number).selection
        if selection > 0:
            chosen = BatchExponential(epsilon=selection).select(widths, allowed)
        else:
            chosen = np.argmax(widths, axis=1)
        return chosen.astype(np.int32)

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

    def _parts(self, asked: CutCells) -> Iterator[CutCells]:
        """The cells in batches of counts; a whole tree must do with one."""
        tree = self.tree
        widths = (tree.high - tree.low)[asked.cells, asked.axes].astype(np.int64) + 1
        ends = np.cumsum(widths)
        if not self.plan.occupied and ends[-1] > MOST_COUNTS:
            raise RefusedError(
                f"One level of cuts needs {ends[-1]} noisy counts; {MOST_COUNTS:,} are "
                "drawn at most.",
                hint="Declare coarser domains, or lower 'depth'.",
            )
        batch = (ends - 1) // MOST_COUNTS
        starts = np.flatnonzero(np.diff(batch, prepend=-1))
        for start, stop in zip(starts, [*starts[1:], len(batch)], strict=True):
            yield asked.part(int(start), int(stop))

    def _noisy_counts(self, asked: CutCells, noise: Geometric) -> _NoisyHistograms:
        """Counts of every leaf of every cell's box on its axis, one batch of noise."""
        cells, axes = asked
        low = self.tree.low[cells, axes].astype(np.int64)
        high = self.tree.high[cells, axes].astype(np.int64)
        starts = np.concatenate([[0], np.cumsum(high - low + 1)])
        axis_of = np.full(self.tree.count, -1, dtype=np.int32)
        offset = np.zeros(self.tree.count, dtype=np.int64)
        axis_of[cells], offset[cells] = axes, starts[:-1] - low
        rows = np.flatnonzero(axis_of[self.tree.cell_of] >= 0)
        cell = self.tree.cell_of[rows]
        places = self.codes[axis_of[cell], rows] + offset[cell]
        counts = np.bincount(places, minlength=int(starts[-1]))
        return _NoisyHistograms(noise.release(counts), starts, low, high)

    def _places(self, asked: CutCells, seen: _NoisyHistograms) -> _ChosenCuts:
        """The cuts nearest to the noisy medians, among those the boxes allow."""
        allowed = np.zeros(len(seen.counts), dtype=np.bool_)
        owner = seen.owner
        leaves = np.arange(len(owner)) - seen.starts[owner] + seen.low[owner]
        for axis, cuts in enumerate(self.axis_cuts):
            here = np.flatnonzero(asked.axes[owner] == axis)
            mine = owner[here]
            allowed[here] = cuts.breaks_at(
                leaves[here], seen.low[mine], seen.high[mine]
            )
        if self.plan.relaxed:
            return _relaxed_cuts(seen, allowed)
        return _strict_cuts(seen, allowed)

    def _apply(self, asked: CutCells, cuts: _ChosenCuts) -> None:
        """Send rows to the upper cells, and divide the boxes."""
        above = self._above(asked, cuts)
        if not self.plan.occupied:
            self._divide(asked, cuts, above)
            return
        count = self.tree.count
        up = np.bincount(self.tree.cell_of[above], minlength=count)[asked.cells]
        all_rows = np.bincount(self.tree.cell_of, minlength=count)[asked.cells]
        both = (up > 0) & (up < all_rows)
        self._shrink(asked, cuts, lower=up == 0, upper=(up > 0) & ~both)
        moved = np.isin(self.tree.cell_of[above], asked.cells[both])
        self._divide(
            CutCells(asked.cells[both], asked.axes[both]),
            cuts.only(np.flatnonzero(both)),
            above[moved],
        )

    def _above(self, asked: CutCells, cuts: _ChosenCuts) -> Ints:
        """The rows that go up. Where a row goes depends only on itself."""
        tree, (cells, axes) = self.tree, asked
        axis_of = np.full(tree.count, -1, dtype=np.int32)
        axis_of[cells] = axes
        place = np.zeros(tree.count, dtype=np.int64)
        place[cells] = np.arange(len(cells))
        rows = np.flatnonzero(axis_of[tree.cell_of] >= 0)
        cell = tree.cell_of[rows]
        code, cut = self.codes[axis_of[cell], rows], place[cell]
        above = code > cuts.last_below[cut]
        # Halving ties by rank, as in the thesis, would let one row move others to
        # another cell. Cells would no longer be independent, so each tie gets its own
        # coin.
        either = ~above & (code >= cuts.first_above[cut])
        above[either] = ~coins(cuts.chance_below[cut[either]])
        return np.asarray(rows[above])

    def _shrink(
        self, asked: CutCells, cuts: _ChosenCuts, *, lower: Flags, upper: Flags
    ) -> None:
        """Keep the one part that has rows, in place of the cell."""
        tree, (cells, axes) = self.tree, asked
        tree.high[cells[lower], axes[lower]] = cuts.last_below[lower]
        tree.sizes[cells[lower]] = cuts.below[lower]
        tree.low[cells[upper], axes[upper]] = cuts.first_above[upper]
        tree.sizes[cells[upper]] = cuts.above[upper]

    def _divide(self, asked: CutCells, cuts: _ChosenCuts, above: Ints) -> None:
        tree, (cells, axes) = self.tree, asked
        new = tree.count + np.arange(len(cells))
        number = np.zeros(tree.count, dtype=np.int32)
        number[cells] = new
        tree.cell_of[above] = number[tree.cell_of[above]]
        low, high = tree.low[cells].copy(), tree.high[cells].copy()
        low[np.arange(len(cells)), axes] = cuts.first_above
        tree.high[cells, axes] = cuts.last_below
        tree.sizes[cells] = cuts.below
        tree.splits.extend(map(CellCut, cells.tolist(), new.tolist()))
        tree.low, tree.high = np.vstack([tree.low, low]), np.vstack([tree.high, high])
        tree.sizes = np.append(tree.sizes, cuts.above)


@dataclass(frozen=True, eq=False)
class _NoisyHistograms:
    """Noisy counts of the leaves of several boxes, one after the other."""

    counts: Ints
    starts: Ints
    low: Ints
    high: Ints

    @cached_property
    def owner(self) -> Ints:
        """The box of each count."""
        return np.repeat(np.arange(len(self.low)), np.diff(self.starts))

    @cached_property
    def below(self) -> Ints:
        """The counts of each box added up, from its lowest leaf on."""
        added = np.cumsum(self.counts)
        before = np.concatenate([[0], added])[self.starts[:-1]]
        return np.asarray(added - before[self.owner])

    @property
    def total(self) -> Ints:
        return np.asarray(self.below[self.starts[1:] - 1])


@dataclass(frozen=True, eq=False)
class _ChosenCuts:
    """One cut for each of several cells."""

    last_below: Ints
    first_above: Ints
    """At most `last_below` in a relaxed cut: the leaves between may go either way."""
    chance_below: Floats
    below: Floats
    above: Floats

    @classmethod
    def joined(cls, parts: list[_ChosenCuts]) -> _ChosenCuts:
        names = [each.name for each in fields(cls)]
        return cls(*(np.concatenate([getattr(p, n) for p in parts]) for n in names))

    def only(self, places: Ints) -> _ChosenCuts:
        return _ChosenCuts(*(getattr(self, each.name)[places] for each in fields(self)))


def _strict_cuts(seen: _NoisyHistograms, allowed: Flags) -> _ChosenCuts:
    gap = np.abs(2 * seen.below - seen.total[seen.owner])
    gap[~allowed] = np.iinfo(np.int64).max
    least = np.minimum.reduceat(gap, seen.starts[:-1])
    hits = np.flatnonzero(gap == least[seen.owner])
    first = hits[np.searchsorted(hits, seen.starts[:-1])]
    edge = seen.low + first - seen.starts[:-1]
    below = seen.below[first].astype(np.float64)
    return _ChosenCuts(edge, edge + 1, np.ones(len(edge)), below, seen.total - below)


def _relaxed_cuts(seen: _NoisyHistograms, allowed: Flags) -> _ChosenCuts:
    lines = []
    for place, low in enumerate(seen.low):
        inside = slice(seen.starts[place], seen.starts[place + 1])
        breaks = np.flatnonzero(allowed[inside])
        lines.append(_relaxed_cut(breaks, seen.below[inside], int(low)))
    last, first, chance, below, above = (np.array(c) for c in zip(*lines, strict=True))
    return _ChosenCuts(last, first, chance, below, above)


def _relaxed_cut(
    breaks: Ints, below: Ints, low: int
) -> tuple[int, int, float, float, float]:
    """The unit that holds the median goes to both sides, by coins that balance them."""
    ends = np.append(breaks, len(below) - 1)
    total = float(below[-1])
    unit = min(int(np.argmax(below[ends] >= total / 2)), len(ends) - 1)
    start = int(ends[unit - 1]) + 1 if unit else 0
    before = float(below[start - 1]) if start else 0.0
    inside = float(below[ends[unit]]) - before
    chance = (total / 2 - before) / inside if inside > 0 else 0.5
    chance = min(max(chance, 0.0), 1.0)
    size = before + chance * inside
    return low + int(ends[unit]), low + start, chance, size, total - size
