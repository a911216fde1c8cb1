"""What experiments take: seconds of CPU, kept beside their pages."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from experiments.files import PAGES
from experiments.registry import EXPERIMENTS

TIMES = PAGES / "times.csv"


@dataclass(frozen=True)
class Spent:
    """Seconds of CPU and by the clock."""

    name: str
    cpu: float
    wall: float

    def __str__(self) -> str:
        return f"{self.name}: {self.cpu:.1f} s of CPU, {self.wall:.1f} s by the clock"


def cpu_seconds() -> float:
    """CPU time of this process and of those that it started and ended."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def kept(path: Path = TIMES) -> dict[str, float]:
    """Seconds of CPU by experiment, as last measured."""
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {name: float(cpu) for name, cpu in list(csv.reader(file))[1:]}


def keep(spent: Iterable[Spent], path: Path = TIMES) -> None:
    """Write down what some experiments took."""
    found = kept(path) | {each.name: each.cpu for each in spent}
    rows = [(name, f"{found[name]:.1f}") for name in EXPERIMENTS if name in found]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(
            [("experiment", "seconds of CPU"), *rows]
        )
