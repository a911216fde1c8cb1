"""Runs experiments: `python -m experiments NAME... [--quick] [--jobs 2]`, or `all`.

A full run refreshes docs/reproduction.md; a quick one only writes to experiments/out.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from experiments.page import refresh
from experiments.registry import EXPERIMENTS
from experiments.results import Scale
from experiments.runner import run_all
from experiments.times import Spent, keep


def main() -> None:
    """Run what is named; those that measure time alone, others side by side."""
    parser = argparse.ArgumentParser(prog="experiments", description=__doc__)
    parser.add_argument("name", nargs="+", choices=["all", *EXPERIMENTS])
    parser.add_argument("--quick", action="store_true", help="small, for a first look")
    parser.add_argument("--jobs", type=int, default=1, help="processes side by side")
    asked = parser.parse_args()
    names = list(EXPERIMENTS) if "all" in asked.name else list(asked.name)
    clock, spent = time.perf_counter(), []
    for found in run_all(names, Scale(quick=asked.quick), asked.jobs):
        spent += found
        if not asked.quick:
            keep(found)
            refresh()
    _say(spent, time.perf_counter() - clock)


def _say(spent: Sequence[Spent], wall: float) -> None:
    """The time of each experiment, and of all."""
    for each in sorted(spent, key=lambda each: -each.cpu):
        print(each, file=sys.stderr)
    total = Spent(f"{len(spent)} experiments", sum(each.cpu for each in spent), wall)
    print(total, file=sys.stderr)


if __name__ == "__main__":
    main()
