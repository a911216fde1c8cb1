"""Prepare and end the process of one command, which runs nothing else."""

from __future__ import annotations

import atexit
import ctypes
import gc
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from sfumato.cli import signals as stopping

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

TRIM_THRESHOLD, MMAP_THRESHOLD, ARENA_MAX = -1, -3, -8
"""Parameters of `mallopt` in glibc."""
MOST = (1 << 31) - 1
MOST_BEFORE = 1 << 25
"""The largest `MMAP_THRESHOLD` that older releases accept."""
HUGE_PAGES = 14
"""What `madvise` calls large pages, in Linux."""
LARGE_PAGE, ROOM = 1 << 21, 1 << 28
COLLECT_AFTER = 200_000
"""Objects that Python makes before it looks for unreachable ones."""
BLAS_THREADS = "OPENBLAS_NUM_THREADS"
ARROW_RETURNS, SELDOM = "MIMALLOC_PURGE_DELAY", "10000"
"""When Arrow's allocator returns freed memory, in milliseconds."""
WITH_ARROW = frozenset({"anonymize", "check"})
"""Commands that use Arrow, and no frame of pandas."""
READING = WITH_ARROW | {"advise", "assess", "attack", "compare", "init", "tune"}
"""Commands that read tables by Arrow."""


def begin() -> None:
    """Prepare the process for one command."""
    stopping.watch()
    open_streams()
    keep_freed_memory()
    keep_freed_arrow_memory()
    collect_seldom()
    # NumPy's sums are short: threads of its library would mostly wait for each other,
    # busily, and their number decides the last digit of some sums.
    os.environ.setdefault(BLAS_THREADS, "1")


def prepare(words: Sequence[str]) -> None:
    """Prepare the libraries that the command of these words uses."""
    if not words or "--help" in words:
        return
    if words[0] in WITH_ARROW:
        keep_pandas_away()
    if words[0] in READING:
        keep_arrow_reading()


def keep_pandas_away() -> None:
    """Let Arrow believe that there is no pandas.

    Otherwise it imports pandas, where it is installed, with the first array that it
    makes, to recognize frames: a quarter of a second.
    """
    if "pandas" in sys.modules:
        return
    sys.meta_path.insert(0, NoPandas)
    # If Arrow cannot be loaded, the command says so when it needs it.
    with suppress(Exception):
        import pyarrow as pa

        # Arrow looks for pandas once.
        pa.scalar(None)
    sys.meta_path.remove(NoPandas)


def keep_arrow_reading() -> None:
    """Let Arrow read on when a termination signal comes, as we end the process ourselves.

    Otherwise it gives up the file with an error that we would have to explain, also where
    a signal ends only a search.
    """
    with suppress(Exception):
        import pyarrow as pa

        pa.enable_signal_handlers(False)


class NoPandas:
    """Finds modules for Python; says that there is no pandas."""

    @staticmethod
    def find_spec(name: str, _path: object = None, _target: object = None) -> None:
        """Raise an error for pandas, and leave other modules to other finders."""
        if name == "pandas":
            raise ModuleNotFoundError(name=name)


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
        if not _limited():
            ask_for_large_pages(ctypes.CDLL(None))


def _limited() -> bool:
    """Whether the process may have only so much memory, counted before it is touched."""
    import resource

    kinds = (resource.RLIMIT_AS, resource.RLIMIT_DATA)
    return any(resource.getrlimit(k)[0] != resource.RLIM_INFINITY for k in kinds)


def ask_for_large_pages(c: ctypes.CDLL) -> None:
    """Let the first arrays of a process come as pages of 2 MB where the system has them.

    Room is taken and given back, so that later arrays lie in it; what no array touches
    takes no memory. Each page that is touched first takes a call into the system, and
    there are 500 times fewer.
    """
    c.malloc.restype, c.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    c.free.argtypes = [ctypes.c_void_p]
    c.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    room = c.malloc(ROOM)
    if room:
        start = -(-room // LARGE_PAGE) * LARGE_PAGE
        c.madvise(start, (room + ROOM - start) // LARGE_PAGE * LARGE_PAGE, HUGE_PAGES)
        c.free(room)


def keep_freed_arrow_memory() -> None:
    """Tell Arrow, before it is loaded, to keep freed memory for some seconds.

    The file that is read back then takes the memory of the source. What is asked to be
    released is still returned at once, which large releases do.
    """
    os.environ.setdefault(ARROW_RETURNS, SELDOM)


def collect_seldom() -> None:
    """Let Python look for unreachable objects seldom.

    Imports make many objects and hardly any that becomes unreachable: looking for them
    takes a tenth of the time of a small release.
    """
    gc.set_threshold(COLLECT_AFTER)


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
