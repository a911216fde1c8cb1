"""What may be done in a process that is ours alone, so that it is over sooner."""

from __future__ import annotations

import atexit
import ctypes
import os
import sys
from contextlib import suppress
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any, NoReturn

from sfumato.cli import signals as stopping
from sfumato.registry import has_plugins

TRIM_THRESHOLD, MMAP_THRESHOLD, ARENA_MAX = -1, -3, -8
"""Parameters of `mallopt` in glibc."""
MOST = (1 << 31) - 1
MOST_BEFORE = 1 << 25
"""What older releases take for `MMAP_THRESHOLD`."""


def begin() -> None:
    """Prepare the process for one command."""
    stopping.watch()
    open_streams()
    leave_out()
    keep_freed_memory()


def open_streams() -> None:
    """Give the process the streams that it was started without.

    Else the next file that is opened takes the place of a missing stream, and whatever
    a library says there goes into that file.
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


def leave_out() -> None:
    """Keep libraries out of the process that others load because they are installed.

    PyArrow looks for pandas and Numba for SciPy; loading both takes longer than
    everything that we use. Plugins may need them, so that then they are let in.
    """
    if not has_plugins():
        sys.meta_path.insert(0, LeftOut())


class LeftOut(MetaPathFinder):
    """Finds that some libraries are not installed."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> None:
        if fullname in ("pandas", "scipy"):
            raise ModuleNotFoundError(f"{fullname} is left out", name=fullname)


def keep_freed_memory() -> None:
    """Have the C library keep what is freed, where it can be asked to.

    Else every large array is handed back to the system at its end and the next one
    comes as new pages, each cleared first: a tenth of the time of a large release.
    """
    if sys.platform == "linux" and hasattr(ctypes.CDLL(None), "mallopt"):
        ask = ctypes.CDLL(None).mallopt
        ask(ARENA_MAX, 1)
        ask(TRIM_THRESHOLD, MOST)
        _ = ask(MMAP_THRESHOLD, MOST) or ask(MMAP_THRESHOLD, MOST_BEFORE)


def end(code: int) -> NoReturn:
    """End the process at once, with an exit code.

    The system frees everything; to take a compiler and its libraries apart first, object
    by object, would take a tenth of the time of a large release. What is registered
    to run at exit runs, and what was printed is out.
    """
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)
