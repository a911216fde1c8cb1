"""Prepare and end the process of one command, which runs nothing else."""

from __future__ import annotations

import atexit
import ctypes
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from sfumato.cli import signals as stopping

TRIM_THRESHOLD, MMAP_THRESHOLD, ARENA_MAX = -1, -3, -8
"""Parameters of `mallopt` in glibc."""
MOST = (1 << 31) - 1
MOST_BEFORE = 1 << 25
"""The largest `MMAP_THRESHOLD` that older releases accept."""


def begin() -> None:
    """Prepare the process for one command."""
    stopping.watch()
    open_streams()
    keep_freed_memory()


def open_streams() -> None:
    """Open the standard streams that the process was started without.

    Otherwise the next file that is opened takes the number of a missing stream, and
    whatever a library prints there goes into that file.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
            setattr(sys, name, nowhere)


def keep_freed_memory() -> None:
    """Tell glibc, where it is the C library, to keep freed memory.

    Otherwise it returns every large array to the system, and the next one comes as new
    pages that have to be cleared: a tenth of the time of a large release.
    """
    if sys.platform == "linux" and hasattr(ctypes.CDLL(None), "mallopt"):
        ask = ctypes.CDLL(None).mallopt
        ask(ARENA_MAX, 1)
        ask(TRIM_THRESHOLD, MOST)
        _ = ask(MMAP_THRESHOLD, MOST) or ask(MMAP_THRESHOLD, MOST_BEFORE)


def end(code: int) -> NoReturn:
    """End the process at once, with an exit code.

    Exit handlers run and streams are flushed. Python does not tear down a compiler and
    its libraries object by object, which would take a tenth of the time of a large
    release; the system frees everything.
    """
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)
