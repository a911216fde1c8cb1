"""Share the budget of a tree of cuts among its levels, in advance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from sfumato.dp.cost import Relation
from sfumato.errors import PolicyError

Depth = int | Literal["unlimited"]

FALL = 0.9
"""Without a declared depth, a level costs this times the level above."""
ATTRIBUTES = "attribute of every cell"
COUNTS = "counts of every value in every cell"
LEAST_EPSILON = 2.0**-50
"""A level with less has no budget left that noise could be drawn for."""


@dataclass(frozen=True)
class LevelCost:
    """The ε of one level, for one cell."""

    selection: float
    """Of choosing an attribute; 0: the widest box decides, at no cost."""
    count: float
    """Of the noisy counts."""


@dataclass(frozen=True, eq=False, kw_only=True)
class TreePlan:
    """How a tree is grown; all of it is public."""

    depth: Depth
    """Levels; "unlimited": as many as there is something to cut."""
    selection: float
    """ε of choosing an attribute, at the first level."""
    count: float
    """ε of the noisy counts, at the first level."""
    hierarchies: bool = True
    """Whether cuts fall between children of a node, or between any two leaves."""
    relaxed: bool = False
    """Whether rows at the median may go to either side."""
    occupied: bool = False
    """Whether only cells that have rows are kept: the others show nothing."""

    @classmethod
    def within(
        cls,
        epsilon: float,
        *,
        depth: Depth,
        selection: float,
        count: float,
        relation: Relation,
        hierarchies: bool,
        relaxed: bool,
        occupied: bool = False,
    ) -> TreePlan:
        """The plan whose levels cost ε in all, each by the shares of its parts.

        A declared depth shares ε evenly; without one, levels cost ε(1 − f), ε(1 − f)f,
        ε(1 − f)f² …, which never add up to more than ε. A substituted row is in two
        cells, and costs twice.
        """
        if count <= 0:
            raise PolicyError(
                "No budget is left to count the values in cells.",
                hint="Give budget.count a share above 0.",
            )
        touched = 1 if relation is Relation.ADD_REMOVE else 2
        level = epsilon * first_share(depth) / touched / (selection + count)
        return cls(
            depth=depth,
            selection=level * selection,
            count=level * count,
            hierarchies=hierarchies,
            relaxed=relaxed,
            occupied=occupied,
        )

    def at(self, level: int) -> LevelCost:
        """What a level costs, from 1 on."""
        share = FALL ** (level - 1) if self.depth == "unlimited" else 1.0
        return LevelCost(self.selection * share, self.count * share)

    def has(self, level: int) -> bool:
        """Whether the plan has such a level, with budget that noise can be drawn for."""
        if self.depth == "unlimited":
            return self.at(level).count >= LEAST_EPSILON
        return level <= self.depth

    def charges(self) -> Iterator[tuple[str, float]]:
        """What the levels do and what it costs: each of a whole tree, else their sums.

        How many levels a tree without its empty cells took depends on the rows, so that
        no entry tells.
        """
        if isinstance(self.depth, int) and not self.occupied:
            for level in range(1, self.depth + 1):
                cost = self.at(level)
                if cost.selection > 0:
                    yield f"{ATTRIBUTES}, level {level}", cost.selection
                yield f"{COUNTS}, level {level}", cost.count
            return
        for what, first in ((ATTRIBUTES, self.selection), (COUNTS, self.count)):
            if first > 0:
                yield f"{what}, {self._levels(first)}", first * self._times

    @property
    def _times(self) -> float:
        """What all levels cost, in costs of the first."""
        return 1.0 / (1.0 - FALL) if self.depth == "unlimited" else float(self.depth)

    def _levels(self, first: float) -> str:
        if self.depth == "unlimited":
            return f"all levels: {first:.6g} at the first, then {FALL:g} times the last"
        return f"{self.depth} levels at {first:.6g} each"


def first_share(depth: Depth) -> float:
    """The share of the budget that the first level costs."""
    return 1.0 - FALL if depth == "unlimited" else 1.0 / depth
