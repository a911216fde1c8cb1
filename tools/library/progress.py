"""Show the progress of compiling: a bar on a terminal, a few lines elsewhere."""

from __future__ import annotations

import sys
import time
from threading import Lock
from types import TracebackType
from typing import Self

WIDTH = 24


class Progress:
    """Counts entry points that are compiled, in all processes."""

    def __init__(self, total: int) -> None:
        self._total, self._done = total, 0
        self._began, self._lock = time.monotonic(), Lock()
        self._terminal = sys.stderr.isatty()

    def __enter__(self) -> Self:
        self._say(f"Compiling {self._total} kernels. Once for these sources.\n")
        return self

    def add(self, name: str) -> None:
        """Another one is done."""
        with self._lock:
            self._done += 1
            if self._terminal:
                self._say(f"\r{self._bar()}  {name.rpartition('kernels.')[2]:<44.44}")

    def _bar(self) -> str:
        filled = WIDTH * self._done // self._total
        bar = "█" * filled + "░" * (WIDTH - filled)
        return f"{bar} {self._done} of {self._total}, {self._seconds()} s"

    def _seconds(self) -> int:
        return round(time.monotonic() - self._began)

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        fault: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if fault is None:
            start = "\r" if self._terminal else ""
            self._say(f"{start}Compiled {self._total} kernels in {self._seconds()} s.")
            self._say(f"{' ' * 60 if self._terminal else ''}\n")

    def _say(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()
