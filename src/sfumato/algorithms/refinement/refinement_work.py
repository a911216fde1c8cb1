"""How much work a refinement may spend, how far it got, and what more would buy.

Work is counted in groups that were weighed up. Weighing one up takes longer on more
columns, and on columns of very many values, whose losses are in no table. So beyond
`COLUMNS` columns fewer are weighed: the time that effort 1 takes grows with the rows, and
no longer with the columns.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sfumato.algorithms.request import Request
from sfumato.data.arrays import Floats
from sfumato.hierarchies.axis import Shape
from sfumato.kernels.common.geometry import PAIR_LIMIT

WORK = 95_000_000
WORK_PER_ROW = 400
"""The work of effort 1: seconds for tens of thousands of rows, some ten for a million."""
MORE_PER_ROW, MOST_MORE = 2000, 400_000_000
"""The work that is added at effort 1 where groups are reopened, or where all columns have
hierarchies and boxes are too many, or groups too large, for that."""
LEAST_PER_ROW = 1500
"""With less work per row, groups are not reopened: once takes about 900."""
LONGER, LONGEST = 3.0, 3.3
"""How many times that work is done where groups may show any range or set, and where
rules look at sensitive values: there is more to gain."""
COLUMNS = 16
"""With more columns than this, as many cells are weighed as with this many."""
UNTABLED = 3
"""How many columns one counts for whose losses are in no table."""
BEYOND = 1 / 8
"""How far the last pass may go beyond the work, at most."""


def usual_work(request: Request, *, plain: bool, reopened: bool = True) -> float:
    """The work of effort 1 before any for reopening groups.

    `plain` if rules look at nothing but sizes, `reopened` if groups could be reopened.
    """
    narrow = max(1, _columns(request) / COLUMNS)
    work = (WORK + WORK_PER_ROW * request.rows) / narrow
    if not plain:
        return LONGEST * work
    if not all(coded.axis.shape is Shape.TREE for coded in request.quasi):
        return LONGER * work
    return work if reopened else work + _more(request) / narrow


def work_with_reopening(request: Request, work: float, effort: float) -> float | None:
    """The work where groups are reopened too; None if that is too little to reopen any."""
    work += effort * _more(request)
    return work if work >= LEAST_PER_ROW * request.rows else None


def _more(request: Request) -> float:
    return min(MORE_PER_ROW * request.rows, MOST_MORE)


def _columns(request: Request) -> int:
    """How many columns it counts for to weigh up a group."""
    axes = [coded.axis for coded in request.quasi]
    tabled = [a.shape is Shape.FLAT or a.size <= PAIR_LIMIT for a in axes]
    return sum(1 if each else UNTABLED for each in tabled)


def block_limit(budget: float, spent: float, blocks: int) -> int:
    """How many groups each block of a pass may weigh up."""
    left = max(budget - spent, BEYOND * budget)
    return int(min(left / max(blocks, 1), np.iinfo(np.int64).max // 2))


@dataclass(eq=False, kw_only=True)
class LossHistory:
    """What refinement lost after each pass, and the work until then."""

    losses: list[float] = field(default_factory=list)
    work: list[int] = field(default_factory=lambda: [0])
    warm: bool = False
    """Whether a pass was allowed to lose."""

    def add(self, gain: float, work: int) -> None:
        """Note a pass."""
        self.losses.append(self.losses[-1] - gain)
        self.work.append(self.work[-1] + work)

    @property
    def loss(self) -> float:
        """The loss after the last pass."""
        return self.losses[-1]

    @property
    def least(self) -> float:
        """The least loss so far; a pass may lose, as long as it is warm."""
        return min(self.losses)

    @property
    def spent(self) -> int:
        """The work of all passes."""
        return self.work[-1]

    @property
    def at_half(self) -> float:
        """The least loss after half of the work."""
        return float(
            np.interp(self.spent / 2, self.work, np.minimum.accumulate(self.losses))
        )


def step_text(loss: float, bound: float | None) -> str:
    """Name the step of refinement for the progress bar, with how far it is."""
    if not bound:
        return f"refining groups: loss {loss:.4f}"
    above = max(loss / bound - 1, 0.0)
    return f"refining groups: loss {loss:.4f}, bound {bound:.4f}, {above:.0%} above it"


def summary(refinement: dict[str, Any]) -> str:
    """Say in sentences what refinement gained, why it ended and what more would buy."""
    before, after = refinement["loss_before"], refinement["loss"]
    ends = {
        "no gain": "until a round gained nothing",
        "little gain": "until a round gained very little",
        "effort": "until its work was spent",
        "time": "until its time was over",
        "interrupted": "until it was interrupted",
    }
    sentence = (
        f"Refinement lowered the loss from {before:.4f} to {after:.4f}, "
        f"{ends[refinement['stopped']]}."
    )
    return " ".join([sentence, *_what_more_buys(refinement)])


def _what_more_buys(refinement: dict[str, Any]) -> list[str]:
    """Name the gain of the second half: twice the work rarely gains as much again."""
    if refinement["stopped"] not in ("effort", "time", "interrupted"):
        return []
    gained = refinement["loss_at_half"] - refinement["loss"]
    share = max(gained / refinement["loss"], 0.0) if refinement["loss"] > 0 else 0.0
    sentence = f"The second half of the work lowered it by {share:.1%}"
    if refinement["warm"]:
        return [f"{sentence}; more work would lower it further."]
    option = "'refine = 2'" if refinement["stopped"] == "effort" else "twice the time"
    return [f"{sentence}; {option} would lower it by about as much again, or less."]


def history_of(loss: float) -> LossHistory:
    """Begin a history with the loss before the first pass."""
    return LossHistory(losses=[loss])


def total_of(figures: Floats, column: int) -> float:
    """Sum a figure over all blocks."""
    return float(figures[:, column].sum())
