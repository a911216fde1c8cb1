"""Run candidates side by side in worker processes, and keep what is finished."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Any

from sfumato.algorithms.base import Progress, silent
from sfumato.pipeline.comparison.candidate_policies import Candidate
from sfumato.pipeline.comparison.try_candidate import Failure, Outcome, SharedWork
from sfumato.pipeline.comparison.worker_process import (
    packed_message,
    receive,
    send,
)

PROGRAM = "sfumato.pipeline.comparison.worker_process"
GLANCE = 0.25
"""Seconds between two looks at the clock and at the wish to stop."""


@dataclass(eq=False)
class WorkerPool:
    """Worker processes that share a list of candidates."""

    work: bytes
    """The shared work, packed once for all workers."""
    workers: int
    waiting: deque[Candidate] = field(default_factory=deque)
    told: SimpleQueue[Any] = field(default_factory=SimpleQueue)
    """Pairs of a candidate's number and its share or outcome; None: a worker is done."""
    processes: set[subprocess.Popen[bytes]] = field(default_factory=set)
    stopped: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self, candidates: Sequence[Candidate]) -> int:
        """Start the workers; returns how many there are."""
        self.waiting.extend(candidates)
        count = min(self.workers, len(candidates))
        for _ in range(count):
            threading.Thread(target=self._serve, daemon=True).start()
        return count

    def stop(self) -> None:
        """End all workers, whatever they are doing."""
        with self.lock:
            self.stopped = True
            self.waiting.clear()
            for process in self.processes:
                process.kill()

    def _serve(self) -> None:
        """Let one process run candidates until none is waiting."""
        try:
            self._run_waiting()
        finally:
            self.told.put(None)

    def _run_waiting(self) -> None:
        process: subprocess.Popen[bytes] | None = None
        while (candidate := self._next()) is not None:
            process = process or self._started()
            outcome = None if process is None else self._asked(process, candidate)
            if outcome is None:
                outcome = _lost(process)
                process = None
            if not self.stopped:
                self.told.put((candidate.number, outcome))
        if process is not None:
            _end(process)

    def _next(self) -> Candidate | None:
        with self.lock:
            return self.waiting.popleft() if self.waiting else None

    def _started(self) -> subprocess.Popen[bytes] | None:
        """Start a process and hand it the shared work; None if it ended at once."""
        with self.lock:
            if self.stopped:
                return None
            process = subprocess.Popen(
                [sys.executable, "-m", PROGRAM],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=None if os.environ.get("SFUMATO_DEBUG") else subprocess.DEVNULL,
                # Ctrl-C on a terminal is for us alone: finished work is kept.
                start_new_session=True,
            )
            self.processes.add(process)
        with suppress(OSError):
            send(_pipe(process.stdin), self.work)
        return process

    def _asked(
        self, process: subprocess.Popen[bytes], candidate: Candidate
    ) -> Outcome | None:
        """The outcome of a candidate; None if the process ended before it."""
        try:
            send(_pipe(process.stdin), (candidate.number, candidate.policy))
            while True:
                number, said = receive(_pipe(process.stdout))
                if isinstance(said, Outcome):
                    return said
                self.told.put((number, said))
        except (EOFError, OSError):
            return None


def _pipe(stream: Any) -> Any:
    assert stream is not None
    return stream


def _end(process: subprocess.Popen[bytes]) -> None:
    """Let a process end by itself: its input is over."""
    with suppress(OSError):
        _pipe(process.stdin).close()
    process.wait()


def _lost(process: subprocess.Popen[bytes] | None) -> Outcome:
    code = None if process is None else process.wait()
    ended = "did not start" if code is None else f"ended with {code}"
    return Outcome(
        seconds=0.0,
        failure=Failure(
            kind="WorkerEnded",
            message=f"The worker process {ended} before the candidate was finished.",
            hint="It may have run out of memory: try --workers 1, or run it alone.",
            exit_code=70,
        ),
    )


@dataclass(eq=False)
class Tally:
    """What is done, what is running, and how long the rest may take."""

    candidates: Sequence[Candidate]
    workers: int
    progress: Progress = silent
    started: float = field(default_factory=monotonic)
    outcomes: dict[int, Outcome] = field(default_factory=dict)
    running: dict[int, float] = field(default_factory=dict)

    def hear(self, number: int, said: float | Outcome) -> None:
        """Note the share or the outcome of a candidate."""
        if isinstance(said, Outcome):
            self.running.pop(number, None)
            self.outcomes[number] = said
        else:
            self.running[number] = said
        self.show()

    def show(self) -> None:
        """Report how much is done, and the time left where it can be guessed."""
        whole = len(self.candidates)
        done = len(self.outcomes) + sum(self.running.values())
        text = f"{len(self.outcomes)}/{whole}"
        left = self.seconds_left()
        if left is not None:
            minutes, seconds = divmod(round(left), 60)
            text += f" {minutes}:{seconds:02d} left"
        self.progress(text, min(done / whole, 1.0))

    def seconds_left(self) -> float | None:
        """The seconds that the rest may take; None before the first one is finished.

        A candidate is expected to take as long as others of its algorithm did, or as
        the average one where none has finished.
        """
        if not self.outcomes:
            return None
        usual = _mean([each.seconds for each in self.outcomes.values()])
        known: dict[str, list[float]] = {}
        for each in self.candidates:
            if each.number in self.outcomes:
                seconds = self.outcomes[each.number].seconds
                known.setdefault(each.algorithm, []).append(seconds)
        rest = sum(
            (1.0 - self.running.get(each.number, 0.0))
            * _mean(known.get(each.algorithm, [usual]))
            for each in self.candidates
            if each.number not in self.outcomes
        )
        return rest / max(self.workers, 1)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def run_candidates(
    work: SharedWork,
    candidates: Sequence[Candidate],
    *,
    workers: int,
    progress: Progress = silent,
    stop: threading.Event | None = None,
) -> tuple[dict[int, Outcome], bool]:
    """Run all candidates; returns the outcomes, and whether it was stopped early.

    Ctrl-C, or setting `stop`, ends the workers and keeps what is finished.
    """
    pool = WorkerPool(packed_message(work), workers)
    alive = pool.start(candidates)
    tally = Tally(candidates, alive, progress)
    wish = stop or threading.Event()
    try:
        while alive and not wish.is_set():
            try:
                said = pool.told.get(timeout=GLANCE)
            except Empty:
                tally.show()
                continue
            if said is None:
                alive -= 1
            else:
                tally.hear(*said)
    except KeyboardInterrupt:
        wish.set()
    finally:
        pool.stop()
    return tally.outcomes, len(tally.outcomes) < len(candidates)
