"""Remove the table of a release whose directory did not get its name.

A table and a directory cannot appear in one step. So an unfinished directory gets a
journal, the table is committed, and the directory gets its name. A journal in a
directory that is still unfinished means that the run failed in between, or may have:
its table is removed if it is there and has the hash of the journal.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sfumato.data.json_records import dump, parse
from sfumato.data.unfinished_files import UNFINISHED
from sfumato.errors import RepairWarning, SfumatoError
from sfumato.io.atomic_files import keep_one, own_file
from sfumato.io.databases import DatabaseSource, Session, is_absent, opened, quoted
from sfumato.pipeline.table_hashes import is_described

PACKAGE = Path(__file__).parents[1]
JOURNAL = Path("private") / "commit.json"
"""Where an unfinished directory says which table belongs to it; private."""


def begin_journal(directory: Path, entry: Mapping[str, Any]) -> None:
    """Write to the disk which table is about to be committed.

    From here on, nothing but `roll_back` clears the directory, unless it gets its name.
    """
    path = own_file(directory / JOURNAL)
    text = dump({**entry, "directory": directory.name})
    path.write_text(text + "\n", encoding="utf-8")
    for written in (path, path.parent, directory, directory.parent):
        keep_one(written)
    UNFINISHED.leave(directory)


def end_journal(directory: Path) -> None:
    """Remove the journal of a directory whose table is settled."""
    path = directory / JOURNAL
    if path.exists():
        path.unlink()
        keep_one(path.parent)


def roll_back(directory: Path) -> None:
    """Remove the table of an unfinished directory, if it was committed."""
    entry = _read_journal(directory)
    if entry is None:
        return
    if _table_removed(entry):
        warnings.warn(
            "A release was not complete when its run ended: its table was committed, "
            "its directory had no name. The table was removed.",
            RepairWarning,
            stacklevel=_level_of_caller(),
        )
    end_journal(directory)


def _level_of_caller() -> int:
    """How many calls above a warning the code is that called this package."""
    inside = (f"{PACKAGE}{os.sep}", contextlib.__file__)
    files = [frame.filename for frame in inspect.stack(0)[1:]]
    outside = (n for n, file in enumerate(files, 1) if not file.startswith(inside))
    return next(outside, 1)


def has_journal_of(address: str, directory: Path) -> bool:
    """Return whether an unfinished directory says that a table belongs to it."""
    try:
        entry = _read_journal(directory)
    except OSError:
        # It is somebody else's.
        return False
    return entry is not None and entry.get("address") == address


def _read_journal(directory: Path) -> Mapping[str, Any] | None:
    path = directory / JOURNAL
    if not path.exists():
        return None
    try:
        entry = parse(path.read_text(encoding="utf-8"))
    except ValueError:
        # It is complete on the disk before anything is committed: nothing was.
        return None
    # A release that another run replaced at once may still have its own journal.
    is_own = isinstance(entry, dict) and entry.get("directory") == directory.name
    return entry if is_own else None


def _table_removed(entry: Mapping[str, Any]) -> bool:
    """Remove the table of a journal; False if it was never committed."""
    try:
        return _remove_table(entry)
    except SfumatoError as fault:
        fault.also(
            "It has to be looked at for the table of a release whose run was stopped."
        )
        raise


def _remove_table(entry: Mapping[str, Any]) -> bool:
    source = DatabaseSource.of(entry["address"])
    if is_absent(source.place) or _is_of_others(Path(source.place.uri), entry):
        return False
    with opened(source.place) as session:
        session.claim(entry["token"])
        # The killed run's transaction has ended; a new one sees how.
        session.commit()
        session.begin()
        name = source.table or ""
        if not session.exists(name) or not _is_ours(session, name, entry):
            return False
        session.run(f"DROP TABLE {quoted(name)}")
        session.commit()
    return True


def _is_of_others(file: Path, entry: Mapping[str, Any]) -> bool:
    """Return whether a new file of a journal never got its name: another one has it."""
    inode = entry.get("inode")
    return inode is not None and file.stat().st_ino != inode


def _is_ours(session: Session, name: str, entry: Mapping[str, Any]) -> bool:
    """Return whether a table has the rows of a journal; nobody else may change it then."""
    session.lock(name)
    columns = session.fetch(f"SELECT * FROM {quoted(name)} LIMIT 0").column_names
    counted = session.fetch(f"SELECT count(*) FROM {quoted(name)}")
    if columns != entry["columns"] or counted.column(0)[0].as_py() != entry["rows"]:
        # Looked at first, because cells of somebody else's table may be unreadable.
        return False
    return is_described(session.read(f"SELECT * FROM {quoted(name)}"), entry)
