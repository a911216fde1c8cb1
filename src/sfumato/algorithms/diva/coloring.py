"""Coloring: one clustering for each constraint, consistent with all others.

Algorithms 3 and 4 of DIVA without recursion. A node is a constraint, a color a
clustering that meets it. Colors come from outside, lazily and best first; what is here
chooses the next node, checks consistency and backtracks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import lgamma

import numpy as np

from sfumato.algorithms.diva.constraint_targets import Sigma
from sfumato.data.arrays import Codes, Flags, Ints


class OutOfBudgetError(Exception):
    """The search has looked at as many rows as its budget allows."""


@dataclass(frozen=True, eq=False)
class Clustering:
    """Disjoint clusters, and for how many rows they show each target."""

    rows: Ints
    """The rows of all clusters, one cluster after the other."""
    starts: Ints
    """Where each cluster starts in `rows`, and the end."""
    hidden: Flags
    """(clusters, quasi-identifiers): values that are shared and not shown."""
    shown: Ints
    """(constraints, clusters): rows that count."""
    stars: Ints
    """Cells of each cluster that show no value."""
    agreed: Flags
    """(constraints, clusters): whether it shows the quasi-identifiers of a target."""

    @property
    def count(self) -> int:
        return len(self.starts) - 1

    @property
    def sizes(self) -> Ints:
        return np.diff(self.starts)

    @property
    def counts(self) -> Ints:
        """How many rows show each target."""
        return np.asarray(self.shown.sum(axis=1))

    def clusters(self) -> list[Ints]:
        """The rows of each cluster."""
        return np.split(self.rows, self.starts[1:-1]) if self.count else []


def clustering_of(
    sigma: Sigma, points: Codes, clusters: Sequence[Ints], hidden: Flags | None = None
) -> Clustering:
    """Clusters of rows, with what they show and what they cost."""
    starts = np.cumsum([0, *map(len, clusters)])
    if not clusters:
        return nothing(sigma, points.shape[1])
    return measured(sigma, points, np.concatenate(clusters), starts, hidden=hidden)


def measured(
    sigma: Sigma,
    points: Codes,
    rows: Ints,
    starts: Ints,
    *,
    hidden: Flags | None = None,
) -> Clustering:
    """The same from rows in a row."""
    first, width = starts[:-1], points.shape[1]
    unseen = np.zeros((len(first), width), dtype=np.bool_) if hidden is None else hidden
    agreed = np.logical_and.reduceat(sigma.fits[:, rows], first, axis=1)
    for number, columns in enumerate(sigma.columns):
        agreed[number] &= ~unseen[:, sorted(columns)].any(axis=1)
    counted = np.add.reduceat(sigma.full[:, rows], first, axis=1, dtype=np.int64)
    values = points[rows]
    mixed = np.maximum.reduceat(values, first) != np.minimum.reduceat(values, first)
    stars = (mixed | unseen).sum(axis=1) * np.diff(starts)
    return Clustering(rows, starts, unseen, np.where(agreed, counted, 0), stars, agreed)


def nothing(sigma: Sigma, width: int) -> Clustering:
    """Return the clustering without clusters, for constraints that are already met."""
    none = np.zeros(0, dtype=np.int64)
    flags = np.zeros((0, width), dtype=np.bool_)
    shown = np.zeros((sigma.count, 0), dtype=np.int64)
    return Clustering(
        none, np.zeros(1, dtype=np.int64), flags, shown, none, shown.astype(np.bool_)
    )


@dataclass(eq=False)
class State:
    """The nodes colored so far, the rows in use and the rows shown of each target."""

    sigma: Sigma
    used: Flags
    counts: Ints
    colors: dict[int, Clustering] = field(default_factory=dict)

    @classmethod
    def empty(cls, sigma: Sigma) -> State:
        rows = sigma.fits.shape[1]
        return cls(sigma, np.zeros(rows, np.bool_), np.zeros(sigma.count, np.int64))

    def consistent(self, node: int, color: Clustering) -> bool:
        """Return whether clusters are disjoint, upper bounds hold, and the node is met.

        Existing clusters count for every node they serve: nodes share them.
        """
        after = self.counts + color.counts
        met = after[node] >= self.sigma.lower[node]
        fits = bool((after <= self.sigma.upper).all())
        return bool(met) and fits and not self.used[color.rows].any()

    def clashing(self, color: Clustering) -> list[int]:
        """The constraints whose upper bounds a color would break."""
        over = self.counts + color.counts > self.sigma.upper
        return [int(number) for number in np.flatnonzero(over)]

    def put(self, node: int, color: Clustering) -> None:
        """Color a node."""
        self.colors[node] = color
        self.used[color.rows] = True
        self.counts += color.counts

    def take_back(self, node: int) -> None:
        """Uncolor a node."""
        color = self.colors.pop(node)
        self.used[color.rows] = False
        self.counts -= color.counts

    def need(self, node: int) -> int:
        """How many more rows must show a node's target."""
        return max(int(self.sigma.lower[node] - self.counts[node]), 0)

    def free(self, node: int) -> Ints:
        """Rows that have a node's target and are in no cluster yet."""
        return np.flatnonzero(self.sigma.fits[node] & ~self.used)


Candidates = Callable[[int, State], Iterator[Clustering]]
"""The clusterings that meet a node's constraint, best first."""
NextNode = Callable[[State, Sequence[int]], int]
"""Which of the uncolored nodes comes next."""


@dataclass(eq=False)
class Budget:
    """How many rows a search may look at, and what it has done so far."""

    rows: int
    spent: int = 0
    tried: int = 0
    backtracks: int = 0
    failed: Counter[int] = field(default_factory=Counter)
    """How often each node was left without a color."""
    against: Counter[int] = field(default_factory=Counter)
    """How often each constraint blocked another."""
    first: tuple[int, int] | None = None
    """Clusterings tried and taken back when the first answer was found."""
    at: int | None = None
    """The node that a color was sought for last."""
    stranded: int = 0
    """Rows that no group could take when all nodes were colored, the last time."""

    def spend(self, rows: int) -> None:
        """Count the rows of a candidate."""
        self.tried += 1
        self.look(rows)

    def look(self, rows: int) -> None:
        """Count rows that were looked at, even without a resulting candidate."""
        self.spent += rows + LEAST
        if self.spent > self.rows:
            raise OutOfBudgetError

    def answered(self) -> None:
        """Record the cost of the first answer; further ones may cost little more."""
        self.first = self.tried, self.backtracks
        self.rows = min(self.rows, MORE * self.spent + EXTRA)

    def add(self, other: Budget) -> None:
        """Count what another search did."""
        self.spent += other.spent
        self.tried += other.tried
        self.backtracks += other.backtracks
        self.failed.update(other.failed)
        self.against.update(other.against)


MORE, EXTRA = 3, 200_000
"""The total cost of a search once it has an answer: this many times the cost of the
answer, plus this many rows."""
LEAST = 100
"""What looking at a candidate costs at least, in rows."""


def colorings(
    state: State,
    nodes: Sequence[int],
    candidates: Candidates,
    *,
    next_node: NextNode,
    budget: Budget,
) -> Iterator[State]:
    """Yield every coloring of all nodes by backtracking; reuses one state."""
    if not nodes:
        yield state
        return
    open_nodes = [next_node(state, nodes)]
    colors = [candidates(open_nodes[0], state)]
    while open_nodes:
        node = open_nodes[-1]
        if node in state.colors:
            state.take_back(node)
            budget.backtracks += 1
        color = _first_consistent(state, node, colors[-1], budget)
        if color is None:
            _give_up(state, node, budget)
            open_nodes.pop()
            colors.pop()
            continue
        state.put(node, color)
        left = [each for each in nodes if each not in state.colors]
        if not left:
            yield state
            continue
        open_nodes.append(next_node(state, left))
        colors.append(candidates(open_nodes[-1], state))


def _first_consistent(
    state: State, node: int, colors: Iterator[Clustering], budget: Budget
) -> Clustering | None:
    budget.at = node
    for color in colors:
        budget.spend(len(color.rows))
        if state.consistent(node, color):
            return color
        budget.against.update(n for n in state.clashing(color) if n != node)
    return None


def _give_up(state: State, node: int, budget: Budget) -> None:
    """Record which constraints blocked a node without a color."""
    budget.failed[node] += 1
    target = state.sigma.fits[node]
    for other, color in state.colors.items():
        if len(color.rows) and target[color.rows].any():
            budget.against[other] += 1


def in_order(order: Sequence[int]) -> NextNode:
    """Nodes in a given order."""
    place = {node: at for at, node in enumerate(order)}
    return lambda state, left: min(left, key=place.__getitem__)


def fewest_choices(state: State, left: Sequence[int]) -> int:
    """MinChoice: the node with the fewest minimal clusterings that are still free."""
    return min(left, key=lambda node: (choices(state, node), node))


def most_neighbors(state: State, left: Sequence[int]) -> int:
    """MaxFanOut: the node with the most uncolored neighbors."""
    among = set(left)

    def key(node: int) -> tuple[int, float, int]:
        fan = len(state.sigma.neighbors[node] & among)
        return -fan, choices(state, node), node

    return min(left, key=key)


def choices(state: State, node: int) -> float:
    """The logarithm of how many sets of free rows are just large enough for a node.

    Where one cluster is enough, these sets are its minimal clusterings; a node that
    is met already has one choice: do nothing.
    """
    need = state.need(node)
    if need == 0:
        return 0.0
    free, size = len(state.free(node)), max(need, state.sigma.k)
    if size > free:
        return -1.0
    return lgamma(free + 1) - lgamma(size + 1) - lgamma(free - size + 1)
