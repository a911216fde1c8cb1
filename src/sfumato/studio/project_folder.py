"""The folder of one project: its files, and no path that leads out of it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.data.json_records import dump
from sfumato.errors import DataError, OutputError, UsageError
from sfumato.io.atomic_files import OWN_DIRECTORY, OWN_FILE
from sfumato.pipeline.private_notes import PRIVATE
from sfumato.pipeline.reports import replace_file

POLICY = "policy.toml"
NOTES = ".studio"
"""What the studio remembers of a project: history, results, uploads' marks."""
CANDIDATES = "candidates"
RELEASE = "release"
HIERARCHIES = "hierarchies"
OURS = frozenset({NOTES, CANDIDATES, RELEASE, HIERARCHIES})
TABLES = frozenset(
    {".csv", ".tsv", ".txt", ".parquet", ".arrow", ".feather", ".sav", ".dta", ".xpt"}
    | {".sas7bdat", ".xlsx", ".gz", ".zst"}
)
MOST_FILES = 500


@dataclass(frozen=True)
class ProjectFolder:
    """A directory that only its owner can enter."""

    root: Path
    policy_name: str = POLICY

    @classmethod
    def opened(cls, root: Path, policy_name: str = POLICY) -> ProjectFolder:
        """Open a folder that is there; its mode must be 0700."""
        place = root.resolve()
        mode = place.stat().st_mode & 0o777
        if mode & 0o077:
            raise UsageError(
                f"Others can enter the project folder '{root}': its mode is {mode:04o}, "
                f"and {OWN_DIRECTORY:04o} is needed.",
                hint=f"chmod 700 '{root}', or give the studio the data file: it makes "
                "a folder of its own.",
            )
        folder = cls(place, policy_name)
        folder.notes.mkdir(mode=OWN_DIRECTORY, exist_ok=True)
        return folder

    @classmethod
    def made(cls, root: Path) -> ProjectFolder:
        """Make a new folder, or open the one that is there."""
        try:
            root.mkdir(mode=OWN_DIRECTORY, parents=True, exist_ok=True)
        except OSError as fault:
            raise OutputError(
                f"The project folder '{root}' cannot be made: {fault.strerror}.",
                hint="Start the studio in a directory that you may write to.",
            ) from None
        return cls.opened(root)

    @property
    def name(self) -> str:
        return self.root.name

    @property
    def policy(self) -> Path:
        return self.root / self.policy_name

    @property
    def notes(self) -> Path:
        return self.root / NOTES

    @property
    def candidates(self) -> Path:
        return self.root / CANDIDATES

    @property
    def release(self) -> Path:
        return self.root / RELEASE

    def inside(self, name: str) -> Path:
        """A path in this folder; links are followed, and may not lead out of it."""
        if not name or "\0" in name:
            raise UsageError("No file is named.", hint="Choose one of the list.")
        place = (self.root / name).resolve()
        if place == self.root or not place.is_relative_to(self.root):
            raise UsageError(
                "The path leads out of the project folder.",
                hint="Put the file into the folder, or upload it.",
            )
        return place

    def data_file(self, name: str) -> Path:
        """A file of data in this folder, outside what the studio keeps for itself."""
        place = self.inside(name)
        if place.relative_to(self.root).parts[0] in OURS:
            raise UsageError(
                "This part of the project folder holds no data files.",
                hint="Choose one of the list.",
            )
        if not place.is_file():
            raise DataError(
                f"There is no file '{name}' in the project folder.",
                hint="Choose one of the list, or upload it.",
            )
        return place

    def data_files(self) -> list[tuple[str, int]]:
        """The tables in this folder with their sizes in bytes, sorted by name."""
        found = sorted(_tables(self.root, self.root))
        return [
            (name, (self.root / name).stat().st_size) for name in found[:MOST_FILES]
        ]

    def read_note(self, name: str) -> dict[str, Any]:
        """What the studio remembers under a name; empty if nothing, or damaged."""
        try:
            found = json.loads((self.notes / f"{name}.json").read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def write_note(self, name: str, record: Mapping[str, Any]) -> None:
        """Remember a record, readable by the owner alone."""
        told = {"private": PRIVATE, **record}
        text = dump(told).replace("{\n  ", "{ ", 1) + "\n"
        replace_file(self.notes / f"{name}.json", text, mode=OWN_FILE)

    def forget_note(self, name: str) -> None:
        (self.notes / f"{name}.json").unlink(missing_ok=True)

    def remove_candidate(self, number: int) -> None:
        """Remove what was made of a candidate."""
        shutil.rmtree(self.candidates / str(number), ignore_errors=True)


def _tables(place: Path, root: Path, depth: int = 0) -> Iterator[str]:
    """Names of tables below a directory, relative to the root; links are left out."""
    for each in os.scandir(place):
        if each.name.startswith(".") or (depth == 0 and each.name in OURS):
            continue
        if each.is_dir(follow_symlinks=False) and depth < 3:
            yield from _tables(Path(each.path), root, depth + 1)
        elif _is_table(each):
            yield Path(each.path).relative_to(root).as_posix()


def _is_table(entry: os.DirEntry[str]) -> bool:
    named = Path(entry.name).suffix.lower() in TABLES
    return named and entry.is_file(follow_symlinks=False)
