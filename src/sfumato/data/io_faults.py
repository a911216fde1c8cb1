"""Tell apart why a database could not use a file, from what it says."""

from __future__ import annotations

import re
from enum import Enum
from types import MappingProxyType


class FileFault(Enum):
    """Why a file cannot be used."""

    FULL = "full disk"
    LOCKED = "locked by another process"
    FORBIDDEN = "not allowed"
    MISSING = "not there"
    FOREIGN = "not a database"


_WORDS = MappingProxyType(
    {
        FileFault.FULL: "No space left|disk is full|Disk quota exceeded|File too large",
        FileFault.LOCKED: "Could not set lock|Conflicting lock|is locked|being used by",
        FileFault.FORBIDDEN: "Permission denied|readonly|read-only|Read-only|not permitted",
        FileFault.FOREIGN: "not a valid DuckDB|not a database|Is a directory",
        FileFault.MISSING: "No such file|No files found|failed to open|unable to open",
    }
)


def file_fault(text: str) -> FileFault | None:
    """What a message says about a file; None if it says something else."""
    matches = (fault for fault, words in _WORDS.items() if re.search(words, text))
    return next(matches, None)
