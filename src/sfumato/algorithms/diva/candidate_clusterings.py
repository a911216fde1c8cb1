"""Candidate clusterings of a constraint: lazily, and the best ones first.

Few free rows are enumerated in full, fewest rows and stars first. Many are grouped by
another algorithm, first among rows that serve the same uncolored constraints (so that
a cluster serves them all), then among all target rows, then in runs of a size that
fits a narrow range; full enumeration comes last, so that only a search that ran to its
end proves anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, product

import numpy as np

from sfumato.algorithms.diva.coloring import (
    Budget,
    Clustering,
    State,
    clustering_of,
    measured,
    nothing,
)
from sfumato.algorithms.diva.constraint_targets import Sigma
from sfumato.algorithms.diva.row_classes import Classes
from sfumato.algorithms.diva.row_subsets import SubsetGrouper
from sfumato.data.arrays import Codes, Flags, Ints
from sfumato.data.seeds import Seed

FEW = 8
"""Up to this many free rows, clusterings are enumerated and nothing else is tried."""
SORTED = 3_000
"""Clusterings that are put in order before they are tried, at most."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Source:
    """Where candidate clusterings come from."""

    sigma: Sigma
    points: Codes
    """(rows, quasi-identifiers)"""
    maker: SubsetGrouper
    seed: Seed
    budget: Budget
    plan: Callable[[], Clustering]
    """Groups of all target rows that cost the constraints as little as possible."""
    random: bool = False
    """Whether candidates come in a random order, as in the paper's basic version."""

    def planned(self) -> Clustering:
        """Make the plan."""
        classes = Classes.of(self.sigma, self.points).made_up()
        seed = self.seed.child("plan")
        groups = [g for rows in classes for g in self.maker.groups(rows, seed=seed)]
        self.budget.spend(len(self.points))
        return clustering_of(self.sigma, self.points, groups)

    def candidates(self, node: int, state: State) -> Iterator[Clustering]:
        """Clusterings for a node, given what is colored already."""
        if state.need(node) == 0:
            yield nothing(self.sigma, self.points.shape[1])
            return
        free = state.free(node)
        if len(free) <= FEW:
            found = self._enumerated(node, state, free)
            yield from self._shuffled(found, node) if self.random else found
            return
        yield from self._pooled(node, state, free)
        yield from self._enumerated(node, state, free)

    def _shuffled(self, found: Iterator[Clustering], node: int) -> Iterator[Clustering]:
        """The first few in a random order, then the others as they come."""
        listed = list(islice(found, SORTED))
        order = self.seed.child("order", node).permutation(len(listed))
        yield from (listed[place] for place in order)
        yield from found

    # Many rows: groups made by another algorithm, and the best of them.

    def _pooled(self, node: int, state: State, free: Ints) -> Iterator[Clustering]:
        if not self.random:
            yield from self._chosen(node, state, self._planned(node, state))
        full = free[self.sigma.full[node, free]]
        pools = [free] if len(full) == len(free) else [full, free]
        for pool in pools:
            for groups in self._grouped(node, state, pool):
                yield from self._chosen(node, state, groups)

    def _planned(self, node: int, state: State) -> Clustering:
        """The groups of the plan that serve a node and are still free."""
        plan = self.plan()
        taken = np.logical_or.reduceat(state.used[plan.rows], plan.starts[:-1])
        good = np.flatnonzero(~taken & (plan.shown[node] > 0)).tolist()
        clusters = plan.clusters()
        self.budget.spend(len(plan.rows))
        return clustering_of(self.sigma, self.points, [clusters[g] for g in good])

    def _grouped(self, node: int, state: State, pool: Ints) -> Iterator[Clustering]:
        """Groups to choose from: by shared constraints, of all rows, in runs."""
        seed = self.seed.child("pool", node)
        classes = self._classes(state, pool)
        ways = [classes, [pool]] if len(classes) > 1 else [[pool]]
        if self.random:
            ways = ways[::-1]
        for parts in ways:
            made = [g for part in parts for g in self.maker.groups(part, seed=seed)]
            self.budget.spend(len(pool))
            yield clustering_of(self.sigma, self.points, made)
        for size in self._run_sizes(node, state):
            self.budget.spend(len(pool))
            runs = self._runs(pool, size)
            allowed = [run for run in runs if self.maker.judge.allows(run)]
            yield clustering_of(self.sigma, self.points, allowed)

    def _classes(self, state: State, pool: Ints) -> list[Ints]:
        """The rows of a pool by the uncolored or binding constraints they serve."""
        open_ = [n for n in self.sigma.nodes if n not in state.colors]
        tight = np.flatnonzero(self.sigma.upper < self.sigma.present).tolist()
        asked = sorted({*open_, *tight})
        packed = np.packbits(self.sigma.fits[np.ix_(asked, pool)], axis=0)
        _, which = np.unique(packed, axis=1, return_inverse=True)
        order = np.argsort(which.ravel(), kind="stable")
        cuts = np.flatnonzero(np.diff(which.ravel()[order])) + 1
        return list(np.split(pool[order], cuts))

    def _run_sizes(self, node: int, state: State) -> list[int]:
        """Return sizes with which whole runs add up to exactly what is needed."""
        need, k = max(state.need(node), self.sigma.k), self.sigma.k
        return sorted({-(-need // parts) for parts in {need // k, 1}})

    def _runs(self, pool: Ints, size: int) -> list[Ints]:
        """Runs of rows that are neighbors in the order of their codes."""
        values = self.points[pool]
        spread = [len(np.unique(values[:, j])) for j in range(values.shape[1])]
        keys = [values[:, j] for j in np.argsort(spread, kind="stable")[::-1]]
        ordered = pool[np.lexsort(keys)]
        whole = len(ordered) // size * size
        return list(ordered[:whole].reshape(-1, size))

    def _chosen(
        self, node: int, state: State, groups: Clustering
    ) -> Iterator[Clustering]:
        """The groups that serve most open constraints, or cost least, until enough."""
        if not groups.count:
            return
        per_row = groups.stars / groups.sizes
        left = [n for n in self.sigma.nodes if n not in state.colors]
        serves = (groups.shown[left] > 0).sum(axis=0)
        number = np.arange(groups.count)
        orders = [np.lexsort((number, per_row, -serves)), np.lexsort((number, per_row))]
        if self.random:
            drawn = self.seed.child("groups", node).permutation(groups.count)
            orders = [drawn]
        for order in orders[: 1 + (not np.array_equal(orders[0], orders[-1]))]:
            self.budget.spend(len(groups.rows))
            picked = self._picked(node, state, groups, order.tolist())
            if picked is not None:
                yield picked

    def _picked(
        self, node: int, state: State, groups: Clustering, order: list[int]
    ) -> Clustering | None:
        """Take groups in an order while no upper bound breaks; hide what would."""
        taken: list[Ints] = []
        hidden: list[Flags] = []
        counts, clusters = state.counts.copy(), groups.clusters()
        lower, upper = self.sigma.lower[node], self.sigma.upper
        for group in order:
            if counts[node] >= lower:
                break
            rows, unseen = clusters[group], groups.hidden[group].copy()
            shown = groups.shown[:, group]
            if ((counts + shown) > upper).any():
                repaired = self._repaired(node, counts, rows)
                if repaired is None:
                    continue
                rows, unseen, shown = repaired
            taken.append(rows)
            hidden.append(unseen)
            counts += shown
        if counts[node] < lower:
            return None
        return clustering_of(self.sigma, self.points, taken, np.array(hidden))

    def _repaired(
        self, node: int, counts: Ints, rows: Ints
    ) -> tuple[Ints, Flags, Ints] | None:
        """A group cut down to what the node allows, with what breaks others hidden."""
        room = int(self.sigma.upper[node] - counts[node])
        if self.sigma.full[node, rows].sum() > room:
            rows = rows[:room]
            if not self.maker.judge.allows(rows):
                return None
        unseen = np.zeros(self.points.shape[1], dtype=np.bool_)
        shown = self._shown(rows, unseen)
        for other in np.flatnonzero(counts + shown > self.sigma.upper):
            spare = sorted(self.sigma.columns[other] - self.sigma.columns[node])
            if not spare:
                return None
            unseen[spare[0]] = True
        return rows, unseen, self._shown(rows, unseen)

    def _shown(self, rows: Ints, unseen: Flags) -> Ints:
        ends = np.array([0, len(rows)])
        one = measured(self.sigma, self.points, rows, ends, hidden=unseen[None])
        return one.shown[:, 0]

    # Few rows: everything there is.

    def _enumerated(self, node: int, state: State, free: Ints) -> Iterator[Clustering]:
        """Every clustering without needless clusters, plain ones first.

        Fewest rows first, and among them fewest stars, as far as that can be sorted.
        """
        for hiding in (False, True):
            for size in range(self.sigma.k, len(free) + 1):
                found = self._of_size(node, state, free, size, hiding=hiding)
                if _choose(len(free), size) <= SORTED:
                    # Even a few sets of rows can be partitioned in millions of ways.
                    yield from sorted(islice(found, SORTED), key=_stars)
                yield from found

    def _of_size(
        self, node: int, state: State, free: Ints, size: int, *, hiding: bool
    ) -> Iterator[Clustering]:
        """Clusterings of this many rows, each kind of rows once."""
        need = state.need(node)
        seen: set[tuple[tuple[bytes, ...], ...]] = set()
        for rows in combinations(free.tolist(), size):
            self.budget.spend(0)
            if int(self.sigma.full[node, list(rows)].sum()) < need:
                continue
            for clusters in _partitions(rows, self.sigma.k):
                self.budget.look(0)
                kind = self._kind(clusters)
                if kind in seen or not self._minimal(node, clusters, need):
                    continue
                seen.add(kind)
                yield from self._variants(node, clusters, hiding=hiding)

    def _kind(self, clusters: Sequence[Sequence[int]]) -> tuple[tuple[bytes, ...], ...]:
        """Return a key that is equal for clusterings of equal rows."""
        if not self.maker.judge.plain:
            return tuple(tuple(bytes(str(r), "ascii") for r in c) for c in clusters)
        return tuple(sorted(tuple(sorted(map(self._like, c))) for c in clusters))

    def _like(self, row: int) -> bytes:
        """Return a key that is equal for interchangeable rows."""
        return bytes(self.points[row].tobytes() + self.sigma.full[:, row].tobytes())

    def _minimal(self, node: int, clusters: Sequence[Sequence[int]], need: int) -> bool:
        """Whether all clusters are needed, and allowed."""
        counts = [int(self.sigma.full[node, list(c)].sum()) for c in clusters]
        total = sum(counts)
        needless = any(total - count >= need for count in counts)
        judge = self.maker.judge
        return not needless and all(judge.allows(np.array(c)) for c in clusters)

    def _variants(
        self, node: int, clusters: Sequence[Sequence[int]], *, hiding: bool
    ) -> Iterator[Clustering]:
        """The clustering as it is, or with values hidden that other bounds forbid."""
        made = [np.array(cluster) for cluster in clusters]
        plain = clustering_of(self.sigma, self.points, made)
        if not hiding:
            yield plain
            return
        ways = [self._hideable(node, plain.shown[:, c]) for c in range(plain.count)]
        for chosen in product(*ways):
            self.budget.look(0)
            if any(chosen):
                unseen = np.zeros((plain.count, self.points.shape[1]), dtype=np.bool_)
                for cluster, columns in enumerate(chosen):
                    unseen[cluster, list(columns)] = True
                yield clustering_of(self.sigma, self.points, made, unseen)

    def _hideable(self, node: int, shown: Ints) -> list[tuple[int, ...]]:
        """Sets of columns that a cluster may hide: what counts for bounded others."""
        bounded = self.sigma.upper < self.sigma.present
        others = np.flatnonzero((shown > 0) & bounded)
        columns = {c for other in others for c in self.sigma.columns[other]}
        spare = sorted(columns - self.sigma.columns[node])
        found = []
        for size in range(len(spare) + 1):
            for chosen in combinations(spare, size):
                self.budget.look(0)
                found.append(chosen)
        return found


def _partitions(rows: Sequence[int], k: int) -> Iterator[list[tuple[int, ...]]]:
    """Return all ways to partition rows into clusters of at least k."""
    if not rows:
        yield []
        return
    first, rest = rows[0], rows[1:]
    for size in range(k - 1, len(rest) + 1):
        if 0 < len(rest) - size < k:
            continue
        for others in combinations(rest, size):
            left = [row for row in rest if row not in others]
            for more in _partitions(left, k):
                yield [(first, *others), *more]


def _stars(color: Clustering) -> int:
    return int(color.stars.sum())


def _choose(many: int, few: int) -> int:
    """Count the sets; above the sorting limit, return any large number."""
    count = 1
    for step in range(min(few, many - few)):
        count = count * (many - step) // (step + 1)
        if count > SORTED:
            return count
    return count
