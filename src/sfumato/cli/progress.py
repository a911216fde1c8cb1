"""Progress on stderr, on a terminal only; and one line when kernels compile."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress

COMPILING = (
    "Compiling kernels for their first use: this takes a while, and happens once."
)
COMPILING_EVERY_TIME = (
    "Compiling kernels: this takes a while, and every run does it, because no cache "
    "directory can be written to. Name one in SFUMATO_CACHE_DIR."
)

Watcher = Callable[[str, float], None]


@contextmanager
def watched(*, quiet: bool = False) -> Iterator[Watcher]:
    """Provide a progress callback during a long command."""
    if quiet:
        yield _unwatched
        return
    with _bar() as watcher, ExitStack() as watching, ThreadPoolExecutor(1) as aside:
        aside.submit(_watch_compiler, watching)
        yield watcher


def _watch_compiler(watching: ExitStack) -> None:
    """Announce compilation; in a thread, as loading the compiler takes a while."""
    from sfumato.kernels.compilation.decorators import announced

    watching.enter_context(announced(_say_compiling))


def _say_compiling() -> None:
    from sfumato.kernels.compilation.cache_places import cache_place

    kept = cache_place().directory is not None
    with suppress(OSError, ValueError):
        print(COMPILING if kept else COMPILING_EVERY_TIME, file=sys.stderr, flush=True)


@contextmanager
def _bar() -> Iterator[Watcher]:
    if not _on_terminal():
        yield _unwatched
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description:<10}"), BarColumn(), TimeElapsedColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task("start", total=1.0)

    def show(step: str, share: float) -> None:
        with suppress(OSError, ValueError):
            bar.update(task, description=step, completed=share)

    with suppress(OSError, ValueError):
        bar.start()
    try:
        yield show
    finally:
        with suppress(OSError, ValueError):
            bar.stop()


def _on_terminal() -> bool:
    try:
        return sys.stderr is not None and sys.stderr.isatty()
    except ValueError:
        return False


def _unwatched(_step: str, _share: float) -> None:
    """Ignore progress."""
