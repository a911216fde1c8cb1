"""Runs experiments: `python -m experiments NAME... [--quick]`, or `all`.

A full run refreshes docs/reproduction.md; a quick one only writes to experiments/out.
"""

from __future__ import annotations

import argparse
import os
import sys
import time

from experiments.files import OUT, remember, write
from experiments.page import refresh
from experiments.registry import EXPERIMENTS
from experiments.results import Scale


def main() -> None:
    """Run what is named, one after the other."""
    parser = argparse.ArgumentParser(prog="experiments", description=__doc__)
    parser.add_argument("name", nargs="+", choices=["all", *EXPERIMENTS])
    parser.add_argument("--quick", action="store_true", help="small, for a first look")
    asked = parser.parse_args()
    names = list(EXPERIMENTS) if "all" in asked.name else asked.name
    begin = cpu_seconds()
    for name in names:
        run(name, Scale(quick=asked.quick))
    if len(names) > 1:
        print(
            f"in all: {(cpu_seconds() - begin) / 60:.1f} minutes of CPU",
            file=sys.stderr,
        )


def run(name: str, scale: Scale) -> None:
    """One experiment: its files, and the page unless it ran in small."""
    begin, clock = cpu_seconds(), time.perf_counter()
    result = EXPERIMENTS[name].run(name, scale)
    write(result, OUT / "quick" if scale.quick else OUT)
    if not scale.quick:
        remember(result)
        refresh()
    cpu, wall = cpu_seconds() - begin, time.perf_counter() - clock
    for finding in result.findings:
        print(f"{finding.claim}: {finding.verdict}. {finding.ours}")
    print(f"{name}: {cpu:.1f} s of CPU, {wall:.1f} s\n", file=sys.stderr, flush=True)


def cpu_seconds() -> float:
    """CPU time of this process and of those that it started and ended."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


if __name__ == "__main__":
    main()
