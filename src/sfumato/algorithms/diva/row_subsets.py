"""Groups of some rows of a request: judged, or made by another algorithm."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sfumato.algorithms.base import Algorithm, Request
from sfumato.algorithms.common.compiled_rules import Compiled, compile_rules
from sfumato.data.arrays import Ints
from sfumato.data.rules import least_rows, only_sizes
from sfumato.data.seeds import Seed
from sfumato.errors import InfeasibleError, RefusedError
from sfumato.hierarchies.axis import STAR, Axis, CodedAxis, Shape


@dataclass(frozen=True, eq=False)
class SubsetRules:
    """The rules on single groups, asked about any rows of a request."""

    compiled: Compiled
    minimum: int
    plain: bool
    """Whether only the size of a group counts."""

    @classmethod
    def of(cls, request: Request) -> SubsetRules:
        compiled = compile_rules(request)
        return cls(compiled, least_rows(compiled.rules), only_sizes(compiled.rules))

    def allows(self, rows: Ints) -> bool:
        """Whether these rows may be a group."""
        if len(rows) < self.minimum or self.plain:
            return len(rows) >= self.minimum
        return self.compiled.allows(rows)


@dataclass(frozen=True, eq=False)
class SubsetGrouper:
    """Groups any rows of a request by another algorithm of the catalogue."""

    request: Request
    judge: SubsetRules
    algorithm: Algorithm
    quick: Algorithm
    """The algorithm that replaces it for many rows."""
    many: int

    def groups(self, rows: Ints, *, seed: Seed, quick: bool = True) -> list[Ints]:
        """Allowed groups of all these rows; none if they cannot be grouped."""
        if not self.judge.allows(rows):
            return []
        if self.judge.plain and len(rows) < 2 * self.judge.minimum:
            return [rows]
        many = quick and len(rows) > self.many
        group_of = self._solved(self.quick if many else self.algorithm, rows, seed)
        if group_of is None:
            return [rows]
        order = np.argsort(group_of, kind="stable")
        cuts = np.flatnonzero(np.diff(group_of[order])) + 1
        made = np.split(rows[order], cuts)
        good = self.judge.plain or all(map(self.judge.allows, made))
        return made if good else [rows]

    def _solved(
        self, algorithm: Algorithm, rows: Ints, seed: Seed
    ) -> npt.NDArray[np.int32] | None:
        """The group of each row, or None where the algorithm has no answer."""
        part = replace(self.request.only(rows), seed=seed, removable=0)
        part = replace(part, table=self.request)
        try:
            algorithm.check(part)
            found = algorithm.improved(part, algorithm.search(part)).grouping
        except (InfeasibleError, RefusedError):
            return None
        return found.group_of if found.kept.all() else None


def starred_axis(coded: CodedAxis) -> CodedAxis:
    """Return the column with cells that show their value or nothing."""
    axis = coded.axis
    leaves = np.arange(axis.size, dtype=np.int32)
    cost = np.append(np.zeros(axis.size), 1.0)
    changed: Axis = replace(
        axis,
        shape=Shape.TREE,
        levels=np.stack([leaves, np.full(axis.size, axis.size, dtype=np.int32)]),
        node_labels=(*axis.labels, STAR),
        node_ncp=cost,
        node_loss=cost,
        node_bounds=None,
    )
    return CodedAxis(changed, coded.codes)
