"""The projects of one studio: one is open at a time."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from sfumato.errors import DataError, UsageError
from sfumato.io.atomic_files import OWN_DIRECTORY, OWN_FILE
from sfumato.studio.form_input import LARGEST_UPLOAD
from sfumato.studio.project_folder import ProjectFolder
from sfumato.studio.workspace import Workspace

HOME = "sfumato-studio"
"""Where projects are made, in the directory that the studio is started in."""
NAME = re.compile(r"[\w][\w .+-]{0,79}")
FIRST = "project"


@dataclass(eq=False)
class StudioProjects:
    """A directory of projects, and the one that is open."""

    home: Path
    current: Workspace
    most_bytes: int = LARGEST_UPLOAD

    @classmethod
    def of(
        cls, given: Path | None, *, home: Path, most_bytes: int = LARGEST_UPLOAD
    ) -> StudioProjects:
        """Open what the command names: a policy, a data file, a folder, or nothing."""
        folder = _folder(given, home)
        return cls(home, Workspace(folder), most_bytes)

    def names(self) -> list[tuple[str, bool]]:
        """The projects in the home directory, and whether each is open."""
        if not self.home.is_dir():
            return []
        found = sorted(
            p for p in self.home.iterdir() if p.is_dir() and _is_name(p.name)
        )
        root = self.current.folder.root
        return [(place.name, place.resolve() == root) for place in found]

    def switch(self, name: str, *, new: bool) -> None:
        """Open a project of the home directory; with `new` make it first."""
        if not _is_name(name):
            raise UsageError(
                "A project's name has letters, digits, spaces and . + - _ only.",
                hint="For example: patients-2026.",
            )
        place = self.home / name
        if new and place.exists():
            raise UsageError(f"There is a project '{name}' already.", hint="Open it.")
        if not new and not place.is_dir():
            raise UsageError(f"There is no project '{name}'.", hint="Begin a new one.")
        if place.is_symlink():
            raise UsageError(f"'{name}' is a link.", hint="Open its own folder.")
        folder = _made(self.home, name)
        if folder.root != self.current.folder.root:
            self.current.tasks.end()
            self.current = Workspace(folder)


def _is_name(name: str) -> bool:
    return NAME.fullmatch(name) is not None


def _folder(given: Path | None, home: Path) -> ProjectFolder:
    if given is None:
        return _made(home, _latest(home))
    if given.is_dir():
        return ProjectFolder.opened(given)
    if not given.is_file():
        raise DataError(
            f"There is no file '{given}'.", hint="Name a policy, or a data file."
        )
    if given.suffix.lower() == ".toml":
        return ProjectFolder.opened(given.absolute().parent, given.name)
    return _with_copy(given, home)


def _latest(home: Path) -> str:
    """The project that was used last, or the name of a first one."""
    if not home.is_dir():
        return FIRST
    found = [p for p in home.iterdir() if p.is_dir() and _is_name(p.name)]
    used = {p.name: (p / ".studio" / "history.json") for p in found}
    times = {n: f.stat().st_mtime if f.exists() else 0.0 for n, f in used.items()}
    return max(times, key=lambda name: times[name], default=FIRST)


def _made(home: Path, name: str) -> ProjectFolder:
    home.mkdir(mode=OWN_DIRECTORY, parents=True, exist_ok=True)
    return ProjectFolder.made(home / name)


def _with_copy(data: Path, home: Path) -> ProjectFolder:
    """A project of its own for a data file, with a copy that only its owner reads."""
    stem = re.sub(r"[^\w.+-]+", "-", data.name.split(".")[0]).strip("-.") or FIRST
    folder = _made(home, stem)
    target = folder.root / data.name
    if not target.exists():
        shutil.copyfile(data, target)
        target.chmod(OWN_FILE)
    return folder
