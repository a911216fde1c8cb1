"""Close groups and open others anywhere in a block, warm at first and then cold.

Pools exchange rows between groups near each other. What they miss is far apart: rows that
lose much and would fit together, if rows joined them that other groups do not need. So
from time to time, groups are closed and boxes of the lattice opened
(`kernels/refinement/close_and_open.py`). At first the result may lose more than before; how
much is the *heat*, which falls to nothing as the work is spent. Refinement keeps the best
grouping it has seen.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.common.parallel_ranges import Clock, Range
from sfumato.algorithms.refinement.refinement_task import (
    RefinementTask,
    StopConditions,
    split_randomly,
    through_blocks,
)
from sfumato.algorithms.refinement.refinement_work import block_limit
from sfumato.algorithms.request import Request
from sfumato.data.arrays import Floats, Ints
from sfumato.data.rules import Rule
from sfumato.data.seeds import Seed
from sfumato.hierarchies.axis import Shape
from sfumato.kernels.refinement.close_and_open import (
    CLOSING,
    LEAST,
    LOOKS_PER_WEIGHED,
    OPENING,
    reopen_blocks,
)
from sfumato.kernels.refinement.refinement_round import RefinedGroups, total_loss

NODES = 1 << 16
"""No boxes are looked for in a larger lattice."""
MOST_VALUES = 256
"""… nor where rules look at more values than this."""
ROWS, MOST_ROWS = 8192, 4 * 8192
FEWEST_GROUPS = 64
"""A block has about so many rows, and at least so many groups, which must not have more
rows than `MOST_ROWS`."""
CLOSES, OPENS = 4.0, 2.0
"""How much closing and opening a group may lose on average at full heat: what so many
rows lose."""
WORTH = 0.15
"""A box is looked at if it promises to gain so much: this share of what a group loses."""
LOOKS = 60_000_000
"""Looks at parts of boxes in one block, at most."""
COLD = 0.85
"""After this share of the work nothing may lose any more."""
TIMES_PER_GROUP, MOST_TIMES = 0.5, 1000
"""How often groups are reopened before it is cold, at most."""
FEW_TIMES, MANY_TIMES = 8, 40
"""With so few times it is never warm, with so many more it is fully warm at first."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Reopening:
    """How groups of a task are closed and opened."""

    axes: Ints
    """Axes in the order in which boxes are searched: most nodes first."""
    lossless: float
    """What a row loses anyway, in parts of all weights."""
    most: int
    """How often groups are reopened before it is cold."""
    full: float = 0.0
    """The warmth to begin with."""

    def warmed(self, share: float) -> Reopening:
        """The same, as warm as is worth it where one time takes this share of the work.

        What a warm start loses has to be gained back: few times are best all cold.
        """
        times = min(1.0 / max(share, 1e-9), self.most)
        return replace(self, full=min(max((times - FEW_TIMES) / MANY_TIMES, 0.0), 1.0))

    def warmth(self, share: float, times: int) -> float:
        """How warm it is after a share of the work, and after so many times."""
        return self.full * max(1.0 - max(share / COLD, times / self.most), 0.0)

    def heat(
        self, task: RefinementTask, groups: RefinedGroups, warmth: float
    ) -> Floats:
        """Losses allowed, for a warmth from 1 down to 0."""
        anyway = self.lossless * len(groups.rows) * task.space.weight
        total = max(total_loss(task.space, groups) - anyway, 0.0)
        row, group = total / len(groups.rows), total / max(len(groups.starts) - 1, 1)
        result = np.zeros(3)
        result[CLOSING], result[OPENING] = CLOSES * warmth * row, OPENS * warmth * row
        result[LEAST] = WORTH * group
        return result


def reopening_of(request: Request, task: RefinementTask) -> Reopening:
    """How the groups of a task are reopened."""
    nodes = [-len(coded.axis.node_ncp) for coded in request.quasi]
    groups = len(task.starts) - 1
    return Reopening(
        axes=np.argsort(nodes, kind="stable").astype(np.int64),
        lossless=request.lossless,
        most=min(MOST_TIMES, 1 + int(TIMES_PER_GROUP * groups)),
    )


def can_reopen(request: Request, task: RefinementTask, rules: Sequence[Rule]) -> bool:
    """Whether boxes of a lattice can become groups.

    Where shares of values are compared with the table's, a box hardly ever can. Blocks
    of very large groups would take too long.
    """
    axes = [coded.axis for coded in request.quasi]
    trees = all(axis.shape is Shape.TREE for axis in axes)
    if not axes or not trees or math.prod(axis.height for axis in axes) > NODES:
        return False
    if FEWEST_GROUPS * len(task.rows) > MOST_ROWS * (len(task.starts) - 1):
        return False
    if any(rule.traits.compares_with_table for rule in rules):
        return False
    return task.pool_rules.plain or _most_values(task.values) <= MOST_VALUES


def _most_values(values: npt.NDArray[np.int32]) -> int:
    """The most values that a view has."""
    return max((len(np.unique(view)) for view in values), default=0)


def reopen_groups(
    request: Request,
    task: RefinementTask,
    how: Reopening,
    groups: RefinedGroups,
    *,
    seed: Seed,
    warmth: float,
    limits: StopConditions,
    clock: Clock,
) -> npt.NDArray[np.float64]:
    """Close and open groups once in all blocks; the figures of each block."""
    blocks, bounds = _blocks(task, seed.child("blocks"))
    figures = np.zeros((len(bounds) - 1, 4))
    starts = seed.child("blocks", "streams").words(len(bounds) - 1)
    heat = how.heat(task, groups, warmth)
    weighed = block_limit(limits.budget, limits.spent, len(bounds) - 1)
    looks = min(LOOKS, LOOKS_PER_WEIGHED * min(weighed, LOOKS))

    def step(first: int, last: int) -> Iterable[Range]:
        if time.monotonic() > limits.deadline:
            return []
        with clock.running():
            reopen_blocks(
                task.space,
                task.pool_rules,
                task.values,
                groups,
                blocks,
                bounds,
                first,
                last,
                starts,
                how.axes,
                heat,
                looks,
                weighed,
                task.label,
                figures,
            )
        return []

    through_blocks(request, limits, len(bounds) - 1, step)
    return figures


def _blocks(task: RefinementTask, seed: Seed) -> tuple[Ints, Ints]:
    """Split all groups by a random tree into blocks of about as many rows."""
    count = len(task.starts) - 1
    most = max(FEWEST_GROUPS, ROWS * count // max(len(task.rows), 1))
    points = task.space.points[task.rows[task.starts[:-1]]]
    order = seed.child("order").permutation(count)
    parts = split_randomly(order, points, seed.child("cuts"), most)
    bounds = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    return np.concatenate(parts), bounds.astype(np.int64)
