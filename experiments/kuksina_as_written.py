"""DP-anonym as chapter 7 of Kuksina 2023 reads, word for word; it is not private.

The recursion has no bound. Attributes are chosen by the exponential mechanism on the
width of a cell's rows, and cut at the median of noisy counts of the values that occur.
What the text leaves to Mondrian is done as Mondrian does it: an attribute is out of the
choice once its cut would leave fewer than k rows on a side, by true counts. `dp-anonym`
may not look at them; the figures say what that is worth.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from experiments.kuksina_studies import CLASSIC, Study, peer, policy
from sfumato.algorithms.private.noisy_tree import AxisCuts
from sfumato.data.grouping import Grouping
from sfumato.data.seeds import Seed
from sfumato.hierarchies.axis import CodedAxis
from sfumato.pipeline.code_table import coded_table, quasi_axes
from sfumato.publish.base import Material
from sfumato.publish.generalize import Generalize

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Recursion:
    """The recursion over the codes of a table; ε is spent anew by every cell."""

    codes: Ints
    cuts: Sequence[AxisCuts]
    k: int
    epsilon: float
    generator: np.random.Generator = field(default_factory=np.random.default_rng)

    @classmethod
    def over(cls, quasi: Sequence[CodedAxis], k: int, epsilon: float) -> Recursion:
        """Cuts fall between children of nodes where an axis has a hierarchy."""
        codes = np.array([coded.codes for coded in quasi], dtype=np.int64)
        cuts = [AxisCuts(coded.axis, coded.axis.height > 2) for coded in quasi]
        return cls(codes, cuts, k, epsilon)

    def group_of(self) -> npt.NDArray[np.int32]:
        """The cell of each row."""
        found = np.zeros(self.codes.shape[1], dtype=np.int32)
        for number, rows in enumerate(self._cells()):
            found[rows] = number
        return found

    def _cells(self) -> Iterator[Ints]:
        waiting = [np.arange(self.codes.shape[1])]
        while waiting:
            rows = waiting.pop()
            upper = self._upper(rows)
            if upper is None:
                yield rows
            else:
                waiting += [rows[~upper], rows[upper]]

    def _upper(self, rows: Ints) -> Flags | None:
        """Which rows go to the upper half; None if no attribute can be cut."""
        if len(rows) < 2 * self.k:
            return None
        part = self.codes[:, rows]
        low, high = part.min(axis=1), part.max(axis=1)
        allowed = np.flatnonzero(high > low)
        while len(allowed):
            axis = self._chosen(allowed, low, high)
            upper = part[axis] > self._edge(axis, part[axis], low[axis], high[axis])
            if self.k <= int(upper.sum()) <= len(rows) - self.k:
                return np.asarray(upper)
            allowed = allowed[allowed != axis]
        return None

    def _chosen(self, allowed: Ints, low: Ints, high: Ints) -> int:
        """The exponential mechanism on widths, whose sensitivity is 1."""
        widths = np.array(
            [(high[a] - low[a]) / max(self.cuts[a].axis.size - 1, 1) for a in allowed]
        )
        weights = np.exp(self.epsilon / 2 * widths / 2)
        return int(self.generator.choice(allowed, p=weights / weights.sum()))

    def _edge(self, axis: int, codes: Ints, low: int, high: int) -> int:
        """The last code of the lower half: the cut nearest to the noisy median."""
        values, counts = np.unique(codes, return_counts=True)
        below = np.cumsum(
            counts + self.generator.laplace(scale=2 / self.epsilon, size=len(counts))
        )
        edges = low + np.flatnonzero(self.cuts[axis].breaks(int(low), int(high)))
        at_edges = below[np.searchsorted(values, edges, side="right") - 1]
        return int(edges[np.argmin(np.abs(2 * at_edges - below[-1]))])


def written(study: Study, source: pa.Table, k: int, epsilon: float) -> pa.Table:
    """A release by the thesis's text."""
    asked = policy(study, peer(CLASSIC), k)
    table = coded_table(asked, source)
    quasi = quasi_axes(asked, table, None)
    grouping = Grouping.renumbered(Recursion.over(quasi, k, epsilon).group_of())
    material = Material(
        table=table,
        quasi=quasi,
        grouping=grouping,
        rows=np.flatnonzero(grouping.kept),
        seed=Seed.guessable(0),
    )
    return Generalize().publish(material).table
