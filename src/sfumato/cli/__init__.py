"""The command line: one file per command, nothing heavy imported before it runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line and give its exit code."""
    from sfumato.cli.app import run

    return run(list(sys.argv[1:] if words is None else words))
