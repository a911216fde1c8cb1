"""The command line: one file per command, nothing heavy imported before it runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line and give its exit code.

    Without words it is the program itself: it takes those it was started with, and
    the process ends with it.
    """
    given = list(sys.argv[1:] if words is None else words)
    if given == ["--version"]:
        # Asked alone it is answered without the libraries that read a command line.
        return print_version()
    if words is not None:
        from sfumato.cli.app import run

        return run(given)
    from sfumato.cli import process

    process.begin()
    from sfumato.cli.app import run

    return process.end(run(given))


def print_version() -> int:
    """Print the version; give the exit code."""
    from importlib.metadata import version

    print(f"sfumato {version('sfumato')}")
    return 0
