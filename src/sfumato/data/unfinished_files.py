"""What is being written, so that a process that is told to end can take it away."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

ATTEMPTS = 3
"""Other threads may still be writing into a directory while it is removed."""


class Unfinished:
    """The files and directories that are not complete."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._places: set[Path] = set()

    @contextmanager
    def holding(self, place: Path) -> Iterator[None]:
        """For as long as a file or directory is written."""
        with self._lock:
            self._places.add(place)
        try:
            yield
        finally:
            self._places.discard(place)

    @contextmanager
    def settling(self) -> Iterator[None]:
        """For the moment in which something gets its name: it is not cut in two."""
        with self._lock:
            yield

    def remove_all(self) -> None:
        """Take everything away; from now on nothing is begun and nothing settled."""
        self._lock.acquire()
        for place in tuple(self._places):
            for _ in range(ATTEMPTS):
                remove(place)


UNFINISHED = Unfinished()


def remove(place: Path) -> None:
    """Remove a file or a directory with all that is in it, as far as possible."""
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place, ignore_errors=True)
    else:
        with suppress(OSError):
            place.unlink()
