"""Prices of rows: a lower bound on the loss that counts what rows do to each other.

A price for each row is *fair* if no box with k rows or more costs its rows less than
their prices ask: the mean of the k highest prices in it is at most what a row loses in
it. Then no grouping loses less than the sum of all prices: a group lies in a box, so the
mean of its prices, of k rows or more, is at most what each of its rows loses there.

Any prices become fair if each is changed by the least that a box around it has to
spare, be that a rise or a fall. One search of the lattice finds that (`tight_boxes`).
The first, from prices of nothing, gives each row its cheapest box with k rows, the bound
of a row by itself (`loss_bound`). After the second, the boxes that were tight so far are
known, and prices that ask for as much as those allow are found without a search
(`price_ascent`). They may be unfair in boxes not known yet; so the next search begins
on the way from the best fair prices to them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from sfumato.algorithms.common.parallel_ranges import work_through
from sfumato.algorithms.request import Request
from sfumato.data.arrays import Codes, Counts, Floats, Ints
from sfumato.hierarchies.axis import Axis, Shape
from sfumato.kernels.best.price_ascent import KnownBoxes, climb, known_spare
from sfumato.kernels.best.tight_boxes import (
    FOUND,
    LOOKS,
    MOST_LOOKS,
    LatticeCosts,
    PricedTuples,
    TightBoxes,
    find_tight_boxes,
    room_for_boxes,
)

REACH = 100_000_000_000
"""Nodes times tuples, at most, for a search that has a chance to end in time."""
FEWEST = 50
"""How often a search looks at each tuple at each level, roughly and on large tables."""
MOST = 800_000_000
"""Tuples looked at in all searches, by default: three seconds of CPU."""
MOST_PER_SECOND = 60_000_000
"""The same for every second that a run may take: a tenth of them, on two threads."""
MOST_POSSIBLE = 1 << 60
"""… whatever the seconds."""
ROUNDS = 24
"""Searches, at most."""
STEPS = 5
"""Steps towards what known boxes allow: so many more after each search."""
TOWARDS = 0.4
"""The share of the way to there at which the next search begins."""
LITTLE = 0.002
"""Searches end when known boxes promise to raise the sum by less than this share."""
PARTS = 3
"""Parts of a search that threads take; the same on any number of threads."""
KEPT = 16
"""For each tuple there is room for so many places in the boxes of a part."""
ROUNDING = 1e-9
"""All prices are lowered by this share of the highest, in case rounding made one unfair."""


@dataclass(frozen=True, eq=False)
class TuplePrices:
    """Fair prices of tuples, and the boxes that held prices down on the way to them."""

    prices: Floats
    boxes: KnownBoxes


def can_price(request: Request, tuples: int, looks: int) -> bool:
    """Whether there is a lattice, and one that can be searched with so many looks."""
    axes = [coded.axis for coded in request.quasi]
    if not axes or not all(axis.shape is Shape.TREE for axis in axes):
        return False
    heights = [axis.height for axis in axes]
    fewest = FEWEST * tuples * sum(heights)
    return fewest <= looks and math.prod(heights) * tuples <= REACH


def looks_within(seconds: float | None) -> int:
    """How many tuples searches may look at, by the time limit of the run."""
    if seconds is None:
        return MOST
    return int(min(seconds * MOST_PER_SECOND, MOST_POSSIBLE))


def row_prices(
    axes: Sequence[Axis],
    tuples: Codes,
    weights: Counts,
    *,
    least: int,
    looks: int = MOST,
    threads: int = 1,
    progress: Callable[[float], None] = lambda share: None,
) -> TuplePrices | None:
    """Fair prices of tuples on trees, in the unit of the axes' weights.

    None if not even one search can be ended within so many looks.
    """
    if weights.sum() < least:
        return TuplePrices(np.zeros(len(tuples)), _no_boxes())
    search = PriceSearch(TupleLattice.of(axes, tuples, weights), least, looks, threads)
    prices, best = np.zeros(len(tuples)), None
    for number in range(ROUNDS):
        progress(search.spent / max(looks, 1))
        spare = search.spare(prices)
        if spare is None:
            break
        if best is None or (prices + spare - best) @ weights > 0:
            best = prices + spare
        aim = search.aim(best, STEPS * number)
        promised = float((aim - best) @ weights)
        if number and promised <= LITTLE * abs(float(best @ weights)):
            break
        prices = best + TOWARDS * (aim - best)
    if best is None:
        return None
    lower = ROUNDING * np.abs(best).max(initial=0.0)
    return TuplePrices(best - lower, search.known)


@dataclass(frozen=True)
class TupleLattice:
    """The tuples of a table, and the axes in the order in which a search fixes them."""

    costs: LatticeCosts
    nodes: Codes
    """(lines, tuples): the node of each tuple at each level, axis by axis."""
    weights: Counts

    @classmethod
    def of(cls, axes: Sequence[Axis], tuples: Codes, weights: Counts) -> TupleLattice:
        """Lay out a lattice; axes with few leaves first, as large cells fall early.

        Axes of one leaf come last: the first axis parts the search.
        """
        order = sorted(range(len(axes)), key=lambda j: (axes[j].size < 2, axes[j].size))
        chosen = [axes[j] for j in order]
        costs = [axis.weight * axis.node_ncp for axis in chosen]
        cheapest = np.array([cost.min() for cost in costs])
        return cls(
            LatticeCosts(
                lines=_starts([axis.height for axis in chosen]),
                starts=_starts([len(cost) for cost in costs])[:-1],
                costs=np.concatenate(costs),
                open=np.append(np.cumsum(cheapest[::-1])[::-1], 0.0),
            ),
            np.concatenate([axes[j].levels[:, tuples[:, j]] for j in order]),
            weights,
        )


@dataclass
class PriceSearch:
    """Searches of a lattice at one price after the other, and the boxes they found."""

    lattice: TupleLattice
    least: int
    looks: int
    """How many tuples may be looked at in all."""
    threads: int
    spent: int = 0
    last: int = 0
    """Tuples that the last search looked at."""
    known: KnownBoxes = field(default_factory=lambda: _no_boxes())

    def spare(self, prices: Floats) -> Floats | None:
        """The least that any box around each tuple has to spare; None without an end."""
        if self.spent + self.last > self.looks:
            return None
        order = np.argsort(-prices, kind="stable").astype(np.int32)
        weights = self.lattice.weights
        known = known_spare(self.known, weights, self.least, prices)[order]
        nodes = np.ascontiguousarray(self.lattice.nodes[:, order])
        found = self._search(PricedTuples(nodes, weights[order], prices[order]), known)
        if found is None:
            return None
        spare = np.empty(len(order))
        spare[order] = found[0]
        self.known = _joined(self.known, found[1], order)
        return spare

    def _search(
        self, priced: PricedTuples, known: Floats
    ) -> tuple[Floats, list[TightBoxes]] | None:
        """Search the parts on all threads; None if one of them would take too long."""
        spares = np.repeat(known[np.newaxis], PARTS, axis=0)
        # Parts are hardly ever as long as all of a search; a part that is ends it early.
        most, tuples = (self.looks - self.spent) // 2, len(known)
        rooms = [room_for_boxes(2 * tuples, KEPT * tuples, most) for _ in spares]

        def step(part: int, _: int) -> tuple[()]:
            spare, boxes = spares[part], rooms[part]
            find_tight_boxes(
                priced, self.lattice.costs, self.least, part, PARTS, spare, boxes
            )
            return ()

        parts = [(part, part + 1) for part in range(PARTS)]
        work_through(parts, step, threads=self.threads, done=lambda _: None)
        self.last = sum(int(boxes.numbers[LOOKS]) for boxes in rooms)
        self.spent += self.last
        if any(boxes.numbers[LOOKS] > boxes.numbers[MOST_LOOKS] for boxes in rooms):
            return None
        return spares.min(axis=0), rooms

    def aim(self, prices: Floats, steps: int) -> Floats:
        """Prices that ask for as much as known boxes allow, or nearly so."""
        self.spent += steps * len(self.known.tuples)
        return climb(self.known, self.lattice.weights, self.least, prices, steps)


def _no_boxes() -> KnownBoxes:
    return KnownBoxes(
        np.empty(0), np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32)
    )


def _joined(known: KnownBoxes, found: Sequence[TightBoxes], order: Codes) -> KnownBoxes:
    """All boxes that are known, those just found with the tuples of the table."""
    costs, tuples = [known.costs], [known.tuples]
    lengths = [np.diff(known.starts)]
    for boxes in found:
        count = int(boxes.numbers[FOUND])
        costs.append(boxes.costs[:count])
        lengths.append(np.diff(boxes.starts[: count + 1]))
        tuples.append(order[boxes.tuples[: boxes.starts[count]]])
    return KnownBoxes(
        np.concatenate(costs), _starts(np.concatenate(lengths)), np.concatenate(tuples)
    )


def _starts(lengths: Sequence[int] | Ints) -> Ints:
    """Where each of some runs starts, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
