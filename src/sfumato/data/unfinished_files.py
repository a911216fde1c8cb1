"""Track files being written, so that a terminated process can remove them."""

from __future__ import annotations

import fcntl
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

ATTEMPTS = 3
"""Other threads may still be writing into a directory while it is removed."""


class Unfinished:
    """The files and directories that are not complete."""

    def __init__(self) -> None:
        # Reentrant: a step that must not be interrupted may have such steps in it.
        self._lock = threading.RLock()
        self._places: set[Path] = set()
        self._before: list[Callable[[], None]] = []

    def before(self, end: Callable[[], None]) -> None:
        """Call a function before anything is removed, to end what still writes."""
        self._before.append(end)

    @contextmanager
    def holding(self, place: Path) -> Iterator[None]:
        """Track a file or directory while it is being written."""
        with self._lock:
            self._places.add(place)
        try:
            yield
        finally:
            self._places.discard(place)

    def leave(self, path: Path) -> None:
        """Never remove this: it says what the next run has to repair."""
        self._places.discard(path)

    @contextmanager
    def settling(self) -> Iterator[None]:
        """Hold off termination while something is renamed into place."""
        with self._lock:
            yield

    def remove_all(self) -> None:
        """Remove everything unfinished and refuse to start or finish anything else."""
        self._lock.acquire()
        for end in self._before:
            end()
        for place in tuple(self._places):
            for _ in range(ATTEMPTS):
                remove(place)


UNFINISHED = Unfinished()


def lock_directory(path: Path) -> int | None:
    """Lock a directory; None if others hold the lock, or if that cannot be known."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle


def remove(place: Path) -> None:
    """Remove a file or a directory with all that is in it, as far as possible."""
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place, ignore_errors=True)
    else:
        with suppress(OSError):
            place.unlink()
