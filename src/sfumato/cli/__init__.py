"""The command line: one file per command, nothing heavy imported before it runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from typing import Any


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line and give its exit code."""
    given = list(sys.argv[1:] if words is None else words)
    if given == ["--version"]:
        # Asked alone it is answered without the libraries that read a command line.
        return print_version()
    if words is None:
        from sfumato.cli.memory import keep_freed_memory

        leave_out()
        keep_freed_memory()
    from sfumato.cli.app import run

    return run(given)


def leave_out() -> None:
    """Keep libraries out of the process that others load because they are installed.

    PyArrow looks for pandas and Numba for SciPy; loading both takes longer than
    everything that we use. Plugins may need them, so that then they are let in.
    """
    from sfumato.registry import has_plugins

    if not has_plugins():
        sys.meta_path.insert(0, LeftOut())


class LeftOut(MetaPathFinder):
    """Finds that some libraries are not installed."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> None:
        if fullname in ("pandas", "scipy"):
            raise ModuleNotFoundError(f"{fullname} is left out", name=fullname)


def print_version() -> int:
    """Print the version; give the exit code."""
    from importlib.metadata import version

    print(f"sfumato {version('sfumato')}")
    return 0
