"""How much memory there is, what a table would take, and whether memory ran out."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from sfumato.errors import DataError

COPIES = 2
"""A file's content and its cells are in memory at the same time."""
MEMINFO = Path("/proc/meminfo")
CGROUP = Path("/sys/fs/cgroup")
PROCESS = Path("/proc/self")
FILES = {
    2: ("memory.max", "memory.current", "memory.stat"),
    1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "memory.stat"),
}
"""What a control group may use and what it does use, by the version of cgroups."""
CACHED = re.compile(r"^(?:in)?active_file (\d+)$", re.MULTILINE)
TEXT_WIDTH = 8
"""Bytes that a cell of text takes beside its characters, and at least in a table."""
GIGA = 1e9
SIGNS = (
    "cannot allocate memory",
    "failed to map segment",
    "can't start new thread",
    "resource temporarily unavailable",
    "out of memory",
    "bad_alloc",
)
"""Messages of libraries that run out of memory without raising `MemoryError`."""


def free_memory() -> int | None:
    """Return the bytes that this process can still get; None if unknown."""
    groups = (_of_group(place, version) for place, version in _groups())
    found = [each for each in (_of_machine(), _of_process(), *groups) if each]
    return min(found, default=None)


def free_text() -> str:
    """How much is free, in words."""
    free = free_memory()
    return "nobody says how much is free" if free is None else f"{giga(free)} are free"


def ran_out(fault: BaseException | None) -> bool:
    """Return whether an error, or its cause, says that memory ran out."""
    if fault is None:
        return False
    short = isinstance(fault, MemoryError) or getattr(fault, "errno", 0) == errno.ENOMEM
    told = any(sign in str(fault).lower() for sign in SIGNS)
    return short or told or ran_out(fault.__cause__ or fault.__context__)


def out_of_memory() -> DataError:
    """Build the error for too little memory: a figure, and what to do."""
    return DataError(
        f"Memory ran out; {free_text()} now. Nothing is left half-written.",
        hint="Use a machine with more memory, publish fewer rows or columns, or name "
        "another algorithm: 'sfumato list algorithms'.",
    )


def require_memory(needed: int, path: Path, *, what: str) -> None:
    """Refuse to read what does not fit; `needed` counts the bytes of cells once."""
    free = free_memory()
    if free is None or COPIES * needed <= free:
        return
    raise DataError(
        f"'{path}' {what}; reading it takes about {giga(COPIES * needed)} of memory, "
        f"and {giga(free)} are free.",
        hint="Use a machine with more memory, or publish fewer rows or columns.",
    )


def parquet_bytes(found: Any, schema: Any) -> int:
    """What the cells of a Parquet file take at least, by its own metadata.

    A dictionary may expand a few bytes to many cells, so rows count too.
    """
    groups = [found.row_group(place) for place in range(found.num_row_groups)]
    packed = sum(int(group.total_byte_size) for group in groups)
    return max(packed, int(found.num_rows) * sum(map(_width, schema.types)))


def _width(kind: Any) -> int:
    try:
        return max(1, int(kind.bit_width) // 8)
    except ValueError:
        return 0 if str(kind) == "null" else TEXT_WIDTH


def _of_machine() -> int | None:
    with suppress(OSError):
        found = re.search(r"MemAvailable:\s+(\d+) kB", MEMINFO.read_text())
        return int(found[1]) * 1024 if found else None
    return None


def _of_process() -> int | None:
    """What is left of the address space that a process may have (`ulimit -v`)."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        if most != resource.RLIM_INFINITY:
            pages = int((PROCESS / "statm").read_text().split()[0])
            return max(1, most - pages * resource.getpagesize())
    return None


def _groups() -> Iterator[tuple[Path, int]]:
    """The control groups that limit this process: its own, and those around it."""
    yield from ((CGROUP, 2), (CGROUP / "memory", 1))
    with suppress(OSError):
        for line in (PROCESS / "cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            parts = Path(path).parts[1:]
            version = 1 if "memory" in controllers.split(",") else 2
            # Control groups outside our namespace cannot be read.
            if ".." not in parts and (version == 1 or not controllers):
                root = CGROUP / "memory" if version == 1 else CGROUP
                for depth in range(len(parts)):
                    yield root.joinpath(*parts[: depth + 1]), version


def _of_group(place: Path, version: int) -> int | None:
    """Return what is left of a group's limit; its file cache counts as free."""
    with suppress(OSError, ValueError):
        most, used, detail = ((place / name).read_text() for name in FILES[version])
        cached = sum(map(int, CACHED.findall(detail)))
        return max(1, int(most) - int(used) + cached)
    return None


def giga(count: int) -> str:
    """A number of bytes in words."""
    return f"{count / GIGA:,.1f} GB"
