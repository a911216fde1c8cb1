"""Run the benchmarks: `python -m benchmarks`; `--help` names the options."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.case import Case
from benchmarks.places import scratch_for_a_run
from benchmarks.plan import plan
from benchmarks.results import Line, save

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).resolve().parent / "results"


def main() -> int:
    """Measure every chosen case and write the results; 1 if any of them failed."""
    options = _options()
    everything = options.long or options.only
    chosen = [
        case
        for case in plan(quick=options.quick)
        if any(text in case.name for text in options.only or [""])
        and (everything or not case.long)
    ]
    if options.list:
        print(*(case.name for case in chosen), sep="\n")
        return 0
    with scratch_for_a_run():
        lines = measure_all(chosen, out=options.out, quick=options.quick)
    return int(any(line.figures is None for line in lines))


def measure_all(cases: list[Case], *, out: Path, quick: bool) -> list[Line]:
    """Measure cases one after the other; the results are saved after each."""
    lines: list[Line] = []
    for case in cases:
        print(case.name, end=" … ", file=sys.stderr, flush=True)
        lines.append(measured(case))
        print(_said(lines[-1]), file=sys.stderr)
        save(lines, out, quick=quick)
    return lines


def measured(case: Case) -> Line:
    """Run a case in a process of its own."""
    order = {
        "job": case.job,
        "parameters": case.parameters,
        "repeats": case.repeats,
        "warm": case.warm,
    }
    arguments = [sys.executable, "-m", "benchmarks.measure", json.dumps(order)]
    try:
        run = subprocess.run(
            arguments,
            capture_output=True,
            text=True,
            cwd=ROOT,
            timeout=case.limit,
            env={**os.environ, **case.settings},
        )
    except subprocess.TimeoutExpired:
        return Line(case, None, f"not done after {case.limit} s")
    if run.returncode:
        last = (run.stderr.strip().splitlines() or ["no message"])[-1]
        return Line(case, None, f"failed: {last}")
    return Line(case, json.loads(run.stdout))


def _said(line: Line) -> str:
    if line.figures is None:
        return line.reason
    return f"{line.figures['cpu_seconds']:.3f} CPU s"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="samples, smaller tables")
    parser.add_argument("--only", nargs="*", help="cases whose name has one of these")
    parser.add_argument("--long", action="store_true", help="also the long cases")
    parser.add_argument("--list", action="store_true", help="name the cases and stop")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where results go")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
