"""Noisy choices in one batch: one candidate for each of many disjoint parts."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp

import numpy as np
import numpy.typing as npt

from sfumato.data.arrays import Flags, Floats
from sfumato.data.seeds import Seed
from sfumato.dp.mechanism import Mechanism

UNIT = 2.0**40
"""The weight of a candidate with the highest score."""


@dataclass(frozen=True, kw_only=True)
class BatchExponential(Mechanism):
    """The exponential mechanism for scores in [0, 1], many choices at once.

    Guarantee: ε-differential privacy, (ε, 0), of each choice, where neighbors change
    every score by 1 at most.
    Method: a candidate has the whole weight ⌊2^40 · e^(ε′(score − 1) / 2)⌋, and is chosen
    with probability weight / sum, exactly: a uniform whole number below the sum is drawn
    by rejection from the system's source. Rounding changes a weight by a share of at most
    η = 2^−39 · e^(ε/2), so that a choice costs ε′ + 5η at most; ε′ = ε − 8η pays for that.
    Where nothing is left of ε, every candidate is as likely, which costs nothing.
    Reference: McSherry and Talwar 2007.

    Example:
        >>> BatchExponential(epsilon=0.5).cost
        Cost(epsilon=0.5, delta=0.0)
    """

    @property
    def exact(self) -> float:
        """The loss of what is drawn, rounding included."""
        slope = self._slope
        return slope + 5.0 * self._rounding if slope else 0.0

    @property
    def _rounding(self) -> float:
        return 2.0**-39 * exp(self.epsilon / 2.0)

    @property
    def _slope(self) -> float:
        return max(self.epsilon - 8.0 * self._rounding, 0.0)

    def weights(self, scores: Floats) -> npt.NDArray[np.uint64]:
        """The whole weight of each candidate."""
        inside = np.clip(scores, 0.0, 1.0)
        powers = UNIT * np.exp(self._slope * (inside - 1.0) / 2.0)
        return np.asarray(np.floor(powers), dtype=np.uint64)

    def select(self, scores: Floats, allowed: Flags) -> npt.NDArray[np.int64]:
        """The column chosen in each line, among those allowed; each line has one."""
        weights = np.where(allowed, self.weights(scores), np.uint64(0))
        ends = np.cumsum(weights, axis=1, dtype=np.uint64)
        drawn = _below(ends[:, -1])
        return np.asarray((ends <= drawn[:, None]).sum(axis=1), dtype=np.int64)


def _below(limits: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """A uniform whole number below each limit, by rejection."""
    times = np.uint64(2**64 - 1) // limits
    drawn = Seed.fresh().words(len(limits))
    while (beyond := np.flatnonzero(drawn >= times * limits)).size:
        drawn[beyond] = Seed.fresh().words(len(beyond))
    return np.asarray(drawn // times, dtype=np.uint64)
