"""Watch the pages that a process has mapped from files, and give them back in time.

A step that looks at many arrays on disk would hold all their pages until it ends. A
thread looks at the size of what is mapped, and lets go of pages above a bound. They are
in the system's cache, so that pages that are still needed come back at once.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Protocol
from weakref import finalize, ref

STATM = Path("/proc/self/statm")
"""Where Linux tells the pages of a process; elsewhere, nothing is watched."""
PAUSE = 0.02
"""Seconds between two looks."""
MOST_PAGES = 128 * 2**20 // 4096
"""Pages that may be mapped beyond those that cannot be given back."""


class Pages(Protocol):
    """Something that has pages mapped."""

    def drop_pages(self) -> None:
        """Let the system have the memory of all pages."""


def watch(pages: Pages) -> Thread | None:
    """Give pages back in time, for as long as their owner lives."""
    if mapped_pages() is None:
        return None
    ended = Event()
    finalize(pages, ended.set)
    thread = Thread(target=_watched, args=(ref(pages), ended), daemon=True)
    thread.start()
    return thread


def mapped_pages() -> int | None:
    """How many pages of files are in the memory of this process; None if unknown."""
    try:
        return int(STATM.read_text().split()[2])
    except (OSError, ValueError, IndexError):
        return None


def _watched(found: Callable[[], Pages | None], ended: Event) -> None:
    most = 0
    while not ended.wait(PAUSE):
        owner, count = found(), mapped_pages()
        if owner is None or count is None:
            return
        if count > most:
            owner.drop_pages()
            most = (mapped_pages() or 0) + MOST_PAGES
        del owner
