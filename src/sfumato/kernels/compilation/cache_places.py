"""Where compiled kernels are kept between runs.

Numba has two places and fails if it can write to neither. We try more: one that the user
names, next to the code, the user's cache, and a private temporary directory. If none can
be written to, every run compiles again, which only takes longer.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

OURS = "SFUMATO_CACHE_DIR"
NUMBAS = "NUMBA_CACHE_DIR"


@dataclass(frozen=True)
class Place:
    """A directory for compiled kernels, and why it is this one."""

    directory: Path | None
    reason: str
    beside_code: bool = False


@cache
def cache_place() -> Place:
    """The first place that can be written to."""
    found = (place for place in _places() if _usable(place.directory))
    return next(found, Place(None, "no directory can be written to"))


def _places() -> Iterator[Place]:
    for name in (OURS, NUMBAS):
        if os.environ.get(name):
            yield Place(Path(os.environ[name]).absolute(), f"named by {name}")
    beside = Path(__file__).parent / "__pycache__"
    yield Place(beside, "beside the code", beside_code=True)
    yield Place(_user_cache(), "the user's cache")
    yield Place(_temporary(), "a temporary directory")


def _user_cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111
    return Path(home) / "sfumato"


def _temporary() -> Path | None:
    """A directory of this user alone: what is loaded from it is run."""
    if not hasattr(os, "getuid"):
        return None
    try:
        place = Path(tempfile.gettempdir()) / f"sfumato-{os.getuid()}"
        place.mkdir(mode=0o700, exist_ok=True)
        found = place.lstat()
    except OSError:
        return None
    private = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
    return place if private and not found.st_mode & 0o077 else None


def _usable(place: Path | None) -> bool:
    """Whether a file can be made there."""
    if place is None or not place.is_absolute():
        return False
    try:
        place.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=place).close()
    except (OSError, ValueError):
        return False
    return True
