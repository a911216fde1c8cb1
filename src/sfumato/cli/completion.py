"""Shell completion by Typer, for the current shell or a named one.

Typer looks for a shell among the parent processes. Under a service, a container or
`nohup` there may be none, so a shell can be named as well.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer

from sfumato.errors import UsageError

COMPLETING = "_SFUMATO_COMPLETE"
"""Set by shells that ask for completion; the name is Typer's."""
SHOW, INSTALL = "--show-completion", "--install-completion"
SHELLS = ("bash", "zsh", "fish", "powershell", "pwsh")


def asked(words: Sequence[str]) -> bool:
    """Return whether a command line is about completion."""
    return words[:1] in ([SHOW], [INSTALL])


def answer(command: Any, words: Sequence[str]) -> int:
    """Show or install the completion of our commands."""
    option, *named = words
    if not named:
        return _for_shell_around(command, option)
    if option == INSTALL or len(named) > 1 or named[0] not in SHELLS:
        raise UsageError(
            f"{option} does not take '{' '.join(named)}'.",
            hint=f"{SHOW} takes one of {', '.join(SHELLS)}; {INSTALL} takes no word.",
        )
    with _environment(f"source_{named[0]}"):
        return complete(command)


def complete(command: Any) -> int:
    """Answer a shell that asks for completions of a word."""
    try:
        command.main(prog_name="sfumato")
    except SystemExit as done:
        return int(done.code or 0)
    return 0


def _for_shell_around(command: Any, option: str) -> int:
    failed = False
    try:
        command.make_context("sfumato", [option])
    except SystemExit as done:
        failed = bool(done.code)
    except typer.Exit as done:
        failed = bool(done.exit_code)
    if failed:
        raise UsageError(
            "No shell with completion was found.",
            hint=f"Name one: 'sfumato {SHOW} bash' prints what belongs into its start "
            f"file. There are {', '.join(SHELLS)}.",
        )
    return 0


@contextmanager
def _environment(asking: str) -> Iterator[None]:
    """Set the environment variables that shells set when they ask."""
    os.environ[COMPLETING] = asking
    try:
        yield
    finally:
        del os.environ[COMPLETING]
