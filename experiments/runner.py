"""Runs experiments, one after the other or in worker processes.

Workers import this module; they could not import `__main__`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from multiprocessing import get_context

from experiments.files import OUT, remember, write
from experiments.registry import EXPERIMENTS
from experiments.results import Scale
from experiments.times import Spent, cpu_seconds, kept


def run_all(names: Sequence[str], scale: Scale, jobs: int) -> Iterator[list[Spent]]:
    """What each group of experiments took, as they end.

    One that fails does not end the others: the failure is raised after the last of them.
    """
    failures: list[Exception] = []
    for outcome in _outcomes(names, scale, jobs):
        try:
            yield outcome()
        except Exception as failure:
            print(f"An experiment failed: {failure!r}", file=sys.stderr, flush=True)
            failures.append(failure)
    if failures:
        raise ExceptionGroup("Not all experiments ended.", failures)


def _outcomes(
    names: Sequence[str], scale: Scale, jobs: int
) -> Iterator[Callable[[], list[Spent]]]:
    """Functions that return what a group took, or raise why it failed."""
    if jobs == 1:
        yield from (partial(run_group, [name], scale) for name in names)
        return
    quiet = [name for name in names if EXPERIMENTS[name].alone]
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as workers:
        others = grouped([name for name in names if name not in quiet])
        waiting = [workers.submit(run_group, group, scale) for group in others]
        yield from (each.result for each in as_completed(waiting))
        for name in quiet:
            yield workers.submit(run_group, [name], scale).result


def grouped(names: Sequence[str]) -> list[list[str]]:
    """Experiments of one module together, as they share work; the longest first."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(EXPERIMENTS[name].module, []).append(name)
    took = kept()
    return sorted(
        groups.values(), key=lambda group: -sum(took.get(n, 0.0) for n in group)
    )


def run_group(names: Sequence[str], scale: Scale) -> list[Spent]:
    """Experiments one after the other, and what each took."""
    return [run(name, scale) for name in names]


def run(name: str, scale: Scale) -> Spent:
    """One experiment: its files, and those of its page unless it ran in small."""
    begin, clock = cpu_seconds(), time.perf_counter()
    result = EXPERIMENTS[name].run(name, scale)
    write(result, OUT / "quick" if scale.quick else OUT)
    if not scale.quick:
        remember(result)
    spent = Spent(name, cpu_seconds() - begin, time.perf_counter() - clock)
    for finding in result.findings:
        print(f"{finding.claim}: {finding.verdict}. {finding.ours}", flush=True)
    print(f"{spent}\n", file=sys.stderr, flush=True)
    return spent
