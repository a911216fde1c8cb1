"""Commands, run in this process."""

from __future__ import annotations

import contextlib
import io

from sfumato.cli.app import run


def said_by(words: list[str]) -> tuple[int, str, str]:
    """The exit code of a command, what it wrote to stdout, and what to stderr."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(words)
    return code, out.getvalue(), err.getvalue()
