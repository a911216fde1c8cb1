"""Hear Ctrl-C wherever it strikes, and end as one who was asked to."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
AGAIN_AFTER = 0.1
"""Seconds after which a lost interrupt is sent again."""


class Stop:
    """Whether somebody asked the command to stop.

    An interrupt that strikes while compiled code calls back into Python is lost there:
    the compiler goes on, or fails for want of what the callback was to do. So the wish
    is remembered, and sent again until it is heard where it can be followed.
    """

    def __init__(self) -> None:
        self.asked = False
        self._over = False
        self._otherwise = sys.unraisablehook

    def hear(self, _number: int, _frame: FrameType | None) -> None:
        """The handler of a signal."""
        self.asked = True
        raise KeyboardInterrupt

    def lost(self, what: Any) -> None:
        """The hook for exceptions that nobody can catch."""
        if not issubclass(what.exc_type, KeyboardInterrupt):
            self._otherwise(what)
        elif self.asked:
            timer = threading.Timer(AGAIN_AFTER, self._send_again)
            timer.daemon = True
            timer.start()

    def end(self) -> None:
        """The command is over: send nothing more."""
        self._over = True

    def _send_again(self) -> None:
        if not self._over:
            signal.raise_signal(signal.SIGINT)


@contextmanager
def stoppable() -> Iterator[Stop]:
    """Hear signals while a command runs, in the thread where they can be heard."""
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.signal(number, stop.hear) for number in _heeded()}
    hook, sys.unraisablehook = sys.unraisablehook, stop.lost
    try:
        yield stop
    finally:
        stop.end()
        sys.unraisablehook = hook
        for number, handler in before.items():
            signal.signal(number, handler)


def _heeded() -> list[signal.Signals]:
    """The signals that ask to stop, but for those we were started to ignore."""
    known = [signal.Signals[name] for name in SIGNALS if hasattr(signal, name)]
    ignored = (signal.SIG_IGN, None)
    return [number for number in known if signal.getsignal(number) not in ignored]
