"""Close groups and open others anywhere in a block, warm at first and then cold.

Pools exchange rows between groups near each other. What they miss is far apart: rows that
lose much and would fit together, if rows joined them that other groups do not need. So
from time to time, groups are closed and boxes of the lattice opened
(`kernels/refinement/close_and_open.py`). At first the result may lose more than before; how
much is the *heat*, which falls to nothing as the work is spent. Refinement keeps the best
grouping it has seen.

Where prices of rows are known, groups that lose hardly more than they must are not closed,
and most of the time only boxes are looked at that cost hardly more than prices ask for
(`kernels/refinement/known_boxes.py`), instead of searching the whole lattice.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.common.parallel_ranges import Clock, Range
from sfumato.algorithms.refinement.refinement_task import (
    FEWEST_GROUPS,
    ROWS,
    RefinementTask,
    StopConditions,
    blocks_of_groups,
    rows_of_blocks,
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
    GAP,
    LEAST,
    LOOKS_PER_WEIGHED,
    OPENING,
    reopen_blocks,
)
from sfumato.kernels.refinement.refinement_round import groups_of_rows

NODES = 1 << 16
"""No boxes are looked for in a larger lattice."""
MOST_VALUES = 256
"""… nor where rules look at more values than this."""
MOST_ROWS = 8 * ROWS
"""The groups of a block must not have more rows."""
CLOSES, OPENS = 4.0, 2.0
"""How much closing and opening a group may lose on average at full heat: what so many
rows lose."""
GUIDED = 2.5
"""Where prices are known, closing may lose so many times the root of a group's rows, and
opening half as much."""
CLOSED_ABOVE = 1.0
"""Groups are closed that lose so much more than they must: what so many rows lose."""
EVERY = 5
"""Passes from one reopening to the next, where the lattice is searched every time."""
SEARCHED = 20
"""Where boxes are known, the lattice is searched every so many times."""
WORTH = 0.15
"""A box is looked at if it promises to gain so much: this share of what a group loses."""
WORTH_WARM, WORTH_ROOT = 0.3, 1.6
"""The same at full heat, where prices are known and time is limited; but in groups so large
that it is more than so many times the root of their rows lose, that or `WORTH`."""
LOOKS = 60_000_000
"""Looks at parts of boxes in one block, at most."""
TIMES_PER_GROUP = 4
"""How often groups are reopened before it is cold, at most."""
MANY_TIMES, MANY_GUIDED = 40, 250
"""With so many times more than a few, it is fully warm at first."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Reopening:
    """How groups of a task are closed and opened."""

    axes: Ints
    """Axes in the order in which boxes are searched: most nodes first."""
    guided: bool
    """Whether prices and boxes are known."""
    timed: bool = False
    """Whether time is limited, and not work."""

    @property
    def many(self) -> int:
        """With so many times more than a few, it is fully warm at first."""
        return MANY_GUIDED if self.guided else MANY_TIMES

    @property
    def every(self) -> int:
        """Passes from one reopening of groups to the next."""
        return 1 if self.guided else EVERY

    def searches(self, times: int) -> bool:
        """Whether the lattice is searched the next time."""
        return not self.guided or times % SEARCHED == SEARCHED - 1

    def heat(self, task: RefinementTask, loss: float, warmth: float) -> Floats:
        """Losses allowed, for a warmth from 1 down to 0; `loss` is that of a cell now."""
        row, size = max(loss, 0.0) * task.space.weight, len(task.rows) / task.count
        allowed = np.array([CLOSES, OPENS])
        if self.guided:
            allowed = GUIDED * math.sqrt(size) * np.array([1.0, 0.5])
        result = np.zeros(4)
        result[CLOSING], result[OPENING] = allowed * warmth * row
        result[LEAST] = self.worth(size, warmth) * row * size
        result[GAP] = CLOSED_ABOVE * row if self.guided else 0.0
        return result

    def worth(self, size: float, warmth: float) -> float:
        """The share of a group's loss that a box must promise to gain.

        `size` is the rows of a group. Where there is time, small gains are for the end.
        """
        if not (self.guided and self.timed):
            return WORTH
        warm = WORTH + (WORTH_WARM - WORTH) * warmth
        return min(warm, max(WORTH, WORTH_ROOT / math.sqrt(size)))


def reopening_of(
    request: Request, task: RefinementTask, *, timed: bool = False
) -> Reopening:
    """How the groups of a task are reopened."""
    nodes = [-len(coded.axis.node_ncp) for coded in request.quasi]
    return Reopening(
        axes=np.argsort(nodes, kind="stable").astype(np.int64),
        guided=len(task.priced.costs) > 0,
        timed=timed,
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
    if FEWEST_GROUPS * len(task.rows) > MOST_ROWS * task.count:
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
    *,
    seed: Seed,
    heat: Floats,
    searched: bool,
    limits: StopConditions,
    clock: Clock,
) -> npt.NDArray[np.float64]:
    """Close and open groups once in all blocks; the figures of each block."""
    blocks, bounds = blocks_of_groups(task, seed.child("blocks"))
    figures = np.zeros((len(bounds) - 1, 4))
    starts = seed.child("blocks", "streams").words(len(bounds) - 1)
    groups = groups_of_rows(task.rows, task.starts)
    weighed = block_limit(limits.budget, limits.spent, len(bounds) - 1)
    looks = min(LOOKS, LOOKS_PER_WEIGHED * min(weighed, LOOKS)) if searched else 0

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
                task.priced,
                heat,
                looks,
                weighed,
                task.label,
                figures,
            )
        return []

    through_blocks(request, limits, rows_of_blocks(task, blocks, bounds), step)
    return figures
