"""How much memory there is, and what a table would take: asked before it is read."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from sfumato.errors import DataError

COPIES = 2
"""A file's content and its cells are in memory at the same time."""
MEMINFO = Path("/proc/meminfo")
CGROUP = Path("/sys/fs/cgroup")
LIMITS = (
    ("memory.max", "memory.current", "memory.stat"),
    (
        "memory/memory.limit_in_bytes",
        "memory/memory.usage_in_bytes",
        "memory/memory.stat",
    ),
)
"""What a container may use and what it does use, in both versions of cgroups."""
CACHED = re.compile(r"^(?:in)?active_file (\d+)$", re.MULTILINE)
TEXT_WIDTH = 8
"""Bytes that a cell of text takes beside its characters, and at least in a table."""
GIGA = 1e9


def free_memory() -> int | None:
    """Bytes that this process can still have; None where nobody says."""
    found = [each for each in (_of_machine(), *map(_of_container, LIMITS)) if each]
    return min(found, default=None)


def free_text() -> str:
    """How much is free, in words."""
    free = free_memory()
    return "nobody says how much is free" if free is None else f"{_giga(free)} are free"


def require_memory(needed: int, path: Path, *, what: str) -> None:
    """Refuse to read what does not fit; `needed` counts bytes of cells, once."""
    free = free_memory()
    if free is None or COPIES * needed <= free:
        return
    raise DataError(
        f"'{path}' {what}; reading it takes about {_giga(COPIES * needed)} of memory, "
        f"and {_giga(free)} are free.",
        hint="Use a machine with more memory, or publish fewer rows or columns.",
    )


def parquet_bytes(found: Any, schema: Any) -> int:
    """What the cells of a Parquet file take at least, by its own metadata.

    A dictionary may make many cells of few bytes, so that rows count too.
    """
    groups = [found.row_group(place) for place in range(found.num_row_groups)]
    packed = sum(int(group.total_byte_size) for group in groups)
    return max(packed, int(found.num_rows) * sum(map(_width, schema.types)))


def _width(kind: Any) -> int:
    try:
        return max(1, int(kind.bit_width) // 8)
    except ValueError:
        return 0 if pa.types.is_null(kind) else TEXT_WIDTH


def _of_machine() -> int | None:
    with suppress(OSError):
        found = re.search(r"MemAvailable:\s+(\d+) kB", MEMINFO.read_text())
        return int(found[1]) * 1024 if found else None
    return None


def _of_container(names: tuple[str, str, str]) -> int | None:
    """What is left of the container's limit; files that it caches can be given back."""
    with suppress(OSError, ValueError):
        most, used, detail = ((CGROUP / name).read_text() for name in names)
        cached = sum(map(int, CACHED.findall(detail)))
        return max(1, int(most) - int(used) + cached)
    return None


def _giga(count: int) -> str:
    return f"{count / GIGA:,.1f} GB"
