"""The program of a task: runs one piece of work in a process of its own.

It reads messages from its standard input and writes to its standard output, as workers
of a comparison do. The first message is the name of the task with its arguments; "stop"
asks it to finish with what it has. It ends when its input ends, so that no task outlives
the studio.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import BinaryIO

from sfumato.pipeline.comparison.worker_process import receive, send

PATIENCE = 0.1
"""Seconds between two reports of progress."""
NICENESS = 5
"""Pages of the studio come before candidates."""


class ProgressSender:
    """Reports the progress of a task, not too often."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream, self._next, self._step = stream, 0.0, ""

    def __call__(self, step: str, share: float) -> None:
        """Send the step and the share that is done, unless one was sent just now.

        A new step is always sent: it may be a long one that reports nothing more.
        """
        if step != self._step or monotonic() >= self._next:
            self._next, self._step = monotonic() + PATIENCE, step
            send(self._stream, ("progress", (step, float(share))))


def _listen(stream: BinaryIO, stop: threading.Event) -> None:
    """Wait for the wish to stop; end the process when the studio is gone."""
    with suppress(EOFError, OSError):
        while True:
            if receive(stream) == "stop":
                stop.set()
    os._exit(0)


def main() -> None:
    """Run one task and send what came of it."""
    # Whatever a library prints must not get between messages.
    answers = os.fdopen(os.dup(1), "wb")
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    with suppress(OSError):
        os.nice(NICENESS)
    stream, stop = sys.stdin.buffer, threading.Event()
    name, arguments = receive(stream)
    threading.Thread(target=_listen, args=(stream, stop), daemon=True).start()
    from sfumato.errors import Caller, hints_for
    from sfumato.pipeline.comparison.try_candidate import Failure
    from sfumato.studio.worker_tasks import task

    try:
        with hints_for(Caller.PAGE):
            result = task(name)(ProgressSender(answers), stop, **arguments)
        send(answers, ("done", result))
    except Exception as fault:
        send(answers, ("failed", asdict(Failure.of(fault))))
    # At once: the thread that listens would hold the interpreter up.
    os._exit(0)


if __name__ == "__main__":
    main()
