"""Files that nobody else reads before they are proven, and that outlast a crash."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from stat import S_IMODE

OWN_DIRECTORY = 0o700
OWN_FILE = 0o600
READ_AND_WRITE = 0o666


def own_directory(path: Path) -> Path:
    """Make a directory that its owner alone may enter."""
    path.mkdir(mode=OWN_DIRECTORY)
    return path


def own_file(path: Path) -> Path:
    """Make an empty file that its owner alone may read; writing keeps it so."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWN_FILE))
    return path


def usual_mode(inside: Path) -> int:
    """The mode that a new directory usually gets in this process, at this place."""
    # Asked of a directory, for the process can only be asked by changing it.
    probe = inside / "probe"
    probe.mkdir()
    mode = S_IMODE(probe.stat().st_mode)
    probe.rmdir()
    return mode


def keep(directory: Path) -> None:
    """Bring a directory to the disk, with every file in it and its own entries."""
    for place in _inside_out(directory):
        keep_one(place)


def keep_one(place: Path) -> None:
    """Bring a file, or the names in a directory, to the disk."""
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
