"""How warm a refinement is: how much a change may lose, less and less as work is spent.

A local search that only ever gains ends where no single change gains any more. If changes
may lose a little at first, as in simulated annealing, it ends lower, provided that there
is enough work to gain back what was lost. So it is warm only where changes can be tried
many times, and cold for the last part of the work.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

COLD = 0.85
"""After this share of the work nothing may lose any more."""
MOST_TIMES = 3000
"""How often changes are tried before it is cold, at most."""
FEW_TIMES = 8
"""With so few times it is never warm."""


@dataclass(frozen=True, kw_only=True)
class Cooling:
    """How warm it is to begin with, and how fast it cools."""

    most: int
    """How often changes are tried before it is cold."""
    many: int
    """With so many times more than `FEW_TIMES` it is fully warm at first."""
    full: float = 0.0
    """The warmth to begin with."""

    def warmed(self, share: float) -> Cooling:
        """The same, as warm as is worth it where one time takes this share of the work.

        What a warm start loses has to be gained back: few times are best all cold.
        """
        times = min(1.0 / max(share, 1e-9), self.most)
        full = min(max((times - FEW_TIMES) / self.many, 0.0), 1.0)
        return replace(self, full=full)

    def warmth(self, share: float, times: int) -> float:
        """How warm it is after a share of the work, and after so many times."""
        return self.full * max(1.0 - max(share / COLD, times / self.most), 0.0)


def cooling_of(times: int, *, many: int) -> Cooling:
    """A cooling after so many times, unless the work is spent before."""
    return Cooling(most=min(MOST_TIMES, 1 + times), many=many)
