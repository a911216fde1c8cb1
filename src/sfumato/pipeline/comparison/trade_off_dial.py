"""The trade-off dial: utility and protection while `utility_weight` goes from 0 to 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sfumato.pipeline.comparison.candidate_policies import (
    DIAL,
    DIAL_ALGORITHM,
    Candidate,
)

LOSS, EXPOSURE = "q_diversity", "s_diversity"
"""The paper's measures of utility (UM) and protection (PM): lower is better."""
PRESETS = {0.0: "TGCP", 0.5: "TGCB", 1.0: "TGCU"}


@dataclass(frozen=True)
class DialPoint:
    """One position of the dial."""

    weight: float
    candidate: int
    loss: float
    exposure: float

    def record(self) -> dict[str, Any]:
        found = {"utility_weight": self.weight, "candidate": self.candidate}
        named = {"preset": PRESETS[self.weight]} if self.weight in PRESETS else {}
        return {**found, **named, LOSS: self.loss, EXPOSURE: self.exposure}


@dataclass(frozen=True)
class DialSweep:
    """One sweep of the dial; its name says what else was set."""

    name: str
    points: tuple[DialPoint, ...]

    def balance(self) -> dict[str, float] | None:
        """Where TGCB lies between TGCU and TGCP, in the terms of figures 6 and 10.

        Each figure is scaled so that the end of the dial that is made for it is 0 and
        the other end is 1. None if one of the three is missing, or the ends are equal.
        """
        at = {point.weight: point for point in self.points}
        if not {0.0, 0.5, 1.0} <= set(at):
            return None
        protected, middle, useful = at[0.0], at[0.5], at[1.0]
        loss = protected.loss - useful.loss
        exposure = useful.exposure - protected.exposure
        if loss == 0.0 or exposure == 0.0:
            return None
        return {
            LOSS: (middle.loss - useful.loss) / loss,
            EXPOSURE: (middle.exposure - protected.exposure) / exposure,
        }

    def record(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "points": [point.record() for point in self.points],
            "balance": self.balance(),
        }


@dataclass(frozen=True)
class Dial:
    """Every sweep of the dial in a comparison."""

    sweeps: tuple[DialSweep, ...]

    @classmethod
    def of(cls, candidates: Sequence[tuple[Candidate, Mapping[str, float]]]) -> Dial:
        """Sort candidates with their figures by what is set beside the weight."""
        found: dict[str, list[DialPoint]] = {}
        for each, figures in candidates:
            settings = each.settings
            if DIAL not in settings or LOSS not in figures or EXPOSURE not in figures:
                continue
            point = DialPoint(
                weight=float(settings[DIAL]),
                candidate=each.number,
                loss=figures[LOSS],
                exposure=figures[EXPOSURE],
            )
            found.setdefault(_name(settings), []).append(point)
        return cls(
            tuple(
                DialSweep(name, tuple(sorted(points, key=lambda p: p.weight)))
                for name, points in found.items()
            )
        )

    def record(self) -> dict[str, Any]:
        return {
            "algorithm": DIAL_ALGORITHM,
            "sweeps": [sweep.record() for sweep in self.sweeps],
        }


def _name(settings: Mapping[str, Any]) -> str:
    rest = {k: v for k, v in settings.items() if k not in (DIAL, "algorithm.name")}
    return ", ".join(f"{k.rsplit('.', 1)[-1]} = {v}" for k, v in rest.items())
