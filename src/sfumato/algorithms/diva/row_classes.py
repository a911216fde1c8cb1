"""Sort target rows into classes that serve the same constraints, and fill up small ones.

Rows that have the same targets can be grouped without loss to any constraint. A class
of fewer than k rows cannot stand alone: it borrows rows of another class, joins one, or
is given up, whichever costs the constraints least.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sfumato.algorithms.diva.constraint_targets import Sigma
from sfumato.data.arrays import Codes, Flags, Floats, Ints


@dataclass(eq=False)
class Classes:
    """Classes of rows with the constraints that each one serves."""

    k: int
    points: Codes
    masks: Flags
    """(classes, constraints)"""
    rows: list[Ints]
    spare: Floats
    """How many more rows each constraint can spare."""
    sizes: Ints = field(init=False)

    def __post_init__(self) -> None:
        self.sizes = np.array([len(rows) for rows in self.rows], dtype=np.int64)

    @classmethod
    def of(cls, sigma: Sigma, points: Codes) -> Classes:
        """Rows by the constraints with lower bounds that they serve."""
        nodes = list(sigma.nodes)
        fits = sigma.fits[nodes]
        some = np.flatnonzero(fits.any(axis=0))
        packed = np.packbits(fits[:, some], axis=0)
        _, first, which = np.unique(
            packed, axis=1, return_index=True, return_inverse=True
        )
        order = np.argsort(which.ravel(), kind="stable")
        cuts = np.flatnonzero(np.diff(which.ravel()[order])) + 1
        spare = (sigma.present - sigma.lower)[nodes].astype(np.float64)
        rows = list(np.split(some[order], cuts)) if len(some) else []
        return cls(sigma.k, points, fits[:, some[first]].T.copy(), rows, spare)

    def made_up(self) -> list[Ints]:
        """The classes once the small ones are dealt with, smallest first."""
        while True:
            small = np.flatnonzero((self.sizes > 0) & (self.sizes < self.k))
            if not len(small):
                return [rows for rows in self.rows if len(rows)]
            self._deal_with(int(small[np.argmin(self.sizes[small])]))

    def _deal_with(self, small: int) -> None:
        """Let a small class borrow, join or go, whichever costs least."""
        size, mine = int(self.sizes[small]), self.masks[small]
        missing = self.k - size
        lends = self.sizes >= self.k + missing
        taken = np.where(lends, missing, self.sizes)
        costs = self._price(
            mine & ~self.masks, np.full(len(taken), size)
        ) + self._price(self.masks & ~mine, taken)
        costs[(self.sizes == 0) | (np.arange(len(costs)) == small)] = np.inf
        giving_up = self._price(mine[None], np.array([size]))[0]
        partner = int(np.argmin(costs))
        if costs[partner] >= giving_up:
            self._lose(mine, size)
            self._replace(small, np.zeros(0, dtype=np.int64), mine)
            return
        self._lose(mine & ~self.masks[partner], size)
        self._lose(self.masks[partner] & ~mine, int(taken[partner]))
        self._join(small, partner, int(taken[partner]))

    def _price(self, lost: Flags, rows: Ints) -> Floats:
        """Return the cost of losing this many rows of some constraints."""
        share = rows[:, None] / (self.spare + 1.0)
        beyond = rows[:, None] > self.spare
        # More than can be spared is a last resort, worse than any sum of shares.
        return np.asarray((lost * (share + 1e6 * beyond)).sum(axis=1))

    def _lose(self, lost: Flags, rows: int) -> None:
        self.spare[lost] = np.maximum(self.spare[lost] - rows, 0.0)

    def _join(self, small: int, partner: int, taken: int) -> None:
        """Rows of the partner, those most like the small class, move over."""
        both = self.masks[small] & self.masks[partner]
        theirs = self.rows[partner]
        typical = np.median(self.points[self.rows[small]], axis=0).astype(np.int64)
        alike = (self.points[theirs] == typical).sum(axis=1)
        order = np.lexsort((np.arange(len(theirs)), -alike))
        moved, left = theirs[order[:taken]], np.sort(theirs[order[taken:]])
        joined = np.sort(np.concatenate([self.rows[small], moved]))
        self._replace(partner, left, self.masks[partner])
        self._replace(small, joined, both)

    def _replace(self, place: int, rows: Ints, mask: Flags) -> None:
        self.rows[place], self.sizes[place] = rows, len(rows)
        self.masks[place] = mask
