"""A task that runs beside the pages, and what is known of it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from time import monotonic
from typing import Any

from sfumato.errors import RefusedError
from sfumato.pipeline.comparison.worker_process import receive, send

PROGRAM = "sfumato.studio.task_process"
LONGEST_STOP = 10.0
"""Seconds that a task has to finish with what it has, before it is ended."""


class TaskState(StrEnum):
    """How far a task is."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELED = "canceled"
    LOST = "lost"


@dataclass(eq=False)
class BackgroundTask:
    """One process that does one thing."""

    name: str
    title: str
    arguments: Mapping[str, Any] = field(repr=False)
    finish: Callable[[Any], None] = field(repr=False)
    """Keeps the result; called in the thread that hears of it."""
    state: TaskState = TaskState.RUNNING
    step: str = "starting"
    share: float = 0.0
    message: str = ""
    hint: str = ""
    started: float = field(default_factory=monotonic)
    ended: threading.Event = field(default_factory=threading.Event, repr=False)
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False)
    _asked: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def start(self) -> BackgroundTask:
        """Start the process, and a thread that listens to it."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if os.environ.get("SFUMATO_DEBUG") else subprocess.DEVNULL,
            # Ctrl-C on a terminal is for the studio, which ends its tasks.
            start_new_session=True,
        )
        threading.Thread(target=self._follow, daemon=True).start()
        return self

    @property
    def running(self) -> bool:
        return self.state is TaskState.RUNNING

    @property
    def process_id(self) -> int | None:
        return None if self._process is None else self._process.pid

    def stop(self) -> None:
        """Ask the task to finish with what it has, and end it if it does not."""
        with self._lock:
            if not self.running or self._process is None:
                return
            self._asked = True
            with suppress(OSError, ValueError):
                send(_pipe(self._process.stdin), "stop")
        timer = threading.Timer(LONGEST_STOP, self.kill)
        timer.daemon = True
        timer.start()

    def kill(self) -> None:
        """End the process, whatever it is doing."""
        if self._process is not None and self.running:
            self._asked = True
            self._process.kill()

    def record(self) -> dict[str, Any]:
        """What a page shows of it."""
        return {
            "name": self.name,
            "title": self.title,
            "state": str(self.state),
            "step": self.step,
            "percent": round(100 * min(max(self.share, 0.0), 1.0)),
            "message": self.message,
            "hint": self.hint,
        }

    def _follow(self) -> None:
        process = self._process
        assert process is not None
        asks, answers = _pipe(process.stdin), _pipe(process.stdout)
        try:
            send(asks, (self.name, dict(self.arguments)))
            while self.running:
                self._hear(*receive(answers))
        except (EOFError, OSError):
            self._gone(process.wait())
        finally:
            with suppress(OSError):
                asks.close()
            process.wait()
            self.ended.set()

    def _hear(self, kind: str, said: Any) -> None:
        if kind == "progress":
            self.step, self.share = said
        elif kind == "failed":
            self.message, self.hint = said["message"], said["hint"] or ""
            self.state = TaskState.FAILED
        else:
            self._keep(said)

    def _keep(self, said: Any) -> None:
        try:
            self.finish(said)
            self.state = TaskState.DONE
        except Exception as fault:
            self.message = f"The result was not kept: {type(fault).__name__}."
            self.hint = "Look at the permissions of the project folder."
            self.state = TaskState.FAILED

    def _gone(self, code: int) -> None:
        if self._asked:
            self.message = "It was canceled; nothing of it was kept."
            self.state = TaskState.CANCELED
            return
        self.message = f"The worker process ended with {code} before it was finished."
        self.hint = "It may have run out of memory. Start it again."
        self.state = TaskState.LOST


def _pipe(stream: Any) -> Any:
    assert stream is not None
    return stream


@dataclass(eq=False)
class TaskBoard:
    """The task of a project; there is one at a time."""

    current: BackgroundTask | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def begin(
        self,
        name: str,
        title: str,
        arguments: Mapping[str, Any],
        finish: Callable[[Any], None],
    ) -> BackgroundTask:
        """Start a task; refused while another one is running."""
        with self._lock:
            if self.current is not None and self.current.running:
                raise RefusedError(
                    f"'{self.current.title}' is still running.",
                    hint="Wait for it, or cancel it.",
                )
            self.current = BackgroundTask(name, title, arguments, finish).start()
            return self.current

    def running(self) -> bool:
        return self.current is not None and self.current.running

    def dismiss(self) -> None:
        """Forget a task that has ended."""
        with self._lock:
            if self.current is not None and not self.current.running:
                self.current = None

    def end(self) -> None:
        """End the task, because the studio ends or opens another project."""
        if self.current is not None:
            self.current.kill()
