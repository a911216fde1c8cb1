"""Write a release directory completely, or not at all."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from sfumato.data.json_records import parse
from sfumato.data.unfinished_files import UNFINISHED
from sfumato.errors import OutputError
from sfumato.io.atomic_files import (
    aside_of,
    exchange,
    keep,
    keep_one,
    no_others,
    open_up,
    own_directory,
    own_file,
    put_in_place,
    remove_leftovers,
    usual_mode,
)
from sfumato.io.databases import DatabaseSource
from sfumato.pipeline.commit_journal import end_journal, has_journal_of, roll_back

SHA256 = re.compile("[0-9a-f]{64}")
PREVIOUS = "previous-"
"""Prefix of the directory that keeps an older release's private part; its hash follows."""
Fill = Callable[[Path], Mapping[str, Any]]
"""Writes and proves a release in an empty directory; returns its manifest."""
Commit = Callable[[Path], None]
"""Makes a table visible that belongs to a complete directory; writes its journal first."""


def refuse_existing(directory: Path, *, force: bool = False) -> None:
    """Refuse, before any work, a place where no release can be put.

    With `force` an older release may be there, and nothing else.
    """
    if directory.is_symlink() and not directory.exists():
        raise OutputError(
            f"'{directory}' is a link to a place that does not exist.",
            hint="Remove the link, or name another directory with --out.",
        )
    if directory.exists() and not force:
        raise OutputError(f"'{directory}' exists already.", hint=_way_out(directory))
    if directory.exists():
        hash_of_release(directory)
    parent = directory.resolve().parent
    if not parent.is_dir():
        raise OutputError(
            f"'{parent}' is not a directory.", hint="Create it, or name another place."
        )
    if not os.access(parent, os.W_OK):
        raise OutputError(
            f"'{parent}' cannot be written to.", hint="Name another directory."
        )


def _way_out(directory: Path) -> str:
    """Say what to do about an existing directory; only a release can be replaced."""
    try:
        hash_of_release(directory)
    except OutputError:
        return "Name another directory with --out, or move this one away."
    return (
        "Name another directory with --out, move the old release away, or replace it "
        "with --force (from Python: force=True)."
    )


def hash_of_release(directory: Path) -> str:
    """The `data_sha256` of a release; refuse any other directory."""
    try:
        text = (directory / "manifest.json").read_text(encoding="utf-8")
        found = parse(text)["data_sha256"]
    except (OSError, ValueError, LookupError, TypeError):
        found = None
    if not isinstance(found, str) or not SHA256.fullmatch(found):
        raise OutputError(
            f"'{directory}' is not a Sfumato release, so --force does not replace it.",
            hint="Name another directory with --out, or move this one away.",
        )
    return found


def nothing_to_commit(_directory: Path) -> None:
    """All tables of a release are files in its directory."""


def repair(directory: Path, to: str | None = None) -> None:
    """Remove what killed runs to the same place left, with their tables in databases.

    With `to`, a table `URL#table`, also what runs to that table left beside the place.
    """
    target = directory.resolve()
    others = no_others
    if to is not None:
        others = partial(has_journal_of, DatabaseSource.of(to).address)
    try:
        # A release that has its name is complete: only its journal was left.
        end_journal(target)
        remove_leftovers(target, clear=roll_back, others=others)
    except OSError as fault:
        raise _unwritable(directory, fault) from None


def write_directory(
    directory: Path, fill: Fill, *, force: bool, commit: Commit = nothing_to_commit
) -> Mapping[str, Any]:
    """Fill a temporary directory, then rename it into place; return the manifest.

    Only its owner can read it until it is proven and in place, and it is synced to disk
    before it gets its name. With `force` it takes the place of an older release, which
    stays until then, and keeps what that one held in `private/`. `commit` is called
    when all of this cannot fail anymore, save for the name.
    """
    refuse_existing(directory, force=force)
    target = directory.resolve()
    try:
        repair(target)
        with aside_of(target, clear=roll_back) as aside:
            mode = usual_mode(aside)
            manifest = fill(aside)
            _put(aside, target, commit)
    except OSError as fault:
        raise _unwritable(directory, fault) from None
    _settle(directory, mode)
    return manifest


def _unwritable(directory: Path, fault: OSError) -> OutputError:
    return OutputError(
        f"'{directory}' cannot be written: {fault.strerror or 'unknown reason'}.",
        hint="Free space or name another directory; nothing was left behind.",
    )


def _put(aside: Path, target: Path, commit: Commit) -> None:
    """Sync a complete release to the disk, commit its table and give it its name."""
    replaced = target.exists()
    if replaced:
        _keep_previous(target, aside / "private")
    keep(aside)
    with UNFINISHED.settling():
        commit(aside)
        (exchange if replaced else put_in_place)(aside, target)


def _keep_previous(old: Path, private: Path) -> None:
    """Copy the private part of an older release, and those that it had copied."""
    before = old / "private"
    earlier = [p.name for p in before.glob(f"{PREVIOUS}*") if p.is_dir()]
    latest = private / f"{PREVIOUS}{hash_of_release(old)}"
    if before.is_dir():
        _copy_private(before, latest, leave_out=earlier)
    for name in earlier:
        if not (private / name).exists():
            _copy_private(before / name, private / name)


def _copy_private(source: Path, target: Path, *, leave_out: Sequence[str] = ()) -> None:
    own_directory(target)
    for file in source.iterdir():
        if file.name not in leave_out and file.is_file():
            shutil.copyfile(file, own_file(target / file.name))


def _settle(directory: Path, mode: int) -> None:
    """Let others read what is published; if that fails, only the owner can read it."""
    with suppress(OSError):
        end_journal(directory)
        open_up(directory, mode)
        for parts in directory.glob("data.*"):
            if parts.is_dir():
                open_up(parts, mode)
        keep_one(directory.resolve().parent)
