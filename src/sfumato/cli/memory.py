"""Memory that one step of a command frees is what the next one asks for."""

from __future__ import annotations

import ctypes
import sys

TRIM_THRESHOLD, MMAP_THRESHOLD, ARENA_MAX = -1, -3, -8
"""Parameters of `mallopt` in glibc."""
MOST = (1 << 31) - 1


def keep_freed_memory() -> None:
    """Have the C library keep what is freed, where it can be asked to.

    Else every large array is handed back to the system at its end and the next one
    comes as new pages, each cleared first: a tenth of the time of a large release.
    Only for a process of our own: it never gets smaller again.
    """
    if sys.platform == "linux" and hasattr(ctypes.CDLL(None), "mallopt"):
        ask = ctypes.CDLL(None).mallopt
        ask(ARENA_MAX, 1)
        ask(TRIM_THRESHOLD, MOST)
        ask(MMAP_THRESHOLD, MOST)
