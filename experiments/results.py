"""What an experiment hands back: lines with spread, tables, and verdicts on claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import sqrt
from typing import TypeVar

import numpy as np

Size = TypeVar("Size")
Key = TypeVar("Key")
NORMAL = 1.959964
"""The 97.5 % point of the normal distribution."""


class Verdict(StrEnum):
    """What became of a published claim."""

    HOLDS = "holds"
    IN_PART = "in part"
    FAILS = "does not hold"
    UNKNOWN = "cannot be told"


@dataclass(frozen=True)
class Scale:
    """How large to run: `quick` is for tests."""

    quick: bool = False

    def of(self, full: Size, quick: Size) -> Size:
        """The size to use."""
        return quick if self.quick else full


@dataclass(frozen=True)
class Point:
    """A measured value with its spread, at one place of the x axis."""

    x: float
    y: float
    low: float
    high: float

    @property
    def half(self) -> float:
        """Half of the width of the spread."""
        return (self.high - self.low) / 2

    def __str__(self) -> str:
        if self.low == self.high:
            return f"{self.y:.4g}"
        return f"{self.y:.4g} [{self.low:.4g}, {self.high:.4g}]"


@dataclass(frozen=True)
class Line:
    """The points of one series, by growing x."""

    name: str
    points: tuple[Point, ...]
    joined: bool = True
    """Whether the points follow one another."""

    def at(self, x: float) -> Point:
        """The point at x."""
        return next(point for point in self.points if point.x == x)


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One pair of axes. With `x_names`, x counts them and points are not joined."""

    title: str
    x: str
    y: str
    lines: tuple[Line, ...]
    log_x: bool = False
    log_y: bool = False
    x_names: tuple[str, ...] = ()

    def line(self, name: str) -> Line:
        """The series of that name."""
        return next(line for line in self.lines if line.name == name)


@dataclass(frozen=True)
class Listing:
    """A table that is not a figure."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Finding:
    """What was measured about a claim of the inventory."""

    claim: str
    verdict: Verdict
    ours: str


@dataclass(frozen=True, kw_only=True)
class Result:
    """All that one experiment found."""

    name: str
    title: str
    source: str
    """The data and how many rows, as each figure says it."""
    spread: str
    """What the bands and brackets are."""
    panels: tuple[Panel, ...] = ()
    listings: tuple[Listing, ...] = ()
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()

    def verdict(self, claim: str) -> Verdict:
        """The verdict on one claim."""
        return next(f.verdict for f in self.findings if f.claim == claim)


def student(runs: int) -> float:
    """The 97.5 % point of Student's distribution, to three digits from five runs on."""
    z, free = NORMAL, max(runs - 1, 1)
    first = (z**3 + z) / (4 * free)
    second = (5 * z**5 + 16 * z**3 + 3 * z) / (96 * free**2)
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * free**3)
    return z + first + second + third


def averaged(x: float, values: Sequence[float]) -> Point:
    """The mean of single runs with its 95 % interval."""
    mean = float(np.mean(values))
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    half = student(len(values)) * spread / sqrt(len(values)) if len(values) > 1 else 0.0
    return Point(x, mean, mean - half, mean + half)


def wilson(x: float, count: int, runs: int) -> Point:
    """The share of runs with its 95 % interval by Wilson."""
    share, z = count / runs, NORMAL
    middle = share + z * z / (2 * runs)
    half = z * sqrt(share * (1 - share) / runs + z * z / (4 * runs * runs))
    low, high = ((middle + side * half) / (1 + z * z / runs) for side in (-1, 1))
    return Point(x, share, min(low, share), max(high, share))


def exact(x: float, value: float) -> Point:
    """A value without spread."""
    return Point(x, value, value, value)


def ranged(x: float, values: Sequence[float]) -> Point:
    """The median of single runs, with the lowest and the highest."""
    return Point(x, float(np.median(values)), float(min(values)), float(max(values)))


def below(left: Point, right: Point) -> bool:
    """Whether left is lower than right beyond both spreads."""
    return left.high < right.low


def lines_of(
    names: Mapping[Key, str], xs: Sequence[float], point: Callable[[Key, float], Point]
) -> tuple[Line, ...]:
    """One line for each name, measured at each x."""
    return tuple(
        Line(name, tuple(point(key, x) for x in xs)) for key, name in names.items()
    )


def judged(met: Sequence[bool]) -> Verdict:
    """Holds if every part does, in part if some do."""
    if all(met):
        return Verdict.HOLDS
    return Verdict.IN_PART if any(met) else Verdict.FAILS
