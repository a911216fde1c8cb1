"""Run one case in a process of its own and report its time and memory.

Times are the least of several runs: CPU seconds of all threads, and wall seconds. Peak
memory is that of the whole process (or of the commands it ran), libraries included.
"""

from __future__ import annotations

import contextlib
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Facts = Mapping[str, float]


def nothing(_result: Any) -> Facts:
    """No facts beyond time and memory."""
    return {}


@dataclass(frozen=True, kw_only=True)
class Job:
    """What is measured: `work`, and what its result is worth."""

    work: Callable[[], Any]
    facts: Callable[[Any], Facts] = nothing
    commands: bool = False
    """Whether the work is done by other programs, whose time and memory count."""
    prepare: Callable[[], Any] = lambda: None
    """Called before each run, unmeasured."""


@dataclass(frozen=True)
class Cost:
    """What one run took."""

    cpu: float
    wall: float


def measured(job: Job, *, repeats: int, warm: bool) -> dict[str, Any]:
    """Run a job several times; `warm` leaves the first run out of the figures."""
    if warm:
        job.prepare()
        job.work()
    costs, result = [], None
    for _ in range(repeats):
        job.prepare()
        cost, result = _timed(job)
        costs.append(cost)
    peak = _peak(job)
    return {
        "cpu_seconds": min(cost.cpu for cost in costs),
        "wall_seconds": min(cost.wall for cost in costs),
        "peak_megabytes": peak,
        "runs": repeats,
        "facts": dict(job.facts(result)),
    }


def _timed(job: Job) -> tuple[Cost, Any]:
    cpu, wall = _cpu(job), time.perf_counter()
    result = job.work()
    return Cost(_cpu(job) - cpu, time.perf_counter() - wall), result


def _cpu(job: Job) -> float:
    used = resource.getrusage(_who(job))
    return used.ru_utime + used.ru_stime


def _peak(job: Job) -> float:
    return resource.getrusage(_who(job)).ru_maxrss / 1024


def _who(job: Job) -> int:
    return resource.RUSAGE_CHILDREN if job.commands else resource.RUSAGE_SELF


def command(arguments: Sequence[str], *, environment: Mapping[str, str]) -> None:
    """Run a program to its end, quietly; its failure is ours."""
    subprocess.run(
        arguments,
        check=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        env=dict(environment),
    )


def child(argument: str) -> None:
    """The body of the process of one case: JSON in, JSON out."""
    from benchmarks.jobs import make

    order = json.loads(argument)
    # Peers print while they work; standard output is for the figures.
    with contextlib.redirect_stdout(sys.stderr):
        job = make(order["job"], order["parameters"])
        figures = measured(job, repeats=order["repeats"], warm=order["warm"])
    print(json.dumps(figures))


if __name__ == "__main__":
    child(sys.argv[1])
