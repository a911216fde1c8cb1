"""Test with noise whether a release will show enough rows of certain values.

The test is charged, and looks at all rows. Whatever it says, and whether the release that
follows meets the constraints, is a function of charged answers: a refusal tells no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.algorithms.private.shown_values import (
    ShownValue,
    column_sets,
    listed,
    rows_showing,
)
from sfumato.data.arrays import Counts, Ints
from sfumato.dp.additive_noise import Geometric
from sfumato.dp.cost import Cost
from sfumato.dp.ledger import Ledger
from sfumato.dp.surviving_rows import (
    SafeRows,
    most_drawn,
    needed_rows,
    noise_margin,
    sure_size,
)
from sfumato.errors import InfeasibleError
from sfumato.hierarchies.axis import CodedAxis


@dataclass(frozen=True, kw_only=True)
class ConstraintTest:
    """Noisy counts of the safe rows of values, and what they have to be.

    Guarantee: whatever the table, the test is passed and the release then shows too few
        rows of a value with probability 1 − confidence at most.
    """

    values: tuple[ShownValue, ...]
    """Those with a lower bound."""
    epsilon: float
    confidence: float
    k: int
    rate: float
    rows: int = 0
    """At most so many rows are published, as noise has it; where shares are asked for."""

    @property
    def with_shares(self) -> bool:
        return any(value.least_share > 0 for value in self.values)

    @property
    def doubt(self) -> float:
        """The probability with which each of the steps may fail."""
        steps = len(self.values) + (2 if self.with_shares else 0)
        return (1.0 - self.confidence) / steps

    @cached_property
    def least(self) -> list[int]:
        """How many rows must show each value."""
        return [value.least(self.rows) for value in self.values]

    @cached_property
    def needed(self) -> list[int]:
        """How many rows of each value have to be safe."""
        return [needed_rows(n, rate=self.rate, doubt=self.doubt) for n in self.least]

    @cached_property
    def safe(self) -> SafeRows:
        """Which rows are safe. A steep slope counts more of them, with more noise.

        The slope is such that the margin of noise is about half of τ.
        """
        most = max(self.least, default=0)
        beyond = sure_size(most, k=self.k, rate=self.rate, doubt=self.doubt)
        once = self._margin(1)
        return SafeRows(beyond, max(beyond // (2 * max(once, 1)), 2))

    @property
    def counting(self) -> Geometric:
        """The noise of all counts: a row counts once per set of columns."""
        return self._noise(self.safe.slope)

    @cached_property
    def margin(self) -> int:
        """What noise adds with probability `doubt` at most."""
        return self._margin(self.safe.slope)

    def _noise(self, slope: int) -> Geometric:
        sets = column_sets(self.values)
        share = sets / (sets + 1) if self.with_shares else 1.0
        return Geometric(epsilon=self.epsilon * share, sensitivity=sets * slope)

    def _margin(self, slope: int) -> int:
        noise = self._noise(slope)
        return noise_margin(
            noise.epsilon, sensitivity=noise.sensitivity, doubt=self.doubt
        )

    def count_rows(self, rows: int, account: Ledger) -> int:
        """Return how many rows are published at most, from a noisy count of all rows."""
        noise = Geometric(epsilon=self.epsilon / (column_sets(self.values) + 1))
        account.charge("number of rows", Cost(noise.epsilon), rows="all rows")
        seen = int(noise.release(np.array([rows]))[0])
        margin = noise_margin(noise.epsilon, sensitivity=1, doubt=self.doubt)
        return most_drawn(max(seen + margin, 0), rate=self.rate, doubt=self.doubt)

    def safe_rows(
        self,
        axes: Sequence[CodedAxis],
        levels: Sequence[int],
        groups: Ints,
        times: Ints,
    ) -> Counts:
        """How many rows of each value are safe.

        `groups` has the published tuple of each line, `times` the rows that it stands for.
        """
        found = []
        for value in self.values:
            shown = rows_showing(axes, levels, value.target)
            sizes = np.bincount(groups[shown], weights=times[shown]).astype(np.int64)
            found.append(int(self.safe.of(sizes).sum()))
        return np.array(found, dtype=np.int64)

    def spare(self, safe: Counts) -> float:
        """What is safe beyond the need and the margin of noise, in rows of the table.

        One row changes it by 1 at most.
        """
        return float((safe - np.array(self.needed)).min() - self.margin) / (
            self.safe.slope
        )

    def insist(self, safe: Counts, account: Ledger) -> None:
        """Charge the test, and stop unless every noisy count is large enough."""
        noise = self.counting
        account.charge(
            f"safe rows of {len(self.values)} constrained values, with noise",
            Cost(noise.epsilon),
            rows="all rows",
        )
        noisy = noise.release(safe)
        for place, value in enumerate(self.values):
            asked, seen = self.needed[place] + self.margin, int(noisy[place])
            if self.needed[place] and seen < asked:
                raise InfeasibleError(
                    f"diversity on {listed(value)}: {self.least[place]} rows are not "
                    f"shown with confidence {self.confidence:g}. That takes {asked} rows "
                    f"in groups of more than {self.safe.beyond}; with noise, there are "
                    f"{max(seen, 0):,}.",
                    hint="Lower at_least or the confidence, raise the levels of other "
                    "columns, or raise epsilon.",
                )
