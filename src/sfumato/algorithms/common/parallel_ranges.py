"""Run kernels over ranges of records, on one thread or several, with one result.

Ranges are disjoint and what a kernel does to one depends on nothing else, so neither
the number of threads nor who is first can be seen in the result.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager

Range = tuple[int, int]
Step = Callable[[int, int], Iterable[Range]]
"""Works on a range and returns the ranges that are still to be worked on."""


class Clock:
    """CPU seconds spent in kernels, summed over threads."""

    def __init__(self) -> None:
        self._spent: list[float] = []

    @contextmanager
    def running(self) -> Iterator[None]:
        """Count the time of the calling thread."""
        begin = time.thread_time()
        try:
            yield
        finally:
            self._spent.append(time.thread_time() - begin)

    @property
    def seconds(self) -> float:
        return sum(self._spent)


def work_through(
    ranges: Iterable[Range], step: Step, *, threads: int, done: Callable[[int], None]
) -> None:
    """Process ranges until none is left; report each finished length to `done`."""
    if threads < 2:
        _one_by_one(list(ranges), step, done)
    else:
        _side_by_side(list(ranges), step, threads, done)


def _one_by_one(waiting: list[Range], step: Step, done: Callable[[int], None]) -> None:
    while waiting:
        low, high = waiting.pop()
        rest = list(step(low, high))
        waiting.extend(rest)
        done(high - low - sum(b - a for a, b in rest))


def _side_by_side(
    waiting: list[Range], step: Step, threads: int, done: Callable[[int], None]
) -> None:
    pool = ThreadPoolExecutor(threads)
    running: dict[Future[list[Range]], Range] = {}
    try:
        while waiting or running:
            waiting.sort(key=lambda part: part[1] - part[0])
            while waiting and len(running) < 2 * threads:
                low, high = waiting.pop()
                running[pool.submit(lambda a, b: list(step(a, b)), low, high)] = (
                    low,
                    high,
                )
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                low, high = running.pop(future)
                rest = future.result()
                waiting.extend(rest)
                done(high - low - sum(b - a for a, b in rest))
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
