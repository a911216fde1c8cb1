"""What the drivers of databases say, in words of ours that quote no cell."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from sfumato.data.io_faults import FileFault, file_fault
from sfumato.errors import DataError, OutputError

CODE = re.compile(r"SQLSTATE: (\w{5})")
UNREACHABLE = ("OperationalError", "IOException", "ConnectionException")


@dataclass(frozen=True)
class _Fault:
    """An error of ours, and how drivers tell of it."""

    message: str
    hint: str
    codes: tuple[str, ...]
    """How codes of PostgreSQL begin."""
    words: str
    """A pattern of what drivers say that give no code."""


_FAULTS = (
    _Fault(
        "The database refused the login.",
        "Check the user, the name of the database, and PGPASSWORD.",
        ("28", "3D"),
        "authentication failed|no password supplied|FATAL:",
    ),
    _Fault(
        "The database has no such schema.",
        "Check the name before the point, or make the schema.",
        ("3F000",),
        r"schema \S+ does not exist|Schema with name|target_db_schema not supported",
    ),
    _Fault(
        "The database has a table of this name already.",
        "Name another table, or drop this one.",
        ("42P07",),
        r"(Table with name|relation|table) \S+ already exists",
    ),
    _Fault(
        "The database has no such table.",
        "Check its name and its schema.",
        ("42P01",),
        r"no such table|(Table|View) with name \S+ does not exist",
    ),
    _Fault(
        "The database does not allow this user to do what was asked.",
        "Ask for the privilege, or take another user or another schema.",
        ("42501",),
        "permission denied for",
    ),
    _Fault(
        "The table is locked by another process.",
        "Try again when that process has ended.",
        ("55P03", "40P01", "57014"),
        "deadlock detected|lock timeout",
    ),
)
_FILES = MappingProxyType(
    {
        FileFault.FULL: ("The disk of the database is full.", "Free space there."),
        FileFault.LOCKED: (
            "The database is locked by another process.",
            "Try again when that process has ended, or has closed the database.",
        ),
        FileFault.FORBIDDEN: (
            "The file of the database may not be read or written.",
            "Look at its permissions, and at those of its directory.",
        ),
        FileFault.MISSING: (
            "The file of the database cannot be opened: it is not there.",
            "Check the address, and that its directory exists.",
        ),
        FileFault.FOREIGN: (
            "The file at the address of the database is no database of this kind.",
            "Check the address, and the kind that it begins with.",
        ),
    }
)


def calling(call: Callable[..., Any], *words: Any, **options: Any) -> Any:
    """Call a driver; its own messages are not passed on, because they may quote cells."""
    try:
        return call(*words, **options)
    except (DataError, OutputError, MemoryError):
        raise
    except Exception as fault:
        raise explained(fault) from None


def explained(fault: Exception) -> DataError:
    """An error of ours for one of a driver's."""
    text = str(fault)
    code = _code(fault, text)
    for entry in _FAULTS:
        if code.startswith(entry.codes) or (not code and re.search(entry.words, text)):
            return DataError(entry.message, hint=entry.hint)
    cause = None if code else file_fault(text)
    if cause is not None:
        message, hint = _FILES[cause]
        return DataError(message, hint=hint)
    return _other(type(fault).__name__, code)


def _code(fault: Exception, text: str) -> str:
    """The code of an error of PostgreSQL; empty if there is none."""
    code = str(getattr(fault, "sqlstate", None) or "").strip("\0")
    match = CODE.search(text)
    return code or (match[1] if match else "")


def _other(kind: str, code: str) -> DataError:
    if code.startswith("53"):
        return DataError(
            "The database has no room left: its disk, its memory or its connections.",
            hint="Free some, or ask who runs it.",
        )
    if kind in UNREACHABLE and not code:
        return DataError(
            "The database cannot be reached or opened.",
            hint="Check the address, and that the server runs and lets you in.",
        )
    return DataError(
        f"The database refused what was asked ({f'SQLSTATE {code}' if code else kind}).",
        hint="Check the query, the types of its columns and your privileges.",
    )
