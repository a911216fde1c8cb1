"""Run the fuzz: `python -m tests.fuzz --minutes 30`.

One case again: `--case 1:7`, or `--seed 1 --case 7`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

from tests.fuzz.cases import Case
from tests.fuzz.draw import draw_case
from tests.fuzz.shrink import shrunken
from tests.fuzz.strange import PREFIX, draw_strange
from tests.fuzz.workers import Answer, Worker

KEPT = Path("build/fuzz")
"""Where cases with findings are kept."""
TURN = 4
"""Every fourth case is a table of somebody else's, for `check` alone."""


def main() -> int:
    options = _options()
    worker = Worker(seconds=options.limit)
    try:
        if options.case:
            return _again(_named(options.case, options.seed), worker)
        return _many(options, worker)
    finally:
        worker.end()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", default="", help="a fresh one unless given")
    parser.add_argument("--case", help="a case's name, or a file kept of it")
    parser.add_argument("--first", type=int, default=0, help="the number to begin with")
    parser.add_argument("--cases", type=int, default=0, help="stop after so many")
    parser.add_argument(
        "--limit", type=float, default=120.0, help="seconds of work that are a hang"
    )
    return parser.parse_args()


def _named(case: str, seed: str) -> str:
    """The name of a case: given whole, as a file, or as a number beside its seed."""
    return _name(seed, int(case)) if seed and case.isdecimal() else case


def _name(seed: str, number: int) -> str:
    return f"{seed}:{number}" if number % TURN else f"{PREFIX}{seed}:{number}"


def drawn(name: str) -> Case:
    """The case behind a name."""
    return draw_strange(name) if name.startswith(PREFIX) else draw_case(name)


def _again(name: str, worker: Worker) -> int:
    """One case, with all that is known of it."""
    path = Path(name)
    case = Case.read(path.read_text("utf-8")) if path.is_file() else drawn(name)
    answer = worker.ask(case)
    print(case.text())
    print(f"exit {answer.code}: {answer.reason}")
    print("\n".join([*answer.findings, *answer.unproven]) or "nothing found")
    return bool(answer.findings)


def _many(options: argparse.Namespace, worker: Worker) -> int:
    seed = options.seed or str(int(time.time()))
    end = time.monotonic() + 60 * options.minutes
    endings: Counter[str] = Counter()
    unproven: Counter[str] = Counter()
    found: Counter[str] = Counter()
    number = options.first
    print(f"Seed {seed}, {options.minutes:g} minutes.", flush=True)
    while time.monotonic() < end and not 0 < options.cases <= number - options.first:
        case = drawn(_name(seed, number))
        answer = worker.ask(case)
        endings[answer.ending] += 1
        unproven.update(answer.unproven)
        for finding in answer.findings:
            found[finding] += 1
        if answer.findings:
            _tell(case, answer, worker, shrink=found[answer.findings[0]] <= 1)
        number += 1
        if number % 200 == 0:
            _summary(number - options.first, endings, unproven, found)
    _summary(number - options.first, endings, unproven, found)
    return bool(found)


def _tell(case: Case, answer: Answer, worker: Worker, *, shrink: bool) -> None:
    """Print a finding at once, then what is left of its case when cut down."""
    print(f"FOUND {case.name}: {'; '.join(answer.findings)}", flush=True)
    KEPT.mkdir(parents=True, exist_ok=True)
    file = KEPT / f"{case.name.replace(':', '-')}.json"
    file.write_text(case.text(), encoding="utf-8")
    if shrink:
        small = shrunken(case, answer, worker)
        file.write_text(small.text(), encoding="utf-8")
        print(f"  {small.rows} rows, {small.door}, {small.format}; {file}")
        for name, column in small.columns.items():
            print(f"  {name} ({column.type}): {list(column.cells[:12])}")
        print(f"  {small.policy}", flush=True)


def _summary(
    cases: int, endings: Counter[str], unproven: Counter[str], found: Counter[str]
) -> None:
    released = endings["released"]
    print(f"{cases} cases, {released} released ({released / max(cases, 1):.1%}).")
    for reason, number in endings.most_common(25):
        print(f"  {number:6} {reason}")
    for reason, number in unproven.most_common(8):
        print(f"  {number:6} not proven again: {reason}")
    print(f"{sum(found.values())} findings.")
    for reason, number in found.most_common():
        print(f"  {number:6} {reason}")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
