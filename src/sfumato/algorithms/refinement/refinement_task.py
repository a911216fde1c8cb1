"""The state of a refinement: rows, groups and when to stop."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.common.compiled_rules import Compiled
from sfumato.algorithms.common.parallel_ranges import Step, work_through
from sfumato.algorithms.refinement.growth_targets import make_growth_targets
from sfumato.algorithms.request import PriceGuide, Request
from sfumato.data.arrays import Floats, Ints
from sfumato.data.seeds import Seed
from sfumato.kernels.common.random_streams import mixed
from sfumato.kernels.refinement.known_boxes import PricedRows
from sfumato.kernels.refinement.point_space import PointSpace, make_point_space
from sfumato.kernels.refinement.pools import Pool, PoolRules, make_pool, make_pool_rules
from sfumato.kernels.refinement.refinement_round import number_groups
from sfumato.kernels.refinement.regroup import GrowthTargets

LITTLE_GAP = 0.05
"""A pool is passed over if it could gain only this share of what it loses."""
ROWS, FEWEST_GROUPS = 8192, 128
"""A large block has about so many rows, and at least so many groups."""
LEAST_PART = 0.35
"""The least share of groups on one side of a random cut."""


@dataclass(frozen=True, kw_only=True)
class StopConditions:
    """When to stop, and what is reported until then."""

    began: float = field(default_factory=time.monotonic)
    deadline: float = math.inf
    budget: float = math.inf
    spent: float = 0.0
    step: str = "splitting groups"

    @property
    def share(self) -> float:
        """How much of the work is done, or of the time if that is more."""
        if self.spent >= self.budget or self.deadline <= self.began:
            return 1.0
        passed = (time.monotonic() - self.began) / (self.deadline - self.began)
        return min(max(self.spent / self.budget, passed), 1.0)


@dataclass(eq=False, kw_only=True)
class RefinementTask:
    """A grouping in the form the kernels work on; rows are sorted by what they hold."""

    space: PointSpace
    pool_rules: PoolRules
    targets: GrowthTargets
    values: npt.NDArray[np.int32]
    """(views, rows)"""
    order: Ints
    """The request's row behind each row here."""
    item_of: Ints
    label: Ints
    """For each row, a row of its group that stands for it."""
    rows: Ints
    starts: Ints
    best: Ints
    """The labels of the grouping that loses least so far."""
    priced: PricedRows
    """What is known of the rows here beforehand."""
    enough: Floats
    """What each row may lose if its pool is to be passed over."""
    pools: list[Pool] = field(default_factory=list)

    @property
    def count(self) -> int:
        """How many groups there are."""
        return len(self.starts) - 1

    def group_of(self) -> npt.NDArray[np.int32]:
        """The group of each row of the request."""
        sizes = np.diff(self.starts)
        result = np.empty(len(self.order), dtype=np.int32)
        result[self.order[self.rows]] = np.repeat(
            np.arange(len(sizes), dtype=np.int32), sizes
        )
        return result

    @contextmanager
    def pool(self) -> Iterator[Pool]:
        """A pool that no other thread is using."""
        try:
            pool = self.pools.pop()
        except IndexError:
            pool = make_pool(self.space, len(self.values))
        yield pool
        self.pools.append(pool)


def prepare(
    request: Request,
    compiled: Compiled,
    group_of: npt.NDArray[np.int32],
    guide: PriceGuide | None = None,
) -> RefinementTask:
    """Sort rows and groups by what they hold, so that their order does not matter."""
    order, item_of = sorted_items(request, compiled)
    owner = _by_content(group_of[order], item_of)
    within = np.lexsort([owner, item_of])
    order, label = order[within], _first_rows(owner[within])
    rows, starts = number_groups(label)
    return RefinementTask(
        space=make_point_space(
            [coded.axis for coded in request.quasi],
            [coded.codes[order] for coded in request.quasi],
        ),
        pool_rules=make_pool_rules(compiled.table),
        targets=make_growth_targets(compiled),
        values=np.ascontiguousarray(compiled.codes[:, order]),
        order=order,
        item_of=item_of,
        label=label,
        best=label.copy(),
        rows=rows,
        starts=starts,
        priced=_no_prices(len(rows)) if guide is None else priced_rows(guide, order),
        enough=np.zeros(len(rows)) if guide is None else _enough(guide)[order],
    )


def _no_prices(rows: int) -> PricedRows:
    """Nothing is known: rows may lose nothing, and no box is near."""
    none = np.zeros(0, dtype=np.int64)
    starts = np.zeros(1, dtype=np.int64)
    return PricedRows(
        np.zeros(rows), none, np.zeros(0), starts, np.zeros(0, dtype=np.int32)
    )


def _enough(guide: PriceGuide) -> Floats:
    """What rows lose if they lose little more than their prices.

    Only what they lose above what they lose anyway counts.
    """
    return (guide.prices - LITTLE_GAP * guide.own) / (1 - LITTLE_GAP)


def priced_rows(guide: PriceGuide, order: Ints) -> PricedRows:
    """A guide for rows in this order, with the boxes of each tuple together."""
    tuples = int(guide.tuple_of.max(initial=-1)) + 1
    boxes = np.repeat(
        np.arange(len(guide.costs), dtype=np.int32), np.diff(guide.starts)
    )
    by_tuple = np.argsort(guide.tuples, kind="stable")
    lengths = np.bincount(guide.tuples, minlength=tuples)
    return PricedRows(
        guide.prices[order],
        guide.tuple_of[order],
        guide.costs,
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        boxes[by_tuple],
    )


def sorted_items(request: Request, compiled: Compiled) -> tuple[Ints, Ints]:
    """Rows sorted by quasi-identifiers and views, and the item number of each."""
    keys = [*(coded.codes for coded in request.quasi), *compiled.codes]
    order = np.lexsort(keys[::-1]).astype(np.int64)
    new = np.zeros(len(order), dtype=np.bool_)
    for key in keys:
        ordered = key[order]
        new[1:] |= ordered[1:] != ordered[:-1]
    return order, np.cumsum(new, dtype=np.int64)


def _by_content(group_of: npt.NDArray[np.int32], item_of: Ints) -> Ints:
    """Groups renumbered by what they hold, whatever their numbers were."""
    content = np.zeros(int(group_of.max(initial=-1)) + 1, dtype=np.uint64)
    np.add.at(content, group_of, mixed(item_of))
    rank = np.empty(len(content), dtype=np.int64)
    rank[np.argsort(content, kind="stable")] = np.arange(len(content))
    return rank[group_of]


def _first_rows(owner: Ints) -> Ints:
    """For each row the first row of its group."""
    _, first, number = np.unique(owner, return_index=True, return_inverse=True)
    return np.asarray(first[number.ravel()], dtype=np.int64)


def blocks_of_groups(task: RefinementTask, seed: Seed) -> tuple[Ints, Ints]:
    """Split all groups by a random tree into blocks of about as many rows."""
    count = task.count
    most = max(FEWEST_GROUPS, ROWS * count // max(len(task.rows), 1))
    points = task.space.points[task.rows[task.starts[:-1]]]
    order = seed.child("order").permutation(count)
    parts = split_randomly(order, points, seed.child("cuts"), most)
    bounds = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    return np.concatenate(parts), bounds.astype(np.int64)


def split_randomly(
    groups: Ints, points: npt.NDArray[np.int32], seed: Seed, most: int
) -> list[Ints]:
    """Split groups by a random tree into parts of at most so many that are alike."""
    waiting, parts, cuts = [groups], [], 0
    while waiting:
        part = waiting.pop()
        if len(part) <= most:
            parts.append(part)
            continue
        draws = seed.child(cuts).uniform(points.shape[1] + 1)
        cuts += 1
        codes = _first_that_varies(points[part], np.argsort(draws[1:]))
        ordered = part[np.argsort(codes, kind="stable")]
        cut = int(len(part) * (LEAST_PART + draws[0] * (1 - 2 * LEAST_PART)))
        waiting += [ordered[:cut], ordered[cut:]]
    return parts


def _first_that_varies(points: npt.NDArray[np.int32], axes: Ints) -> Ints:
    """The codes on the first of the axes on which points differ; else on the last."""
    for axis in axes:
        codes = points[:, axis]
        if codes.min() < codes.max():
            break
    return np.asarray(codes)


def rows_of_blocks(task: RefinementTask, blocks: Ints, bounds: Ints) -> Ints:
    """How many rows the groups of each block have."""
    reached = np.concatenate([[0], np.cumsum(np.diff(task.starts)[blocks])])
    return np.diff(reached[bounds])


def through_blocks(
    request: Request, limits: StopConditions, rows: Ints, step: Step
) -> None:
    """Take a step on each block, on all threads, and report progress.

    `rows` has the rows of each. The largest come first, so that no thread is left with
    one at the end; the result is the same in any order.
    """
    request.progress(limits.step, limits.share)
    order = np.argsort(rows, kind="stable")
    work_through(
        [(block, block + 1) for block in order.tolist()],
        step,
        threads=request.threads if len(rows) > 1 else 1,
        done=lambda _: request.progress(limits.step, limits.share),
    )
