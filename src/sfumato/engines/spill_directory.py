"""A private directory for what an engine spills, removed also after a killed run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import gettempdir, mkdtemp

from sfumato.data.unfinished_files import UNFINISHED, lock_directory, remove
from sfumato.errors import OutputError

PREFIX = "sfumato-spill-"
OWN_FILE = 0o600
ATTEMPTS = 8
"""How often a directory is made, if other processes take it for a leftover."""


@contextmanager
def spill_directory() -> Iterator[Path]:
    """A private directory for what does not fit in memory, removed at the end.

    It is locked while in use. Those of killed processes are not, and are removed first.
    """
    try:
        remove_spilled()
        path, lock = _locked_directory()
    except OSError as fault:
        raise OutputError(
            f"No directory can be made to spill to: {fault.strerror}.",
            hint="Name another place for temporary files in TMPDIR.",
        ) from None
    with UNFINISHED.holding(path):
        try:
            yield path
        finally:
            remove(path)
            if lock is not None:
                os.close(lock)


def remove_spilled() -> None:
    """Remove what processes spilled that are gone."""
    for path in Path(gettempdir()).glob(f"{PREFIX}*"):
        lock = lock_directory(path)
        if lock is None:
            continue
        try:
            if os.fstat(lock).st_uid == os.getuid():
                remove(path)
        finally:
            os.close(lock)


def close_to_others(directory: Path | None) -> None:
    """Let only the owner read the files of a directory, whoever made them."""
    if directory is None:
        return
    for path in directory.iterdir():
        # It may be gone: an engine removes what it needs no longer.
        with suppress(OSError):
            path.chmod(OWN_FILE)


def _locked_directory() -> tuple[Path, int | None]:
    """A new directory and its lock; None where directories cannot be locked."""
    for _ in range(ATTEMPTS):
        path = Path(mkdtemp(prefix=PREFIX))
        lock = lock_directory(path)
        # Before it was locked, another process may have removed it.
        if lock is not None and path.exists():
            return path, lock
        remove(path)
        if lock is not None:
            os.close(lock)
    return Path(mkdtemp(prefix=PREFIX)), None
