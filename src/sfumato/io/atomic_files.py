"""Write files privately until they are verified, and survive a crash."""

from __future__ import annotations

import ctypes
import errno
import os
import re
import secrets
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_IMODE

from sfumato.data.unfinished_files import UNFINISHED, lock_directory, remove

OWN_DIRECTORY = 0o700
OWN_FILE = 0o600
READ_AND_WRITE = 0o666
MARK, NEW = ".sfumato-", ".new"
"""What separates the name of a target from the token of an unfinished directory, and what
ends its name until it is locked."""
HERE, RENAME_EXCHANGE = -100, 2
"""`AT_FDCWD` and a flag of `renameat2`."""
Clear = Callable[[Path], None]
"""Undoes what an unfinished directory stands for; raises an error if it cannot."""
Concerns = Callable[[Path], bool]
"""Whether an unfinished directory of another target is to be removed as well."""


def own_directory(path: Path) -> Path:
    """Make a directory that only its owner can enter."""
    path.mkdir(mode=OWN_DIRECTORY)
    return path


def own_file(path: Path) -> Path:
    """Make an empty file that only its owner can read; writing keeps it so."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWN_FILE))
    return path


def append_own(path: Path, text: str) -> None:
    """Add text to the end of a file that only its owner can read, in one write.

    The file is made if it is not there. A link is not followed.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
    content = text.encode("utf-8")
    handle = os.open(path, flags, OWN_FILE)
    try:
        before = os.fstat(handle).st_size
        os.fchmod(handle, OWN_FILE)
        if os.write(handle, content) < len(content):
            # A full disk takes a part only: take it back.
            os.ftruncate(handle, before)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    finally:
        os.close(handle)


def usual_mode(inside: Path) -> int:
    """The mode that a new directory usually gets in this process, at this place."""
    # Read from a new directory, because reading the umask would change it.
    probe = inside / "probe"
    probe.mkdir()
    mode = S_IMODE(probe.stat().st_mode)
    probe.rmdir()
    return mode


def keep(directory: Path) -> None:
    """Sync a directory to disk, with every file in it and its own entries."""
    for place in _inside_out(directory):
        keep_one(place)


def keep_one(place: Path) -> None:
    """Sync a file, or the names in a directory, to disk."""
    handle = os.open(place, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def open_up(directory: Path, mode: int) -> None:
    """Give a directory and the files in it their usual modes; not those below."""
    for file in directory.iterdir():
        if file.is_file():
            file.chmod(mode & READ_AND_WRITE)
    directory.chmod(mode)


def _inside_out(directory: Path) -> Iterator[Path]:
    for place in directory.iterdir():
        if place.is_dir():
            yield from _inside_out(place)
        else:
            yield place
    yield directory


def nothing_to_clear(_directory: Path) -> None:
    """Leave it at removing the directory."""


def no_others(_directory: Path) -> bool:
    """Leave what runs to other targets left behind."""
    return False


@contextmanager
def aside_of(target: Path, *, clear: Clear = nothing_to_clear) -> Iterator[Path]:
    """Provide a private directory next to a target, removed at the end.

    It is locked while in use. A directory that a killed run left behind is not locked,
    and the next run to the same target removes it. `clear` is called before a directory
    is removed; if that fails, the directory stays for the next run.
    """
    remove_leftovers(target, clear=clear)
    place = target.parent / f".{target.name}{MARK}{secrets.token_hex(6)}"
    with UNFINISHED.holding(place):
        lock = None
        while not place.exists():
            lock = _begin(place)
        try:
            yield place
        finally:
            _end(place, lock, clear)


def _end(place: Path, lock: int | None, clear: Clear) -> None:
    """Clear and remove an unfinished directory, and let its lock go."""
    try:
        clear(place)
        remove(place)
    finally:
        if lock is not None:
            os.close(lock)


def _begin(place: Path) -> int | None:
    """Make a directory that is locked from the moment it has its name.

    Another run may take it for a leftover before it is locked; then it is gone.
    """
    unnamed = own_directory(place.with_name(f"{place.name}{NEW}"))
    lock = lock_directory(unnamed)
    with suppress(FileNotFoundError):
        unnamed.rename(place)
        return lock
    if lock is not None:
        os.close(lock)
    return None


def remove_leftovers(
    target: Path, *, clear: Clear = nothing_to_clear, others: Concerns = no_others
) -> None:
    """Remove what killed runs to the same target left, unless it is locked.

    What runs to other targets left beside it is removed where `others` says so.
    """
    name = re.compile(rf"\.(.+){re.escape(MARK)}[0-9a-f]{{12}}", re.DOTALL)
    for path in list(target.parent.iterdir()):
        match = name.fullmatch(path.name.removesuffix(NEW))
        if match is None or not (match[1] == target.name or others(path)):
            continue
        if path.name.endswith(NEW):
            # It is empty. Perhaps a run has just made it, which then makes another.
            with suppress(OSError):
                path.rmdir()
            continue
        lock = lock_directory(path)
        if lock is not None:
            _end(path, lock, clear)


def put_in_place(place: Path, target: Path) -> None:
    """Rename a complete directory to its name, which must be free."""
    with UNFINISHED.settling():
        place.rename(target)


def exchange(place: Path, target: Path) -> None:
    """Swap a complete directory with another one."""
    with UNFINISHED.settling():
        if _exchange_at_once(place, target):
            return
        spare = target.parent / f".{target.name}.replaced-{secrets.token_hex(6)}"
        target.rename(spare)
        try:
            place.rename(target)
        except OSError:
            spare.rename(target)
            raise
        spare.rename(place)


def _exchange_at_once(place: Path, target: Path) -> bool:
    """Swap two names in one step, if the system can."""
    library = ctypes.CDLL(None, use_errno=True)
    if sys.platform != "linux" or not hasattr(library, "renameat2"):
        return False
    names = os.fsencode(place), os.fsencode(target)
    done = library.renameat2(HERE, names[0], HERE, names[1], RENAME_EXCHANGE)
    return bool(done == 0)
