"""Merge tree cells that do not meet the requirements with neighbors, or leave them out.

This looks at the rows, and is outside of any guarantee about the cuts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.algorithms.base import Request
from sfumato.algorithms.common.compiled_rules import Compiled, compile_rules
from sfumato.algorithms.private.noisy_tree import CellCut, CellTree
from sfumato.data.arrays import Codes, Ints
from sfumato.data.grouping import SUPPRESSED
from sfumato.errors import InfeasibleError


@dataclass(frozen=True, eq=False)
class MergedCells:
    """Cells that are shown together, under the smallest box over theirs."""

    cells: tuple[int, ...]
    low: Codes
    high: Codes
    allowed: bool


@dataclass(frozen=True, eq=False)
class Merged:
    """The outcome: a group for every row of the sample, and each group's box."""

    group_of: Codes
    low: Codes
    high: Codes

    @property
    def left_out(self) -> int:
        return int((self.group_of == SUPPRESSED).sum())


@dataclass(frozen=True, eq=False)
class TreeCells:
    """The cells of a tree with their rows, to be judged."""

    request: Request
    tree: CellTree
    compiled: Compiled

    @classmethod
    def of(cls, request: Request, tree: CellTree) -> TreeCells:
        return cls(request, tree, compile_rules(request))

    @cached_property
    def _order(self) -> tuple[Ints, Ints]:
        order = np.argsort(self.tree.cell_of, kind="stable")
        sizes = np.bincount(self.tree.cell_of, minlength=self.tree.count)
        return order, np.concatenate([[0], np.cumsum(sizes)])

    def rows(self, cells: Sequence[int]) -> Ints:
        """The rows of some cells."""
        order, starts = self._order
        return np.concatenate([order[starts[c] : starts[c + 1]] for c in cells])

    def group(self, cells: tuple[int, ...]) -> MergedCells:
        """Some cells as one group, judged."""
        listed = list(cells)
        return MergedCells(
            cells,
            self.tree.low[listed].min(axis=0),
            self.tree.high[listed].max(axis=0),
            self.compiled.allows(self.rows(cells)),
        )

    def filled(self, cell: int) -> list[MergedCells]:
        """A cell as a group, if it has rows."""
        _, starts = self._order
        return [self.group((cell,))] if starts[cell + 1] > starts[cell] else []


def merged(cells: TreeCells, splits: Sequence[CellCut], *, join: bool) -> Merged:
    """Groups that meet every rule: cells joined from the leaves up, or left out."""
    if join:
        groups = _joined(cells, splits)
    else:
        every = range(cells.tree.count)
        groups = [g for c in every for g in cells.filled(c) if g.allowed]
    if not groups or not all(group.allowed for group in groups):
        models = " and ".join(str(model) for model in cells.request.models)
        raise InfeasibleError(
            f"{models}: none of {cells.tree.count:,} cells meets it, "
            f"with {cells.request.rows:,} rows drawn.",
            hint="Draw a larger sample, or relax the requirements.",
        )
    return _numbered(cells, groups)


def _joined(cells: TreeCells, splits: Sequence[CellCut]) -> list[MergedCells]:
    """Undo cuts from the last to the first, mending what fails within each cell."""
    standing = {cell: cells.filled(cell) for cell in range(cells.tree.count)}
    for split in reversed(splits):
        together = standing[split.cell] + standing.pop(split.new)
        standing[split.cell] = _joined_with_neighbors(cells, together)
    return standing[0]


def _joined_with_neighbors(
    cells: TreeCells, groups: list[MergedCells]
) -> list[MergedCells]:
    """Join each failing group with the neighbor whose common box is smallest."""
    while len(groups) > 1:
        failing = next((g for g in groups if not g.allowed), None)
        if failing is None:
            return groups
        others = [g for g in groups if g is not failing]
        partner = others[_nearest(cells, failing, others)]
        rest = [g for g in others if g is not partner]
        groups = [*rest, cells.group(failing.cells + partner.cells)]
    return groups


def _nearest(cells: TreeCells, group: MergedCells, others: list[MergedCells]) -> int:
    sizes = np.array([max(q.axis.size - 1, 1) for q in cells.request.quasi])
    low = np.minimum(group.low, np.array([other.low for other in others]))
    high = np.maximum(group.high, np.array([other.high for other in others]))
    return int(np.argmin(((high - low) / sizes).sum(axis=1)))


def _numbered(cells: TreeCells, groups: list[MergedCells]) -> Merged:
    of_cell = np.full(cells.tree.count, SUPPRESSED, dtype=np.int32)
    for number, group in enumerate(groups):
        of_cell[list(group.cells)] = number
    return Merged(
        of_cell[cells.tree.cell_of],
        np.array([group.low for group in groups]),
        np.array([group.high for group in groups]),
    )
